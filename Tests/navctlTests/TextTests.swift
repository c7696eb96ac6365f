// Why this file exists: what people and status bars read has to be the same each time, and harmless.
import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import Testing

@testable import navctl

// MARK: Tables

private func table() -> Table {
  var table = Table("NAME", "PHASE", "MORE")
  table.add("a", .init("presented", .good), "x y")
  table.add("日本", "waiting", "")
  return table
}

@Test func table_forPrograms_isTabsWithoutTitles() {
  #expect(table().text(.plain) == "a\tpresented\tx y\n日本\twaiting\t\n")
  #expect(Table("A").text(.plain) == "")
}

@Test func table_forPeople_isAlignedAndEndsInNoSpaces() {
  #expect(
    table().text(.aligned(colour: false)) == """
      NAME  PHASE      MORE
      a     presented  x y
      日本  waiting

      """)
  #expect(Table("A").text(.aligned(colour: true)) == "")
}

@Test func table_inColour_hasTheSameColumns() {
  let text = table().text(.aligned(colour: true))
  #expect(text.contains("\u{1b}[32mpresented\u{1b}[0m  x y"))
  let plain = text.replacing(#/\u{1b}\[[0-9]+m/#, with: "")
  #expect(plain == table().text(.aligned(colour: false)))
}

@Test func table_controlCharactersInACell_areSpelled() {
  var table = Table("A", "B")
  table.add("x\ty\n", "\u{1b}[31m\u{202E}\u{9B}")
  #expect(table.text(.plain) == "x\\ty\\n\t\\u{1b}[31m\\u{202e}\\u{9b}\n")
}

@Test(arguments: [("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("😀", 2), ("“x”", 3)])
func displayWidth_ofAText_isItsColumns(text: String, width: Int) {
  #expect(text.displayWidth == width)
}

// MARK: Templates

private let presentation: JSON = [
  "binding": "volume", "id": "1", "presentation": 17, "phase": "presented", "title": "A <b> & \"c\"", "tag": "v",
  "destination": "mixer", "group": "panels", "value": ["level": 40, "name": "x\ny", "percentage": 40],
]

@Test(arguments: [
  ("{binding}/{id}: {phase}", "volume/1: presented"), ("{value.level}%", "40%"), ("{nothing}{value.nothing}{id.x}", ""),
  ("{{{id}}}", "{1}"), ("{value.name}", "x\\ny"), ("{presentation}", "17"), ("", ""), ("no", "no"),
])
func template_line_hasThePlaceholdersFilledIn(text: String, line: String) throws {
  #expect(try Template(text).line(presentation) == line)
}

@Test(arguments: ["{", "{binding", "}", "a}b", "{id}}"])
func template_unbalancedBrace_isRefused(text: String) {
  #expect(throws: ValidationError.self) { try Template(text) }
}

// MARK: Waybar

@Test func waybar_line_isEscapedForPango() {
  #expect(
    Waybar.line(presentation) == [
      "text": "A &lt;b&gt; &amp; &quot;c&quot;", "alt": "v", "tooltip": "volume 1", "class": ["presented", "mixer"],
      "percentage": 40,
    ])
  #expect(Waybar.escaped("'&amp;'") == "&#39;&amp;amp;&#39;")
}

@Test func waybar_nothingShown_hasAnEmptyText() {
  #expect(
    Waybar.line(nil).text == #"{"alt":"","class":["none"],"percentage":0,"text":"","tooltip":""}"#)
}

@Test(
  arguments: [
    (["title": "T", "tag": "t", "id": "1", "binding": "b"], "T"), (["tag": "t", "id": "1", "binding": "b"], "t"),
    (["id": "1", "binding": "b"], "1"), (["id": "", "binding": "b"], "b"),
    (["title": "", "id": "", "binding": "b"], "b"),
  ] as [(JSON, String)])
func waybar_text_isTheFirstThatThereIs(presentation: JSON, text: String) {
  #expect(Waybar.line(presentation)["text"]?.string == text)
}

// MARK: Failures

@Test(
  arguments: [
    ("org.freedesktop.DBus.Error.ServiceUnknown", CommandStatus.unreachable, "navd is not running; the first request"),
    ("org.freedesktop.DBus.Error.NoReply", .unreachable, "navd ended before it answered; "),
    ("org.freedesktop.DBus.Error.Timeout", .timedOut, "navd did not answer in time; "),
    ("org.freedesktop.DBus.Error.UnknownMethod", .failed, "text (org.freedesktop"),
    ("org.navd.Error.Busy", .refused, "text"), ("org.navd.Error.NotPresented", .notPresented, "text"),
  ] as [(String, CommandStatus, String)])
func failure_ofACall_saysWhyAndWhatNext(name: String, status: CommandStatus, text: String) throws {
  let failure = Failure("present fact", DBusError(name: try #require(.init(name)), message: "text"))
  #expect(failure.status == status)
  #expect(failure.line.hasPrefix("navctl: present fact: \(text)"), "\(failure.line)")
}
