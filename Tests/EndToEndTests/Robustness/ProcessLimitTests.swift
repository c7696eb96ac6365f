import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing

// The limit of processes, and the slices of the processor (L2).

@Test("L2, D7: a navd that may start no process says so for each command, and serves everything else")
func command_withoutFreeProcesses_failsWithTheReason() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  let concurrent = try ConcurrentClient(session)
  let descriptors = Session.descriptors(of: navd)
  let limit = try session.run(program: "/usr/bin/prlimit", ["--pid", "\(navd)", "--nproc=0:0"])
  #expect(limit.exitCode == 0, "\(limit.errorText)")
  // The kernel exempts root from the limit, so a tracer makes the same calls fail for root.
  let calls = "clone,clone3,fork,vfork"
  let arguments = ["-f", "-p", "\(navd)", "-e", "trace=\(calls)", "-e", "inject=\(calls):error=EAGAIN"]
  let tracer = geteuid() == 0 ? try session.start(program: "/usr/bin/strace", arguments) : nil
  if let tracer {
    try session.wait("navd is traced: \(tracer.errorText)") { tracer.errorText.contains("attached") || tracer.hasEnded }
  }
  for number in 0..<50 {
    let path = try session.present("failing", "\(number)", ["command": ["sleep", "1000"].value])
    let (reason, result) = try session.ending(of: path)
    #expect(reason == "failed")
    let error = result["error"].flatMap { String(value: $0) } ?? ""
    #expect(error.contains("limit of processes"), "\(error)")
  }
  #expect(Session.descriptors(of: navd) == descriptors)
  #expect(try session.present("state", "1") != .root)
  if let tracer {
    tracer.send(SIGINT)
    try session.wait("the tracer has ended") { tracer.status != nil }
    let path = try session.present("running", "", ["command": ["true"].value])
    #expect(try session.ending(of: path).reason == "closed")
  }
  try concurrent.stop(session)
}
