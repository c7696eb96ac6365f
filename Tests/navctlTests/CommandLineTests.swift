import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import Testing
import TextFormats

@testable import navctl

// The command line of navctl: which lines it accepts, and how options and words become requests.

private func accepts(_ line: String) -> Bool {
  (try? Navctl.parseAsRoot(line.split(separator: " ").map(String.init))) != nil
}

// The lines without options are those of the next test.
@Test(arguments: [
  "present fact --timeout 3", "present fact -w5 --timeout 1m30s", "history -n3 --since 2h --reason closed",
  "present fact 1 --to sleeper --value a=1 --value b:=2 --timeout 3s --no-animation",
  "present fact --wait --propagate -- sleep 1", "present fact --if-busy queue --priority -1 --expected-id 3",
  "--json present fact", "present fact --json -q -v -w 3", "toggle fact 1 --group g", "dismiss --group g",
  "dismiss --all", "apply - --expected-serial 4", "dismiss --parked --force", "update fact a=1",
  "update fact --remove a", "selection g", "push s b 1 --group g --tag t", "pop s 3", "set-path s",
  "set-path s a=1 b", "path s", "list --group g", "show fact", "members --group g", "members --all",
  "wait fact", "wait --presentation 17 --for presented", "watch", "watch --events --group g",
  "watch --waybar --binding b", "watch --format {id}", "graph", "graph --stack s", "rofi", "rofi --group g",
  "rofi text", "history -n 3", "list --no-legend --format {id}", "history --group g --format {by.pid}",
  "value declare k s x", "value get b k", "value set b k v", "act 17 press a=1", "closed 17", "ready",
  "ready 17", "play g a b --for 10s --loop", "play g 1 2 --to slide", "apply -", "destinations", "reload",
  "check-config", "check-config dir", "introspect --xml org.navd.Presenter1", "quit",
  "is-presented fact --address unix:path=/x",
])
func commandLine_ofTheContract_isAccepted(line: String) {
  #expect(accepts(line))
}

@Test(arguments: [
  "present fact", "present fact 1", "toggle fact", "toggle fact 1", "dismiss a", "dismiss a b c", "select g t",
  "deselect g", "deselect g t", "toggle-selection g t", "push s b", "push s b 1", "pop-to s", "pop-to s b",
  "is-presented fact", "is-presented fact 1",
])
func parsePositional_argumentsOnly_agreesWithArgumentParser(line: String) throws {
  let words = line.split(separator: " ").map(String.init)
  let positional = try #require(Verbs.parsePositional(words[0], Array(words.dropFirst())))
  #expect(given(positional) == given(try Navctl.parseAsRoot(words)))
}

/// Every option and argument with its value, including nested option groups.
private func given(_ command: Any) -> [String] {
  Mirror(reflecting: command).children.flatMap { child -> [String] in
    let wrapper = Mirror(reflecting: child.value)
    let text = String(describing: child.value)
    let group = wrapper.descendant("_parsedValue", "value").map(given) ?? []
    return ["\(child.label ?? ""): \(group.isEmpty ? text : "")"] + group
  }
}

@Test(arguments: [
  "present", "present fact 1 2", "toggle", "dismiss", "dismiss --all", "select g", "select g t u", "push s", "pop-to",
  "present fact --json", "is-presented fact -q", "present fact -- sleep 1", "list", "nonsense",
])
func parsePositional_optionsOrWrongCount_isNil(line: String) {
  let words = line.split(separator: " ").map(String.init)
  #expect(Verbs.parsePositional(words[0], Array(words.dropFirst())) == nil)
}

@Test(arguments: [
  "present", "present fact 1 2", "present fact --value a", "present fact --propagate",
  "present fact --if-busy maybe", "present fact --priority x", "dismiss", "dismiss a --all",
  "dismiss --group g --root r", "dismiss a b --expected-id 1", "dismiss --all --expected-presentation 1",
  "update fact", "pop s -1", "pop s x", "members", "members --all --group g", "wait",
  "wait fact --presentation 3", "wait fact --for dismissing", "watch --waybar --events",
  "watch --waybar --format {id}", "watch --format {", "history -n x", "value declare k",
  "value declare k qq 1", "value declare k q x", "act seventeen press", "apply", "list --expected-serial 3",
  "present fact --nonsense", "nonsense", "list -w soon", "present fact -H host --address unix:path=x",
  "check-config -H host", "list -H -oX=y",
])
func commandLine_incomplete_isRefused(line: String) {
  #expect(!accepts(line))
}

@Test("A size or a point without quotes is refused with the advice to write them")
func placement_withoutQuotes_saysToWriteThem() {
  for words in [["--size", "640", "400"], ["--size", "50%", "400"], ["--place", "100", "50"]] {
    do {
      _ = try Toggle.parse(["mixer"] + words)
      Issue.record("\(words) is accepted")
    } catch {
      #expect(
        Toggle.message(for: error).contains("in quotes, such as \"\(words[1]) 400\""), "\(Toggle.message(for: error))")
    }
  }
}

@Test func verbs_listedNames_areThoseOfTheirConfigurations() {
  for (name, type) in Verbs.groups.flatMap(\.verbs) { #expect(type().configuration.commandName == name) }
}

@Test func verbs_withJSON_areDefinedInTheSchema() throws {
  let path = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/docs/navctl.schema.json"
  let file = try #require(fopen(path, "r"))
  defer { fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
  let definitions = try #require(try JSON.parse(bytes)["$defs"]?.object)
  for (name, type) in Verbs.groups.flatMap(\.verbs) where !["graph", "rofi"].contains(name) {
    let inner = type().configuration.subcommands.compactMap { $0.configuration.commandName }
    for verb in inner.isEmpty ? [name] : inner.map({ "\(name)-\($0)" }) {
      #expect(definitions[verb] != nil, "\(verb)")
    }
  }
}

@Test func options_ofAnItem_becomeOptionsOfTheRequest() throws {
  let containers = try ContainerOptions.parse(["--group", "g", "--tag", "t"])
  let slot = try SlotOptions.parse(["--no-animation", "--expected-presentation", "17"])
  var options: Properties = [:]
  containers.write(to: &options)
  slot.write(to: &options)
  try Options.ofPresent.check(options)
  #expect(options[Options.group] == "g")
  #expect(options[Options.animated] == false)
  #expect(options[Options.expectedPresentation] == CoordinatorNames.presentation(17))
  #expect(options[Options.stack] == nil)
}

@Test("The verbs that present an item offer each option that the contract gives their methods")
func options_ofTheContract_areOfferedByTheVerbs() {
  // These options are arguments of the command line, flags with another name, or found by navctl itself.
  let others = ["command", "directory", "environment", "input", "platform-data", "animated", "any-id"]
  let words = ["destination": "to", "container-values": "container-value", "window": "place"]
  func missing(_ verb: ParsableCommand.Type, _ table: OptionTable, except positional: [String] = []) -> [String] {
    let help = Navctl.helpMessage(for: verb, columns: 200)
    return table.rows.map(\.name).filter { name in
      !(others + positional).contains(name) && !help.contains("--\(words[name] ?? name) ")
        && !help.contains("--\(words[name] ?? name)\n")
    }
  }
  #expect(missing(Present.self, Options.ofPresent) == [])
  #expect(missing(Toggle.self, Options.ofToggle) == [])
  #expect(missing(Push.self, Options.ofPush, except: ["stack"]) == [])
  #expect(missing(Select.self, Options.ofSelect, except: ["group", "tag", "stack"]) == [])
}

@Test func placement_ofTheCommandLine_becomesAnOptionOfTheRequest() throws {
  let words = ["--place", "top-right", "--size", "50% 400", "--margin", "7", "--no-focus", "--sticky"]
  let placement = WindowPlacement(
    .anchor(.topRight), size: .init(width: .percent(50), height: .pixels(400)), margin: 7, takesFocus: false,
    isSticky: true)
  #expect(try PlacementOptions.parse(words).properties[Options.window] == placement.options.properties)
  #expect(try PlacementOptions.parse([]).properties.isEmpty)
  for (option, word) in [("--place", "middle"), ("--size", "640"), ("--size", "0 400"), ("--margin", "-1")] {
    #expect(throws: (any Error).self) { try PlacementOptions.parse([option, word]) }
  }
}

@Test func within_withoutAUnit_isSeconds() throws {
  #expect(try GlobalOptions.parse(["-w", "2.5"]).within == 2500)
  #expect(try GlobalOptions.parse(["--within", "300ms"]).within == 300)
}

@Test(arguments: [("a", "a", ""), ("a=1", "a", "1"), ("a=", "a", ""), ("=1", "", "1"), ("a=b=c", "a", "b=c")])
func setPath_element_isBindingAndID(word: String, binding: String, id: String) {
  let (first, second, options) = SetPath.element(word).fields
  #expect(first == binding && second == id && options.isEmpty)
}

// MARK: apply

@Test func apply_requests_haveTheirDeclaredTypes() throws {
  let text = #"[["Present","fact","1",{"destination":"sleeper","timeout":5}],["Pop","main",2,{}]]"#
  let requests = try CoordinatorInterface.requests(json: Array(text.utf8))
  #expect(requests.map(\.method) == ["Present", "Pop"])
  #expect(requests[1].arguments[1].type == .uint32)
  #expect(Properties(value: requests[0].arguments[2])?[Options.timeout] == 5)
  #expect(try CoordinatorInterface.requests(json: Array("[]".utf8)).isEmpty)
}

@Test(
  arguments: [
    ("{}", 1, 1, "expected a list of requests"), ("[1]", 1, 2, "request 0: expected a list of a method's name"),
    ("[\n []]", 2, 2, "request 0: expected a list of a method's name"),
    ("[[\"Wait\"]]", 1, 3, "request 0: “Wait” cannot be in a list of requests"),
    ("[[\"Dismiss\",\"a\",{}],\n [\"Dismiss\",\"a\"]]", 2, 2, "request 1: Dismiss: expected 2 arguments"),
    ("[[\"Dismiss\",1,{}]]", 1, 13, "request 0: expected a string (s)"),
    ("[[\"Present\",\"a\",\"\",\n {\"timeout\": \"3\"}]]", 2, 14, "request 0: expected an integer (t)"),
    ("[[\"Present\",\"a\",\"\",{\"x\":null}]]", 1, 25, "request 0: unknown option “x”"),
    ("[[\"Present\",\"a\",\"\",{\"value\":{\"x\":null}}]]", 1, 34, "request 0: null cannot be sent over D-Bus"),
    ("[", 1, 2, "expected a value"),
  ] as [(String, Int, Int, String)])
func apply_mistake_hasItsPosition(text: String, line: Int, column: Int, why: String) throws {
  let mistake = try #require(throws: JSON.Mistake.self) { try CoordinatorInterface.requests(json: Array(text.utf8)) }
  #expect(mistake.position == TextPosition(line: line, column: column))
  #expect(mistake.why.hasPrefix(why), "\(mistake)")
}
