import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

// Kiosks: restarts of programs, fallbacks, interruptions and requests of startup, with a real navd (K1 to K4).

private typealias Rows = CoordinatorInterface

private struct Shown {
  let pid: pid_t
  let path: ObjectPath
}

extension Session {
  /// The process on the screen at a binding, and its presentation; it differs from an earlier one.
  fileprivate func shown(_ binding: String, after earlier: Shown? = nil) throws -> Shown {
    var found: Shown?
    try poll("“\(binding)” is on the screen, after \(earlier?.path.text ?? "nothing")") {
      let (path, entry, _) = try call(Rows.get, binding)
      guard path != earlier?.path, entry["phase"] == .string("presented"),
        let process = processes().first(where: { $0.binding == binding && $0.pid != earlier?.pid })
      else { return false }
      found = Shown(pid: process.pid, path: path)
      return true
    }
    return try #require(found)
  }
}

private let dashboard = """
  command = ["sleep", "1000"]
  restart = "on-failure"
  restart-delay = "100ms"
  restart-delay-max = "200ms"
  restart-limit = 3
  """

@Test("K3: a program that crashes is back, even if navd was restarted while it waited", arguments: [false, true])
func restart_crash_isBack(managed: Bool) throws {
  let session = try Session(destinations: ["dashboard": dashboard], managed: managed)
  #expect(try session.navctl("present", "dashboard", "--value", "page=1").exitCode == 0)
  let first = try session.shown("dashboard")
  kill(first.pid, SIGSEGV)
  let second = try session.shown("dashboard", after: first)
  #expect(second.path.text.hasSuffix("/2"))
  #expect(try session.call(Rows.get, "dashboard").1["value"].flatMap { Properties(value: $0) }?["page"] != nil)
  // The program is lost, and back.
  try session.stop(SIGKILL)
  kill(second.pid, SIGKILL)
  // A program that still runs would be adopted, and then close with a status that nobody knows (R2).
  try session.wait("it has ended") { session.processes().isEmpty }
  try session.start()
  let third = try session.shown("dashboard", after: second)
  #expect(third.path.text.hasSuffix("/3"))
  let history = try session.navctl("history", "--json").outputText
  #expect(history.contains(#""reason":"failed""#) && history.contains(#""reason":"lost""#))
  // A request ends the program for good.
  #expect(try session.navctl("dismiss", "dashboard").exitCode == 0)
  try session.poll("nothing is left") {
    try session.call(Rows.get, "dashboard").0 == .root && session.processes().isEmpty
  }
}

@Test("K3: a program that never starts is given up after its limit, with two lines in the log")
func restart_flapping_isGivenUp() throws {
  let missing = dashboard.replacing("[\"sleep\", \"1000\"]", with: "['/nowhere/dashboard']")
  let session = try Session(destinations: ["dashboard": missing])
  _ = try session.navctl("present", "dashboard")
  try session.poll("it is given up") {
    try session.navctl("history", "--json").outputText.split(separator: "\"reason\":\"failed\"").count == 5
  }
  #expect(try session.call(Rows.get, "dashboard").0 == .root)
  let lines = session.navd?.errorText.split(separator: "\n").filter { $0.contains("/nowhere/dashboard") } ?? []
  #expect(lines.count == 2, "\(lines)")
  #expect(lines.first?.contains("it is presented again") == true)
}

@Test("K1: a group shows its fallback from the start, after other members, and after a crash")
func fallback_kiosk_isAlwaysThere() throws {
  let session = try Session(destinations: [
    "home": "command = ['sleep', '1000']\nrestart = 'always'\nrestart-delay = '100ms'\n"
  ])
  try session.write("[groups.main]\nfallback = \"home\"\n", to: "config/navd/navd.toml")
  #expect(try session.navctl("reload").exitCode == 0)
  let first = try session.shown("home")
  #expect(try session.navctl("present", "notice", "--group", "main", "--state", "--timeout", "100ms").exitCode == 0)
  let second = try session.shown("home", after: first)
  #expect(try session.navctl("selection", "main").outputText == "home\n")
  kill(second.pid, SIGSEGV)
  let third = try session.shown("home", after: second)
  // The fallback was there when navd was killed, and stays.
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.shown("home").path == third.path)
  #expect(try session.navctl("dismiss", "home").exitCode == 0)
  _ = try session.shown("home", after: third)
  #expect(try session.navctl("quit").exitCode == 0)
  try session.wait("nothing is left") { session.processes().isEmpty }
}

@Test("K1: a fallback without a destination is a line in the log, and a warning of check-config")
func fallback_missing_isTold() throws {
  let session = try Session()
  try session.write("[groups.main]\nfallback = \"home\"\n", to: "config/navd/navd.toml")
  #expect(try session.navctl("reload").exitCode == 0)
  try session.wait("the log says why") {
    session.navd?.errorText.contains(
      "the fallback cannot be presented, and is tried again: there is no destination “home”")
      == true
  }
  let check = try session.navctl("check-config")
  #expect(check.outputText.contains("navd.toml: warning: the fallback “home” of “main” has no file “home.toml”"))
  // The fallback is shown as soon as there is a destination.
  try session.write("state = true\n", toDestination: "home")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.navctl("selection", "main").outputText == "home\n")
}

@Test("K4: the requests of startup are carried out as one when navd starts with nothing on record, before fallbacks")
func startup_emptyRecord_isCarriedOut() throws {
  let session = try Session(
    destinations: ["home": "state = true\n", "film": "command = ['sleep', '1000']\n"],
    files: [
      "config/navd/navd.toml": """
      startup = "start/startup.json"
      [container-values]
      badge = { signature = "i", default = 0 }
      [groups.main]
      fallback = "home"
      """,
      "config/navd/start/startup.json": """
      [["Present", "film", "1", {"group": "main"}],
       ["Present", "film.note", "", {"container-values": {"badge": 3}, "state": true}]]
      """,
    ])
  func ids() throws -> [String] { try session.navctl("list", "--format", "{binding} {id}").lines.sorted() }
  #expect(try ids() == ["film 1", "film.note "])
  let first = try session.shown("film")
  #expect(try session.navctl("value", "get", "film.note", "badge").outputText == "3\n")
  // The fallback has not even begun.
  #expect(try session.navctl("history").outputText == "")
  // The requests are not carried out with something on record: an item that was dismissed stays so.
  #expect(try session.navctl("dismiss", "film.note").exitCode == 0)
  try session.stop(SIGKILL)
  try session.start()
  #expect(try ids() == ["film 1"])
  #expect(try session.shown("film").path == first.path)
  // The requests are carried out with nothing on record.
  try session.write(
    "startup = 'start/startup.json'\ncontainer-values.badge = { signature = 'i', default = 0 }\n",
    to: "config/navd/navd.toml")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.navctl("dismiss", "--all").exitCode == 0)
  try session.wait("it has ended") { session.processes().isEmpty }
  try session.stop()
  try session.start()
  #expect(try ids() == ["film 1", "film.note "])
}

@Test("K4: mistakes in the file of startup are in the log and in check-config, and none of its items is presented")
func startup_mistake_isTold() throws {
  let session = try Session(
    destinations: ["film": "state = true\n"], starting: false,
    files: ["config/navd/navd.toml": "startup = 'startup.json'\n"])
  let file = session.path("config/navd/startup.json")
  func starts(_ text: String?, saying what: String, checked status: Int32, _ check: String) throws {
    if let text { try session.write(text, to: "config/navd/startup.json") }
    try session.start()
    #expect(session.navd?.errorText.contains("\(file):\(what)") == true, "\(session.navd?.errorText ?? "")")
    let run = try session.navctl("check-config")
    #expect(run.exitCode == status && run.outputText.contains("\(file):\(check)"), "\(run.outputText)")
    #expect(try session.navctl("list").outputText == "")
    #expect(try session.navctl("doctor").outputText.contains(what))
    try session.stop()
  }
  let missing = " there is no such file, which “startup” of navd.toml names"
  try starts(nil, saying: missing, checked: 1, missing)
  let method = "2:2: request 1: “Wait” cannot be in a list of requests"
  try starts("[[\"Present\",\"film\",\"\",{}],\n[\"Wait\"]]", saying: method, checked: 1, method)
  let name = "1:2: request 0: binding “9” begins with “9”"
  try starts("[[\"Present\",\"9\",\"\",{}]]", saying: name, checked: 1, name)
  // A program on the bus may have registered the destination, so this is only a warning.
  try starts(
    "[[\"Present\",\"film\",\"\",{}],\n [\"Present\",\"mixr\",\"\",{\"destination\":\"mixr\"}]]",
    saying: "2:2: request 1: there is no destination “mixr”", checked: 0,
    "2:2: warning: request 1: there is no destination “mixr”")
}

@Test("K4, D2: check-config warns of an item of startup that nothing would show, unless that is meant")
func startup_nameThatNothingShows_isAWarning() throws {
  let session = try Session(
    destinations: ["clock": "command = [\"sleep\", \"60\"]\n"], starting: false,
    files: ["config/navd/navd.toml": "startup = 'startup.json'\n"])
  func check(_ options: String) throws -> String {
    let text = "[[\"Present\", \"clock\", \"\", {}],\n [\"Present\", \"clok\", \"\", \(options)]]"
    try session.write(text, to: "config/navd/startup.json")
    let run = try session.navctl("check-config")
    #expect(run.exitCode == 0)
    return run.outputText
  }
  let warning = try check("{}")
  #expect(
    warning.contains(
      "startup.json:2:2: warning: request 1: there is no destination “clok”; did you mean “clock”? Otherwise write "),
    "\(warning)")
  #expect(try !check(#"{"state": true}"#).contains("warning"))
  try session.start()
  #expect(try session.state()["presentations"]?.array?.count == 2)
}

@Test("K4, R8: at the next login of a user who lingers, startup is carried out again, before fallbacks")
func startup_laterSession_isCarriedOut() throws {
  let destinations = ["home": "state = true\n"]
  let files = [
    "config/navd/navd.toml": "startup = 'startup.json'\n[groups.main]\nfallback = 'home'\n",
    "config/navd/startup.json": #"[["Present", "welcome", "", {"group": "main", "state": true}]]"#,
  ]
  let session = try Session(destinations: destinations, files: files)
  let path = try session.call(Rows.get, "welcome").0
  #expect(path != .root)
  try session.stop(SIGKILL)
  let later = try Session(destinations: destinations, starting: false, files: files)
  try #require(rename(session.bus.directory + "/navd", later.bus.directory + "/navd") == 0)
  try later.start()
  #expect(try later.navctl("selection", "main").outputText == "welcome\n")
  #expect(try later.call(Rows.get, "welcome").0 != path)
  #expect(try later.call(Rows.history, (0, [:])).map { $0["reason"] } == [.string("lost")])
}

@Test("K1, K3: neither a program that flaps nor a fallback that cannot be shown fills the log or heats the processor")
func fallback_refusedWhileAProgramFlaps_isToldOnce() throws {
  let flapping = "command = ['/bin/false']\nrestart = 'always'\nrestart-delay = '100ms'\nrestart-delay-max = '100ms'\n"
  let session = try Session(
    destinations: ["flap": flapping + "restart-limit = 1000\n"], starting: false,
    files: ["config/navd/navd.toml": "[groups.main]\nfallback = 'home'\n"])
  try session.start()
  let navd = try #require(session.navd)
  func processorTime() -> Int {
    let fields = String(decoding: Files.contents(of: "/proc/\(navd.processID)/stat"), as: UTF8.self).split(
      separator: " ")
    return fields.count > 14 ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0
  }
  let (begin, before) = (session.loop.now, processorTime())
  _ = try session.navctl("present", "flap")
  try session.poll("it has ended 20 times") { try session.call(Rows.history, (0, [:])).count >= 20 }
  let ticks = Double(processorTime() - before) / Double(sysconf(Int32(_SC_CLK_TCK)))
  let elapsed = (session.loop.now - begin) / .seconds(1)
  #expect(ticks < elapsed / 3, "\(ticks) s of the processor in \(elapsed) s")
  let lines = navd.errorText.split(separator: "\n")
  #expect(lines.count { $0.contains("the fallback cannot be presented") } == 1, "\(lines)")
  #expect(lines.count { $0.contains("presented again") } == 1, "\(lines)")
  let entry = try #require(try session.state()["presentations"]?.array?.first)
  #expect(entry["restarts"]?.unsigned ?? 0 >= 20, "\(entry)")
  try session.poll("it waits, and the list says for which restart") {
    try session.navctl("list").outputText.contains("waiting (restart ")
  }
}

@Test("K4: a mistake in the file of startup is in the log as soon as the file is written")
func startup_written_isNoticed() throws {
  let session = try Session()
  try session.write("startup = 'elsewhere/startup.json'\n", to: "config/navd/navd.toml")
  func waitFor(_ what: String) throws {
    try session.wait("the log says \(what)") { session.navd?.errorText.contains("startup.json\(what)") == true }
  }
  try waitFor(": there is no such file")
  try session.write("[[\"Wait\"]]", to: "config/navd/elsewhere/startup.json")
  try waitFor(":1:3: request 0: “Wait” cannot be in a list of requests")
  try session.write("[]", to: "config/navd/elsewhere/startup.json")
  try session.poll("the mistake is corrected") {
    try session.navctl("doctor").outputText.contains("startup.json") == false
  }
}

extension Session {
  /// A session whose clock on the wall shows the seconds after midnight now, with a menu from 11:30 to 14:00 and a dashboard.
  fileprivate static func withMenu(at seconds: Int) throws -> Session {
    let program = "command = [\"sleep\", \"1000\"]\n"
    let session = try Session(destinations: ["menu": program, "dashboard": program], starting: false)
    try session.write(
      """
      [groups.main]
      fallback = [{ show = "menu", from = "11:30", to = "14:00" }, "dashboard"]
      """, to: "config/navd/navd.toml")
    session.setClock(to: seconds)
    try session.start()
    return session
  }

  /// Gives a navd that starts a time zone in which it is that many seconds after midnight.
  fileprivate func setClock(to seconds: Int) {
    let day = 86_400
    var offset = ((seconds - time(nil)) % day + day) % day
    if offset > day / 2 { offset -= day }
    let size = abs(offset)
    environment["TZ"] = "TST\(offset > 0 ? "-" : "")\(size / 3600):\(size / 60 % 60):\(size % 60)"
  }

  fileprivate func waitForSelection(_ tag: String) throws {
    try poll("“\(tag)” is selected") { try navctl("selection", "main").outputText == "\(tag)\n" }
  }
}

@Test(
  "K7: navd that starts in the middle of the hours shows what belongs on now, and one that starts after them the next")
func fallback_startOfNavd_isWhatBelongsOnNow() throws {
  let session = try Session.withMenu(at: 12 * 3600)
  let menu = try session.shown("menu")
  let page = try session.navctl("status", "main").lines
  #expect(page.contains { $0.hasPrefix("fallback\tmenu, until ") && $0.hasSuffix(" 14:00:00") }, "\(page)")
  try session.stop(SIGKILL)
  session.setClock(to: 15 * 3600)
  try session.start()
  _ = try session.shown("dashboard")
  #expect(try session.ending(of: menu.path).reason == "deselected")
}

@Test("K7: when the clock reaches the end of the hours, the next fallback takes the place of the former one")
func fallback_endOfItsHours_givesWay() throws {
  let session = try Session.withMenu(at: 14 * 3600 - 8)
  let menu = try session.shown("menu")
  try session.waitForSelection("dashboard")
  _ = try session.shown("dashboard")
  #expect(try session.ending(of: menu.path).reason == "deselected")
}

@Test("D21: a program that hangs ends as failed after some checks, and is started again; one that works goes on")
func check_hungProgram_isStartedAgain() throws {
  let session = try Session(destinations: [
    "page": """
    command = ["sleep", "1000"]
    restart = "always"
    restart-delay = "100ms"
    check = { command = ["test", "!", "-e", "{value.file}"], every = "1s", failures = 2 }
    """
  ])
  let file = session.path("hangs")
  #expect(try session.navctl("present", "page", "--value", "file=\(file)").exitCode == 0)
  let first = try session.shown("page")
  // A program that gets no time cannot answer SIGTERM either.
  kill(first.pid, SIGSTOP)
  try session.write("", to: "hangs")
  let (reason, result) = try session.ending(of: first.path)
  unlink(file)
  #expect(reason == "failed")
  #expect(
    result["error"].flatMap { String(value: $0) }?.hasPrefix(
      "it hangs: its check failed 2 times, the last time: exit status 1")
      == true, "\(result)")
  let second = try session.shown("page", after: first)
  #expect(second.pid != first.pid)
}
