import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

@testable import navctl

// Texts of navctl: tables, templates, lines for Waybar, and messages of failures.

// MARK: Tables

private func table() -> Table {
  var table = Table("NAME", "PHASE", "MORE")
  table.add("a", .init("presented", .good), "x y")
  table.add("日本", "waiting", "")
  return table
}

@Test func table_forPrograms_hasTabsAndNoTitles() {
  #expect(table().text(.plain) == "a\tpresented\tx y\n日本\twaiting\t\n")
  #expect(Table("A").text(.plain) == "")
}

@Test func table_forPeople_isAlignedWithoutTrailingSpaces() {
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

@Test func table_emptyColumns_areLeftOutForPeopleOnly() {
  var table = Table(.number("NUMBER"), "NOTHING", "ID")
  table.add("9", "", "a")
  table.add("10", "", "10")
  #expect(table.text(.aligned(colour: false)) == "NUMBER  ID\n     9  a\n    10  10\n")
  #expect(table.text(.aligned(colour: false, legend: false)) == " 9  a\n10  10\n")
  #expect(table.text(.plain) == "9\t\ta\n10\t\t10\n")
}

@Test(arguments: 1...60)
func table_onANarrowTerminal_fits(columns: Int) {
  var table = Table(.number("NUMBER"), "BINDING", "TITLE")
  table.add("1", "counter.fact[17]", .init("日本語の長い題名と e\u{301}", .good))
  table.add("2", "f", "")
  let lines = table.text(.aligned(colour: false, columns: columns)).split(separator: "\n").map(String.init)
  #expect(lines.count == 3)
  #expect(lines.allSatisfy { $0.displayWidth <= columns }, "\(lines)")
  if columns >= 46 { #expect(!lines[1].contains("…")) }
  if (34..<46).contains(columns) { #expect(lines[1].contains("…") && lines[0].contains("TITLE")) }
}

@Test(arguments: [
  ([10, 20, 30], 64, [10, 20, 30]), ([10, 20, 30], 54, [10, 20, 20]), ([10, 20, 30], 40, [10, 13, 13]),
  ([3, 20, 30], 10, [3]), ([3, 20, 30], 30, [3, 20]), ([6, 6, 6], 21, [6, 6]), ([50], 10, [10]), ([], 10, []),
])
func table_narrowed_shrinksTheWidestColumns(widths: [Int], width: Int, result: [Int]) {
  #expect(Table.narrowed(widths, to: width) == result)
}

@Test(arguments: [
  ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
  ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("abc", 1, "…"), ("abc", 0, ""), ("", 0, ""),
])
func cut_toColumns_keepsWholeCharacters(text: String, columns: Int, result: String) {
  #expect(text.cut(to: columns) == result)
}

@Test(arguments: [("🇩🇪", 2), ("❤", 1), ("가", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("a\u{AD}b", 3), ("a\u{200D}b", 2)])
func displayWidth_ofCombinedCharacters_isTheirColumns(text: String, width: Int) {
  #expect(text.displayWidth == width)
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
func template_line_replacesPlaceholders(text: String, line: String) throws {
  #expect(try OutputTemplate(text).line(presentation) == line)
}

@Test(arguments: [
  ("{title:markup}", "A &lt;b&gt; &amp; &quot;c&quot;"), ("{title:json}", "\"A <b> & \\\"c\\\"\""),
  ("{value.name:markup}", "x\\ny"), ("{nothing:json}", "null"), ("{nothing:markup}{nothing:time}", ""),
  ("{value:json}", "{\"level\":40,\"name\":\"x\\ny\",\"percentage\":40}"), ("{value.level:duration}", "40ms"),
  ("{since:elapsed}", "2m 5s"), ("{title:elapsed}", "A <b> & \"c\""),
])
func template_form_changesTheField(text: String, line: String) throws {
  var members = try #require(presentation.object)
  members["since"] = 1_000_000
  #expect(try OutputTemplate(text).line(.object(members), at: 1_125_999) == line)
}

@Test func elapsed_momentInTheFuture_isZero() {
  #expect(Timestamp.elapsed(since: 5000, at: 4000) == "0s")
  #expect(Timestamp.elapsed(since: 5000, at: 5999) == "0s")
  #expect(Timestamp.elapsed(since: 5000, at: 6000) == "1s")
}

@Test(arguments: [
  "{id}{value}{value.any.thing}", "{container-values.x:json}", "{{none}}", "{since:elapsed}",
])
func template_knownFields_areAccepted(text: String) throws {
  try OutputTemplate(text).require(.presentation)
}

@Test(arguments: ["{event}", "{id.x}", "{}", "{.}", "{value}{nothing}", "{ id}"])
func template_unknownFields_areRefused(text: String) throws {
  let template = try OutputTemplate(text)
  #expect(throws: ValidationError.self) { try template.require(.presentation) }
}

@Test("navctl.md: a field of a format is a member of the JSON, and the other way round")
func templateFields_ofTheHistory_areTheMembersOfItsJSON() throws {
  let schema = try JSON.parse(Files.text(inPackage: "docs/navctl.schema.json"))
  let ending = schema["$defs"]?["_ending"]?["properties"]?.object ?? [:]
  #expect(Set(TemplateFields.history.names) == Set(ending.keys))
}

@Test(arguments: ["{", "{binding", "}", "a}b", "{id}}", "{id:}", "{id:html}", "{id:markup:json}"])
func template_unbalancedBraceOrUnknownForm_isRefused(text: String) {
  #expect(throws: ValidationError.self) { try OutputTemplate(text) }
}

// MARK: Waybar

@Test func waybar_line_isEscapedForPango() {
  #expect(
    Waybar.line(StateEntry(json: presentation)) == [
      "text": "A &lt;b&gt; &amp; &quot;c&quot;", "alt": "v", "tooltip": "volume 1", "class": ["presented", "mixer"],
      "percentage": 40,
    ])
  #expect("'&amp;'".escapedForMarkup == "&#39;&amp;amp;&#39;")
}

@Test func waybar_nothingOpen_hasAnEmptyText() {
  #expect(
    Waybar.line(nil).text == #"{"alt":"","class":["none"],"percentage":0,"text":"","tooltip":""}"#)
}

@Test(
  arguments: [
    (["title": "T", "tag": "t", "id": "1", "binding": "b"], "T"), (["tag": "t", "id": "1", "binding": "b"], "t"),
    (["id": "1", "binding": "b"], "1"), (["id": "", "binding": "b"], "b"),
    (["title": "", "id": "", "binding": "b"], "b"),
  ] as [(JSON, String)])
func waybar_text_isTheFirstNonEmptyName(presentation: JSON, text: String) {
  #expect(Waybar.line(StateEntry(json: presentation))["text"]?.string == text)
}

// MARK: Failures

@Test func failure_toStartNavd_saysWhatToDo() {
  let unknown = Failure("toggle mixer", DBusError(name: .serviceUnknown, message: "text"), starts: true)
  #expect(unknown.status == .unreachable)
  #expect(
    unknown.line == """
      navctl: toggle mixer: navd is not running, and the bus cannot start it; \
      install it by “make install” or from a package, or start “navd” in this session
      """)
  let spawn = DBusError(name: "org.freedesktop.DBus.Error.Spawn.ChildExited", message: "it exited with 1")
  let failed = Failure("toggle mixer", spawn, starts: true)
  #expect(failed.status == .unreachable)
  #expect(failed.line.hasPrefix("navctl: toggle mixer: navd could not be started: it exited with 1; "))
}

@Test(
  arguments: [
    (
      "org.freedesktop.DBus.Error.ServiceUnknown", CommandStatus.unreachable,
      "navd is not running; verbs that change something start it"
    ),
    ("org.freedesktop.DBus.Error.NoReply", .unreachable, "navd ended before it replied; "),
    ("org.freedesktop.DBus.Error.Timeout", .timedOut, "navd did not answer in time; "),
    ("org.freedesktop.DBus.Error.UnknownMethod", .failed, "text (org.freedesktop"),
    ("org.navd.Error.Busy", .refused, "text"), ("org.navd.Error.NotPresented", .notPresented, "text"),
  ] as [(String, CommandStatus, String)])
func failure_ofACall_saysWhyAndWhatToDo(name: String, status: CommandStatus, text: String) throws {
  let failure = Failure("present fact", DBusError(name: try #require(.init(name)), message: "text"))
  #expect(failure.status == status)
  #expect(failure.line.hasPrefix("navctl: present fact: \(text)"), "\(failure.line)")
}
