import CoordinatorAPI
import DBusValues
import PresentationModel
import Testing
import TextFormats

@testable import navctl

// The filters of navctl list, and the presentation that navctl show chooses.

private func presentation(
  _ binding: String, _ number: Int, _ phase: String = "presented", group: String? = nil, stack: String? = nil
) -> JSON {
  var members: [String: JSON] = ["binding": .string(binding), "presentation": JSON(number), "phase": .string(phase)]
  members["group"] = group.map(JSON.string)
  members["tag"] = group.map { _ in .string(binding) }
  members["stack"] = stack.map(JSON.string)
  return .object(members)
}

private func state(_ presentations: [JSON], selection: String? = nil) -> StateSnapshot {
  var group: [String: JSON] = ["tags": ["wifi", "volume"], "queue": []]
  group["selection"] = selection.map(JSON.string)
  return StateSnapshot(json: [
    "serial": 7, "presentations": .array(presentations), "groups": ["panels": .object(group), "other": [:]],
    "stacks": ["main": [["binding": "settings", "id": "1"]], "else": []],
  ])
}

@Test func filter_byGroup_keepsItsMembersAndItself() {
  let whole = state([presentation("wifi", 1, group: "panels"), presentation("fact", 2)])
  let filtered = StateFilter(group: "panels").apply(whole)
  #expect(filtered.entries.map(\.binding) == ["wifi"])
  #expect(filtered.json["groups"]?.object?.keys.sorted() == ["panels"])
  #expect(filtered.json["stacks"] == [:])
  #expect(filtered.json["serial"] == 7)
}

@Test func filter_byBinding_keepsItsGroupAndStack() {
  let whole = state([presentation("settings", 1, group: "other", stack: "main"), presentation("fact", 2)])
  let filtered = StateFilter(binding: "settings").apply(whole)
  #expect(filtered.entries.count == 1)
  #expect(filtered.json["groups"]?.object?.keys.sorted() == ["other"])
  #expect(filtered.json["stacks"]?.object?.keys.sorted() == ["main"])
}

@Test func filter_withoutParked_addsNone() {
  #expect(StateFilter(binding: "fact").apply(state([presentation("fact", 2)])).json["parked"] == nil)
}

@Test func filter_empty_keepsEverything() {
  let whole = state([presentation("fact", 2)])
  #expect(StateFilter().apply(whole).json == whole.json)
}

@Test func shown_inAGroup_isTheSelectedMember() {
  let filter = StateFilter(group: "panels")
  func shown(_ presentations: [JSON], _ selection: String?) -> UInt64? {
    filter.shown(state(presentations, selection: selection))?.presentation
  }
  let going = presentation("volume", 1, "dismissing", group: "panels")
  let coming = presentation("wifi", 2, "waiting", group: "panels")
  #expect(shown([going, coming], "wifi") == 2)
  #expect(shown([presentation("volume", 1, group: "panels"), coming], "volume") == 1)
  #expect(shown([going], nil) == 1)
  #expect(shown([coming], nil) == nil)
  #expect(shown([], "wifi") == nil)
}

@Test func shown_withoutAGroup_isTheLatest() {
  func shown(_ presentations: [JSON], _ filter: StateFilter = StateFilter()) -> UInt64? {
    filter.shown(state(presentations))?.presentation
  }
  let a = presentation("a", 1), b = presentation("b", 2)
  #expect(shown([a, b]) == 2)
  #expect(shown([a, presentation("b", 2, "dismissing")]) == 1)
  #expect(shown([a, presentation("b", 2, "waiting")]) == 1)
  #expect(shown([presentation("b", 2, "waiting")]) == 2)
  #expect(shown([presentation("b", 2, "dismissing"), presentation("b", 3, "waiting")], .init(binding: "b")) == 3)
  #expect(shown([]) == nil)
}

@Test func stateSnapshot_groups_areReadByName() {
  let view = state([], selection: "wifi")
  #expect(view.groupEntries["panels"]?.selection == "wifi")
  #expect(view.groupEntries["nothing"]?.selection == nil)
  #expect(StateSnapshot([:], serial: 3).json == ["serial": 3])
}

@Test func stateTables_list_hasAllColumns() {
  let table = StateTables.list(state([presentation("wifi", 1, group: "panels")]))
  #expect(table.text(.plain) == "1\twifi\t\tpresented\t\tpanels\twifi\t\t\n")
}

@Test func show_table_beginsWithTheIdentity() {
  let entry = StateEntry(json: [
    "value": ["a": 1], "phase": "presented", "id": "1", "binding": "b", "serial": 3, "parent": 7, "children": [8, 9],
    "timeout": 2000, "later": true,
  ])
  let others = [
    StateEntry(json: ["presentation": 7, "binding": "up"]),
    StateEntry(json: ["presentation": 9, "binding": "down"]),
  ]
  #expect(
    Show.table(entry, others: others, at: 0).text(.plain) == """
      binding\tb
      id\t1
      phase\tpresented
      parent\t7 up
      children\t8, 9 down
      timeout\t2s
      value\t{"a":1}
      later\ttrue

      """)
}
