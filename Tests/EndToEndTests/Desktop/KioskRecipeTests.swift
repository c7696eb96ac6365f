import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

// The recipe for kiosks: the screen is never empty, and every ending is written to a file.

/// The files of the recipe for kiosks, by path from the session's home.
private func kioskFiles() throws -> [String: String] {
  // Files with an absolute path belong to the system; .ci/sign writes and tries them.
  let files = try Markdown("kiosk.md").files.filter { !$0.key.hasPrefix("/") }.map { ("config/\($0.key)", $0.value) }
  return Dictionary(uniqueKeysWithValues: files).merging(["menu.txt": "Soup\n"]) { $1 }
}

/// The kiosk on a desktop, with programs that crash.
private struct Kiosk {
  let session: Session
  private let files: [String: String]

  init() throws {
    files = try kioskFiles()
    let configuration = files["config/sway/config"]?.replacing("~/.config", with: "~/config")
    session = try Session(
      starting: false, activatable: true, desktop: .sway, configuration: try #require(configuration), files: files)
  }

  /// Starts what writes the endings to the file, which a unit does otherwise.
  func writeEndings() throws -> Program {
    try session.start(program: "/bin/sh", [session.path("config/navd/played.sh")])
  }

  func alarm(_ text: String, _ options: String...) throws {
    let arguments = ["present", "alarm", "--if-busy", "interrupt", "--force", "--value", "text=\(text)"] + options
    try session.runTool(session.executable("navctl"), arguments)
  }

  /// Kills the terminal of a binding, once it runs.
  func crash(_ binding: String) throws {
    try session.poll("“\(binding)” has crashed") {
      let terminal = session.processes().first { $0.binding == binding && $0.name == "foot" }
      return terminal.map { kill($0.pid, SIGSEGV) == 0 } ?? false
    }
  }

  /// Carries out the work of a timer's unit.
  func apply(_ name: String) throws {
    #expect(files["config/systemd/user/navd-apply@\(name).timer"] != nil)
    let service = files["config/systemd/user/navd-apply@.service"] ?? ""
    let line = try #require(service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let command = String(line.dropFirst("ExecStart=".count)).replacing("%E", with: session.path("config"))
      .replacing("%i", with: name)
    try session.runTool("/bin/sh", ["-c", command])
  }

  /// The endings that were written to the file. The last line may be incomplete.
  var played: [JSON] {
    String(decoding: Files.contents(of: session.path("state/played")), as: UTF8.self).split(separator: "\n")
      .compactMap { try? JSON.parse(String($0)) }.filter { $0["event"] == "dismissed" }
  }
}

@Test("The recipe for kiosks: the dashboard is back after an alarm, a crash, the night and an item of the schedule")
func recipe_kiosk_isNeverEmpty() throws {
  let kiosk = try Kiosk()
  let session = kiosk.session
  try session.runTool("/usr/bin/sway", ["-C", "-c", session.path("config/sway/config")])
  let windows = try Windows(session)
  try windows.wait(for: "dashboard")
  let writer = try kiosk.writeEndings()
  try session.poll("it fills the screen") {
    try windows.ask("-t", "get_tree").outputText.contains("\"fullscreen_mode\": 1,\n")
  }

  /// Requires that an action closes a window, and then opens another.
  func expect(_ log: String..., after action: () throws -> Void) throws {
    windows.forget()
    try action()
    try session.poll("the windows: \(log)") {
      try windows.catchUp()
      return windows.log == log
    }
    // A program may end after its window, and navd may see a window after sway.
    try session.poll("one item is left, and is presented") {
      try session.state()["presentations"]?.array?.map { $0["phase"] } == ["presented"]
    }
    #expect(windows.most <= 2)
  }
  try expect("new alarm", "close dashboard") { try kiosk.alarm("Fire") }
  try expect("new dashboard", "close alarm") { try session.runNavctl("dismiss", "alarm") }
  try expect("close dashboard", "new dashboard") { try kiosk.crash("dashboard") }
  try expect("new dashboard", "close dashboard") { try kiosk.apply("night") }
  try expect("new menu", "close dashboard") { try kiosk.apply("lunch") }
  try expect("close menu", "new menu") { try kiosk.crash("menu") }
  try expect("new dashboard", "close menu") { try kiosk.apply("after-lunch") }

  let played = [
    "dashboard deselected", "alarm dismissed", "dashboard failed", "dashboard dismissed", "dashboard deselected",
    "menu failed", "menu dismissed",
  ]
  try session.poll("the file says what was shown") { kiosk.played.count == played.count }
  #expect(kiosk.played.map { "\($0["binding"]?.string ?? "") \($0["reason"]?.string ?? "")" } == played)
  let line = try #require(try Markdown("kiosk.md").lines.first { $0.hasPrefix("    jq ") })
  let sums = try session.run(program: "/bin/sh", ["-c", line.replacing("~/.local/state", with: "~/state")])
  #expect(sums.lines.map { $0.split(separator: " ").first } == ["alarm", "dashboard", "menu"], "\(sums.errorText)")
  #expect(writer.status == nil)
}

/// A kiosk over a long time: the changes of its screen, and what navd uses.
private final class LongKiosk {
  let kiosk: Kiosk
  let navd: pid_t
  private let writer: Program
  /// The longest time from an action to the item on the screen.
  private(set) var longest = Duration.zero
  /// The presentation that was on the screen last.
  private var last: ObjectPath = .root

  init() throws {
    let kiosk = try Kiosk()
    let session = kiosk.session
    try session.poll("sway has started navd") {
      (try? session.client.callAndWait(
        CoordinatorInterface.get, on: CoordinatorNames.bus, at: CoordinatorNames.object, "dashboard",
        autoStart: false)) != nil
    }
    writer = try kiosk.writeEndings()
    self.kiosk = kiosk
    navd = try #require(
      Session.remains(of: session.environment["HOME"] ?? "").first {
        Files.contents(of: "/proc/\($0)/comm") == Array("navd\n".utf8)
      })
  }

  /// Waits until a binding is on the screen, with another presentation than before.
  func wait(for binding: String, after action: () throws -> Void = {}) throws {
    let begin = kiosk.session.loop.now
    try action()
    try kiosk.session.poll("“\(binding)” is on the screen", within: .seconds(70)) {
      let (path, entry, _) = try kiosk.session.call(CoordinatorInterface.get, binding)
      guard path != last, entry["phase"] == .string("presented") else { return false }
      last = path
      return true
    }
    longest = max(longest, kiosk.session.loop.now - begin)
  }

  /// Goes through an alarm that ends by itself, crashes, the schedule and the night: seven endings at least.
  func goAround(_ text: String) throws {
    try wait(for: "alarm") { try kiosk.alarm(text, "--timeout", "2s") }
    try wait(for: "dashboard")
    try wait(for: "dashboard") { try kiosk.crash("dashboard") }
    try wait(for: "menu") { try kiosk.apply("lunch") }
    try wait(for: "menu") { try kiosk.crash("menu") }
    try wait(for: "dashboard") { try kiosk.apply("after-lunch") }
    try wait(for: "dashboard") { try kiosk.apply("night") }
  }

  /// The memory of navd in KiB.
  var memory: Int { Session.privateMemory(of: navd) >> 10 }

  /// The processor time of navd in seconds.
  var processorTime: Double {
    let fields = String(decoding: Files.contents(of: "/proc/\(navd)/stat"), as: UTF8.self).split(separator: " ")
    let ticks = fields.count > 14 ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0
    return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

@Test(
  "The recipe for kiosks: for ten minutes of alarms, crashes, nights and schedules, the screen is never empty for long",
  .enabled(if: isThorough, "it takes ten minutes"))
func recipe_kiosk_runsForTenMinutes() throws {
  let long = try LongKiosk()
  let loop = long.kiosk.session.loop
  try long.wait(for: "dashboard")
  let (begin, before) = (loop.now, long.processorTime)
  var (rounds, memory) = (0, 0)
  while loop.now - begin < .seconds(600) {
    rounds += 1
    try long.goAround("\(rounds)")
    if rounds == 5 { memory = long.memory }
  }
  let serials = long.kiosk.played.compactMap { $0["serial"]?.unsigned }
  #expect(serials == Set(serials).sorted() && serials.count >= 7 * rounds - 1, "\(serials.count) endings")
  print(
    """
    the kiosk for ten minutes: \(rounds) rounds, \(serials.count) endings on file; the longest change took \
    \(Int(long.longest / .milliseconds(1))) ms, the restart's delay of a second and the alarm's two included; navd used \
    \(long.processorTime - before) s of the processor, and \(long.memory) kB of memory, after five rounds \(memory) kB
    """)
  #expect(long.longest < .seconds(10))
  #expect(long.memory < memory + 4096)
}

@Test(
  "The recipe for kiosks: after a loss of power, the file says each ending once, though its last line is incomplete")
func recipe_kiosk_incompleteLine_isWrittenAgain() throws {
  let session = try Session(files: try kioskFiles().filter { $0.key.hasSuffix("/played.sh") })
  session.environment["PATH"] = "\(Session.program("").dropLast()):/usr/bin:/bin"
  func end(_ binding: String) throws {
    try session.present(binding)
    try session.runNavctl("dismiss", binding)
  }
  let file = session.path("state/played")
  /// The items whose ends are on file. What came and went before the script ran has no line for its start.
  func endings() -> [String?] {
    String(decoding: Files.contents(of: file), as: UTF8.self).split(separator: "\n")
      .compactMap { try? JSON.parse(String($0)) }.filter { $0["event"] == "dismissed" }.map { $0["binding"]?.string }
  }
  var script = try session.start(program: "/bin/sh", [session.path("config/navd/played.sh")])
  for binding in ["one", "two"] { try end(binding) }
  try session.poll("both are on file") { endings() == ["one", "two"] }
  script.send(SIGTERM)
  try session.wait("it ends") { script.hasEnded }
  try #require(truncate(file, off_t(Files.contents(of: file).count - 10)) == 0)
  script = try session.start(program: "/bin/sh", [session.path("config/navd/played.sh")])
  try end("three")
  try session.poll("the third is on file") { endings().last == "three" }
  #expect(endings() == ["one", "two", "three"], "\(script.errorText)")
}

@Test("The recipe for kiosks: a gap that was written last is on file once, and what follows it, too")
func recipe_kiosk_gapAtTheEnd_isWrittenOnce() throws {
  let session = try Session(files: try kioskFiles().filter { $0.key.hasSuffix("/played.sh") })
  session.environment["PATH"] = "\(Session.program("").dropLast()):/usr/bin:/bin"
  try session.write(
    "{\"event\":\"dismissed\",\"record\":\"other\",\"serial\":9}\n{\"gap\":{\"after\":9,\"record\":\"other\"}}\n",
    to: "state/played")
  try session.present("one")
  try session.runNavctl("dismiss", "one")
  let script = try session.start(program: "/bin/sh", [session.path("config/navd/played.sh")])
  func lines() -> [JSON] {
    String(decoding: Files.contents(of: session.path("state/played")), as: UTF8.self).split(separator: "\n")
      .compactMap { try? JSON.parse(String($0)) }
  }
  try session.poll("the ending is on file") { lines().contains { $0["binding"] == "one" } }
  #expect(lines().count == 3 && lines()[1] == ["gap": ["after": 9, "record": "other"]], "\(script.errorText)")
}

@Test(
  "The recipe for kiosks: the check of a page fails while its renderer hangs, and when that has died; the browser answers all the same",
  .enabled(if: ColoredProgram.isMeasured, "make check-programs has Chromium"))
func recipe_kiosk_deadPage_isFound() throws {
  let page = "<meta charset=\"utf-8\"><title>Übersicht</title>\n"
  let session = try Session(starting: false, files: try kioskFiles().merging(["page.html": page]) { $1 })
  session.environment["LC_ALL"] = "C.UTF-8"
  let profile = session.path("profile")
  let browser = try session.start(
    program: "/usr/bin/chromium",
    [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--user-data-dir=\(profile)",
      "--remote-debugging-port=0", "file://\(session.path("page.html"))",
    ], mayFail: true)
  func works() throws -> Bool {
    try session.run(program: "/bin/bash", [session.path("config/navd/check-page.sh"), profile]).exitCode == 0
  }
  /// Sends a signal to the processes that draw pages.
  func signal(_ name: String) throws {
    let run = try session.run(
      program: "/usr/bin/pkill", ["--signal", name, "--full", "type=renderer.*user-data-dir=\(profile)"])
    #expect(run.exitCode == 0, "\(run.errorText)")
  }
  try session.poll("the page answers", within: .seconds(60)) { try works() }
  try signal("STOP")
  #expect(try !works())
  try signal("CONT")
  try session.poll("the page answers again") { try works() }
  try signal("KILL")
  try session.poll("the page is dead") { try !works() }
  #expect(!browser.hasEnded)
  browser.send(SIGTERM)
  try session.wait("the browser has ended") { browser.hasEnded }
}

@Test("The recipe for kiosks: systemd carries out the schedule while there is a screen")
func recipe_kiosk_unitsCarryOutTheSchedule() throws {
  var files = try kioskFiles()
  files["bin/foot"] = "#!/bin/sh\nexec sleep 1000\n"
  let session = try Session(managed: true, files: files)
  func systemctl(_ arguments: String...) throws -> String {
    let run = try session.run(program: "/usr/bin/systemctl", ["--user", "--no-pager"] + arguments)
    #expect(run.exitCode == 0, "\(arguments): \(run.errorText)")
    return run.outputText
  }
  let units = files.keys.filter { $0.contains("systemd/user/") }.map { session.path($0) }
  let verified = try session.run(program: "/usr/bin/systemd-analyze", ["verify", "--user"] + units)
  #expect(verified.exitCode == 0 && verified.errorText == "", "\(verified.errorText)")
  for name in ["lunch", "after-lunch", "night"] {
    _ = try systemctl("start", "navd-apply@\(name).timer")
    let next = try systemctl("show", "--property=NextElapseUSecRealtime", "--value", "navd-apply@\(name).timer")
    #expect(next.contains(":"), "\(next)")
  }

  func selection() throws -> String { try session.navctl("selection", "main").outputText }
  _ = try systemctl("start", "navd-apply@lunch.service")
  #expect(try selection() == "dashboard\n")
  let programs = "PATH=\(session.path("bin")):\(Session.program("").dropLast()):/usr/bin:/bin"
  _ = try systemctl("set-environment", "WAYLAND_DISPLAY=wayland-1", programs)
  _ = try systemctl("start", "navd-apply@lunch.service")
  try session.poll("the menu is selected") { try selection() == "menu\n" }
  _ = try systemctl("start", "navd-apply@after-lunch.service")
  try session.poll("the dashboard is selected") { try selection() == "dashboard\n" }
}
