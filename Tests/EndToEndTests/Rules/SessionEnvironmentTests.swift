import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

// Variables of the session that come after navd, for commands that navd starts without a request (K6).

/// The files of a fallback that fails without a display, and is tried again by itself only after a minute.
private let files = [
  "home": """
  command = ["sh", "-c", 'test -n "$DISPLAY$WAYLAND_DISPLAY" && exec sleep 1000']
  restart = "always"
  restart-delay = "1m"
  on-present = ["sh", "-c", 'echo "$DISPLAY" >>said']

  """
]

extension Session {
  /// The variables of the process that shows the item at a binding, once there is one.
  fileprivate func variables(of binding: String, after earlier: pid_t? = nil) throws -> (pid: pid_t, all: Set<String>) {
    var found: pid_t?
    try poll("“\(binding)” is on the screen") {
      let entry = try state()["presentations"]?.array?.first { $0["binding"]?.string == binding }
      // A hook of the item has its variables, too.
      guard entry?["phase"] == "presented", let process = entry?["pid"]?.unsigned.map({ pid_t($0) }), process != earlier
      else { return false }
      found = process
      return true
    }
    let pid = try #require(found)
    let bytes = Files.contents(of: "/proc/\(pid)/environ")
    return (pid, Set(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }))
  }

  fileprivate func waitForFailure() throws {
    try poll("the fallback has failed") {
      try state()["presentations"]?.array?.first { $0["binding"] == "home" }?["phase"] == "waiting"
    }
  }
}

@Test(
  "K6: later variables are for commands without a request, with and without a user manager, even after a kill",
  arguments: [false, true])
func environment_imported_isThatOfCommands(hasManager: Bool) throws {
  let session = try Session(destinations: files, starting: false, managed: hasManager)
  try session.write("[groups.main]\nfallback = \"home\"\n", to: "config/navd/navd.toml")
  try session.start()
  try session.waitForFailure()
  let bare = session.environment
  session.environment["DISPLAY"] = ":77"
  let run = try session.navctl("import-environment", "DISPLAY", "NAVD_TEST_SESSION")
  #expect(run.exitCode == 2 && run.errorText.contains("“NAVD_TEST_SESSION” is set by navd"), "\(run.errorText)")
  let given = try session.navctl("import-environment", "DISPLAY", "NOT_SET", "--json")
  #expect(given.outputText == "{\"changed\":true}\n", "\(given.errorText)")
  let first = try session.variables(of: "home")
  #expect(first.all.contains("DISPLAY=:77"))
  // The failed fallback may have been on the screen for a moment, and then has also run the hook.
  try session.poll("its hook has it, too") { Files.contents(of: session.path("said")).suffix(4) == Array(":77\n".utf8) }
  #expect(try session.navctl("import-environment", "DISPLAY", "--json").outputText == "{\"changed\":false}\n")
  #expect(try session.navctl("doctor").outputText.contains("imported for them: DISPLAY"))
  session.environment = bare
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.navctl("dismiss", "home").exitCode == 0)
  #expect(try session.variables(of: "home", after: first.pid).all.contains("DISPLAY=:77"))
}

@Test(
  "K6: an adapter gives navd the variables of its compositor, in whatever order they start",
  arguments: [(Desktop.Manager.sway, "SWAYSOCK="), (.gnome, "XAUTHORITY="), (.kwin, "DISPLAY=")])
func environment_ofCompositor_isGivenByItsAdapter(_ manager: Desktop.Manager, _ other: String) throws {
  let session = try Session(destinations: files, starting: false, desktop: manager)
  try session.write("[groups.main]\nfallback = \"home\"\n", to: "config/navd/navd.toml")
  // navd gets none of the desktop's variables here.
  try session.start()
  try session.waitForFailure()
  let adapter = try WindowedDesktop.startAdapter(session)
  let first = try session.variables(of: "home")
  #expect(first.all.contains { $0.hasPrefix("WAYLAND_DISPLAY=") } && first.all.contains { $0.hasPrefix(other) })
  #expect(adapter?.hasEnded != true)
  // The next navd has the variables, too. The adapter starts no navd.
  #expect(try session.navctl("quit").exitCode == 0)
  try session.wait("navd has ended") { session.navd?.hasEnded ?? true }
  try session.start()
  #expect(try session.variables(of: "home", after: first.pid).all.contains { $0.hasPrefix("WAYLAND_DISPLAY=") })
}
