import CoordinatorAPI
import DBus
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
        "close", "activate", "hide", "move", "summon", "place", "fullscreen", "expect", "behind", "pid", "parent",
        "output", "focus", "in-view", "startup-id",
      ])
}

@Test(
  "An adapter beside another one has a name for its display",
  arguments: [
    ("wayland-2", "org.navd.WindowSystem1.wayland-2"), (":1", "org.navd.WindowSystem1._3a1"),
    ("10.0.0.1:5", "org.navd.WindowSystem1._310_2e0_2e0_2e1_3a5"), ("a\nß", "org.navd.WindowSystem1.a_0a_c3_9f"),
    (String(repeating: "x", count: 300), nil),
  ])
func windowSystem_ofDisplay_hasOwnName(_ display: String, _ name: String?) {
  let bus = WindowSystemInterface.bus(of: display)
  #expect(bus?.text == name)
  if let bus { #expect(WindowSystemInterface.display(of: bus) == display) }
}

@Test func windowSystem_nameOfTheFirstAdapter_tellsNoDisplay() {
  #expect(WindowSystemInterface.display(of: WindowSystemInterface.bus) == nil)
  for name: BusName in ["org.navd.WindowSystem1._3", "org.navd.WindowSystem1._xy", "org.navd.WindowSystem12.a"] {
    #expect(WindowSystemInterface.display(of: name) == nil)
  }
}

// MARK: Patterns

@Test(
  "A shell pattern is a regular expression for the whole text, with nothing that a configuration takes for something else",
  arguments: [
    ("mixer", "^mixer$"), ("*[Tt]hunar", "^.*[Tt]hunar$"), ("org.gnome.?", "^org\\.gnome\\..$"),
    ("[!a-c]*", "^[^a-c].*$"), ("[^x]", "^[^x]$"), ("a\\*b", "^a\\*b$"), ("[", "^\\[$"), ("a[", "^a\\[$"),
    ("a[]]b", "^a[\\]]b$"), ("[a\\]b]", "^[a\\]b]$"), ("[[:digit:]_]", "^[[:digit:]_]$"), ("[[:]", "^[\\[:]$"),
    ("(x)", "^\\(x\\)$"), ("a\"b$c", "^a.b.c$"), ("[\"$]", "^.$"), ("a\nb", "^a.b$"),
    ("a\\\\b[\\\\]", "^a.b.$"), ("a\"\u{301};b", "^a.\u{301};b$"), ("*\u{301}", "^.*\u{301}$"),
    ("[\"\u{200D}]", "^.$"), ("a\\?", "^a[?]$"), ("\r\n", "^..$"),
  ])
func shellPattern_expression_fitsTheSame(_ pattern: String, _ expression: String) {
  #expect(ShellPattern(pattern).expression == expression)
}

@Test func windowPattern_criteria_nameWhatIsWritten() {
  #expect(WindowPattern(appID: "osd").i3Criteria(appID: "app_id") == #"[app_id="^osd$"]"#)
  #expect(WindowPattern(appID: "osd", title: "*").i3Criteria(appID: "class") == #"[class="^osd$" title="^.*$"]"#)
  #expect(WindowPattern(title: "a;b]").i3Criteria(appID: "class") == #"[title="^a;b\]$"]"#)
}

@Test func expectedWindow_options_areThoseOfPlaceAndItsPattern() throws {
  let window = ExpectedWindow(WindowPlacement(.pointer, takesFocus: false), WindowPattern(appID: "osd", title: "x*"))
  #expect(
    window.options == [
      "place": .string("pointer"), "focus": .boolean(false), "app-id": .string("osd"), "title": .string("x*"),
    ])
  #expect(try ExpectedWindow(reading: window.options) == window)
  #expect(try ExpectedWindow(reading: ["later": .string("x")]) == ExpectedWindow(WindowPlacement()))
  #expect(throws: Refusal.self) { try ExpectedWindow(reading: ["app-id": .int64(3)]) }
}
