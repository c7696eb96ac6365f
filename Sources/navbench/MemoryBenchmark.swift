import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes

/// The resident memory of navd, idle and with many presentations. navd runs from login to logout.
struct MemoryBenchmark {
  let harness: Harness

  func run(into report: inout Report) throws {
    let navd = try harness.process(of: CoordinatorNames.bus)
    report.add("navd's program, without symbols", [try strippedSize()], .bytes, .atMost(15e6))
    // A second after its start, navd frees memory that only the start needed; the request after that needs some again.
    let isStarted = MonotonicInstant.now + .seconds(2)
    repeat {
      _ = try harness.call(CoordinatorInterface.get, "bench.nothing")
      _ = harness.loop.turn(wait: .seconds(1))
    } while .now < isStarted
    let idle = try resident(navd)
    report.compare(
      "navd's memory, idle", with: "dbus-daemon's", [idle], [try resident(try harness.process(of: Bus.name))],
      unit: .bytes, goal: .atMost(1.5))
    let count = 100_000
    try harness.fill(count) { .present("bench.item[\($0)]") }
    report.add(
      "memory of a presentation, where there are 10⁵", [(try resident(navd) - idle) / Double(count)], .bytes,
      .atMost(1536))
    _ = try harness.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  }

  private func strippedSize() throws -> Double {
    let program = "\(try harness.newDirectory())/navd"
    try harness.run(["objcopy", "--strip-all", "\(harness.directory)/navd", program])
    var status = stat()
    guard stat(program, &status) == 0 else { throw BenchmarkError(description: "\(program) is not there") }
    return Double(status.st_size)
  }

  func resident(_ process: UInt32) throws -> Double {
    guard let numbers = ProcessTable.read("/proc/\(process)/statm")?.split(separator: UInt8(ascii: " ")),
      numbers.count > 1, let count = Double(String(decoding: numbers[1], as: UTF8.self))
    else { throw BenchmarkError(description: "/proc/\(process)/statm cannot be read") }
    return count * Double(sysconf(Int32(_SC_PAGESIZE)))
  }
}
