import PresentationModel

/// The registered destinations, from files and clients. The last registration of a name counts (D1).
struct Registry: Sendable {
  /// The binding and the destination of a declared tag (G7).
  struct DeclaredTag: Hashable, Sendable {
    let binding: BindingID
    let destination: String
  }

  /// Whether files can declare destinations. An embedded coordinator reads no files.
  var hasFiles = true
  private struct Registration {
    let destination: Shared<Destination>
    /// The last handle that was given out before the registration. Presentations with later handles did not exist yet.
    var after = Handle(0)
  }

  /// Registrations by name; the last one counts.
  private var registrations: [String: [Registration]] = [:]
  /// The names whose registrations by clients may differ from the record.
  private var noted = NotedKeys<String>()
  private(set) var ofClients: [Client: Set<String>] = [:]
  /// The bindings that programs serve by their destinations (D18).
  private(set) var served = ServedBindings()
  /// The tags declared by the registrations that count.
  private(set) var declared: [BindingID: [String: DeclaredTag]] = [:]
  /// The mistakes of files, by the names of their destinations (D2).
  private(set) var mistakes: [String: String] = [:]

  subscript(name: String) -> Shared<Destination>? { registrations[name]?.last?.destination }

  /// The destination of a name as a file says now, even if a client has registered the name since; nil if no file says anything.
  func file(_ name: String) -> Shared<Destination>? {
    guard let first = registrations[name]?.first?.destination, case .file = first.source else { return nil }
    return first
  }

  /// The registrations that count, in the order of their names.
  var all: [Destination] {
    registrations.values.compactMap { $0.last?.destination.content }.sorted { $0.name < $1.name }
  }

  var countOfClients: Int { ofClients.values.reduce(0) { $0 + $1.count } }

  /// Adds a client's registration of a name, or replaces its earlier one. It counts from now on.
  /// - Parameter handle: the last handle that was given out.
  /// - Returns: the tags that are newly declared, or no longer declared, and that no program serves.
  mutating func register(
    _ destination: Destination, by client: Client, after handle: Handle = Handle(0)
  ) -> Set<GroupTag> {
    ofClients[client, default: []].insert(destination.name)
    noted.note(destination.name)
    return change(destination.name) { list in
      list.removeAll { $0.destination.source == .client(client) }
      list.append(Registration(destination: Shared(destination), after: handle))
    }
  }

  /// - Returns: the tags, as from `register`; nil if the client has not registered the name.
  mutating func unregister(_ name: String, by client: Client) -> Set<GroupTag>? {
    guard ofClients[client]?.remove(name) != nil else { return nil }
    if ofClients[client]?.isEmpty == true { ofClients[client] = nil }
    let unserved = served.end(destination: name, of: client).filter { declared[$0.group]?[$0.tag] == nil }
    noted.note(name)
    return unserved.symmetricDifference(
      change(name) { list in list.removeAll { $0.destination.source == .client(client) } })
  }

  /// Notes what a client serves by a binding; nil if it serves it no longer.
  /// - Returns: the tags, as from `register`.
  mutating func serve(
    _ binding: BindingID, _ registration: ServedBindings.Registration?, by client: Client
  ) -> Set<GroupTag> {
    let differing = registration.map { served.serve(binding, $0) } ?? served.end(binding, of: client)
    return differing.filter { declared[$0.group]?[$0.tag] == nil }
  }

  /// Whether a destination declares the tag, or a program serves it.
  func knows(_ tag: String, in group: BindingID) -> Bool {
    declared[group]?[tag] != nil || served.tags(of: group)?[tag] != nil
  }

  /// Whether there is a record. Without one, no change is noted.
  var isNoting: Bool {
    get { noted.isNoting }
    set { noted.isNoting = newValue }
  }

  var hasNoted: Bool { !noted.isEmpty }

  /// The registration of a name that counts, if a client made it while a presentation already existed.
  func successor(_ name: String, of handle: Handle) -> Shared<Destination>? {
    guard let last = registrations[name]?.last, case .client = last.destination.source, last.after >= handle else {
      return nil
    }
    return last.destination
  }

  /// Returns a row for each name whose registrations by clients changed since the last call. A row has the registrations that are left,
  /// the one that counts last; it is nil if none are left.
  mutating func takeNoted() -> RecordChanges.Rows<String, [Destination]> {
    noted.take { [registrations] name in
      let remaining = (registrations[name] ?? []).map(\.destination.content).filter {
        if case .client = $0.source { true } else { false }
      }
      return remaining.isEmpty ? nil : remaining
    }
  }

  /// The mistake in the file of a name without a destination; nil if none is known.
  func mistake(in name: String) -> String? { self[name] == nil ? mistakes[name] : nil }

  /// Replaces the registrations from files. Registrations of clients still take precedence.
  /// - Returns: the tags, as from `register`.
  mutating func load(_ destinations: [Destination], mistakes: [String: String]) -> Set<GroupTag> {
    self.mistakes = mistakes
    var differing: Set<GroupTag> = []
    func isFile(_ registration: Registration) -> Bool {
      if case .file = registration.destination.source { true } else { false }
    }
    for (name, list) in registrations where list.contains(where: isFile) {
      differing.formSymmetricDifference(change(name) { list in list.removeAll(where: isFile) })
    }
    for destination in destinations {
      differing.formSymmetricDifference(
        change(destination.name) { list in list.insert(Registration(destination: Shared(destination)), at: 0) })
    }
    return differing
  }

  private mutating func change(_ name: String, _ body: (inout [Registration]) -> Void) -> Set<GroupTag> {
    var list = registrations[name] ?? []
    var differing: Set<GroupTag> = []
    if let tag = declaredTag(of: list.last?.destination) {
      differing.formSymmetricDifference([GroupTag(group: tag.group, tag: tag.tag)])
      declared[tag.group]?[tag.tag] = nil
      if declared[tag.group]?.isEmpty == true { declared[tag.group] = nil }
    }
    body(&list)
    registrations[name] = list.isEmpty ? nil : list
    if let tag = declaredTag(of: list.last?.destination) {
      differing.formSymmetricDifference([GroupTag(group: tag.group, tag: tag.tag)])
      declared[tag.group, default: [:]][tag.tag] = DeclaredTag(binding: tag.binding, destination: name)
    }
    return differing.filter { served.tags(of: $0.group)?[$0.tag] == nil }
  }

  private func declaredTag(of destination: Shared<Destination>?) -> (group: BindingID, tag: String, binding: BindingID)?
  {
    guard let destination, let declared = try? destination.content.declaredTag() else { return nil }
    return declared
  }
}

extension StateMachine {
  /// The destination of an item as its file says now; its own if it is not from a file, or if the file is gone.
  func destinationAsWritten(of item: Shared<Item>) -> Shared<Destination>? {
    guard let own = item.destination, case .file = own.source else { return item.destination }
    return state.registry.file(own.name) ?? own
  }
}
