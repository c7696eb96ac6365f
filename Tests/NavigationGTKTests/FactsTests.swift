import TestSupport
import Testing
import TextFormats

// The example GTKFacts, used with keyboard and pointer: it asks before an edit is lost, and navctl navigates it.

/// Presses the keys that count and ask for a fact about 1.
private func askForAFact(_ program: GTKProgram) throws {
  try program.wait(windows: "Facts")
  for key in ["Tab", "Return", "Tab", "Return"] { try program.keyboard.press(key) }
  try program.wait(windows: "Facts", "Fact about 1")
}

@Test("The example shows a fact in a sheet, which asks before an edit is lost, without a bus")
func gtkFacts_embedded_asksBeforeAnEditIsLost() throws {
  let program = try GTKProgram("GTKFacts", ["--embedded"])
  try askForAFact(program)
  try program.keyboard.press("b")
  try program.keyboard.press("Escape")
  try program.wait(windows: 3)
  try program.keyboard.press("Escape")
  try program.wait(windows: "Facts", "Fact about 1")
  #expect(program.complaints == [])
}

@Test("navctl dismisses the sheet of the example, and knows its open note")
func gtkFacts_onTheBus_isNavigatedByNavctl() throws {
  let program = try GTKProgram("GTKFacts")
  let session = program.session
  try askForAFact(program)
  #expect(try session.navctl("dismiss", "facts.fact").exitCode == 0)
  try program.wait(windows: "Facts")

  func bindings() throws -> Set<String> {
    Set(try session.navctl("list", "--format", "{binding}").lines)
  }
  // The keys select the first row of the list.
  for key in ["Tab", "Return"] { try program.keyboard.press(key) }
  try session.poll("the note is open") { try bindings() == ["facts.window", "facts.path[0]"] }
  try program.keyboard.press("alt+Left")
  try session.poll("the note is closed") { try bindings() == ["facts.window"] }
  #expect(program.complaints == [])
}

@Test("The example goes on while its user is asked, and ends when its last window is really gone")
func gtkFacts_ended_whenTheLastWindowIsGone() throws {
  let program = try GTKProgram("GTKFacts")
  let session = program.session
  try askForAFact(program)
  try program.keyboard.press("b")
  #expect(try session.navctl("dismiss", "facts.window").exitCode == 0)
  // The alert asks, and its user keeps the edit.
  try program.wait(windows: 3)
  try program.keyboard.press("Escape")
  try program.wait(windows: "Facts", "Fact about 1")
  #expect(try session.navctl("dismiss", "facts.window").exitCode == 0)
  try program.wait(windows: 3)
  for key in ["Tab", "Return"] { try program.keyboard.press(key) }
  var isKept = false
  try session.poll("the alert is answered") {
    let window = try session.state()["presentations"]?.array?.first { $0["binding"] == "facts.window" }
    isKept = window?["phase"] == "presented"
    return isKept || program.program.hasEnded
  }
  if isKept {
    // Since GTK 4.18, something else of the alert has the keyboard first.
    #expect(try session.navctl("dismiss", "facts.window").exitCode == 0)
    try program.wait(windows: 3)
    for key in ["Tab", "Tab", "Return"] { try program.keyboard.press(key) }
  }
  try program.wait(untilEnd: nil)
}

@Test("A second instance of the example says why, and ends; the first one stays")
func gtkFacts_secondInstance_ends() throws {
  let program = try GTKProgram("GTKFacts")
  try program.wait(windows: "Facts")
  let second = try program.session.run(program: program.session.executable("GTKFacts"), [])
  #expect(second.exitCode == 0)
  #expect(second.errorText.contains("Busy: another program shows “facts.window” already"), "\(second.errorText)")
  try askForAFact(program)
  #expect(program.events.count { $0 == "new Facts" } == 1)
}
