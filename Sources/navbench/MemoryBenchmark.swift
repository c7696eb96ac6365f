// Why this file exists: navd is there from login to logout, so what it holds counts, idle and with much presented.

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import Processes

/// What navd has in memory.
struct MemoryBenchmark {
  private let peers: Peers

  init(_ peers: Peers) { self.peers = peers }

  func run(into report: inout Report) throws {
    let navd = try peers.process(of: CoordinatorNames.bus)
    // It has its name before it knows that it has it.
    _ = try peers.call(CoordinatorInterface.get, "bench.nothing")
    let idle = try resident(navd)
    report.add(
      Comparison(
        subject: "navd's memory, idle", peer: "dbus-daemon's", unit: .bytes, subjects: [idle],
        peers: [try resident(try peers.process(of: Bus.name))], target: .atMost(3)))
    let count = 100_000
    let clients = try (0..<4).map { _ in try Connection.session(loop: peers.loop) }
    for start in stride(from: 0, to: count, by: 1000) {
      let requests: [Structure<String, [Value]>] = (start..<start + 1000).map {
        Structure("Present", [.string("bench.item[\($0)]"), .string(""), Properties().value])
      }
      _ = try clients[start / 1000 % clients.count].callAndWait(
        CoordinatorInterface.apply, on: CoordinatorNames.bus, at: CoordinatorNames.object, (requests, [:]))
    }
    report.add(
      "memory of a presentation, where there are 10⁵", (try resident(navd) - idle) / Double(count), .bytes,
      .atMost(1536))
    _ = try peers.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
    for client in clients { client.close() }
  }

  private func resident(_ process: UInt32) throws -> Double {
    guard let numbers = ProcessTable.read("/proc/\(process)/statm")?.split(separator: UInt8(ascii: " ")),
      numbers.count > 1, let count = Double(String(decoding: numbers[1], as: UTF8.self))
    else { throw MeasuringFailure(description: "/proc/\(process)/statm cannot be read") }
    return count * Double(sysconf(Int32(_SC_PAGESIZE)))
  }
}
