import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

// The standard error of navd itself, which nobody may read.

@Test("L2: navd waits for nobody to read its standard error, whether it or a command writes there")
func standardError_thatNobodyReads_delaysNobody() throws {
  let long = String(repeating: "x", count: 8192)
  let session = try Session(
    destinations: ["loud": "command = [\"sh\", \"-c\", \"echo \(long) >&2; exit 1\"]"], starting: false)
  // A pipe holds 64 KiB.
  let script =
    "cd \"$HOME\"; mkfifo pipe; exec 3<>pipe; dd if=/dev/zero bs=65536 count=1 >&3 2>/dev/null; exec \"$0\" 2>&3"
  session.wrapper = ["/bin/sh", "-c", script]
  try session.start()
  for _ in 1...3 { #expect(try session.navctl("present", "loud", "--wait").exitCode == 0) }
  #expect(try session.navctl("list").exitCode == 0)
  #expect(try session.stop() == .exited(code: 0))
}
