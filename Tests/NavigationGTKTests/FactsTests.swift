import Glibc
import TestSupport
import Testing

// The example GTKFacts, used with keyboard and pointer: it asks before an edit is lost, and navctl navigates it.

/// Presses the keys that count and ask for a fact about the number.
private func askForAFact(_ program: GTKProgram, about number: Int = 1) throws {
  try program.wait(windows: "Facts")
  try program.keyboard.press("Tab")
  for _ in 1...number { try program.keyboard.press("Return") }
  for key in ["Tab", "Return"] { try program.keyboard.press(key) }
  try program.wait(windows: "Facts", "Fact about \(number)")
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

/// The picture in docs/swift.md: `make screenshot`.
@Test(
  "The picture of the example has its counter, and a fact in front of it",
  .enabled(if: getenv("NAVD_SCREENSHOT_GTK") != nil))
func screenshot_gtkFacts_isInTheDocument() throws {
  let program = try GTKProgram(
    "GTKFacts", ["--embedded"],
    configuration: """
      for_window [title="^Facts$"] floating enable, border normal 1, resize set 400 380, move absolute position 20 20
      for_window [title="^Fact about"] floating enable, border normal 1, resize set 300 130, move absolute position 70 230

      """)
  try program.keyboard.point(1200, 700)
  try askForAFact(program, about: 7)
  var (last, picture): ([UInt8], [UInt8]) = ([], [])
  // The picture stays the same when everything is drawn.
  try program.session.poll("the picture does not change") {
    last = picture
    picture = try program.session.run(program: "/usr/bin/grim", ["-g", "12,12 416x396", "-"]).output
    return !picture.isEmpty && picture == last
  }
  let file = try #require(fopen(getenv("NAVD_SCREENSHOT_GTK"), "w"))
  #expect(fwrite(picture, 1, picture.count, file) == picture.count && fclose(file) == 0)
}
