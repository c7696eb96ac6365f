import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

extension Session {
  /// The last entry, once navd has found out the process that caused it.
  fileprivate func lastEnding() throws -> JSON {
    var last: JSON?
    try poll("the process is known") {
      last = try navctl("history", "-n", "1", "--json").json?.array?.first
      return last?["by"]?["pid"] != nil
    }
    return try #require(last)
  }
}

/// This process's name in the process table.
private let ownName: String = {
  var name = [CChar](repeating: 0, count: 64)
  let file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC)
  defer { close(file) }
  let count = read(file, &name, name.count - 1)
  return String(decoding: name.prefix(max(0, count - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}()

@Test("History says by whom something was closed, when, and how long it was shown")
func history_entry_saysByWhomAndWhen() throws {
  let session = try Session()
  let before = UInt64(time(nil)) * 1000
  try session.present("fact", "1", ["command": ["sleep", "60"].value])
  let dismiss = try session.navctl("dismiss", "fact")
  #expect(dismiss.exitCode == 0)
  try session.wait("it is gone") { session.processes().isEmpty }
  let ending = try session.lastEnding()
  #expect(ending["reason"] == "dismissed")
  #expect(ending["by"]?["pid"]?.unsigned == UInt64(dismiss.processID))
  #expect(ending["by"]?["client"]?.string?.hasPrefix(":1.") == true)
  // navctl may have ended before navd could read its name.
  #expect(["navctl", nil].contains(ending["by"]?["program"]?.string))
  let moment = try #require(ending["time"]?.unsigned)
  #expect((before...UInt64(time(nil) + 1) * 1000).contains(moment))

  // The name of a client that stays connected is always found; its arguments are not recorded.
  try session.present("note")
  try session.dismiss("note")
  let own = try session.lastEnding()
  #expect(own["by"]?["pid"]?.unsigned == UInt64(getpid()))
  #expect(own["by"]?["program"]?.string == ownName)
  #expect(own["by"]?["client"]?.string == session.client.uniqueName.text)
  #expect(own["shown-for"]?.unsigned != nil)
  let line = try #require(try session.navctl("history", "-n", "1").lines.first)
  let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
  #expect(cells.count == 10)
  #expect(cells[6] == "\(ownName)[\(getpid())]")
  #expect(cells[8].hasPrefix("20"))

  // A program that ended by itself was not ended by a request.
  let path = try session.present("fact", "2", ["command": ["true"].value])
  #expect(try session.ending(of: path).reason == "closed")
  let closed = try #require(try session.call(Rows.history, (1, [:])).first)
  #expect(closed["by"] == nil)
  #expect(try session.navctl("history", "-n", "1").outputText.contains("\titself\t"))

  // A presenter reports that it was closed.
  let presenter = try BusPresenter(session, destination: "shown")
  let shown = try session.present("shown")
  #expect(try session.call(Rows.wait, (shown, "presented")).0 == "")
  try session.call(Rows.closed, (shown, [:]), by: presenter.connection)
  #expect(try session.ending(of: shown).reason == "closed")
  let reported = try session.lastEnding()
  #expect(reported["by"]?["client"]?.string == presenter.connection.uniqueName.text)

  // The history survives a restart.
  let history = try session.call(Rows.history, (0, [:]))
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.call(Rows.history, (0, [:])) == history)
}

@Test("D6, D7: a crash and an exit status can be seen afterwards")
func history_failures_sayWhy() throws {
  let session = try Session()
  func end(_ binding: String, _ script: String) throws -> (reason: String, result: Properties) {
    try session.ending(of: session.present(binding, "", ["command": ["sh", "-c", script].value]))
  }
  #expect(try end("a", "kill -SEGV $$").result["error"] == .string("it crashed (SIGSEGV)"))
  #expect(try end("b", "kill -TERM $$").result["error"] == .string("SIGTERM ended it, which navd did not send"))
  #expect(try end("c", "exit 3").result["error"] == nil)
  #expect(try end("d", "exit 0").result["status"] == .int32(0))
  let rows = try session.navctl("history").lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
  #expect(
    rows.map { "\($0[1]) \($0[3]) \($0[4])" } == ["d closed ", "c closed 3", "b failed SIGTERM", "a failed SIGSEGV"])
  #expect(rows.last?.last == "it crashed (SIGSEGV)")
  let entries = try session.navctl("history", "--json").json?.array ?? []
  #expect(entries.map { $0["status"] } == [0, 3, nil, nil])
  #expect(entries.map { $0["signal"]?.string } == [nil, nil, "SIGTERM", "SIGSEGV"])
  let wait = try session.navctl("wait", "--presentation", "1")
  #expect(wait.exitCode == 1)
  #expect(wait.errorText == "navctl: wait --presentation 1: it crashed (SIGSEGV)\n")
}

@Test func history_ofAReasonOrATime_listsOnlyThose() throws {
  let session = try Session()
  for binding in ["a", "b", "c"] { try session.present(binding, "1", ["command": ["sleep", "60"].value]) }
  try session.dismiss("a")
  try session.present("b", "2")
  try session.dismiss("c")
  try session.poll("three have ended") { try session.call(Rows.history, (0, [:])).count == 3 }
  func listed(_ arguments: String...) throws -> [String] {
    try session.run(
      program: session.executable("navctl"), ["history", "--format", "{binding} {reason}"] + arguments
    ).lines
  }
  #expect(Set(try listed("--reason", "replaced")) == ["b replaced"])
  #expect(Set(try listed("--reason", "dismissed", "--reason", "replaced")).count == 3)
  #expect(try listed("--reason", "dismissed", "-n1").count == 1)
  #expect(try listed("--since", "1h30m").count == 3)
  #expect(try listed("--since", "0").isEmpty)
  #expect(try session.navctl("history", "--reason", "boredom").exitCode == 2)
}
