import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

// Protected items, with and without a user manager (D12).

private typealias Rows = CoordinatorInterface

@Test("D12: a locker ends only by itself", arguments: [false, true])
func protected_locker_endsOnlyByItself(managed: Bool) throws {
  let session = try Session(
    destinations: ["lock": "command = ['sleep', '1000']\nprotected = true\n"], managed: managed)
  let path = try session.present("lock")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  #expect(try session.refusal(Rows.dismiss, ("lock", [:]))?.name == .accessDenied)
  #expect(try session.refusal(Rows.dismissAll, ["all": .boolean(true)])?.name == .accessDenied)
  #expect(try session.refusal(Rows.closed, (path, [:]))?.name == .accessDenied)
  #expect(try session.refusal(Rows.quit, ())?.name == .accessDenied)
  let run = try session.navctl("toggle", "lock")
  #expect(run.exitCode == 6)
  #expect(
    run.errorText
      == "navctl: toggle lock: “lock” is protected by its destination, and ends only by itself: no request can end it\n"
  )
  // The protection belongs to the item, even after a restart, whatever the file says now.
  try session.write("command = ['sleep', '1000']\n", toDestination: "lock")
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.refusal(Rows.dismiss, ("lock", [:]))?.name == .accessDenied)
  let process = try #require(session.processes().first { $0.binding == "lock" })
  kill(process.pid, SIGTERM)
  #expect(try ["failed", "closed"].contains(session.ending(of: path).reason))
  try session.call(Rows.quit, ())
}
