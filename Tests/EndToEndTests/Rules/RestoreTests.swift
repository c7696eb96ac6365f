import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

// Logins: the items that are kept from one session to the next (K4).

private typealias Rows = CoordinatorInterface

private let destinations = [
  "mixer": JournaledCommand.destination(endingAfter: 0) + "restore = 'login'\n",
  "memo": "state = true\nrestore = 'login'\n", "note": "state = true\n",
]

/// A user who logs in again and again. Each session has a bus and a runtime directory of its own, and all share a state directory.
private final class User {
  private var sessions: [Session] = []

  func login(starting: Bool = true, _ destinations: [String: String] = destinations) throws -> Session {
    let session = try Session(destinations: destinations, starting: false)
    if let first = sessions.first { session.environment["XDG_STATE_HOME"] = first.environment["XDG_STATE_HOME"] }
    sessions.append(session)
    if starting { try session.start() }
    return session
  }
}

extension Session {
  fileprivate func list() throws -> [String] {
    try navctl("list", "--format", "{binding} {id} {value.text}").lines.sorted()
  }
}

@Test("K4: at the next login, open items are presented again, except for commands that came with requests")
func restore_nextLogin_presentsAgain() throws {
  let user = User()
  defer { withExtendedLifetime(user) {} }
  let first = try user.login()
  try first.runNavctl("present", "mixer", "1")
  try first.runNavctl("present", "memo", "2", "--value", "text=milk", "--group", "g")
  try first.runNavctl("present", "more", "3", "--to", "memo", "--group", "g", "--if-busy", "queue")
  try first.runNavctl("present", "note", "4")
  try first.runNavctl("present", "inline", "5", "--", "sleep", "1000")
  try first.runNavctl("present", "dropped", "6", "--to", "memo")
  try first.runNavctl("dismiss", "dropped")
  try first.wait(for: "start 1", of: "mixer")
  // At a logout the programs end, and then navd.
  for process in first.processes() { kill(process.pid, SIGTERM) }
  try first.poll("its program has ended") { try first.call(Rows.get, "mixer").0 == .root }
  try first.stop()

  let second = try user.login()
  #expect(try second.list() == ["memo 2 milk", "mixer 1 ", "more 3 "])
  try second.wait(for: "start 1", of: "mixer")
  #expect(try second.navctl("selection", "g").outputText == "memo\n")
  #expect(second.navd?.errorText.contains("presenting what was kept for this login") == true)
  // A restart in one session presents no item twice, and an item that was dismissed stays so.
  try second.runNavctl("dismiss", "memo")
  try second.stop(SIGKILL)
  try second.start()
  #expect(try second.list() == ["mixer 1 ", "more 3 "])
  #expect(second.commandLog(of: "mixer") == ["start 1"])
  try second.stop(SIGKILL)
  for process in second.processes() { kill(process.pid, SIGKILL) }

  // The files may have lost a destination meanwhile.
  let third = try user.login(destinations.filter { $0.key != "mixer" })
  #expect(try third.list() == ["more 3 "])
  // Quit ends all items.
  #expect(try third.navctl("quit").exitCode == 0)
  try third.waitForEnd()
  let fourth = try user.login()
  #expect(try fourth.list() == [])
}

@Test("K4: a hold that says so is in force again at the next login, before the items that it holds up")
func restore_hold_isInForceAgain() throws {
  let user = User()
  defer { withExtendedLifetime(user) {} }
  let files = ["memo": "state = true\nrestore = 'login'\nholds = { night = 'postpone', late = 'postpone' }\n"]
  let first = try user.login(files)
  try first.runNavctl("present", "memo", "1")
  try first.runNavctl("hold", "night", "--restore", "login", "--message", "dark", "--for", "10h")
  try first.runNavctl("hold", "late", "--restore", "login", "--for", "1ms")
  try first.runNavctl("hold", "other")
  try first.poll("the short one is over") { !(try first.navctl("holds").outputText.contains("late")) }
  // The power is cut.
  try first.stop(SIGKILL)

  let second = try user.login(files)
  let holds = try second.navctl("holds", "--json").json?.array ?? []
  #expect(holds.map { $0["name"]?.string } == ["night"])
  #expect(holds.first?["message"] == "dark")
  #expect(try #require(holds.first?["timeout-left"]?.unsigned) <= 36_000_000)
  #expect(try second.navctl("list").outputText.contains("waiting (held by night)"))
  // One that was released is not there any more.
  try second.runNavctl("release", "night")
  try second.stop(SIGKILL)
  let third = try user.login(files)
  #expect(try third.navctl("holds").outputText == "")
  let refused = try third.navctl("hold", "night", "--restore", "always")
  #expect(
    refused.exitCode == 2 && refused.errorText.contains("expected “login”, found “always”"), "\(refused.errorText)")
}

@Test("K4, R8: a command that still runs at the next login is adopted, and not started again")
func restore_stillRunning_isAdopted() throws {
  let user = User()
  defer { withExtendedLifetime(user) {} }
  let session = try user.login()
  let path = try session.present("mixer", "1")
  try session.present("memo", "2")
  try session.wait(for: "start 1", of: "mixer")
  try session.stop(SIGKILL)
  let later = try user.login(starting: false)
  try #require(rename(session.bus.directory + "/navd", later.bus.directory + "/navd") == 0)
  try later.start()
  #expect(try later.list() == ["memo 2 ", "mixer 1 "])
  #expect(try later.call(Rows.get, "mixer").0 == path)
  #expect(session.commandLog(of: "mixer") == ["start 1"] && later.commandLog(of: "mixer") == [])
  try later.call(Rows.quit, ())
  try session.wait(for: "end 1", of: "mixer")
}

@Test("K4, R1: a navd that is killed right after any reply, even while it presents kept items, loses none of them")
func restore_killedAtAnyTime_losesNothing() throws {
  let user = User()
  defer { withExtendedLifetime(user) {} }
  var session = try user.login()
  var expected: [String] = []
  for round in 1...8 {
    for index in 1...(1 + round % 3) {
      try session.present("item\(round)-\(index)", "\(round)", ["destination": .string("memo")])
      expected.append("item\(round)-\(index) \(round) ")
    }
    if round % 3 == 0 {
      try session.dismiss("item\(round)-1")
      expected.removeAll { $0 == "item\(round)-1 \(round) " }
    }
    try session.stop(SIGKILL)
    session = try user.login(starting: false)
    // Some of these navds are killed while they start.
    for delay in [3, 17, 40].prefix(round % 4) {
      let navd = try session.start(program: session.executable("navd"), [])
      session.loop.turn(wait: .milliseconds(delay * round))
      navd.send(SIGKILL)
      try session.wait("it is killed") { navd.hasEnded }
    }
    try session.start()
    #expect(try session.list() == expected.sorted(), "round \(round)")
  }
}

@Test("K4, R4: kept items that cannot be read are set aside, and the log names the file")
func restore_damaged_isSetAside() throws {
  let user = User()
  defer { withExtendedLifetime(user) {} }
  let session = try user.login()
  try session.present("memo", "1")
  try session.stop()
  let file = session.path("state/navd/record.jsonl")
  let content = Files.contents(of: file)
  try #require(content.count > 60)
  var damaged = Array(content)
  damaged[damaged.count - 10] = 0xff
  let stream = try #require(fopen(file, "w"))
  fwrite(damaged, 1, damaged.count, stream)
  fclose(stream)
  let later = try user.login()
  #expect(try later.list() == [])
  #expect(later.navd?.errorText.contains("what was kept for this login cannot be read, and is kept as ") == true)
  try later.present("memo", "2")
  try later.stop()
  #expect(try user.login().list() == ["memo 2 "])
}

@Test("K4: a navd that cannot keep items says so once, and refuses nothing")
func restore_noDirectory_isTold() throws {
  let user = User()
  let session = try user.login(starting: false)
  session.environment["XDG_STATE_HOME"] = "/proc/nowhere"
  try session.start()
  for id in ["1", "2"] { try session.present("memo", id) }
  let lines = session.navd?.errorText.split(separator: "\n").filter { $0.contains("not kept for the next login") } ?? []
  #expect(lines.count == 1, "\(lines)")
  #expect(try session.list() == ["memo 2 "])
}

@Test("K4, L2: items are kept for the next login once navd has the descriptors that it needs")
func restore_withoutDescriptorsAtFirst_isKeptLater() throws {
  let user = User()
  defer { withExtendedLifetime(user) {} }
  let session = try user.login()
  let navd = try #require(session.navd)
  let used = Set(try Files.names(in: "/proc/\(navd.processID)/fd").compactMap { Int($0) })
  let firstUnused = try #require((0...used.count).first { !used.contains($0) })
  try session.limitDescriptors(firstUnused, 1024)
  try session.present("memo", "1")
  try session.wait("it says that it keeps nothing; \(navd.errorText)") {
    navd.errorText.contains("items are not kept for the next login until there is room")
  }
  try session.limitDescriptors(1024, 1024)
  try session.present("memo", "2")
  try session.stop()
  #expect(try user.login().list() == ["memo 2 "])
}
