import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc

/// The cost of an idle navd, which runs from login to logout: its memory and its wake-ups.
struct IdleBenchmark {
  let harness: Harness
  private static let time = Duration.seconds(10)

  func run(into report: inout Report) throws {
    let program = try harness.startNavd()
    defer { harness.stop(program) }
    // A second after its start, navd frees memory that only the start needed; the request after that needs some again.
    for _ in 0...2 {
      _ = try harness.call(CoordinatorInterface.get, "bench.nothing")
      wait(.seconds(1))
    }
    let navd = try harness.process(of: CoordinatorNames.bus)
    report.compare(
      "navd's memory, idle", with: "dbus-daemon's", [try status("VmRSS", of: navd) * 1024],
      [try status("VmRSS", of: try harness.process(of: Bus.name)) * 1024], unit: .bytes, goal: .atMost(1.5))
    report.add(
      "navd's memory that no file has, idle", [try status("RssAnon", of: navd) * 1024], .bytes,
      .atMost(2 * 1024 * 1024))
    report.add("navd's program, without symbols", [try strippedSize()], .bytes, .atMost(15e6))
    report.add("navd's wake-ups in 10 s in which nothing happens", [try wakeUps(of: navd)], .count, .atMost(0))
  }

  private func strippedSize() throws -> Double {
    let program = "\(try harness.newDirectory())/navd"
    try Program.run(["objcopy", "--strip-all", "\(harness.programs)/navd", program])
    var status = stat()
    guard stat(program, &status) == 0 else { throw BenchmarkError(failed: program) }
    return Double(status.st_size)
  }

  /// Counts how often a process wakes up while nothing happens.
  private func wakeUps(of process: UInt32) throws -> Double {
    let count = { try status("voluntary_ctxt_switches", of: process) }
    // The last answer arrives before the process has gone to sleep.
    var before: Double
    repeat {
      before = try count()
      wait(.milliseconds(50))
    } while try count() != before
    wait(Self.time)
    return try count() - before
  }

  private func wait(_ time: Duration) {
    let end = harness.loop.now + time
    while harness.loop.now < end { harness.loop.turn(wait: end - harness.loop.now) }
  }

  private func status(_ name: String, of process: UInt32) throws -> Double {
    let lines = try read("/proc/\(process)/status").split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix("\(name):") }), let number = Double(line.filter(\.isNumber))
    else { throw BenchmarkError("expected \(name) in /proc/\(process)/status, found none") }
    return number
  }
}
