import DBusValues
import PresentationModel
import PresentationRules

/// A binding that a client serves by a destination of its own (D18).
struct NaiveServed {
  let binding: BindingID
  let client: Client
  let destination: String
  let entry: ServedEntry
}

extension NaiveModel {
  /// “A binding that two programs serve is that of the program whose item is there, or else of the first.”
  func serving(_ binding: BindingID) -> NaiveServed? {
    let all = served.filter { $0.binding == binding }
    let first = all.first?.entry.elements == true ? try? BindingID("\(binding)[0]") : binding
    let shown = first.flatMap { slots[$0]?.item.destination }
    return all.first { $0.destination == shown?.name && shown?.source != .request } ?? all.first
  }

  /// The program of a binding or, for an element of a path, that of the path.
  func servingOne(_ binding: BindingID) -> (NaiveServed, path: BindingID?, index: Int)? {
    if let served = serving(binding), served.entry.elements != true { return (served, nil, 0) }
    guard let bracket = binding.text.lastIndex(of: "["), binding.text.hasSuffix("]"),
      let path = try? BindingID(String(binding.text[..<bracket])),
      let index = Int(binding.text[bracket...].dropFirst().dropLast()), let served = serving(path),
      served.entry.elements == true
    else { return nil }
    return (served, path, index)
  }

  /// The tags of a group that programs serve, with their bindings. It has none if its name belongs to nobody who serves it.
  func servedTags(of group: BindingID) -> [String: BindingID] {
    var found: [String: BindingID] = [:]
    for binding in Set(served.map(\.binding)) where derives(binding, from: group) {
      guard let first = served.first(where: { $0.binding == binding }), first.entry.group == group.text else {
        continue
      }
      found[first.entry.tag ?? standardTag(of: binding, in: group)] = binding
    }
    return found
  }

  /// - Returns: the bindings that another client serves.
  mutating func serve(
    _ destination: String, _ entries: [(BindingID, ServedEntry?)], by client: Client
  ) throws(NaiveRefusal) -> [BindingID] {
    guard registrations[destination]?.contains(where: { $0.source == .client(client) }) == true else {
      throw NaiveRefusal(.unknownDestination)
    }
    var elsewhere: [BindingID] = []
    for (binding, entry) in entries {
      let index = served.firstIndex { $0.binding == binding && $0.client == client }
      if let entry {
        let new = NaiveServed(binding: binding, client: client, destination: destination, entry: entry)
        if let index { served[index] = new } else { served.append(new) }
        if serving(binding)?.client != client { elsewhere.append(binding) }
      } else if let index {
        served.remove(at: index)
      }
    }
    return elsewhere
  }
}

extension NaivePlan {
  /// Completes a request for an item by what the program says that serves the binding, or refuses it (D18).
  /// - Returns: nil if the program keeps the item, whose parent is out of view (D20).
  mutating func accepted(
    _ binding: BindingID, _ id: String, _ options: ItemOptions
  ) throws(NaiveRefusal) -> (id: String, options: ItemOptions)? {
    let found = before.servingOne(binding)
    if let client, let name = options.destination, before.destination(name)?.source == .client(client) {
      var others = [found?.0.client]
      if case .client(let shower)? = items[binding]?.destination?.source,
        !before.away.contains(before.slots[binding]?.token ?? Token(number: 0))
      {
        others.append(shower)
      }
      if others.contains(where: { $0 != nil && $0 != client }) { throw NaiveRefusal(.busy) }
    }
    guard let (served, path, index) = found else {
      if let stack = options.stack, options.destination == nil, options.command == nil,
        before.serving(stack)?.entry.elements == true, before.destination(binding.text) == nil, items[binding] == nil
      {
        throw NaiveRefusal(.invalidArgument)
      }
      return (id, options)
    }
    guard options.destination != served.destination else {
      asksProgram.remove(binding)
      return (id, options)
    }
    asksProgram.insert(binding)
    guard options.destination == nil, options.command == nil else { throw NaiveRefusal(.invalidArgument) }
    var (id, options) = (id, options)
    let entry = served.entry
    if let key = entry.identity {
      let ofValue = options.value?[key].map(Self.number)
      if id.isEmpty, let ofValue { id = ofValue ?? "?" }
      if let ofValue, Int(id) != nil, ofValue != id { throw NaiveRefusal(.invalidArgument) }
      if ofValue == nil, items[binding]?.id != id || options.value != nil, let number = Int64(id) {
        options.value = (options.value ?? [:]).merging([key: .int64(number)]) { $1 }
      }
    }
    let isNew = items[binding]?.id != id
    if entry.own == true, isNew { throw NaiveRefusal(.invalidArgument) }
    let isID =
      switch entry.id {
      case "Int": Int(id) != nil
      case "String": true
      default: entry.elements != true && id.isEmpty
      }
    guard isID, !isNew && options.value == nil || Self.fits(options.value ?? [:], entry.value) else {
      throw NaiveRefusal(.invalidArgument)
    }
    guard isNew else { return (id, options) }
    // “A new item gets the destination, the group, the tag, the stack and the parent that the program declares.”
    var (stack, from) = (entry.stack, entry.from)
    if let path {
      stack = path.text
      let height = paths[path]?.count ?? 0
      // “The next of its path” counts those elements, too, that this transaction has for the program to keep.
      let kept = requested.compactMap { before.servingOne($0.binding) }.last { $0.path == path }?.index
      guard
        items[binding] != nil && place(of: binding, in: paths)?.stack == path || index == height
          || kept.map({ index <= $0 + 1 }) == true
      else {
        throw NaiveRefusal(.invalidArgument)
      }
      if index > 0 { from = "\(path)[\(index - 1)]" }
    }
    let group = entry.group.flatMap { try? BindingID($0) }
    let tag = group.map { entry.tag ?? standardTag(of: binding, in: $0) }
    guard options.stack == nil || options.stack?.text == stack, options.group == nil || options.group == group,
      options.tag == nil || options.tag == tag, from == nil || options.from == nil || options.from?.text == from
    else { throw NaiveRefusal(.invalidArgument) }
    (options.stack, options.group, options.tag) = (stack.flatMap { try? BindingID($0) }, group, tag)
    options.from = options.from ?? from.flatMap { try? BindingID($0) }
    options.destination = served.destination
    if entry.waits == true, items[binding] == nil, let parent = options.from, !canBeParent(parent) {
      let faults = faults(of: options)
      guard faults.isEmpty else { throw NaiveRefusal(faults) }
      requested.append((binding, id, options.value ?? [:]))
      return nil
    }
    return (id, options)
  }

  /// Whether an edit leaves a value that the program accepts.
  func acceptsEdit(_ binding: BindingID, _ value: Properties, _ edited: Properties, removes: Bool) -> Bool {
    guard let (served, _, _) = before.servingOne(binding), let item = items[binding], !value.isEmpty || removes else {
      return true
    }
    if let key = served.entry.identity, let new = value[key], new != item.value[key] { return false }
    return Self.fits(edited, served.entry.value)
  }

  /// Refuses what is not one of the members of a group that a program shows.
  func checkServedTag(_ group: BindingID, _ tag: String, _ binding: BindingID, _ destination: String?) -> Bool {
    let tags = before.servedTags(of: group)
    guard !tags.isEmpty, tags[tag] != binding else { return true }
    return tags.values.contains { before.serving($0)?.destination == destination }
  }

  private static func number(_ value: Value) -> String? {
    switch value {
    case .int32(let number): "\(number)"
    case .int64(let number): "\(number)"
    default: nil
    }
  }

  /// Whether a value is of one of the types that the generator gives.
  private static func fits(_ value: Properties, _ type: String?) -> Bool {
    func hasNumber(_ key: String) -> Bool { value[key].map { number($0) != nil } ?? true }
    func hasText(_ key: String) -> Bool {
      value[key].map { if case .string = $0 { true } else { false } } ?? true
    }
    return switch type {
    case nil: value.isEmpty
    case "Any": true
    case "{k: Int}": value["k"] != nil && value.count == 1 && hasNumber("k")
    default: Set(value.keys).isSubset(of: ["j", "k"]) && hasNumber("k") && hasText("j")
    }
  }
}
