// Why this file exists: a destination file means exactly what it says, and what is wrong in it is told with its place.

import DBusValues
import PresentationRules
import Testing
import TextFormats

@testable import CoordinatorDaemon

private func read(_ text: String, name: String = "volume") throws -> Destination {
  try DestinationFile.read(Array(text.utf8), name: name, path: "/d/\(name).toml")
}

/// The faults of a text, each as it is shown, without the file's path.
private func faults(_ text: String, name: String = "volume") -> [String] {
  faults(bytes: Array(text.utf8), name: name)
}

private func faults(bytes: [UInt8], name: String = "volume") -> [String] {
  do throws(FileFaults) {
    _ = try DestinationFile.read(bytes, name: name, path: "")
    return []
  } catch {
    return error.all.map { String($0.description.dropFirst()) }
  }
}

@Test func destinationFile_allKeys_areRead() throws {
  let destination = try read(
    """
    # the volume
    command = ["foot", "--app-id=navd", "-e", "pulsemixer", "{{{id}}}"]
    group = "panels"
    style = "popover"
    start-timeout = "1m"
    grace = "500ms"
    """)
  var expected = Destination(
    name: "volume",
    presenter: .command(["foot", "--app-id=navd", "-e", "pulsemixer", "{{{id}}}"].map { Array($0.utf8) }),
    style: "popover", startTimeout: 60_000, grace: 500, source: .file(path: "/d/volume.toml"))
  expected.group = try BindingID("panels")
  #expect(destination == expected)
}

@Test func destinationFile_empty_isNothingButStateWithTheStandardTimes() throws {
  let destination = try read("")
  #expect(destination.presenter == .none)
  #expect(destination.startTimeout == Destination.standardStartTimeout)
  #expect(destination.grace == Destination.standardGrace)
}

@Test(arguments: [
  #"bus = { name = "org.example.Bar", path = "/presenter" }"#,
  "[bus]\nname = 'org.example.Bar'\npath = '/presenter'",
  "bus.name = 'org.example.Bar'\nbus.path = '/presenter'",
])
func destinationFile_bus_isReadInEverySpellingOfATable(_ text: String) throws {
  #expect(try read(text).presenter == .bus(name: "org.example.Bar", path: "/presenter"))
}

@Test func destinationFile_unit_keepsItsPlaceholder() throws {
  #expect(try read(#"unit = "pulsemixer@{id}.service""#).presenter == .unit("pulsemixer@{id}.service"))
}

@Test("G7: a declared tag needs a binding") func destinationFile_groupWithANameThatIsNoBinding_isRefused() {
  #expect(
    faults("group = 'panels'", name: "9") == [
      "1:1: “group” is wrong: destination “9” has the group “panels”, but neither “9” nor “panels.9” is a binding; name it "
        + "as a binding, or leave out its group"
    ])
  #expect(faults("style = 'popover'", name: "9") == [])
}

// One mistake, and the line that is told for it. The whole line stands here, since it is what people read.
@Test(arguments: [
  ("command = ['a'", "1:15: expected “,” or “]” after an element of an array, found the end of the file"),
  ("\n\ngroup = \"a\"\ngroup = 3", "4:1: “group” is already defined at line 3; define it once"),
  ("\ncomand = ['a']", "2:1: “comand” is no key of a destination; did you mean “command”?"),
  (
    "title = 'x'",
    "1:1: “title” is no key of a destination; one of command, unit, bus, group, style, start-timeout, grace would do"
  ),
  (
    "command = \"foot -e pulsemixer\"",
    "1:1: “command” is a string, and nothing is run through a shell unasked; command = [\"foot\", \"-e\", \"pulsemixer\"] would do"
  ),
  (
    "command = 'cat $HOME/x | less'",
    "1:1: “command” is a string, and nothing is run through a shell unasked; command = [\"sh\", \"-c\", \"cat $HOME/x | less\"] would do"
  ),
  ("command = 3", "1:1: “command” is an integer; an array such as command = [\"foot\", \"-e\", \"top\"] would do"),
  ("command = []", "1:1: “command” is empty; a program and its arguments would do"),
  ("command = ['']", "1:12: the program of “command” is empty; a program's name or path would do"),
  ("command = [\n  'a',\n  7,\n]", "3:3: element 1 of “command” is an integer; a string would do"),
  (
    "command = ['{id}']",
    "1:12: the program of “command” has a placeholder, so that a client would choose what is run; a program's name or path would do"
  ),
  (
    "command = ['a',\n '{ID}']",
    "2:2: element 1 of “command” has the placeholder “{ID}”, which there is not; did you mean “{id}”?"
  ),
  (
    "command = ['a', '{value.9}']",
    "1:17: element 1 of “command” has the placeholder “{value.9}”, but “9” is no key: letters, digits, “_” and “-”, a letter or “_” first"
  ),
  ("command = ['a', '{id']", "1:17: element 1 of “command” has a “{” without its “}”; “{{” stands for a brace"),
  (
    "command = ['awk', '{print}']",
    "1:19: element 1 of “command” has the placeholder “{print}”, which there is not; “{id}”, “{binding}” or “{value.KEY}” would do, and “{{” for a brace"
  ),
  ("command = ['a', 'b}']", "1:17: element 1 of “command” has a “}” without its “{”; “}}” stands for a brace"),
  (
    "command = ['foot', '-e', '/bin/sh', '-ec', 'cat {id}']",
    "1:44: element 4 of “command” is a shell's script with a placeholder, so that the item's text would be run as code; \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script, would do"
  ),
  (
    "unit = 'a.service'\ncommand = ['a']",
    "2:1: “command” stands beside “unit” (line 1); one of command, unit and bus would do"
  ),
  (
    "unit = 'pulsemixer'",
    "1:1: “unit” is “pulsemixer”, which does not end as a unit's name does; unit = \"pulsemixer@{id}.service\" would do"
  ),
  (
    "unit = '.service'",
    "1:1: “unit” is “.service”, which has no name before “.service”; unit = \"pulsemixer@{id}.service\" would do"
  ),
  (
    "unit = 'a b.service'",
    "1:1: “unit” is “a b.service”, which has “ ” in it; that may not stand there; unit = \"pulsemixer@{id}.service\" would do"
  ),
  (
    "unit = 'a@.service'",
    "1:1: “unit” is “a@.service”, which is a template's, and has no instance after the “@”; unit = \"pulsemixer@{id}.service\" would do"
  ),
  (
    "unit = 'a-{id}.scope'",
    "1:1: “unit” is “a-{id}.scope”, which is a scope's, which nobody can start by its name; unit = \"pulsemixer@{id}.service\" would do"
  ),
  (
    "bus = 'org.example.Bar'",
    "1:1: “bus” is a string; a table such as bus = { name = \"org.example.Bar\", path = \"/presenter\" } would do"
  ),
  ("bus = { name = 'org.example.Bar' }", "1:1: “bus” has no “path”; path = \"/presenter\" would do"),
  (
    "bus = { name = ':1.5', path = '/' }",
    "1:9: “name” is “:1.5”, which is no well-known bus name; name = \"org.example.Bar\" would do"
  ),
  (
    "[bus]\nname = 'org.example.Bar'\npath = 'presenter'",
    "3:1: “path” is “presenter”, which is no object path; path = \"/presenter\" would do"
  ),
  ("bus = { name = 'a.b', paht = '/', path = '/' }", "1:23: “paht” is no key of bus; did you mean “path”?"),
  ("group = ['panels']", "1:1: “group” is an array; a string such as group = \"panels\" would do"),
  (
    "group = 'a b'",
    "1:1: “group” is wrong: binding “a b”: has a blank at byte 1, where “.name”, “[index]” or the end would do"
  ),
  ("style = ''", "1:1: “style” has 0 bytes, but it may have 1 to 4096; style = \"popover\" would do"),
  ("grace = 2", "1:1: “grace” is an integer; a string such as grace = \"2s\" would do"),
  (
    "start-timeout = '10'",
    "1:1: “start-timeout” is “10”, which is no duration: a number and ms, s, m or h; start-timeout = \"10s\" would do"
  ),
  ("style = \"a\\u0000b\"", "1:11: U+0000 is not allowed: text on the bus and in commands cannot contain NUL"),
  ("\"gr\\u006fup\" = 3", "1:1: “group” is an integer; a string such as group = \"panels\" would do"),
  ("\u{feff}group = 3", "1:1: “group” is an integer; a string such as group = \"panels\" would do"),
  ("'é' = 1; grace = 3", "1:8: expected the end of the line, found “;”"),
  (
    "1979-05-27 = 1979-05-27 07:32:00 # a date\n[[x.y]]\nz = '''\n'''''\n[[x.y]]",
    "1:1: “1979-05-27” is no key of a destination; "
  ),
])
func destinationFile_mistake_isToldWithItsPlaceAndWhatWouldDo(_ text: String, _ line: String) throws {
  let all = faults(text)
  let first = try #require(all.first)
  #expect(first.hasPrefix(line))
  #expect(line.hasSuffix(" ") || first == line)
}

@Test func destinationFile_manyMistakes_areAllToldInTheOrderOfTheFile() {
  let all = faults("grace = 1\nx = 1\nunit = 3\nstyle = 4\n[bus]\ny = 2\n")
  #expect(all.map { String($0.prefix { $0 != " " }) } == ["1:1:", "2:1:", "3:1:", "4:1:", "5:2:"])
}

@Test func destinationFile_veryManyMistakes_areCut() {
  let all = faults((0..<1000).map { "key\($0) = \($0)\n" }.joined())
  #expect(all.count == 21)
  #expect(all.last == " 980 more mistakes")
}
