import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl history and list --failed: what has ended, when, by whom and why (K5).

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

/// The name of this process in the process table.
private let ownName: String = {
  var name = [CChar](repeating: 0, count: 64)
  let file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC)
  defer { close(file) }
  let count = read(file, &name, name.count - 1)
  return String(decoding: name.prefix(max(0, count - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}()

/// Ends of items by different causes, and what the last entry of the history says of them.
extension Session {
  fileprivate func expectEntryOfNavctl() throws {
    let before = UInt64(time(nil)) * 1000
    try present("fact", "1", ["command": ["sleep", "60"].value])
    let dismiss = try navctl("dismiss", "fact")
    #expect(dismiss.exitCode == 0)
    try wait("it is gone") { processes().isEmpty }
    let ending = try lastEnding()
    #expect(ending["reason"] == "dismissed")
    #expect(ending["by"]?["pid"]?.unsigned == UInt64(dismiss.processID))
    #expect(ending["by"]?["client"]?.string?.hasPrefix(":1.") == true)
    // navctl may have ended before navd could read its name.
    #expect(["navctl", nil].contains(ending["by"]?["program"]?.string))
    let moment = try #require(ending["time"]?.unsigned)
    #expect((before...UInt64(time(nil) + 1) * 1000).contains(moment))
  }

  /// The name of a client that stays connected is always found; its arguments are not recorded.
  fileprivate func expectEntryOfThisClient() throws {
    try present("note")
    try dismiss("note")
    let ending = try lastEnding()
    #expect(ending["by"]?["pid"]?.unsigned == UInt64(getpid()))
    #expect(ending["by"]?["program"]?.string == ownName)
    #expect(ending["by"]?["client"]?.string == client.uniqueName.text)
    #expect(ending["shown-for"]?.unsigned != nil)
    let line = try #require(try navctl("history", "-n", "1").lines.first)
    let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    #expect(cells.count == 10)
    #expect(cells[6] == "\(ownName)[\(getpid())]")
    #expect(cells[8].hasPrefix("20"))
  }

  /// A program that ended by itself was not ended by a request.
  fileprivate func expectEntryOfAProgramThatEnds() throws {
    let path = try present("fact", "2", ["command": ["true"].value])
    #expect(try ending(of: path).reason == "closed")
    let closed = try #require(try call(Rows.history, (1, [:])).first)
    #expect(closed["by"] == nil)
    #expect(try navctl("history", "-n", "1").outputText.contains("\titself\t"))
  }

  /// Nobody asked for the end of an item that has expired.
  fileprivate func expectEntryOfATimeout() throws {
    let osd = try present("osd", "", ["timeout": .uint64(1)])
    #expect(try ending(of: osd).reason == "expired")
    #expect(try navctl("history", "-n", "1").outputText.contains("\tnavd\t"))
  }

  fileprivate func expectEntryOfAPresenter() throws {
    let presenter = try BusPresenter(self, destination: "shown")
    let shown = try present("shown")
    #expect(try call(Rows.wait, (shown, "presented")).0 == "")
    try call(Rows.closed, (shown, [:]), by: presenter.connection)
    #expect(try ending(of: shown).reason == "closed")
    #expect(try lastEnding()["by"]?["client"]?.string == presenter.connection.uniqueName.text)
  }
}

@Test("History says by whom something was closed, when, and how long it was shown")
func history_entry_saysByWhomAndWhen() throws {
  let session = try Session()
  try session.expectEntryOfNavctl()
  try session.expectEntryOfThisClient()
  try session.expectEntryOfAProgramThatEnds()
  try session.expectEntryOfATimeout()
  try session.expectEntryOfAPresenter()

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
  #expect(try end("a", "kill -SEGV $$").result["error"] == .string("its program crashed (SIGSEGV)"))
  #expect(
    try end("b", "kill -TERM $$").result["error"]
      == .string("its program was ended by SIGTERM, which navd did not send"))
  #expect(try end("c", "exit 3").result["error"] == nil)
  #expect(try end("d", "exit 0").result["status"] == .int32(0))
  let rows = try session.navctl("history").lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
  #expect(
    rows.map { "\($0[1]) \($0[3]) \($0[4])" } == ["d closed ", "c closed 3", "b failed SIGTERM", "a failed SIGSEGV"])
  #expect(rows.last?.last == "its program crashed (SIGSEGV)")
  let entries = try session.navctl("history", "--json").json?.array ?? []
  #expect(entries.map { $0["status"] } == [0, 3, nil, nil])
  #expect(entries.map { $0["signal"]?.string } == [nil, nil, "SIGTERM", "SIGSEGV"])
  #expect(
    try session.navctl("history", "-n", "3", "--format", "{binding} {status} {signal}").lines
      == ["d 0 ", "c 3 ", "b  SIGTERM"])
  let wait = try session.navctl("wait", "--presentation", "1")
  #expect(wait.exitCode == 1)
  #expect(wait.errorText == "navctl: wait --presentation 1: its program crashed (SIGSEGV)\n")
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

@Test(
  "On a terminal, history says whether nothing has closed or only nothing that was asked for; an impossible name is refused"
)
func history_nothingFits_saysSo() throws {
  let session = try Session()
  func atATerminal(_ arguments: String) throws -> String {
    let command = "'\(Session.program("navctl"))' history \(arguments)"
    return try session.run(program: "/usr/bin/script", ["-q", "-e", "-c", command, "/dev/null"]).outputText
  }
  #expect(try atATerminal("").hasPrefix("Nothing has closed yet."))
  try session.present("a")
  try session.dismiss("a")
  for filter in ["--reason failed", "--since 0s", "--binding b", "--group g"] {
    let text = try atATerminal(filter)
    #expect(text.contains("Nothing that has closed fits."), "\(filter): \(text)")
  }
  for (option, name) in [("--binding", "a b"), ("--group", "a b"), ("--binding", "")] {
    let refused = try session.navctl("history", option, name)
    #expect(refused.exitCode == 2, "\(option) \(name)")
    #expect(refused.errorText.contains("“\(name)”"), "\(refused.errorText)")
  }
  #expect(try session.navctl("list", "--failed", "--group", "a b").exitCode == 2)
  #expect(try session.navctl("history", "--binding", "unknown").exitCode == 0)
}

@Test("navctl list --failed lists the items that failed, and why, until they are open again")
func list_failed_saysWhatDoesNotWork() throws {
  let session = try Session(destinations: [
    "broken": "command = ['no-such-program']\n", "fine": "command = ['sleep', '1000']\n",
  ])
  #expect(try session.navctl("list", "--failed").outputText == "")
  for _ in 0..<2 { #expect(try session.navctl("present", "broken").exitCode == 1) }
  #expect(try session.navctl("present", "mended", "--group", "g", "--", "no-such-program").exitCode == 1)
  #expect(try session.navctl("present", "fine").exitCode == 0)
  #expect(try session.navctl("dismiss", "fine").exitCode == 0)
  let lines = try session.navctl("list", "--failed").lines
  #expect(lines.count == 2)
  #expect(lines.first?.hasPrefix("3\tmended\tno-such-program\t") == true, "\(lines)")
  #expect(lines.last?.hasPrefix("2\tbroken\t\t") == true, "\(lines)")
  #expect(lines.last?.contains("\tcould not be started: no-such-program: not found in PATH (") == true, "\(lines)")
  #expect(
    try session.navctl("list", "--failed", "--group", "g", "--format", "{binding} {reason}").lines == ["mended failed"])
  #expect(try session.navctl("present", "mended", "--to", "fine").exitCode == 0)
  #expect(try session.navctl("list", "--failed", "--json").json?.array?.map { $0["binding"]?.string } == ["broken"])
}

@Test("navctl list --failed --group asks navd for the reasons of that group's failures alone")
func list_failedInAGroup_asksForThoseReasonsAlone() throws {
  let session = try Session()
  for name in ["a", "b", "c"] { _ = try session.navctl("present", name, "--group", name, "--", "no-such-program") }
  let monitor = try session.start(program: "/usr/bin/busctl", ["--user", "monitor", CoordinatorNames.bus.text])
  try session.poll("the monitor is attached") {
    _ = try session.state()
    return !monitor.lines.isEmpty
  }
  #expect(try session.navctl("list", "--failed", "--group", "b", "--format", "{binding}").lines == ["b"])
  try session.dismiss("nothing")
  try session.wait("the monitor has told of all calls") { monitor.lines.contains { $0.contains("Member=Dismiss") } }
  #expect(monitor.lines.count { $0.contains("Member=Wait") } == 1)
}

@Test("K5: history --follow prints every ending once, even after a restart of navd, and resumes")
func historyFollow_everyEnding_isPrintedOnce() throws {
  let session = try Session()
  // Each line has its event and its record beside what history prints.
  func values(_ program: Program) -> [JSON] {
    program.lines.compactMap { line in
      guard var members = (try? JSON.parse(line))?.object else { return nil }
      #expect(members.removeValue(forKey: "event") == "dismissed" && members.removeValue(forKey: "record") != nil)
      return .object(members)
    }
  }
  func history() throws -> [JSON] {
    try #require(try session.navctl("history", "-n", "0", "--json").json?.array).reversed()
  }
  for name in ["a", "b"] {
    try session.present(name)
    try session.dismiss(name)
  }
  let all = try session.startNavctl("history", "--follow", "--json")
  try session.wait("both are printed") { all.lines.count == 2 }
  try session.stop(SIGKILL)
  try session.start()
  try session.present("c", "", ["command": ["no-such-program"].value])
  try session.wait("the third is printed") { all.lines.count == 3 }
  #expect(values(all) == (try history()))
  #expect(values(all).last?["error"]?.string?.contains("no-such-program") == true)
  let second = try #require(values(all)[1]["serial"]?.unsigned)
  let later = try session.startNavctl("history", "--follow", "--json", "--since", "\(second)")
  try session.wait("the third is printed") { later.lines.count == 1 }
  #expect(values(later) == (try history().suffix(1)))
}

@Test(
  "K5: a reader that was stopped, during restarts of navd and more endings than navd remembers, gets a gap and no repetition"
)
func historyFollow_behindAcrossRestarts_reportsOneGap() throws {
  let session = try Session()
  func values(_ program: Program) -> [JSON] { program.lines.compactMap { try? JSON.parse($0) } }
  let requests = (0..<300).map { "[\"Present\",\"many\($0)\",\"\",{\"state\":true}]" }.joined(separator: ",")
  func end(_ rounds: Int) throws {
    for _ in 0..<rounds {
      #expect(try session.navctl("apply", "-", input: "[\(requests)]").exitCode == 0)
      #expect(try session.navctl("dismiss", "--all").exitCode == 0)
    }
  }
  func restart() throws {
    try session.stop(SIGKILL)
    try session.start()
  }
  try session.present("first")
  try session.dismiss("first")
  let reader = try session.startNavctl("history", "--follow", "--json")
  try session.wait("the first is printed") { reader.lines.count == 1 }
  let first = try #require(values(reader)[0]["serial"]?.unsigned)
  reader.send(SIGSTOP)
  try end(2)
  try restart()
  try end(2)
  try restart()
  reader.send(SIGCONT)
  try session.wait("the gap and all that navd remembers are printed") { reader.lines.count == 1 + 1 + 1024 }
  try restart()
  try session.present("last")
  try session.dismiss("last")
  try session.wait("the last is printed") { values(reader).last?["binding"] == "last" }
  let lines = values(reader)
  #expect(lines.count == 1027)
  let gaps = lines.compactMap { $0["gap"] }
  #expect(gaps.count == 1 && gaps.first?["after"]?.unsigned == first, "\(gaps)")
  let serials = lines.compactMap { $0["serial"]?.unsigned }
  #expect(serials == Set(serials).sorted(), "each once, and in order")
  #expect(gaps.first?["before"]?.unsigned == serials[1])

  // There is no gap if the reader resumes from any line that navd remembers. If it resumes from the line before the gap, as the
  // recipe does, the same gap comes again.
  let middle = serials[500]
  let resumed = try session.startNavctl("history", "--follow", "--json", "--since", "\(middle)")
  try session.wait("the rest is printed") { resumed.lines.count == serials.count - 501 }
  #expect(values(resumed).compactMap { $0["serial"]?.unsigned } == Array(serials[501...]))
  try restart()
  let again = try session.startNavctl("history", "--follow", "--json", "--since", "\(first)")
  try session.wait("all is printed") { again.lines.count == 1025 }
  #expect(values(again).first?["gap"]?["after"]?.unsigned == first)
  #expect(values(again).compactMap { $0["serial"]?.unsigned } == Array(serials.suffix(1024)))
}

@Test("K5: lines name their record, so that a reader resumes after a loss of power, and starts are lines of their own")
func historyFollow_otherRecord_isNoticed() throws {
  let session = try Session()
  func values(_ program: Program) -> [JSON] { program.lines.compactMap { try? JSON.parse($0) } }
  try session.present("film", "1", ["title": .string("Film"), "value": (["page": .string("2")] as Properties).value])
  let first = try session.startNavctl("history", "--follow", "--json", "--starts")
  try session.wait("what is there is printed") { first.lines.count == 1 }
  try session.dismiss("film")
  try session.present("menu")
  try session.wait("all is printed") { first.lines.count == 3 }
  let lines = values(first)
  #expect(lines.map { $0["event"] } == ["presented", "dismissed", "presented"])
  #expect(lines[0]["title"] == "Film" && lines[0]["value"]?["page"] == "2" && lines[0]["time"] != nil)
  let record = try #require(lines[0]["record"]?.string)
  #expect(lines.allSatisfy { $0["record"]?.string == record })
  let serials = lines.compactMap { $0["serial"]?.unsigned }
  #expect(serials == Set(serials).sorted() && serials.count == 3)
  // A reader that resumes gets the start that it has not had, and no other.
  let resumed = try session.startNavctl(
    "history", "--follow", "--json", "--starts", "--since", "\(record):\(serials[1])")
  try session.wait("it is printed") { resumed.lines.count == 1 }
  // The time of an item that is there already is navd's, and else that of its signal, which comes a little later.
  func withoutTime(_ line: JSON) -> [String: JSON]? { line.object?.filter { $0.key != "time" } }
  #expect(values(resumed).map(withoutTime) == [withoutTime(lines[2])])

  // After a loss of power the record is another one, with lower serials, and then with higher ones.
  let other = try Session()
  for _ in 0..<4 {
    try other.present("news")
    try other.dismiss("news")
  }
  let later = try other.startNavctl("history", "--follow", "--json", "--since", "\(record):\(serials[1])")
  try other.wait("the gap and all are printed") { later.lines.count == 5 }
  #expect(values(later)[0] == ["gap": ["after": JSON(serials[1]), "record": .string(record)]])
  #expect(values(later)[1]["record"]?.string != record)
}

@Test("K5: history --follow takes no option that would leave endings out")
func historyFollow_otherOptions_areRefused() throws {
  let session = try Session(starting: false)
  for options in [
    ["--follow"], ["--follow", "--json", "-n", "3"], ["--follow", "--json", "--since", "10m"], ["--starts"],
  ] {
    let run = try session.run(program: Session.program("navctl"), ["history"] + options)
    #expect(run.exitCode == 2, "\(options): \(run.errorText)")
  }
  #expect(try session.navctl("history", "--since", "x").exitCode == 2)
}
