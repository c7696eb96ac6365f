import Glibc
import TestSupport
import Testing

// The measurements of windows by navbench, on each desktop that the tests have, or on that of NAVD_TEST_DESKTOP.

@Suite(.enabled(if: getenv("NAVD_TEST_BENCH") != nil)) struct WindowBenchmarkTests {
  @Test(
    "navbench measures windows on each desktop; make bench-windows runs it",
    arguments: AdapterSetup.chosen.map { [$0] } ?? AdapterSetup.all)
  func windows_ofEachDesktop_areMeasured(_ setup: AdapterSetup) throws {
    let session = try Session(starting: false, desktop: setup.manager)
    session.installProgram("navbench")
    var environment: [String] = []
    switch setup.manager {
    case .gnome:
      try session.enableExtension()
      environment = ["XDG_CURRENT_DESKTOP=GNOME"]
    case .kwin:
      try session.allowWindows(to: "navbench")
      environment = ["XDG_CURRENT_DESKTOP=KDE"]
    default:
      // navbench would prefer the socket to the other ways of the desktop.
      if setup.backend != "sway" { environment = ["-u", "SWAYSOCK", "-u", "I3SOCK"] }
    }
    let program = try session.start(
      program: "/usr/bin/env", environment + [session.path("bin/navbench"), "--only", "windows", "--rounds", "3"])
    try session.wait("navbench ends", within: .seconds(300)) { program.hasEnded }
    #expect(program.exitCode == 0, "\(program.errorText)")
    print("\(setup):\n\(program.outputText)")
  }
}
