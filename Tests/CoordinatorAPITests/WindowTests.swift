import CoordinatorAPI
import DBusValues
import PresentationModel
import Testing

// The keys and words with which adapters describe windows. Adapters of other authors depend on them, so this file writes them out
// by hand a second time.

@Test func windowProperties_keys_areThoseOfTheContract() {
  let keys = WindowProperties.table.rows.map { "\($0.name) \($0.types.map(\.signature).joined(separator: " "))" }
  #expect(
    keys == [
      "app-id s", "title s", "pid u", "parent s", "output s", "focused b", "urgent b", "floating b", "fullscreen b",
      "minimized b", "hidden b", "in-view b", "startup-id s",
    ])
}

@Test func windowProperties_ofAnAdapter_areReadWithoutStrangeKeysAndTypes() {
  let read = WindowProperties(reading: [
    "app-id": .string("foot"), "title": .int64(3), "pid": .uint32(17), "parent": .string(""), "colour": .string("red"),
  ])
  #expect(read.appID == "foot")
  #expect(read.title == nil)
  #expect(read.pid == 17)
  #expect(read.parent == "")
  #expect(read.focused == nil)
  #expect(read.properties == ["app-id": .string("foot"), "pid": .uint32(17), "parent": .string("")])
}

@Test func windowProperties_change_setsItsKeysAndKeepsTheOthers() {
  var window = Window(id: "1", WindowProperties())
  window.properties.title = "one"
  window.properties.focused = true
  var later = window.properties
  later.title = "two"
  later.output = ""
  let changes = window.properties.changes(to: later)
  #expect(changes.properties == ["title": .string("two"), "output": .string("")])
  window.properties.merge(changes)
  #expect(window.properties == later)
  #expect(window.properties.changes(to: later).properties.isEmpty)
}

@Test func windowCapabilities_words_areThoseOfTheContract() {
  #expect(
    WindowCapability.allCases.map(\.rawValue)
      == [
        "close", "activate", "hide", "move", "summon", "pid", "parent", "output", "focus", "in-view", "startup-id",
      ])
}
