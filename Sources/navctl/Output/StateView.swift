// Why this file exists: several verbs ask the same questions of the whole state.

import CoordinatorAPI
import DBusValues
import TextFormats

/// The state as `GetState` gives it, in JSON.
struct StateView {
  let json: JSON

  init(_ json: JSON) { self.json = json }

  init(_ state: Properties, serial: UInt64) {
    var state = state
    state["serial"] = .uint64(serial)
    json = JSON(state)
  }

  /// In the order of acceptance.
  var presentations: [JSON] { json["presentations"]?.array ?? [] }

  /// nil where nothing is selected.
  func selection(of group: String) -> String? { json["groups"]?[group]?["selection"]?.string }
}

/// What of the state a verb is about.
struct StateFilter: Equatable {
  var group: String?
  var binding: String?
  var stack: String?

  var isEmpty: Bool { self == StateFilter() }

  func includes(_ presentation: JSON) -> Bool {
    (group == nil || presentation["group"]?.string == group)
      && (binding == nil || presentation["binding"]?.string == binding)
      && (stack == nil || presentation["stack"]?.string == stack)
  }

  /// The state with nothing else in it.
  func apply(_ state: StateView) -> StateView {
    guard !isEmpty, case .object(var members) = state.json else { return state }
    let presentations = state.presentations.filter(includes)
    members["presentations"] = .array(presentations)
    let groups = group.map { [$0] } ?? presentations.compactMap { $0["group"]?.string }
    members["groups"] = .object((members["groups"]?.object ?? [:]).filter { groups.contains($0.key) })
    let stacks = stack.map { [$0] } ?? presentations.compactMap { $0["stack"]?.string }
    members["stacks"] = .object((members["stacks"]?.object ?? [:]).filter { stacks.contains($0.key) })
    return StateView(.object(members))
  }

  /// The one presentation that a single line is about: what should be shown last, else what is going last.
  func shown(_ state: StateView) -> JSON? {
    let candidates = state.presentations.filter(includes)
    let wanted = candidates.filter { $0["phase"]?.string != "dismissing" }
    if let group {
      // In a group others may be queued: only the selected one is to be seen.
      let selection = state.selection(of: group)
      if let selected = wanted.last(where: { $0["tag"]?.string == selection && selection != nil }) { return selected }
      return candidates.last { $0["phase"]?.string == "dismissing" }
    }
    return wanted.last { $0["phase"]?.string != "waiting" } ?? wanted.last ?? candidates.last
  }
}
