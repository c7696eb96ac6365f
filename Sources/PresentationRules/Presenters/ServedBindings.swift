import PresentationModel
import TextFormats

/// A binding that a program serves: which items the program accepts there, and where they are presented (D18).
public struct ServedBinding: Hashable, Sendable {
  public let entry: ServedEntry
  let id: ValueSchema?
  let value: ValueSchema?
  /// The types of a path of several types, by their names.
  let types: [String: ValueSchema]
  let group: BindingID?
  let stack: BindingID?
  let from: BindingID?

  /// - Throws: `Refusal`: `invalidBinding`, or `invalidArgument` for an unknown key or a text that is no type.
  public init(_ entry: ServedEntry) throws(Refusal) {
    try ServedEntry.table.check(entry.properties)
    self.entry = entry
    id = try entry.id.map { text throws(Refusal) in try ValueSchema(text) }
    value = try entry.value.map { text throws(Refusal) in try ValueSchema(text) }
    var types: [String: ValueSchema] = [:]
    for (name, text) in entry.types ?? [:] { types[name] = try ValueSchema(text) }
    self.types = types
    group = try BindingID(optional: entry.group, as: "group")
    stack = try BindingID(optional: entry.stack, as: "stack")
    from = try BindingID(optional: entry.from, as: "from")
    guard entry.tag == nil || group != nil else {
      throw Refusal(
        .invalidArgument, "tag \(quoted(entry.tag ?? "")) is given without a group; give a group, or leave tag out")
    }
  }

  /// The tag in the group.
  func tag(at binding: BindingID) -> String? { entry.tagInGroup(at: binding.text) }
}

/// The bindings that programs serve. They are not on record: each program declares its own to the next navd.
struct ServedBindings: Sendable {
  struct Registration: Sendable {
    let client: Client
    let destination: String
    let binding: ServedBinding
  }

  private var registrations: [BindingID: [Registration]] = [:]
  private var ofClients: [Client: Set<BindingID>] = [:]
  /// The bindings of the tags of groups that programs serve.
  private var tags: [BindingID: [String: BindingID]] = [:]

  var isEmpty: Bool { registrations.isEmpty }
  var count: Int { ofClients.values.reduce(0) { $0 + $1.count } }

  /// All registrations of a binding, the first one first.
  subscript(binding: BindingID) -> [Registration] { registrations[binding] ?? [] }

  /// All served bindings.
  var bindings: some Sequence<BindingID> { registrations.keys }

  func bindings(of client: Client) -> Set<BindingID> { ofClients[client] ?? [] }

  /// The groups that programs serve.
  var groups: some Sequence<BindingID> { tags.keys }

  /// The tags of a group that programs serve; nil if they serve none of it.
  func tags(of group: BindingID) -> [String: BindingID]? { tags[group] }

  /// - Returns: the tags that are newly served, or no longer served.
  mutating func serve(_ binding: BindingID, _ registration: Registration) -> Set<GroupTag> {
    ofClients[registration.client, default: []].insert(binding)
    return change(binding) { list in
      if let index = list.firstIndex(where: { $0.client == registration.client }) {
        list[index] = registration
      } else {
        list.append(registration)
      }
    }
  }

  /// - Returns: the tags, as from `serve`.
  mutating func end(_ binding: BindingID, of client: Client) -> Set<GroupTag> {
    guard ofClients[client]?.remove(binding) != nil else { return [] }
    if ofClients[client]?.isEmpty == true { ofClients[client] = nil }
    return change(binding) { list in list.removeAll { $0.client == client } }
  }

  /// Ends what a client serves by a destination.
  /// - Returns: the tags, as from `serve`.
  mutating func end(destination: String, of client: Client) -> Set<GroupTag> {
    var differing: Set<GroupTag> = []
    for binding in bindings(of: client)
    where registrations[binding]?.contains(where: { $0.client == client && $0.destination == destination }) == true {
      differing.formSymmetricDifference(end(binding, of: client))
    }
    return differing
  }

  private mutating func change(_ binding: BindingID, _ body: (inout [Registration]) -> Void) -> Set<GroupTag> {
    var list = registrations[binding] ?? []
    var differing: Set<GroupTag> = []
    if let served = list.first?.binding, let group = served.group, let tag = served.tag(at: binding),
      tags[group]?[tag] == binding
    {
      tags[group]?[tag] = nil
      if tags[group]?.isEmpty == true { tags[group] = nil }
      differing = [GroupTag(group: group, tag: tag)]
    }
    body(&list)
    registrations[binding] = list.isEmpty ? nil : list
    // Other clients may present their own members of a group whose name does not belong to the program.
    if let served = list.first?.binding, let group = served.group, binding.derives(from: group),
      let tag = served.tag(at: binding)
    {
      if tags[group, default: [:]].updateValue(binding, forKey: tag) == nil {
        differing.formSymmetricDifference([GroupTag(group: group, tag: tag)])
      }
    }
    return differing
  }
}

extension State {
  /// The program that serves a binding: the one whose item is there, or else the first of those that serve it.
  func serving(_ binding: BindingID) -> ServedBindings.Registration? {
    let all = registry.served[binding]
    guard all.count > 1 else { return all.first }
    let first = all[0].binding.entry.elements == true ? binding.appending(index: 0) : binding
    let shown = first.flatMap { slots[$0]?.current }.flatMap { presentations[$0]?.item.destination?.name }
    return all.first { $0.destination == shown } ?? all.first
  }
}

extension StateMachine {
  /// Notes which bindings a destination of a client serves (D18).
  /// - Parameter bindings: what each accepts; nil if it is served no longer.
  /// - Returns: the bindings that another client serves.
  /// - Throws: `Refusal`: `unknownDestination` if the client has not registered the destination; `limitExceeded`.
  public mutating func serve(
    _ destination: String, _ bindings: [(BindingID, ServedBinding?)], by client: Client
  ) throws(Refusal) -> (elsewhere: [BindingID], outcome: Outcome) {
    guard state.registry.ofClients[client]?.contains(destination) == true else {
      throw Refusal(
        .unknownDestination, "destination \(quoted(destination)) was not registered by this client; register it first")
    }
    let known = state.registry.served.bindings(of: client)
    let added = bindings.count { $0.1 != nil && !known.contains($0.0) }
    if added > 0 {
      try limits.check(
        "entries", state.registry.served.count + added, limits.entries, of: "bindings that programs serve")
    }
    var elsewhere: [BindingID] = []
    let outcome = process { transition in
      var differing: Set<GroupTag> = []
      for (binding, served) in bindings {
        let registration = served.map {
          ServedBindings.Registration(client: client, destination: destination, binding: $0)
        }
        differing.formSymmetricDifference(
          transition.state.registry.serve(binding, registration, by: client))
        if served != nil, transition.state.serving(binding)?.client != client { elsewhere.append(binding) }
      }
      transition.announce(differing)
    }
    return (elsewhere, outcome)
  }

  /// The served bindings that count, by the names of their destinations and by the texts of the bindings.
  public var servedByDestination: [String: [String: ServedEntry]] {
    var found: [String: [String: ServedEntry]] = [:]
    for binding in state.registry.served.bindings {
      guard let registration = state.serving(binding),
        state.registry[registration.destination]?.source == .client(registration.client)
      else { continue }
      found[registration.destination, default: [:]][binding.text] = registration.binding.entry
    }
    return found
  }
}
