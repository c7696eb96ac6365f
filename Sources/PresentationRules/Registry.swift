// Why this file exists: which destinations there are, by file and by client, of which the last registration of a name
// counts (D1).

import PresentationModel

/// The destinations that can be named.
struct Registry: Sendable {
  /// Where a declared tag leads (G7).
  struct DeclaredTag: Hashable, Sendable {
    let binding: BindingID
    let destination: String
  }

  /// What files and clients registered under a name; the last one counts.
  private var registrations: [String: [Destination]] = [:]
  /// Of which names something that a client registered may be on record otherwise.
  private var noted: Set<String> = []
  /// Whether there is a record.
  var isNoting = false
  private(set) var ofClients: [Client: Set<String>] = [:]
  /// The tags that the counting registrations declare.
  private(set) var declared: [BindingID: [String: DeclaredTag]] = [:]

  subscript(name: String) -> Destination? { registrations[name]?.last }

  /// The counting registration of every name, in the order of names.
  var all: [Destination] { registrations.values.compactMap(\.last).sorted { $0.name < $1.name } }

  var countOfClients: Int { ofClients.values.reduce(0) { $0 + $1.count } }

  /// Puts a client's registration before what was registered under the name; again by the same client replaces its own.
  /// - Returns: the tags that are declared now and were not before, or the other way round.
  mutating func register(_ destination: Destination, by client: Client) -> Set<GroupTag> {
    ofClients[client, default: []].insert(destination.name)
    if isNoting { noted.insert(destination.name) }
    return change(destination.name) { list in
      list.removeAll { $0.source == .client(client) }
      list.append(destination)
    }
  }

  /// - Returns: the tags as `register` gives them; nil where the client had registered nothing of that name.
  mutating func unregister(_ name: String, by client: Client) -> Set<GroupTag>? {
    guard ofClients[client]?.remove(name) != nil else { return nil }
    if ofClients[client]?.isEmpty == true { ofClients[client] = nil }
    if isNoting { noted.insert(name) }
    return change(name) { list in list.removeAll { $0.source == .client(client) } }
  }

  /// What clients registered under a name, the one that counts last.
  func registrationsOfClients(_ name: String) -> [Destination] {
    registrations[name]?.filter { if case .client = $0.source { true } else { false } } ?? []
  }

  /// The names of which something that a client registered changed since this was last called.
  mutating func takeNoted() -> Set<String> {
    defer { noted = [] }
    return noted
  }

  /// Replaces all that files registered; it stays behind what clients did.
  /// - Returns: the tags as `register` gives them.
  mutating func load(_ destinations: [Destination]) -> Set<GroupTag> {
    var differing: Set<GroupTag> = []
    func isFile(_ destination: Destination) -> Bool {
      if case .file = destination.source { true } else { false }
    }
    for (name, list) in registrations where list.contains(where: isFile) {
      differing.formSymmetricDifference(change(name) { list in list.removeAll(where: isFile) })
    }
    for destination in destinations {
      differing.formSymmetricDifference(change(destination.name) { list in list.insert(destination, at: 0) })
    }
    return differing
  }

  private mutating func change(_ name: String, _ body: (inout [Destination]) -> Void) -> Set<GroupTag> {
    var list = registrations[name] ?? []
    var differing: Set<GroupTag> = []
    if let tag = declaredTag(of: list.last) {
      differing.formSymmetricDifference([GroupTag(group: tag.group, tag: tag.tag)])
      declared[tag.group]?[tag.tag] = nil
      if declared[tag.group]?.isEmpty == true { declared[tag.group] = nil }
    }
    body(&list)
    registrations[name] = list.isEmpty ? nil : list
    if let tag = declaredTag(of: list.last) {
      differing.formSymmetricDifference([GroupTag(group: tag.group, tag: tag.tag)])
      declared[tag.group, default: [:]][tag.tag] = DeclaredTag(binding: tag.binding, destination: name)
    }
    return differing
  }

  private func declaredTag(of destination: Destination?) -> (group: BindingID, tag: String, binding: BindingID)? {
    guard let destination, let declared = try? destination.declaredTag() else { return nil }
    return declared
  }
}
