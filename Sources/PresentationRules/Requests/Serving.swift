import DBusValues
import PresentationModel
import TextFormats

// Requests of other clients at bindings that a program serves (D18).

extension Planner {
  /// A binding that a program serves, as the subject of a request.
  struct Served {
    let registration: ServedBindings.Registration
    /// The index of an element of a path; nil for any other binding.
    let index: Int?

    var binding: ServedBinding { registration.binding }
    var id: ValueSchema? { binding.id }
  }

  /// The program that serves a binding.
  private func served(_ binding: BindingID) -> Served? {
    if state.registry.served.isEmpty { return nil }
    return
      if let registration = state.serving(binding), registration.binding.entry.elements != true
    {
      Served(registration: registration, index: nil)
    } else if let (path, index) = binding.element, let registration = state.serving(path),
      registration.binding.entry.elements == true
    {
      Served(registration: registration, index: index)
    } else {
      nil
    }
  }

  /// Completes a request for an item, as the program that serves the binding declares it. The program itself names its destination, and
  /// its requests stay as they are, unless another program shows the binding.
  /// - Returns: nil if the item's parent is out of view; then the request goes to the program that serves the binding (D20).
  /// - Throws: `Refusal` with what the program accepts.
  mutating func accepted(
    _ id: String, _ options: ItemOptions, at binding: BindingID
  ) throws(Refusal) -> (id: String, options: ItemOptions)? {
    try checkShown(by: options.destination, at: binding)
    guard let served = served(binding) else {
      try checkElement(options, at: binding)
      return (id, options)
    }
    guard options.destination != served.registration.destination else {
      draft.asksProgram.remove(binding)
      return (id, options)
    }
    draft.asksProgram.insert(binding)
    if options.command != nil { throw notOfProgram("command", at: binding) }
    if let destination = options.destination { throw notOfProgram("destination \(quoted(destination))", at: binding) }
    var (id, options) = (id, options)
    if let identity = served.binding.entry.identity, let schema = served.id {
      let ofValue = options.value?[identity].map { JSON($0) }
      if id.isEmpty, let ofValue { id = ofValue.string ?? ofValue.text }
      if let ofValue, schema.fault(inID: id) == nil, ofValue != schema.json(ofID: id) {
        throw Refusal(
          .invalidArgument,
          "id is \(quoted(id)), but \(identity) of the value is \(ofValue.text); give the same, or only one")
      }
      let isNew = item(at: binding)?.id != id
      if ofValue == nil, isNew || options.value != nil, schema.fault(inID: id) == nil,
        let json = schema.json(ofID: id), let value = Value(basic: json)
      {
        options.value = (options.value ?? [:]).merging([identity: value]) { $1 }
      }
    }
    if served.binding.entry.own == true, item(at: binding)?.id != id {
      throw Refusal(
        .invalidArgument, "only the program that shows “\(binding)” can make what it shows there; ask the program to")
    }
    if let fault = fault(inID: id, of: served) { throw Refusal(.invalidArgument, "“\(binding)”: \(fault)") }
    let isNew = item(at: binding)?.id != id
    if isNew || options.value != nil, let fault = fault(in: options.value ?? [:], of: served) {
      throw Refusal(.invalidArgument, "“\(binding)”: \(fault)")
    }
    if isNew { try place(&options, of: served, at: binding) }
    guard served.binding.entry.waits == true, item(at: binding) == nil, let parent = options.from, !canBeParent(parent)
    else { return (id, options) }
    try machine.check(id: id)
    draft.requested.append(
      RequestedItem(
        binding: binding, id: id, destination: served.registration.destination, value: options.value ?? [:]))
    if let index = served.index, let path = binding.deriving { draft.requestedHeights[path] = index + 1 }
    return nil
  }

  /// Leaves items whose parents the transaction has closed to the programs that serve them, as if the parents had been closed before (D20).
  /// - Returns: whether there are any.
  mutating func leaveToPrograms() -> Bool {
    if draft.asksProgram.isEmpty { return false }
    var left: [(place: BindingID, index: Int, item: RequestedItem, author: Author)] = []
    for index in draft.slots.indices where draft.slots[index].isNew && draft.slots[index].isRequested {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard draft.asksProgram.contains(binding), let item = slot.item, let served = served(binding),
        served.binding.entry.waits == true, let parent = served.binding.from, !canBeParent(parent)
      else { continue }
      let requested = RequestedItem(
        binding: binding, id: item.id, destination: served.registration.destination, value: item.value)
      left.append((served.index == nil ? binding : binding.deriving!, served.index ?? 0, requested, slot.author))
    }
    left.sort { ($0.place.text, $0.index) < ($1.place.text, $1.index) }
    for one in left {
      draft.requested.append(one.item)
      author = one.author
      clear(one.item.binding, reason: .parent)
    }
    return !left.isEmpty
  }

  /// Refuses what a program would show itself where another program shows something, or serves the binding.
  private func checkShown(by destination: String?, at binding: BindingID) throws(Refusal) {
    guard let client = author.client, let destination, state.registry[destination]?.source == .client(client) else {
      return
    }
    let served = served(binding)
    if [shower(of: binding), served?.registration.client].contains(where: { $0 != nil && $0 != client }) {
      let subject = served?.index == nil ? binding : binding.deriving ?? binding
      throw Refusal(.busy, "another program shows “\(subject)” already")
    }
  }

  /// The client that shows the item of a slot by a destination of its own; nil if there is none, or it has left the bus.
  private func shower(of binding: BindingID) -> Client? {
    guard case .client(let client)? = item(at: binding)?.destination?.source,
      state.slots[binding]?.current.map(state.abandoned.contains) != true
    else { return nil }
    return client
  }

  private func notOfProgram(_ what: String, at binding: BindingID) -> Refusal {
    Refusal(
      .invalidArgument,
      "\(what) is given, but a program shows “\(binding)” itself; leave it out, or use another binding")
  }

  private func fault(inID id: String, of served: Served) -> String? {
    let binding = served.binding
    if !binding.types.isEmpty {
      let names = binding.types.keys.sorted().joined(separator: ", ")
      let parts = id.split(separator: " ", maxSplits: 1).map(String.init)
      guard parts.count == 2, let schema = binding.types[parts[0]] else {
        return "expected the name of a type (\(names)), a space and a value as JSON as the id, found \(quoted(id))"
      }
      guard let json = try? JSON.parse(parts[1]), json.text == parts[1] else {
        return
          "expected a value as JSON, without spaces and with sorted keys, behind \(parts[0]), found \(quoted(parts[1]))"
      }
      return schema.fault(in: json, named: "")
    }
    // The value of the contract for what cannot be shown.
    if binding.entry.elements == true, binding.id == nil {
      return "expected no elements, since the program shows none now"
    }
    guard let schema = binding.id else { return id.isEmpty ? nil : "expected no id, found \(quoted(id))" }
    return schema.fault(inID: id)
  }

  private func fault(in value: Properties, of served: Served) -> String? {
    guard let schema = served.binding.value else {
      return value.isEmpty ? nil : "expected no value, found \(JSON(value).text)"
    }
    if schema.isWholeValue { return schema.fault(in: JSON(value), named: "") }
    return schema == .any ? nil : schema.fault(in: value["value"].map { JSON($0) }, named: "value")
  }

  /// Presents an item where the program presents its own.
  private func place(_ options: inout ItemOptions, of served: Served, at binding: BindingID) throws(Refusal) {
    func agree<T: Equatable>(_ what: String, _ given: T?, _ own: T?) throws(Refusal) -> T? {
      guard given == nil || given == own else {
        throw Refusal(
          .invalidArgument,
          "\(what) is given, but “\(binding)” has \(own.map { "“\($0)”" } ?? "none"); leave \(what) out")
      }
      return own
    }
    var stack = served.binding.stack
    var from = served.binding.from
    if let index = served.index, let path = binding.deriving {
      stack = path
      let isThere = item(at: binding)?.position?.stack == path
      let isNextOfRequested = draft.requestedHeights[path].map { index <= $0 } ?? false
      guard isThere || index == height(of: path) || isNextOfRequested else {
        throw Refusal(
          .invalidArgument, "“\(binding)” is not the next element of “\(path)”; expected “\(path)[\(height(of: path))]”"
        )
      }
      if index > 0 { from = path.appending(index: index - 1) }
    }
    options.stack = try agree("stack", options.stack, stack)
    options.group = try agree("group", options.group, served.binding.group)
    options.tag = try agree("tag", options.tag, served.binding.tag(at: binding))
    options.from = from == nil ? options.from : try agree("from", options.from, from)
    options.destination = served.registration.destination
  }

  /// Refuses an element that the program of a path could not show.
  private func checkElement(_ options: ItemOptions, at binding: BindingID) throws(Refusal) {
    guard let stack = options.stack, options.destination == nil, options.command == nil,
      let registration = state.serving(stack), registration.binding.entry.elements == true,
      state.registry[binding.text] == nil, item(at: binding) == nil
    else { return }
    throw Refusal(
      .invalidArgument,
      "“\(binding)” is no element of “\(stack)”, which a program shows; expected “\(stack)[\(height(of: stack))]”")
  }

  /// Refuses edits of an item after which the program could not decode it.
  func checkServed(_ binding: BindingID, value: Properties, remove: [String]) throws(Refusal) {
    guard let served = served(binding), let item = item(at: binding), !value.isEmpty || !remove.isEmpty else { return }
    if let identity = served.binding.entry.identity, let new = value[identity], new != item.value[identity] {
      throw Refusal(
        .invalidArgument, "“\(binding)”: \(identity) is the id, \(quoted(item.id)), which stays; leave \(identity) out")
    }
    let edited = Edits(set: value, remove: remove).applied(to: item.value)
    if let fault = fault(in: edited, of: served) { throw Refusal(.invalidArgument, "“\(binding)”: \(fault)") }
  }

  /// The request for a tag that a program serves (D18).
  func served(_ group: BindingID, _ tag: String) throws(Refusal) -> TagMemory? {
    guard let tags = state.registry.served.tags(of: group) else { return nil }
    guard let binding = tags[tag] else {
      throw Refusal(
        .unknownTag,
        "a program shows the group “\(group)”, which has no tag \(quoted(tag)); expected \(tags.keys.sorted().map { quoted($0) }.joined(separator: " or "))"
      )
    }
    return TagMemory(binding: binding, id: "", options: ItemOptions(), isTrusted: true)
  }
}

extension Planner {
  /// Refuses a member of a group that a program shows, unless it is one of those that the program serves.
  func checkServed(_ membership: GroupTag, at binding: BindingID, _ destination: String?) throws(Refusal) {
    guard let tags = state.registry.served.tags(of: membership.group), tags[membership.tag] != binding,
      !tags.values.contains(where: { state.serving($0)?.destination == destination })
    else { return }
    _ = try served(membership.group, membership.tag)
    throw Refusal(
      .invalidArgument,
      "“\(binding)” is not what the tag \(quoted(membership.tag)) of “\(membership.group)” presents; expected “\(tags[membership.tag]?.text ?? "")”"
    )
  }
}

extension BindingID {
  /// The path and the index of `path[index]`; nil for any other binding.
  fileprivate var element: (path: BindingID, index: Int)? {
    guard text.utf8.last == UInt8(ascii: "]"), let path = deriving,
      let index = Int(text.dropFirst(path.text.count + 1).dropLast())
    else { return nil }
    return (path, index)
  }
}

extension Value {
  /// The value of a number, a text or a boolean; nil for other JSON.
  fileprivate init?(basic json: JSON) {
    switch json {
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .int64(number)
    case .unsigned(let number): self = .uint64(number)
    case .real(let number): self = .double(number)
    case .string(let text): self = .string(text)
    case .null, .array, .object: return nil
    }
  }
}
