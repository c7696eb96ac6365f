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
private func files() throws -> [String: String] {
  let files = try Markdown("recipes/kiosk.md").files.map { ("config/\($0.key)", $0.value) }
  return Dictionary(uniqueKeysWithValues: files).merging(["menu.txt": "Soup\n"]) { $1 }
}

@Test("The recipe for kiosks: the dashboard is back after an alarm, a crash, the night and an item of the schedule")
func recipe_kiosk_isNeverEmpty() throws {
  let files = try files()
  let configuration = files["config/sway/config"]?.replacing("~/.config", with: "~/config")
  let session = try Session(
    starting: false, activatable: true, desktop: .sway, configuration: try #require(configuration), files: files)
  let valid = try session.run(program: "/usr/bin/sway", ["-C", "-c", session.path("config/sway/config")])
  #expect(valid.exitCode == 0, "\(valid.errorText)")
  let windows = try Windows(session)
  try windows.wait(for: "dashboard")
  try session.poll("it fills the screen") {
    try windows.ask("-t", "get_tree").outputText.contains("\"fullscreen_mode\": 1,\n")
  }
  /// Requires that an action closes and opens these windows, one after the other.
  func expect(_ log: String..., after action: () throws -> Void) throws {
    windows.forget()
    try action()
    try session.poll("the windows: \(log)") {
      try windows.catchUp()
      return windows.log == log
    }
    #expect(windows.most == 1)
  }
  func crash(_ binding: String) throws {
    try session.poll("“\(binding)” has crashed") {
      guard let terminal = session.processes().first(where: { $0.binding == binding && $0.name == "foot" }) else {
        return false
      }
      return kill(terminal.pid, SIGSEGV) == 0
    }
  }
  /// Carries out the work of a timer's unit.
  func apply(_ name: String) throws {
    #expect(files["config/systemd/user/navd-apply@\(name).timer"] != nil)
    let service = files["config/systemd/user/navd-apply@.service"] ?? ""
    let line = try #require(service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let command = String(line.dropFirst("ExecStart=".count)).replacing("%E", with: session.path("config"))
      .replacing("%i", with: name)
    let run = try session.run(program: "/bin/sh", ["-c", command])
    #expect(run.exitCode == 0, "\(run.errorText)")
  }

  try expect("close dashboard", "new alarm") {
    try session.runNavctl("present", "alarm", "--if-busy", "interrupt", "--force", "--value", "text=Fire")
  }
  try expect("close alarm", "new dashboard") { try session.runNavctl("dismiss", "alarm") }
  try expect("close dashboard", "new dashboard") { try crash("dashboard") }
  try expect("close dashboard", "new dashboard") { try apply("night") }
  try expect("close dashboard", "new menu") { try apply("lunch") }
  try expect("close menu", "new menu") { try crash("menu") }
  try expect("close menu", "new dashboard") { try apply("after-lunch") }

  let played = [
    "dashboard deselected", "alarm dismissed", "dashboard failed", "dashboard dismissed", "dashboard deselected",
    "menu failed", "menu dismissed",
  ]
  func lines() throws -> [JSON] {
    try String(decoding: Files.contents(of: session.path("state/played")), as: UTF8.self).split(separator: "\n")
      .map { try JSON.parse(String($0)) }
  }
  try session.poll("the file says what was shown") { try lines().count == played.count }
  #expect(try lines().map { "\($0["binding"]?.string ?? "") \($0["reason"]?.string ?? "")" } == played)
  let line = try #require(try Markdown("recipes/kiosk.md").lines.first { $0.hasPrefix("    jq ") })
  let sums = try session.run(program: "/bin/sh", ["-c", line.replacing("~/.local/state", with: "~/state")])
  #expect(sums.lines.map { $0.split(separator: " ").first } == ["alarm", "dashboard", "menu"], "\(sums.errorText)")
}

@Test(
  "The recipe for kiosks: for ten minutes of alarms, crashes, nights and schedules, the screen is never empty for long",
  .enabled(if: isThorough, "it takes ten minutes"))
func recipe_kiosk_runsForTenMinutes() throws {
  let files = try files()
  let configuration = files["config/sway/config"]?.replacing("~/.config", with: "~/config")
  let session = try Session(
    starting: false, activatable: true, desktop: .sway, configuration: try #require(configuration), files: files)
  var last: ObjectPath = .root
  var longest = Duration.zero
  /// Waits until a binding is on the screen, with another presentation than before.
  func wait(for binding: String, after action: () throws -> Void = {}) throws {
    let begin = session.loop.now
    try action()
    try session.poll("“\(binding)” is on the screen", within: .seconds(70)) {
      let (path, entry, _) = try session.call(CoordinatorInterface.get, binding)
      guard path != last, entry["phase"] == .string("presented") else { return false }
      last = path
      return true
    }
    longest = max(longest, session.loop.now - begin)
  }
  func crash(_ binding: String) throws {
    let terminal = session.processes().first { $0.binding == binding && $0.name == "foot" }
    #expect(kill(try #require(terminal).pid, SIGSEGV) == 0)
  }
  func apply(_ name: String) throws {
    try session.runNavctl("apply", session.path("config/navd/schedule/\(name).json"))
  }
  try session.poll("sway has started navd") {
    (try? session.client.callAndWait(
      CoordinatorInterface.get, on: CoordinatorNames.bus, at: CoordinatorNames.object, "dashboard", autoStart: false))
      != nil
  }
  try wait(for: "dashboard")
  let navd = try #require(
    Session.remains(of: session.environment["HOME"] ?? "").first {
      Files.contents(of: "/proc/\($0)/comm") == Array("navd\n".utf8)
    })
  func memory() -> Int { Session.privateMemory(of: navd) >> 10 }
  func processorTime() -> Int {
    let fields = String(decoding: Files.contents(of: "/proc/\(navd)/stat"), as: UTF8.self).split(separator: " ")
    return fields.count > 14 ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0
  }
  let (begin, before) = (session.loop.now, processorTime())
  var (cycles, first) = (0, 0)
  while session.loop.now - begin < .seconds(600) {
    cycles += 1
    try wait(for: "alarm") {
      try session.runNavctl(
        "present", "alarm", "--if-busy", "interrupt", "--force", "--timeout", "2s", "--value", "text=\(cycles)")
    }
    try wait(for: "dashboard")
    try wait(for: "dashboard") { try crash("dashboard") }
    try wait(for: "menu") { try apply("lunch") }
    try wait(for: "menu") { try crash("menu") }
    try wait(for: "dashboard") { try apply("after-lunch") }
    try wait(for: "dashboard") { try apply("night") }
    if cycles == 5 { first = memory() }
  }
  let played = String(decoding: Files.contents(of: session.path("state/played")), as: UTF8.self).split(separator: "\n")
  let serials = played.compactMap { try? JSON.parse(String($0))["serial"]?.unsigned }
  #expect(serials == Set(serials).sorted() && serials.count >= 7 * cycles - 1, "\(serials.count) endings")
  let ticks = Double(processorTime() - before) / Double(sysconf(Int32(_SC_CLK_TCK)))
  print(
    """
    the kiosk for ten minutes: \(cycles) rounds, \(serials.count) endings on file; the longest change took \
    \(Int(longest / .milliseconds(1))) ms, the restart's delay of a second and the alarm's two included; navd used \(ticks) s of the \
    processor, and \(memory()) kB of memory, after five rounds \(first) kB
    """)
  #expect(longest < .seconds(10))
  #expect(memory() < first + 4096)
}

@Test(
  "The recipe for kiosks: after a loss of power, the file says each ending once, though its last line is incomplete")
func recipe_kiosk_incompleteLine_isWrittenAgain() throws {
  let session = try Session(files: try files().filter { $0.key.hasSuffix("/played.sh") })
  session.environment["PATH"] = "\(Session.program("").dropLast()):/usr/bin:/bin"
  func end(_ binding: String) throws {
    try session.present(binding)
    try session.runNavctl("dismiss", binding)
  }
  let file = session.path("state/played")
  func lines() -> [String] {
    String(decoding: Files.contents(of: file), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }
  var script = try session.start(program: "/bin/sh", [session.path("config/navd/played.sh")])
  for binding in ["one", "two"] { try end(binding) }
  try session.poll("both are on file") { lines().count == 3 }
  script.send(SIGTERM)
  try session.wait("it ends") { script.hasEnded }
  try #require(truncate(file, off_t(Files.contents(of: file).count - 10)) == 0)
  script = try session.start(program: "/bin/sh", [session.path("config/navd/played.sh")])
  try end("three")
  try session.poll("the third is on file") { lines().last == "" && lines().contains { $0.contains("three") } }
  let bindings = try lines().dropLast().map { try JSON.parse($0)["binding"]?.string }
  #expect(bindings == ["one", "two", "three"], "\(script.errorText)")
}

@Test("The recipe for kiosks: systemd carries out the schedule while there is a screen")
func recipe_kiosk_unitsCarryOutTheSchedule() throws {
  var files = try files()
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
  #expect(try selection() == "menu\n")
  _ = try systemctl("start", "navd-apply@after-lunch.service")
  #expect(try selection() == "dashboard\n")
}
