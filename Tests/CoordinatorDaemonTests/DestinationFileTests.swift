import DBusValues
import PresentationModel
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

@Test func destinationFile_empty_isStateOnlyWithTheDefaultTimes() throws {
  let destination = try read("")
  #expect(destination.presenter == .none)
  #expect(destination.startTimeout == Destination.defaultStartTimeout)
  #expect(destination.grace == Destination.defaultGrace)
}

@Test(arguments: [
  #"bus = { name = "org.example.Bar", path = "/presenter" }"#,
  "[bus]\nname = 'org.example.Bar'\npath = '/presenter'",
  "bus.name = 'org.example.Bar'\nbus.path = '/presenter'",
])
func destinationFile_bus_isReadInEverySpellingOfATable(_ text: String) throws {
  #expect(try read(text).presenter == .bus(name: "org.example.Bar", path: "/presenter"))
}

@Test func destinationFile_protected_isProtected() throws {
  #expect(try read("command = ['swaylock']\nprotected = true").isProtected)
  #expect(try !read("command = ['swaylock']\nprotected = false").isProtected)
  #expect(
    faults("protected = true") == [
      " “protected” needs a “command”, “unit” or “bus”: an item without a program never ends by itself"
    ])
}

@Test func destinationFile_state_isStateOnly() throws {
  #expect(try read("state = true\ngroup = 'panels'").presenter == .none)
}

@Test(arguments: [("", .tree), ("scope = 'tree'", .tree), ("scope = 'process'", .process)] as [(String, CommandScope)])
func destinationFile_scope_isThatOfTheCommand(_ line: String, _ scope: CommandScope) throws {
  #expect(try read("command = ['rofi']\n\(line)").presenter == .command([Array("rofi".utf8)], scope: scope))
}

@Test func destinationFile_unit_keepsItsPlaceholder() throws {
  #expect(try read(#"unit = "pulsemixer@{id}.service""#).presenter == .unit("pulsemixer@{id}.service"))
}

@Test("G7: a declared tag needs a binding") func destinationFile_groupWithANameThatIsNoBinding_isRefused() {
  #expect(
    faults("group = 'panels'", name: "9") == [
      "1:1: “group”: destination “9” has the group “panels”, but neither “9” nor “panels.9” is a binding; give it "
        + "the name of a binding, or no group"
    ])
  #expect(faults("style = 'popover'", name: "9") == [])
}

// One mistake, and its message: the whole line that users read.
@Test(arguments: [
  (
    "state = true\ncommand = ['a']",
    "2:1: expected only one of “state” and “command”: with state = true no program shows the items"
  ),
  ("state = 'yes'", "1:1: “state”: expected true or false, found a string"),
  ("scope = 'all'\ncommand = ['a']", "1:1: “scope”: expected “tree” or “process”, found “all”"),
  (
    "unit = 'a.service'\nscope = 'process'",
    "2:1: “scope” needs a “command”: it says which of its processes belong to the item"
  ),
  ("command = ['a'", "1:15: expected “,” or “]” after an element of an array, found the end of the file"),
  ("\n\ngroup = \"a\"\ngroup = 3", "4:1: “group” is already defined at line 3; define it once"),
  ("\ncomand = ['a']", "2:1: “comand” is not a key of a destination; did you mean “command”?"),
  (
    "title = 'x'",
    "1:1: “title” is not a key of a destination; use one of command, unit, bus, scope, state, group, style, protected, start-timeout, grace"
  ),
  (
    "command = \"foot -e pulsemixer\"",
    "1:1: “command”: expected an array, found a string, which only a shell can split; use command = [\"foot\", \"-e\", \"pulsemixer\"]"
  ),
  (
    "command = 'cat $HOME/x | less'",
    "1:1: “command”: expected an array, found a string, which only a shell can split; use command = [\"sh\", \"-c\", \"cat $HOME/x | less\"]"
  ),
  ("command = 3", "1:1: “command”: expected an array such as command = [\"foot\", \"-e\", \"top\"], found an integer"),
  ("command = []", "1:1: “command”: expected a program and its arguments, found an empty array"),
  ("command = ['']", "1:12: “command”: expected a program's name or path, found an empty text"),
  ("command = [\n  'a',\n  7,\n]", "3:3: element 1 of “command”: expected a string, found an integer"),
  (
    "command = ['{id}']",
    "1:12: “command”: expected a program's name or path, found a placeholder, which would let clients choose the program"
  ),
  (
    "command = ['a',\n '{ID}']",
    "2:2: element 1 of “command” has “{ID}”, which is not a placeholder of navd; did you mean “{id}”?"
  ),
  (
    "command = ['a', '{value.9}']",
    "1:17: element 1 of “command” has the placeholder “{value.9}”; expected a key of letters, digits, “_” and “-” that begins with a letter or “_”, found “9”"
  ),
  ("command = ['a', '{id']", "1:17: element 1 of “command” has a “{” without its “}”; “{{” stands for a brace"),
  (
    "command = ['awk', '{print}']",
    "1:19: element 1 of “command” has “{print}”, which is not a placeholder of navd; use “{id}”, “{binding}” or “{value.KEY}”, or “{{print}}” for literal braces"
  ),
  ("command = ['a', 'b}']", "1:17: element 1 of “command” has a “}” without its “{”; “}}” stands for a brace"),
  (
    "command = ['foot', '-e', '/bin/sh', '-ec', 'cat {id}']",
    "1:44: element 4 of “command” is a shell script with a placeholder, so a shell would run the item's text as code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
  ),
  (
    "unit = 'a.service'\ncommand = ['a']",
    "2:1: expected one of “command”, “unit” and “bus”, found “command” after “unit” (line 1)"
  ),
  (
    "unit = 'pulsemixer'",
    "1:1: “unit”: expected a unit type such as “.service” at the end, found “pulsemixer”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = '.service'",
    "1:1: “unit”: expected a name before “.service”, found “.service”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a b.service'",
    "1:1: “unit”: expected letters, digits and “:-_.\\@”, found “ ”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a@.service'",
    "1:1: “unit”: expected an instance after “@”, found the template “a@.service”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a-{id}.scope'",
    "1:1: “unit”: expected a unit that can be started, found a scope, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "bus = 'org.example.Bar'",
    "1:1: “bus”: expected a table such as bus = { name = \"org.example.Bar\", path = \"/presenter\" }, found a string"
  ),
  ("bus = { name = 'org.example.Bar' }", "1:1: “bus” has no “path”; add one, for example path = \"/presenter\""),
  (
    "bus = { name = ':1.5', path = '/' }",
    "1:9: “name”: expected a well-known bus name, found “:1.5”, for example name = \"org.example.Bar\""
  ),
  (
    "[bus]\nname = 'org.example.Bar'\npath = 'presenter'",
    "3:1: “path”: expected an object path, found “presenter”, for example path = \"/presenter\""
  ),
  ("bus = { name = 'a.b', paht = '/', path = '/' }", "1:23: “paht” is not a key of bus; did you mean “path”?"),
  ("group = ['panels']", "1:1: “group”: expected a string such as group = \"panels\", found an array"),
  (
    "group = 'a b'",
    "1:1: “group”: binding “a b”: has a blank at byte 1; expected “.”, “[” or the end"
  ),
  ("style = ''", "1:1: “style”: expected 1 to 4096 bytes, found 0, for example style = \"popover\""),
  ("grace = 2", "1:1: “grace”: expected a string such as grace = \"2s\", found an integer"),
  (
    "start-timeout = '10'",
    "1:1: “start-timeout”: expected a duration (a number with ms, s, m or h), found “10”, for example start-timeout = \"10s\""
  ),
  ("style = \"a\\u0000b\"", "1:11: U+0000 is not allowed: text on the bus and in commands cannot contain NUL"),
  ("\"gr\\u006fup\" = 3", "1:1: “group”: expected a string such as group = \"panels\", found an integer"),
  ("\u{feff}group = 3", "1:1: “group”: expected a string such as group = \"panels\", found an integer"),
  ("'é' = 1; grace = 3", "1:8: expected the end of the line, found “;”"),
  (
    "1979-05-27 = 1979-05-27 07:32:00 # a date\n[[x.y]]\nz = '''\n'''''\n[[x.y]]",
    "1:1: “1979-05-27” is not a key of a destination; "
  ),
])
func destinationFile_mistake_isReportedWithItsPosition(_ text: String, _ line: String) throws {
  let all = faults(text)
  let first = try #require(all.first)
  #expect(first.hasPrefix(line))
  #expect(line.hasSuffix(" ") || first == line)
}

@Test func destinationFile_manyMistakes_areAllReportedInTheOrderOfTheFile() {
  let all = faults("grace = 1\nx = 1\nunit = 3\nstyle = 4\n[bus]\ny = 2\n")
  #expect(all.map { String($0.prefix { $0 != " " }) } == ["1:1:", "2:1:", "3:1:", "4:1:", "5:2:"])
}

@Test func destinationFile_veryManyMistakes_areCut() {
  let all = faults((0..<1000).map { "key\($0) = \($0)\n" }.joined())
  #expect(all.count == 21)
  #expect(all.last == " 980 more mistakes")
}
