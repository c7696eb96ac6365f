import EventLoops
import Glibc
import TextFormats

/// A headless sway, and its windows as its socket tells them.
final class Sway {
  /// The pixels of its output.
  static let output = (width: 1280, height: 720)

  private let program: Program
  private let events: SwayConnection
  private let requests: SwayConnection
  /// The application ids of the open windows, by sway's ids.
  private(set) var open: [UInt64: String] = [:]
  /// The instants at which the last windows of applications were there.
  var mapped: [String: MonotonicInstant] = [:]
  /// The greatest number of windows at once.
  var most = 0

  /// Starts it, and sets the variables for programs on it.
  /// - Parameter rules: lines of its configuration.
  init(in directory: String, rules: String = "") throws {
    let displays = "\(directory)/displays"
    try write(
      """
      output HEADLESS-1 resolution \(Self.output.width)x\(Self.output.height)
      exec sh -c 'echo $SWAYSOCK $WAYLAND_DISPLAY >\(displays)'
      \(rules)

      """, to: "\(directory)/config")
    var user: [String] = []
    // It refuses to run as root, and with root's group. The kernel's nobody has this number everywhere.
    if geteuid() == 0 {
      try Program.run(["chown", "-R", "65534:65534", directory])
      user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    }
    let program = try Program(
      user + [
        "env", "XDG_RUNTIME_DIR=\(directory)", "WLR_BACKENDS=headless", "WLR_RENDERER=pixman",
        "WLR_LIBINPUT_NO_DEVICES=1", "sway", "--config", "\(directory)/config",
      ])
    var found: [Substring] = []
    try Self.wait("sway has begun", program) {
      found = ((try? read(displays)) ?? "").split(whereSeparator: \.isWhitespace)
      if found.count < 2 { usleep(10_000) }
      return found.count == 2
    }
    setenv("SWAYSOCK", String(found[0]), 1)
    setenv("WAYLAND_DISPLAY", "\(directory)/\(found[1])", 1)
    self.program = program
    events = try SwayConnection(String(found[0]))
    requests = try SwayConnection(String(found[0]))
    _ = try events.ask(.subscribe, "[\"window\"]")
  }

  func end() { program.end() }

  /// - Parameter goal: the rest of an error, as in `waited 20 s until the windows are gone`.
  func wait(_ goal: String, until condition: () throws -> Bool) throws {
    try Self.wait(goal, program) {
      if try condition() { return true }
      if let event = try events.next(within: .milliseconds(100)) { take(event, at: .now) }
      return false
    }
  }

  /// Waits for what no event tells.
  func waitWithoutEvents(_ goal: String, until condition: () throws -> Bool) throws {
    try Self.wait(goal, program, until: condition)
  }

  private static func wait(_ goal: String, _ program: Program, until condition: () throws -> Bool) throws {
    let end = MonotonicInstant.now + .seconds(20)
    while try !condition() {
      guard MonotonicInstant.now < end, !program.hasEnded else {
        throw BenchmarkError(
          program.hasEnded ? "sway ended; expected that \(goal)" : "waited 20 s until \(goal), in vain")
      }
    }
  }

  private func take(_ event: JSON, at now: MonotonicInstant) {
    guard let container = event["container"], let id = container["id"]?.unsigned else { return }
    switch event["change"]?.string {
    case "close": open[id] = nil
    case "new":
      let appID = container["app_id"]?.string ?? ""
      open[id] = appID
      mapped[appID] = now
      most = max(most, open.count)
    default: break
    }
  }

  /// The window of an application in the tree that sway has now; nil if there is none.
  func window(_ appID: String) throws -> JSON? {
    var left = [try requests.ask(.tree)]
    while let node = left.popLast() {
      if node["app_id"]?.string == appID { return node }
      left += (node["nodes"]?.array ?? []) + (node["floating_nodes"]?.array ?? [])
    }
    return nil
  }
}
