import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

// Lockers of the screen, started by navd or by swayidle, and the hold “locked” (H2, H8).

@Test(
  "H8: a locker presented as the documentation says holds “locked” while it locks, even after a kill of navd"
)
func locker_presented_holds() throws {
  let file = try #require(try Markdown("programs.md").files["navd/destinations/lock.toml"])
  let session = try Session(
    destinations: ["lock": file, "secret": "state = true\nholds.locked = 'postpone'\n"], desktop: .sway)
  func phase(_ binding: String) throws -> String? {
    try session.state()["presentations"]?.array?.first { $0["binding"]?.string == binding }?["phase"]?.string
  }
  // A key of the compositor does this, with the compositor's variables.
  #expect(try session.navctl("present", "lock").exitCode == 0)
  try session.poll("it is presented") { try phase("lock") == "presented" }
  #expect(try session.state()["holds"] == ["locked"])
  #expect(try session.navctl("holds").lines.first?.hasPrefix("locked\tlock") == true)
  #expect(try session.navctl("release", "locked").exitCode == 6)
  try session.present("secret")
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.state()["holds"] == ["locked"])
  #expect(try phase("lock") == "presented" && phase("secret") == "waiting")
  let watcher = try session.watch()
  let home = session.environment["HOME"] ?? ""
  try session.poll("swaylock has unlocked, as it does on this signal") {
    let lockers = Session.remains(of: home).filter {
      Files.contents(of: "/proc/\($0)/comm") == Array("swaylock\n".utf8)
    }
    for locker in lockers { kill(locker, SIGUSR1) }
    return try phase("secret") == "presented"
  }
  #expect(try session.state()["holds"] == nil)
  #expect(watcher.events.filter { $0.json["event"]?.string == "hold" }.count == 1)
}

@Test("H2: a locker that tells nobody holds “locked” if swayidle starts it as the documentation says")
func locker_heldAround_isHold() throws {
  let document = try Markdown("holds.md").lines
  let line = try #require(document.first { $0.hasPrefix("swayidle ") })
  let session = try Session(destinations: ["secret": "state = true\nholds.locked = 'postpone'\n"], desktop: .sway)
  let idle = try session.start(program: "/bin/sh", ["-c", "exec \(line.replacing("timeout 300", with: "timeout 1"))"])
  try session.poll("it is locked; \(idle.errorText)") { try session.state()["holds"] == ["locked"] }
  // The colour of swaylock is white.
  var corner: [UInt8] = []
  try session.poll("nothing else is seen; \(corner.suffix(12))") {
    corner = try session.picture("0,0 8x8")
    return corner.suffix(192).allSatisfy { $0 == 255 }
  }
  try session.present("secret")
  func phase() throws -> String? { try session.state()["presentations"]?.array?.first?["phase"]?.string }
  #expect(try phase() == "waiting")
  // swaylock unlocks on this signal.
  let home = session.environment["HOME"] ?? ""
  try session.poll("the locker has ended") {
    let lockers = Session.remains(of: home).filter {
      Files.contents(of: "/proc/\($0)/comm") == Array("swaylock\n".utf8)
    }
    for locker in lockers { kill(locker, SIGUSR1) }
    return try session.state()["holds"] == nil
  }
  try session.poll("it is presented") { try phase() == "presented" }
}
