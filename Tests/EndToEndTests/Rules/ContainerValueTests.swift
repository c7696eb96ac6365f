import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Container values on the bus: their members, and declarations in navd.toml and by clients (V1 to V5).

private typealias Rows = CoordinatorInterface

extension Session {
  /// A session with a `navd.toml` that exists before navd starts.
  fileprivate convenience init(settings: String) throws {
    try self.init(starting: false)
    try write(settings: settings)
    try start()
  }

  fileprivate var settingsPath: String { path("config/navd/navd.toml") }

  fileprivate func write(settings text: String) throws { try write(text, to: "config/navd/navd.toml") }

  /// The default of a declared key; nil if it is not declared.
  fileprivate func standard(_ key: String) throws -> Value? {
    let error: DBusError
    do { return try call(Rows.containerValue, ("", key)) } catch let failure as DBusError { error = failure }
    #expect(CoordinatorError.Name(error.name) == .unknownContainerValue)
    return nil
  }

  /// The binding, the id and the container values of each member.
  fileprivate func members(_ kind: String, _ name: String = "") throws -> [String] {
    try call(Rows.members, (kind, name)).map {
      "\($0.fields.0) \($0.fields.1) \(JSON($0.fields.4).text)"
    }
  }

  /// The lines that navctl prints about members.
  fileprivate func members(by arguments: String...) throws -> [String] {
    let run = try run(program: Self.program("navctl"), ["members"] + arguments)
    #expect(run.exitCode == 0, "\(run.errorText)")
    return run.lines
  }
}

@Test(
  "V5: Members returns groups, stacks, children and all items in order, with all declared container values resolved")
func containerValue_ofMembers_isResolved() throws {
  let session = try Session(
    settings:
      "[container-values]\nbadge = { signature = \"x\", default = 0 }\ntint = { signature = \"s\", default = \"\" }\n")
  func options(_ more: Properties, _ values: Properties) -> Properties {
    more.merging(["container-values": values.value]) { $1 }
  }
  try session.present("p", "", options(["group": .string("g")], ["badge": .int64(3)]))
  try session.present("q", "", options(["group": .string("g"), "if-busy": .string("queue")], ["tint": .string("red")]))
  try session.present("p.child", "2", options([:], ["badge": .int64(7), "tint": .string("blue")]))
  try session.present("p.other")
  try session.call(Rows.push, ("s", "z", "1", options(.state, ["badge": .int64(1)])))
  try session.call(Rows.push, ("s", "a", "2", .state))

  let p = #"p  {"badge":3,"tint":""}"#
  let q = #"q  {"badge":0,"tint":"red"}"#
  let child = #"p.child 2 {"badge":7,"tint":"blue"}"#
  // The item does not inherit the values of its parent (V4).
  let other = #"p.other  {"badge":0,"tint":""}"#
  let z = #"z 1 {"badge":1,"tint":""}"#
  let a = #"a 2 {"badge":0,"tint":""}"#
  #expect(try session.members("group", "g") == [p, q])
  #expect(try session.members("stack", "s") == [z, a])
  #expect(try session.members("parent", "p") == [child, other])
  #expect(try session.members("all") == [p, q, child, other, z, a])
  for (kind, name) in [("group", "none"), ("stack", "none"), ("parent", "none")] {
    #expect(try session.members(kind, name) == [])
  }
  for (kind, name) in [("", ""), ("groups", "g"), ("all", "g"), ("group", ""), ("stack", "s["), ("parent", "")] {
    let refusal = try session.refusal(Rows.members, (kind, name))
    #expect([.invalidArgument, .invalidBinding].contains(refusal?.name), "\(kind) \(name)")
  }

  // The output of navctl is the same.
  #expect(
    try session.members(by: "--stack", "s") == [
      "5\tz\t1\t" + #"{"badge":1,"tint":""}"#, "6\ta\t2\t" + #"{"badge":0,"tint":""}"#,
    ])
  #expect(try session.members(by: "--from", "p").map { $0.split(separator: "\t")[1] } == ["p.child", "p.other"])
  #expect(try session.members(by: "--group", "g").count == 2)
  #expect(
    try session.members(by: "--group", "g", "--json") == [
      #"[{"binding":"p","container-values":{"badge":3,"tint":""},"id":"","presentation":1},"#
        + #"{"binding":"q","container-values":{"badge":0,"tint":"red"},"id":"","presentation":2}]"#
    ])
  #expect(try session.members(by: "--all").count == 6)
}

@Test("V1: container values in navd.toml are declared with their types before navd accepts requests")
func containerValue_inAFile_isDeclaredFromTheStart() throws {
  let session = try Session(settings: "[container-values]\nbadge = { signature = \"u\", default = 4 }\n")
  #expect(try session.standard("badge") == .uint32(4))
  // navctl parses a value by its declared type and refuses another type.
  #expect(try session.navctl("present", "--state", "inbox", "--container-value", "badge=3").exitCode == 0)
  #expect(try session.call(Rows.containerValue, ("inbox", "badge")) == .uint32(3))
  #expect(try session.navctl("present", "--state", "inbox", "2", "--container-value", "badge=x").exitCode == 2)
  let wrong: Properties = ["container-values": ["badge": Value.int64(3)].value]
  let refusal = try session.refusal(Rows.present, ("inbox", "2", .state.merging(wrong) { $1 }))
  #expect(refusal?.name == .containerValueType)
}

@Test("V1: reload declares new container values, undeclares none, and reports a contradiction with its position")
func containerValue_inAFileReadAgain_isDeclared() throws {
  let session = try Session(settings: "[container-values]\na = { signature = \"x\", default = 1 }\n")
  try session.write(
    settings: "[container-values]\na = { signature = \"x\", default = 1 }\nb = { signature = \"s\", default = \"\" }\n")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.standard("b") == .string(""))

  // A declaration with another type or default is refused together with the rest of the file.
  for (line, type) in [
    ("a = { signature = \"x\", default = 2 }", "2"), ("a = { signature = \"s\", default = \"1\" }", "s"),
  ] {
    try session.write(settings: "[container-values]\nc = { signature = \"x\", default = 0 }\n\(line)\n")
    let refusal = try session.refusal(Rows.reload, ())
    #expect(refusal?.name == .invalidConfiguration)
    #expect(
      refusal?.message
        == "\(session.settingsPath):3:1: “a” is declared with the type “x” and the default 1 as long as navd "
        + "runs; use the same, or another key", "\(type)")
    #expect(try session.standard("a") == .int64(1))
    #expect(try session.standard("c") == nil)
  }
  let reload = try session.navctl("reload")
  #expect(reload.exitCode == 1)
  #expect(reload.errorText.contains("navd.toml:3:1: “a” is declared"), "\(reload.errorText)")

  // A key that the file no longer declares stays declared, because items may use it.
  try session.write(settings: "")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.standard("a") == .int64(1))
  #expect(try session.standard("b") == .string(""))
}

@Test(
  "A mistake in navd.toml is logged with file, line and reason; earlier declarations stay, and destinations are loaded")
func containerValue_inAFileWithAMistake_leavesWhatWasDeclared() throws {
  let session = try Session(settings: "[container-values]\na = { signature = \"x\", default = 1 }\n")
  try session.present("inbox", "", ["container-values": ["a": Value.int64(5)].value])
  try session.write(
    settings: "[container-values]\nb = { signature = \"x\", default = 1 }\na = { signature = \"y\", default = 256 }\n")
  try session.write("style = \"sheet\"\n", toDestination: "note")
  let refusal = try session.refusal(Rows.reload, ())
  #expect(refusal?.name == .invalidConfiguration)
  let mistake = "\(session.settingsPath):3:24: “default” of “a”: expected 0 to 255 (y), found 256"
  #expect(refusal?.message == mistake)
  try session.wait("the log has it") { session.navd?.errorText.contains(mistake) == true }
  #expect(try session.standard("a") == .int64(1))
  #expect(try session.standard("b") == nil)
  #expect(try session.call(Rows.containerValue, ("inbox", "a")) == .int64(5))
  #expect(try session.call(Rows.destinations, ()).map(\.fields.0) == ["note"])

  // The report of navctl is the same without the daemon.
  let check = try session.navctl("check-config")
  #expect(check.exitCode == 1)
  #expect(check.outputText == mistake + "\n")
  try session.write(settings: "container-values.b = { signature = \"x\", default = 1 }\n")
  let good = try session.navctl("check-config")
  #expect(good.exitCode == 0)
  #expect(good.outputText == "1 destination, 1 container value, no mistakes\n")
}

@Test(
  "V1, R2: declarations survive a restart; if the file has changed by then, the file decides")
func containerValue_afterARestart_isThatOfTheFile() throws {
  let session = try Session(settings: "[container-values]\na = { signature = \"x\", default = 1 }\n")
  try session.call(Rows.declareContainerValue, ("bus", .string("here")))
  try session.present("inbox", "", ["container-values": ["a": Value.int64(5)].value])
  try session.stop(SIGKILL)
  try session.write(
    settings: "[container-values]\na = { signature = \"x\", default = 2 }\nb = { signature = \"b\", default = true }\n")
  try session.start()
  #expect(try session.standard("a") == .int64(2))
  #expect(try session.standard("b") == .boolean(true))
  #expect(try session.standard("bus") == .string("here"))
  #expect(try session.call(Rows.containerValue, ("inbox", "a")) == .int64(5))

  // An item still has a value of the former type.
  try session.stop()
  try session.write(settings: "[container-values]\na = { signature = \"s\", default = \"\" }\n")
  try session.start()
  #expect(session.navd?.errorText.contains("navd.toml:2:1: key “a” is in use with the type “x”") == true)
  #expect(try session.standard("a") == .int64(2))
  try session.dismiss("inbox")
  try session.stop()
  try session.start()
  #expect(try session.standard("a") == .string(""))
}

@Test("A mistake in navd.toml at the start of navd is logged, and navd runs without the declarations of the file")
func containerValue_inAFileWithAMistakeAtStart_isLogged() throws {
  let session = try Session(settings: "container-values = 1\n")
  #expect(session.navd?.errorText.contains("navd.toml:1:1: “container-values”: expected a table") == true)
  #expect(try session.standard("a") == nil)
}
