import Testing

@testable import WindowAdapter

// Titles of windows on Plasma.

@Test(
  "The title of a window is the one that its program gave it, without the text that KWin adds",
  arguments: [
    ("one", "one"), ("one <2>", "one"), ("one <12>\u{200E}", "one"), ("", ""), (" <2>", ""), ("one <1>", "one <1>"),
    ("one<2>", "one<2>"), ("a <b>", "a <b>"), ("<2>", "<2>"), ("one <2> - editor", "one <2> - editor"), (">", ">"),
    ("text\u{200E}", "text\u{200E}"), ("one <-2>", "one <-2>"), ("one <2> <3>", "one <2>"), ("é <2>", "é"),
  ])
private func plasma_title_isThatOfTheProgram(_ caption: String, title: String) {
  #expect(PlasmaBackend.ownTitle(caption) == title)
}
