import CoordinatorAPI
import EventLoops
import Glibc

/// A key press that replaces one window by another one, beside the usual line of shell, on a headless sway with foot.
final class WindowBenchmark {
  private let harness: Harness
  private let rounds: Int
  private let switches: Int
  private let sway: Sway
  private var most = 0

  private static let names = ["bench-left", "bench-right"]

  init(harness: Harness, rounds: Int, switches: Int) throws {
    (self.harness, self.rounds, self.switches) = (harness, rounds, switches)
    sway = try Sway(in: try harness.newDirectory())
  }

  func run(into report: inout Report) throws {
    defer { sway.end() }
    let destinations = Self.names.map { ($0, "command = \(Self.command($0))\nwindow = true\ngroup = \"bench\"\n") }
    try harness.configure(Dictionary(uniqueKeysWithValues: destinations))
    let navd = try harness.startNavd()
    let adapter = try harness.start(
      ["\(harness.programs)/navd-windows", "--backend", "sway"], until: WindowSystemInterface.bus)
    defer { for service in [adapter, navd] { harness.stop(service) } }
    let navctl = "\(harness.programs)/navctl"
    let results = try alternating(
      rounds,
      [
        {
          let time = try self.switchWindows { try Program.run([navctl, "toggle", $0]) }
          self.most = max(self.most, self.sway.most)
          try Program.run([navctl, "dismiss", "--group", "bench"])
          try self.sway.wait("the windows are gone") { self.sway.open.isEmpty }
          return time
        },
        {
          let time = try self.switchWindows { name in
            let old = Self.names.first { $0 != name }!
            try self.shell("\(self.end(old)); \(Self.command(name).joined(separator: " ")) >/dev/null 2>&1 &")
          }
          for name in Self.names { try self.shell(self.end(name)) }
          try self.sway.wait("the windows are gone") { self.sway.open.isEmpty }
          return time
        },
      ])
    report.compare(
      "navctl toggle, until the other window is there", with: "pkill old; new &", results[0], results[1],
      goal: .atMost(1))
    report.add("windows at once while navd replaces one", [Double(most)], .count, .atMost(1))
  }

  private static func command(_ appID: String) -> [String] { ["foot", "--app-id=\(appID)", "-e", "sleep", "1000"] }

  private func shell(_ line: String) throws { try Program.run(["sh", "-c", line]) }

  /// The line that ends a window's program, without the shell itself.
  private func end(_ name: String) -> String { "pkill -f '[b]\(name.dropFirst())' || true" }

  /// Replaces one window by the other.
  /// - Returns: the median of the times until the new window is there, in nanoseconds.
  private func switchWindows(_ change: (String) throws -> Void) throws -> Double {
    sway.most = 0
    var times: [Double] = []
    for index in 0...switches {
      let name = Self.names[index % 2]
      sway.mapped[name] = nil
      let start = MonotonicInstant.now
      try change(name)
      try sway.wait("the window \(name) is there, alone") {
        sway.mapped[name] != nil && sway.open.values.allSatisfy { $0 == name }
      }
      if index > 0 { times.append(Double(sway.mapped[name]!.nanoseconds - start.nanoseconds)) }
      // The program of a window that has just opened may still be starting.
      usleep(50_000)
    }
    return median(times)
  }
}
