import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl show, and the option --format.

private typealias Rows = CoordinatorInterface

/// The time in milliseconds since 1970.
private var now: UInt64 { UInt64(time(nil)) * 1000 }

extension Program {
  /// The tab-separated cells of each line.
  fileprivate var cells: [[String]] {
    lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  }

  /// The value in a line of name and value.
  fileprivate func value(_ name: String) -> String? { cells.first { $0.first == name }?.last }
}

@Test("The state says when each item was presented, even after a restart of navd")
func state_since_survivesARestart() throws {
  let session = try Session(destinations: ["sleeper": "command = [\"sleep\", \"60\"]\n"])
  let before = now
  try session.present("note")
  let sleeper = try session.present("fact", "1", ["destination": .string("sleeper")])
  #expect(try session.call(Rows.wait, (sleeper, "presented")).0 == "")
  try session.present("later", "", ["from": .string("fact")])
  let state = try session.state()
  let presentations = state["presentations"]?.array ?? []
  #expect(presentations.count == 3)
  for presentation in presentations {
    let since = try #require(presentation["since"]?.unsigned)
    #expect((before...now + 1000).contains(since), "\(presentation)")
  }
  // A second reply is identical.
  #expect(try session.state() == state)
  for signal in [SIGTERM, SIGKILL] {
    try session.stop(signal)
    try session.start()
    let after = try session.state()["presentations"]?.array?.map { $0["since"] }
    #expect(after == presentations.map { $0["since"] })
  }
}

@Test("navctl show prints everything about one binding")
func navctl_show_printsEverything() throws {
  let session = try Session(destinations: ["sleeper": "command = [\"sleep\", \"60\"]\n"])
  try session.call(Rows.declareContainerValue, ("edge", .string("top")))
  try session.present("main")
  let path = try session.present(
    "fact", "7",
    [
      "destination": .string("sleeper"), "from": .string("main"), "timeout": .uint64(3_600_000),
      "owned": .boolean(true),
      "group": .string("panels"), "tag": .string("a fact"), "value": ["n": Value.int64(3)].value,
      "container-values": ["edge": Value.string("left")].value,
    ])
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try session.present("first", "", ["from": .string("fact")])
  try session.present("second", "", ["from": .string("fact")])

  let shown = try #require(try session.navctl("show", "fact", "--json").json)
  let process = try #require(session.processes().first)
  #expect(shown["pid"]?.unsigned == UInt64(process.pid))
  #expect(shown["destination-kind"] == "command")
  #expect(shown["parent"] == 1)
  #expect(shown["children"] == [3, 4])
  #expect(shown["owner"]?.string == session.client.uniqueName.text)
  #expect(shown["owner-pid"]?.unsigned == UInt64(getpid()))
  #expect(shown["owner-program"]?.string?.isEmpty == false)
  #expect(shown["timeout"] == 3_600_000)
  #expect((3_500_000...3_600_000).contains(try #require(shown["timeout-left"]?.unsigned)))
  #expect(shown["container-values"] == ["edge": "left"])

  let text = try session.navctl("show", "fact")
  #expect(text.cells.allSatisfy { $0.count == 2 })
  #expect(text.value("parent") == "1 main")
  #expect(text.value("children") == "3 first, 4 second")
  #expect(text.value("pid") == String(process.pid))
  #expect(text.value("timeout") == "1h")
  #expect(text.value("value") == "{\"n\":3}")
  #expect(text.value("since")?.hasSuffix("s)") == true)
  #expect(try session.navctl("show", "main").value("children") == "2 fact")
  #expect(try session.navctl("show", "main").value("destination-kind") == "state")
  try session.present("inline", "", ["command": ["sleep", "60"].value])
  try session.call(Rows.wait, (try session.call(Rows.get, "inline").0, "presented"))
  #expect(try session.navctl("show", "inline").value("destination-kind") == "command")
}

@Test("navctl list and history --format print a line for each entry, and refuse unknown fields")
func navctl_formatOfListAndHistory_printsFields() throws {
  let session = try Session()
  try session.present("volume", "<1>", ["title": .string("A & \"B\""), "value": ["level": Value.int64(40)].value])
  try session.present("note")
  func lines(_ arguments: String...) throws -> [String] {
    try session.run(program: Session.program("navctl"), arguments).lines
  }
  #expect(try lines("list", "--format", "{presentation} {id} {{{value.level}}}") == ["1 <1> {40}", "2  {}"])
  let markup = try lines("list", "--format", "<b>{title:markup}</b>{id:markup}")
  #expect(markup.first == "<b>A &amp; &quot;B&quot;</b>&lt;1&gt;")
  #expect(try lines("list", "--format", "{title:json}") == ["\"A & \\\"B\\\"\"", "null"])
  #expect(try lines("list", "--format", "{since:elapsed} {since:time}").allSatisfy { $0.contains("s 20") })
  try session.dismiss("note")
  try session.dismiss("volume")
  #expect(
    try lines("history", "--format", "{binding} {id} {reason}") == ["volume <1> dismissed", "note  dismissed"])
  #expect(try lines("history", "--binding", "note", "--format", "{presentation} {shown-for:duration}").count == 1)
  #expect(try lines("history", "--group", "panels", "--format", "{by.client}") == [])

  for (verb, format, message) in [
    ("list", "{titel}", "did you mean {title}? the fields are asking, binding, container-values, destination, "),
    ("list", "{event}", "the fields are asking, binding"), ("list", "{id.x}", "{id} has no members"),
    ("list", "{title:html}", "expected one of markup, json, time, elapsed, duration after “:”"),
    ("history", "{by.name}", "{by} has the members client, pid, program"),
    ("history", "{phase}", "the fields are binding, by"),
    ("watch", "{reason}", "the fields are asking, binding"),
    ("watch --events", "{nothing}", "the fields are action, asking, binding, event"),
    ("list", "{", "has a “{” without its “}”"), ("list --json", "{id}", "either --format or --json"),
  ] {
    let words = verb.split(separator: " ").map(String.init) + ["--format", format]
    let run = try session.run(program: Session.program("navctl"), words)
    #expect(run.exitCode == 2, "\(words)")
    #expect(run.errorText.contains(message), "\(words): \(run.errorText)")
  }
}
