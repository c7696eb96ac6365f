import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

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

/// A headless sway, and its windows as `swaymsg` tells them.
private final class Sway {
  private let program: Program
  private var events: Program?
  private var output: Int32 = -1
  private var buffer: [UInt8] = []
  /// The application ids of the open windows, by sway's ids.
  private(set) var open: [String: String] = [:]
  /// The instants at which the last windows of applications were there.
  var mapped: [String: MonotonicInstant] = [:]
  /// The greatest number of windows at once.
  var most = 0

  /// Starts it, and sets the variables for programs on it.
  init(in directory: String) throws {
    let displays = "\(directory)/displays"
    try write(
      "output HEADLESS-1 resolution 1280x720\nexec sh -c 'echo $SWAYSOCK $WAYLAND_DISPLAY >\(displays)'\n",
      to: "\(directory)/config")
    var user: [String] = []
    // It refuses to run as root, and with root's group. The kernel's nobody has this number everywhere.
    if geteuid() == 0 {
      try Program.run(["chown", "-R", "65534:65534", directory])
      user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    }
    program = try Program(
      user + [
        "env", "XDG_RUNTIME_DIR=\(directory)", "WLR_BACKENDS=headless", "WLR_RENDERER=pixman",
        "WLR_LIBINPUT_NO_DEVICES=1", "sway", "--config", "\(directory)/config",
      ])
    var found: [Substring] = []
    try wait("sway has begun") {
      found = ((try? read(displays)) ?? "").split(whereSeparator: \.isWhitespace)
      return found.count == 2
    }
    setenv("SWAYSOCK", String(found[0]), 1)
    setenv("WAYLAND_DISPLAY", "\(directory)/\(found[1])", 1)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchmarkError(failed: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = ends[0]
    events = try Program(["swaymsg", "--raw", "--type", "subscribe", "--monitor", "[\"window\"]"], output: ends[1])
    close(ends[1])
    // It says nothing when it has begun; the first window is not measured.
    usleep(200_000)
  }

  func end() {
    for program in [events, program] { program?.end() }
    close(output)
  }

  /// - Parameter goal: the rest of an error, as in `waited 20 s until the windows are gone`.
  func wait(_ goal: String, until condition: () -> Bool) throws {
    let end = MonotonicInstant.now + .seconds(20)
    while !condition() {
      guard MonotonicInstant.now < end, !program.hasEnded else {
        throw BenchmarkError(
          program.hasEnded ? "sway ended; expected that \(goal)" : "waited 20 s until \(goal), in vain")
      }
      takeEvents()
    }
  }

  /// Takes the events of the next tenth of a second, or the first ones in it.
  private func takeEvents() {
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 100) > 0 else { return }
    let now = MonotonicInstant.now
    var part = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(output, &part, part.count)
    buffer += part[..<max(count, 0)]
    while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
      if let event = try? JSON.parse(Array(buffer[..<end])) { take(event, at: now) }
      buffer.removeSubrange(...end)
    }
  }

  private func take(_ event: JSON, at now: MonotonicInstant) {
    guard let container = event["container"], let id = container["id"]?.unsigned else { return }
    switch event["change"]?.string {
    case "close": open["\(id)"] = nil
    case "new":
      let appID = container["app_id"]?.string ?? ""
      open["\(id)"] = appID
      mapped[appID] = now
      most = max(most, open.count)
    default: break
    }
  }
}
