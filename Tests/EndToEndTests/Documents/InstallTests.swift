import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navd as an installed service: its life with systemd, uninstalling, releases and packages.

private typealias Rows = CoordinatorInterface

@Test(
  "As a service, navd is started by the first present, and can be reloaded, restarted, stopped, started again and quit")
func install_navd_livesWithTheManager() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install")
  let present = try session.installedNavctl("present", "fact", "1", "--", "sleep", "600")
  #expect(present.exitCode == 0, "\(present.errorText)")
  #expect(try session.isActive("navd.service"))
  let status = try session.systemctl("status", "navd.service")
  #expect(status.exitCode == 0)
  #expect(status.outputText.contains("Active: active (running)"), "\(status.outputText)")
  #expect(status.outputText.contains("Presentation coordinator"))
  #expect(try session.systemctl("is-failed", "navd.service").exitCode != 0)
  // The presented command is a service of its own, not a part of navd's.
  #expect(try session.isActive("app-navd-fact@1.service"))
  try session.poll("it runs") { session.processes().map(\.name) == ["sleep"] }
  let shown = session.processes()

  // navd is reloaded.
  try session.write("style = \"sheet\"\n", toDestination: "note")
  #expect(try session.systemctl("reload", "navd.service").exitCode == 0)
  #expect(try session.installedNavctl("destinations").outputText.contains("note"))
  try session.write("style = 3\n", toDestination: "note")
  #expect(try session.systemctl("reload", "navd.service").exitCode != 0)
  try session.poll("the journal names the position of the mistake") {
    try session.journal(of: "navd.service").contains { $0.contains("note.toml:1") }
  }
  #expect(try session.isActive("navd.service"))

  // After a restart, a new navd adopts the same command (R5, R2).
  let handle = try session.call(Rows.get, "fact").0
  let history = try session.installedNavctl("history").outputText
  #expect(try session.installedNavctl("is-presented", "fact", "1").exitCode == 0, "\(history)")
  let first = try #require(try session.navdProcess())
  #expect(try session.systemctl("restart", "navd.service").exitCode == 0)
  #expect(try session.navdProcess() != first)
  #expect(session.processes() == shown)
  #expect(try session.installedNavctl("is-presented", "fact", "1").exitCode == 0)
  try session.poll("the journal says that navd stopped") {
    try session.journal(of: "navd.service").contains { $0.contains("stopping; presented items stay") }
  }

  // After a crash, systemd starts navd again. (The test sends SIGKILL, because Swift's runtime prints a backtrace on SIGSEGV and
  // similar signals.)
  for signal in [SIGSYS, SIGKILL] {
    let second = try #require(try session.navdProcess())
    kill(second, signal)
    try session.poll("navd was started again") {
      let next = try session.navdProcess()
      return try next != nil && next != second && session.isActive("navd.service")
    }
    #expect(session.processes() == shown)
    #expect(try session.call(Rows.get, "fact").0 == handle)
  }

  // After a stop, navd stays stopped until a request changes something. Queries do not start it.
  #expect(try session.systemctl("stop", "navd.service").exitCode == 0)
  #expect(session.processes() == shown)
  #expect(try session.installedNavctl("is-presented", "note").exitCode == 8)
  #expect(try !session.isActive("navd.service"))
  #expect(try session.installedNavctl("present", "note", "2", "--", "sleep", "600").exitCode == 0)
  #expect(try session.isActive("navd.service"))
  try session.poll("both run") { session.processes().count == 2 }
  #expect(try session.call(Rows.get, "fact").0 == handle)

  // Quit ends the presentations, and navd is not started again.
  let monitor = try session.start(program: "/usr/bin/dbus-monitor", ["--session", "type='method_call',member='Wait'"])
  try session.wait("the monitor is listening") { monitor.outputText.contains("NameLost") }
  let waiting = try session.start(program: session.path(".local/bin/navctl"), ["wait", "note", "--json"])
  try session.wait("Wait is called") { monitor.outputText.contains("member=Wait") }
  #expect(try session.installedNavctl("quit").exitCode == 0)
  try session.wait("Wait is answered") { waiting.hasEnded }
  try session.poll("navd has ended") { try !session.isActive("navd.service") }
  #expect(try session.systemctl("is-failed", "navd.service").exitCode != 0)
  #expect(session.processes() == [])

  try session.make("uninstall")
  let left = try session.run(program: "/usr/bin/find", [session.path(".local"), "-type", "f"])
  #expect(left.lines == [])
}

@Test("When navd quits as a service, pending Wait calls return the reason shutdown")
func install_quit_endsEverythingAsShutdown() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install")
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
