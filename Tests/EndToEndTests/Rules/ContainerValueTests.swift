// Why this file exists: what an item says of itself to whoever contains it is declared, over the bus or in a file, and read
// in one call (V1–V5).

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

extension Session {
  /// A session whose `navd.toml` is there before navd is.
  fileprivate convenience init(settings: String) throws {
    try self.init(starting: false)
    try write(settings: settings)
    try start()
  }

  fileprivate var settingsPath: String { path("config/navd/navd.toml") }

  fileprivate func write(settings text: String) throws {
    let file = try #require(fopen(settingsPath, "w"))
    fputs(text, file)
    fclose(file)
  }

  /// What is declared: a key's default; nil where it is not.
  fileprivate func standard(_ key: String) throws -> Value? {
    let error: DBusError
    do { return try call(Rows.containerValue, ("", key)) } catch let failure as DBusError { error = failure }
    #expect(CoordinatorError.Name(error.name) == .unknownContainerValue)
    return nil
  }

  /// Each member as its binding, its id, and its values.
  fileprivate func members(_ kind: String, _ name: String = "") throws -> [String] {
    try call(Rows.members, (kind, name)).map {
      "\($0.fields.0) \($0.fields.1) \(JSON($0.fields.3).text)"
    }
  }

  /// The lines of navctl.
  fileprivate func members(by arguments: String...) throws -> [String] {
    let run = try run(program: Self.program("navctl"), ["members"] + arguments)
    #expect(run.exitCode == 0, "\(run.errorText)")
    return run.lines
  }
}

@Test("V5: Members gives groups, stacks, parents and the coordinator, in order, with all declared values resolved")
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
  try session.call(Rows.push, ("s", "z", "1", options([:], ["badge": .int64(1)])))
  try session.call(Rows.push, ("s", "a", "2", [:]))

  let p = #"p  {"badge":3,"tint":""}"#
  let q = #"q  {"badge":0,"tint":"red"}"#
  let child = #"p.child 2 {"badge":7,"tint":"blue"}"#
  // V4: of its parent's values it has none.
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

  // The same on the command line.
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

@Test("V1: container values are declared in navd.toml, with their types, before navd can be asked")
func containerValue_inAFile_isDeclaredFromTheStart() throws {
  let session = try Session(settings: "[container-values]\nbadge = { signature = \"u\", default = 4 }\n")
  #expect(try session.standard("badge") == .uint32(4))
  // By navctl it is read by its declared type, and another is refused.
  #expect(try session.navctl("present", "inbox", "--container-value", "badge=3").exitCode == 0)
  #expect(try session.call(Rows.containerValue, ("inbox", "badge")) == .uint32(3))
  #expect(try session.navctl("present", "inbox", "2", "--container-value", "badge=x").exitCode == 2)
  let refusal = try session.refusal(
    Rows.present, ("inbox", "2", ["container-values": ["badge": Value.int64(3)].value]))
  #expect(refusal?.name == .containerValueType)
}

@Test("V1: reload declares what is new; nothing is undeclared, and a contradiction is told with its place")
func containerValue_inAFileReadAgain_isAdded() throws {
  let session = try Session(settings: "[container-values]\na = { signature = \"x\", default = 1 }\n")
  try session.write(
    settings: "[container-values]\na = { signature = \"x\", default = 1 }\nb = { signature = \"s\", default = \"\" }\n")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.standard("b") == .string(""))

  // Another type or default is refused, with all else that the file declares.
  for (line, type) in [
    ("a = { signature = \"x\", default = 2 }", "2"), ("a = { signature = \"s\", default = \"1\" }", "s"),
  ] {
    try session.write(settings: "[container-values]\nc = { signature = \"x\", default = 0 }\n\(line)\n")
    let refusal = try session.refusal(Rows.reload, ())
    #expect(refusal?.name == .invalidConfiguration)
    #expect(
      refusal?.message
        == "\(session.settingsPath):3:1: “a” is declared with the type “x” and the default 1, and stays so as long as navd "
        + "runs; the same, or another key, would do", "\(type)")
    #expect(try session.standard("a") == .int64(1))
    #expect(try session.standard("c") == nil)
  }
  let reload = try session.navctl("reload")
  #expect(reload.exitCode == 1)
  #expect(reload.errorText.contains("navd.toml:3:1: “a” is declared"), "\(reload.errorText)")

  // What the file no longer declares stays declared, since items may hold it.
  try session.write(settings: "")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.standard("a") == .int64(1))
  #expect(try session.standard("b") == .string(""))
}

@Test("V1: what a client declared first, the file may say again, and not otherwise; and the other way round")
func containerValue_declaredByBoth_isTheFirst() throws {
  let session = try Session(settings: "[container-values]\nfile = { signature = \"x\", default = 1 }\n")
  try session.call(Rows.declareContainerValue, ("file", .int64(1)))
  #expect(try session.refusal(Rows.declareContainerValue, ("file", .int64(2)))?.name == .containerValueType)
  #expect(try session.navctl("value", "declare", "bus", "s", "here").exitCode == 0)
  try session.write(settings: "container-values.bus = { signature = \"s\", default = \"here\" }\n")
  #expect(try session.refusal(Rows.reload, ()) == nil)
  try session.write(settings: "container-values.bus = { signature = \"s\", default = \"there\" }\n")
  let refusal = try session.refusal(Rows.reload, ())
  #expect(refusal?.name == .invalidConfiguration)
  #expect(
    refusal?.message.contains("navd.toml:1:18: “bus” is declared with the type “s” and the default \"here\"") == true)
  #expect(try session.standard("bus") == .string("here"))
  #expect(try session.standard("file") == .int64(1))
}

@Test("A mistake in navd.toml: file, line, reason; what was loaded before stays, and destinations are loaded")
func containerValue_inAFileWithAMistake_leavesWhatWasDeclared() throws {
  let session = try Session(settings: "[container-values]\na = { signature = \"x\", default = 1 }\n")
  try session.present("inbox", "", ["container-values": ["a": Value.int64(5)].value])
  try session.write(
    settings: "[container-values]\nb = { signature = \"x\", default = 1 }\na = { signature = \"y\", default = 256 }\n")
  try session.write("style = \"sheet\"\n", toDestination: "note")
  let refusal = try session.refusal(Rows.reload, ())
  #expect(refusal?.name == .invalidConfiguration)
  let mistake = "\(session.settingsPath):3:24: “default” of “a”: 256 is out of range for y (0 to 255)"
  #expect(refusal?.message == mistake)
  try session.wait("the log has it") { session.navd?.errorText.contains(mistake) == true }
  #expect(try session.standard("a") == .int64(1))
  #expect(try session.standard("b") == nil)
  #expect(try session.call(Rows.containerValue, ("inbox", "a")) == .int64(5))
  #expect(try session.call(Rows.destinations, ()).map(\.fields.0) == ["note"])

  // The same without the daemon.
  let check = try session.navctl("check-config")
  #expect(check.exitCode == 1)
  #expect(check.outputText == mistake + "\n")
  try session.write(settings: "container-values.b = { signature = \"x\", default = 1 }\n")
  let good = try session.navctl("check-config")
  #expect(good.exitCode == 0)
  #expect(good.outputText == "1 destination, 1 container value, no mistakes\n")
}

@Test(
  "V1, R2: what was declared is so after a restart; where the file says otherwise by then, it is what the file says")
func containerValue_afterARestart_isWhatTheFileSays() throws {
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

  // An item has one of the former type.
  try session.stop()
  try session.write(settings: "[container-values]\na = { signature = \"s\", default = \"\" }\n")
  try session.start()
  #expect(session.navd?.errorText.contains("navd.toml:2:1: key “a” is set with the type “x”") == true)
  #expect(try session.standard("a") == .int64(2))
  try session.dismiss("inbox")
  try session.stop()
  try session.start()
  #expect(try session.standard("a") == .string(""))
}

@Test("A mistake in navd.toml when navd starts is in its log, and navd runs without what it declares")
func containerValue_inAFileWithAMistakeAtStart_isLogged() throws {
  let session = try Session(settings: "container-values = 1\n")
  #expect(session.navd?.errorText.contains("navd.toml:1:1: “container-values”: expected a table") == true)
  #expect(try session.standard("a") == nil)
}
