import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navd as an installed service: its life with systemd, uninstalling, releases and packages.

private typealias Rows = CoordinatorInterface

/// navd as an installed service, with a presented command. Each step goes on where the one before has ended.
private struct InstalledService {
  /// The first item, and the process of its command.
  struct Shown {
    let handle: ObjectPath
    let processes: [Session.Process]
  }

  let session: Session

  init() throws {
    session = try Session(starting: false, managed: true)
    try session.make("install")
  }

  private var isActive: Bool { get throws { try session.isActive("navd.service") } }

  private var handle: ObjectPath { get throws { try session.call(Rows.get, "fact").0 } }

  private func systemctl(_ verb: String) throws -> Program { try session.systemctl(verb, "navd.service") }

  private func waitForJournal(_ what: String, _ text: String) throws {
    try session.poll("the journal \(what)") {
      try session.journal(of: "navd.service").contains { $0.contains(text) }
    }
  }

  /// Presents a command, which starts navd.
  func presentFirst() throws -> Shown {
    let present = try session.installedNavctl("present", "fact", "1", "--", "sleep", "600")
    #expect(present.exitCode == 0, "\(present.errorText)")
    #expect(try isActive)
    let status = try systemctl("status")
    #expect(status.exitCode == 0)
    #expect(status.outputText.contains("Active: active (running)"), "\(status.outputText)")
    #expect(status.outputText.contains("Presentation coordinator"))
    #expect(try systemctl("is-failed").exitCode != 0)
    // The presented command is a service of its own, not a part of navd's.
    #expect(try session.isActive("app-navd-fact@1.service"))
    try session.poll("it runs") { session.processes().map(\.name) == ["sleep"] }
    return Shown(handle: try handle, processes: session.processes())
  }

  /// Reloads navd with a right destination file and with a wrong one.
  func reload() throws {
    try session.write("style = \"sheet\"\n", toDestination: "note")
    #expect(try systemctl("reload").exitCode == 0)
    #expect(try session.installedNavctl("destinations").outputText.contains("note"))
    try session.write("style = 3\n", toDestination: "note")
    #expect(try systemctl("reload").exitCode != 0)
    try waitForJournal("names the position of the mistake", "note.toml:1")
    #expect(try isActive)
  }

  /// Restarts navd: a new navd adopts the same command (R5, R2).
  func restart(keeping shown: Shown) throws {
    let history = try session.installedNavctl("history").outputText
    #expect(try session.installedNavctl("is-presented", "fact", "1").exitCode == 0, "\(history)")
    let first = try #require(try session.navdProcess())
    #expect(try systemctl("restart").exitCode == 0)
    #expect(try session.navdProcess() != first)
    #expect(session.processes() == shown.processes)
    #expect(try session.installedNavctl("is-presented", "fact", "1").exitCode == 0)
    try waitForJournal("says that navd stopped", "stopping; presented items stay")
  }

  /// Crashes navd, which systemd starts again.
  func crash(by signal: Int32, keeping shown: Shown) throws {
    let before = try #require(try session.navdProcess())
    kill(before, signal)
    try session.poll("navd was started again") {
      let next = try session.navdProcess()
      return try next != nil && next != before && isActive
    }
    #expect(session.processes() == shown.processes)
    #expect(try handle == shown.handle)
  }

  /// Stops navd, which stays stopped until a request changes something. Queries do not start it.
  func stop(keeping shown: Shown) throws {
    #expect(try systemctl("stop").exitCode == 0)
    #expect(session.processes() == shown.processes)
    #expect(try session.installedNavctl("list").exitCode == 8)
    #expect(try !isActive)
    #expect(try session.installedNavctl("present", "note", "2", "--", "sleep", "600").exitCode == 0)
    #expect(try isActive)
    try session.poll("both run") { session.processes().count == 2 }
    #expect(try handle == shown.handle)
  }

  /// Quits navd while a client waits: the presentations end, and navd is not started again.
  func quit() throws {
    let monitor = try session.start(
      program: "/usr/bin/dbus-monitor", ["--session", "type='method_call',member='Wait'"])
    try session.wait("the monitor is listening") { monitor.outputText.contains("NameLost") }
    let waiting = try session.start(program: session.path(".local/bin/navctl"), ["wait", "note", "--json"])
    try session.wait("Wait is called") { monitor.outputText.contains("member=Wait") }
    #expect(try session.installedNavctl("quit").exitCode == 0)
    try session.wait("Wait is answered") { waiting.hasEnded }
    try session.poll("navd has ended") { try !isActive }
    #expect(try systemctl("is-failed").exitCode != 0)
    #expect(session.processes() == [])
  }

  /// - Returns: the files that are left.
  func uninstall() throws -> [String] {
    try session.make("uninstall")
    return try session.run(program: "/usr/bin/find", [session.path(".local"), "-type", "f"]).lines
  }
}

@Test(
  "As a service, navd is started by the first present, and can be reloaded, restarted, stopped, started again and quit")
func install_navd_livesWithTheManager() throws {
  let service = try InstalledService()
  let shown = try service.presentFirst()
  try service.reload()
  try service.restart(keeping: shown)
  // SIGKILL stands for the other signals of a crash, on which Swift's runtime prints a backtrace.
  for signal in [SIGSYS, SIGKILL] { try service.crash(by: signal, keeping: shown) }
  try service.stop(keeping: shown)
  try service.quit()
  #expect(try service.uninstall() == [])
}

@Test("When navd quits as a service, pending Wait calls return the reason shutdown")
func install_quit_endsEverythingAsShutdown() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install", Session.noTexts)
  let path = try session.present("fact", "1", ["command": ["sleep", "600"].value])
  try session.present("fact.child")
  let watcher = try session.watch()
  let wait = session.begin(Rows.wait, (path, "gone"))
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  #expect(try session.installedNavctl("quit").exitCode == 0)
  let (reason, result) = try session.answer(to: wait)
  #expect(reason == "shutdown")
  #expect(result["signal"] == .string("SIGTERM"))
  #expect(watcher.lines.last == "dismissed fact 1 shutdown")
  try session.poll("navd has ended") { try !session.isActive("navd.service") }
  #expect(session.processes() == [])
  try session.poll("the journal names the reason") {
    try session.journal(of: "navd.service").contains { $0.contains("quitting: every presentation ends") }
  }
}

@Test("Uninstalling removes the installed files, and nothing else")
func install_uninstalled_leavesFilesOfOthers() throws {
  let session = try Session(starting: false)
  try session.make("install")
  let find = { try session.run(program: "/usr/bin/find", [session.path(".local"), "-type", "f"]).lines }
  let unit = try #require(try find().first { $0.hasSuffix("/navd.service") })
  _ = try session.run(program: "/bin/mkdir", ["-p", unit + ".d"])
  try Files.write("[Service]\n", to: unit + ".d/own.conf")
  try session.make("uninstall")
  #expect(try find() == [unit + ".d/own.conf"])
}

@Test("A release is not installed where the units could not name its programs")
func install_releaseBelowPathWithBlanks_isRefused() throws {
  let session = try Session(starting: false)
  let release = session.path("release")
  _ = try session.run(program: "/bin/mkdir", ["-p", release + "/files/bin"])
  try Files.write(try Files.text(inPackage: "packaging/install.sh"), to: release + "/install.sh")
  try Files.write("#!/bin/sh\nexit 0\n", to: release + "/files/bin/navd")
  chmod(release + "/files/bin/navd", 0o755)
  for name in ["My programs", "a\tb", "a&b", "a|b", "100%", "$HOME", "a\"b", "it's", "a\\b", "`a`"] {
    let run = try session.run(program: "/bin/sh", [release + "/install.sh", "--prefix", session.path(name)])
    #expect(run.exitCode == 1 && run.errorText.contains("after --prefix, found"), "\(name): \(run.outputText)")
  }
  let run = try session.run(
    program: "/bin/sh", [release + "/install.sh", "--prefix", session.path("Prögramme-1.0_+@~")])
  #expect(run.exitCode == 0, "\(run.errorText)")
}

@Test("A release that cannot be copied is not installed: the earlier files stay, and the status says so")
func install_releaseOnAFullDisk_keepsWhatWasThere() throws {
  let session = try Session(starting: false)
  let release = session.path("release")
  _ = try session.run(program: "/bin/mkdir", ["-p", release + "/files/bin", session.path("prefix/bin")])
  try Files.write(try Files.text(inPackage: "packaging/install.sh"), to: release + "/install.sh")
  let program = "#!/bin/sh\nexit 0\n"
  try Files.write(program + String(repeating: "#", count: 1 << 20), to: release + "/files/bin/navd")
  chmod(release + "/files/bin/navd", 0o755)
  try Files.write(program, to: session.path("prefix/bin/navd"))
  // A part of the file is written, as on a full disk.
  let script = "ulimit -f 64; exec sh \"$1/install.sh\" --prefix \"$2\""
  let run = try session.run(program: "/bin/sh", ["-c", script, "sh", release, session.path("prefix")])
  #expect(run.exitCode != 0, "\(run.outputText)")
  #expect(String(decoding: Files.contents(of: session.path("prefix/bin/navd")), as: UTF8.self) == program)
  #expect(try session.run(program: "/bin/ls", [session.path("prefix/bin")]).lines == ["navd"])
}

@Test("The packages have this release's version, and the manual pages the date of the Debian packages")
func install_packages_areOfThisRelease() throws {
  let changelog = try Files.text(inPackage: "debian/changelog")
  #expect(changelog.hasPrefix("navd (\(Release.version)) "))
  let time = try #require(changelog.parted(at: ">  ")).after.prefix { $0 != "\n" }
  let day = try Session(starting: false).run(program: "/bin/date", ["--utc", "--date=\(time)", "+%F"])
  #expect(day.lines == [Release.date])
  for (file, line) in [
    ("arch/PKGBUILD", "pkgver=\(Release.version)"), ("fedora/navd.spec", "Version:        \(Release.version)"),
    ("nix/package.nix", "  version = \"\(Release.version)\";"),
  ] {
    #expect(try Files.text(inPackage: "packaging/\(file)").split(separator: "\n").contains { $0 == line }, "\(file)")
  }
}
