import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

@Test("H2: a locker that tells nobody, started by swayidle, is held around as the documentation says")
func locker_heldAround_isHold() throws {
  let document = try Markdown("holds.md").lines
  let line = try #require(document.first { $0.hasPrefix("swayidle ") })
  let session = try Session(destinations: ["secret": "state = true\nholds.locked = 'postpone'\n"], desktop: .sway)
  let idle = try session.start(program: "/bin/sh", ["-c", "exec \(line.replacing("timeout 300", with: "timeout 1"))"])
  try session.poll("it is locked; \(idle.errorText)") { try session.state()["holds"] == ["locked"] }
  // swaylock's colour is white.
  var corner: [UInt8] = []
  try session.poll("nothing else is seen; \(corner.suffix(12))") {
    corner = try session.picture("0,0 8x8")
    return corner.suffix(192).allSatisfy { $0 == 255 }
  }
  try session.present("secret")
  func phase() throws -> String? { try session.state()["presentations"]?.array?.first?["phase"]?.string }
  #expect(try phase() == "waiting")
  // On this signal swaylock unlocks.
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
