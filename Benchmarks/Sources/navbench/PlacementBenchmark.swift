import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

/// A window that opens, until it is where and as large as its destination says, beside one for which sway has a rule of its own, on a
/// headless sway with foot.
final class PlacementBenchmark {
  private let harness: Harness
  private let rounds: Int
  private let windows: Int
  private let sway: Sway

  private static let placed = "bench-placed"
  private static let ruled = "bench-ruled"
  private static let size = (width: 400, height: 300)
  private static let margin = 20
  /// The upper left corner of a window that is in the upper right corner of the output.
  private static let corner = (x: Sway.output.width - size.width - margin, y: margin)
  /// The time for which a window must stay as it is: sway may give it back its former size some frames later.
  private static let rest: Duration = .milliseconds(50)
  /// Microseconds between two readings of the tree. Without a pause, sway would do nothing but answer.
  private static let pause: useconds_t = 1000

  private struct Times {
    /// Nanoseconds from sway's event `new` until the window is in its place.
    var fromNew: [Double] = []
    /// Nanoseconds from the start of the command until the window is in its place.
    var fromCommand: [Double] = []
  }

  init(harness: Harness, rounds: Int, windows: Int) throws {
    (self.harness, self.rounds, self.windows) = (harness, rounds, windows)
    let (size, corner) = (Self.size, Self.corner)
    sway = try Sway(
      in: try harness.newDirectory(),
      rules: """
        for_window [app_id="^\(Self.ruled)$"] floating enable, resize set \(size.width) px \(size.height) px, \
        move absolute position \(corner.x) px \(corner.y) px
        """)
  }

  func run(into report: inout Report) throws {
    defer { sway.end() }
    try harness.configure([
      Self.placed: """
      command = \(Self.command(Self.placed))

      [window]
      app-id = "\(Self.placed)"
      place = "top-right"
      size = "\(Self.size.width) \(Self.size.height)"
      margin = \(Self.margin)

      """
    ])
    let navd = try harness.startNavd()
    let adapter = try harness.start(
      ["\(harness.programs)/navd-windows", "--backend", "sway"], until: WindowSystemInterface.bus)
    defer { for service in [adapter, navd] { harness.stop(service) } }
    let navctl = "\(harness.programs)/navctl"
    // The first result of each is made without a round.
    var fromCommand: [[Double]] = [[], []]
    let fromNew = try alternating(
      rounds,
      [
        {
          let times = try self.openWindows(Self.placed) {
            // The window may be there before the process has ended.
            let present = try Program([navctl, "present", Self.placed])
            return {
              present.wait()
              try Program.run([navctl, "dismiss", Self.placed])
            }
          }
          fromCommand[0].append(median(times.fromCommand))
          return median(times.fromNew)
        },
        {
          let times = try self.openWindows(Self.ruled) {
            // As sway runs the command of a key.
            let program = try Program(["sh", "-c", "exec \(Self.command(Self.ruled).joined(separator: " "))"])
            return { program.end() }
          }
          fromCommand[1].append(median(times.fromCommand))
          return median(times.fromNew)
        },
      ])
    report.compare(
      "a window that navd places, from its opening until it is there", with: "sway's rule for_window",
      fromNew[0], fromNew[1], goal: .atMost(2))
    report.compare(
      "navctl present, until the window is in its place", with: "foot &, with sway's rule",
      Array(fromCommand[0].dropFirst()), Array(fromCommand[1].dropFirst()))
  }

  private static func command(_ appID: String) -> [String] { ["foot", "--app-id=\(appID)", "-e", "sleep", "1000"] }

  /// Opens a window again and again.
  /// - Parameter open: begins it; the result ends it.
  private func openWindows(_ appID: String, open: () throws -> () throws -> Void) throws -> Times {
    var times = Times()
    for _ in 0..<windows {
      sway.mapped[appID] = nil
      let start = MonotonicInstant.now
      let end = try open()
      try sway.wait("the window \(appID) is there") { sway.mapped[appID] != nil }
      let new = sway.mapped[appID]!
      let placed = try waitUntilPlaced(appID)
      times.fromNew.append(Double(placed.nanoseconds - new.nanoseconds))
      times.fromCommand.append(Double(placed.nanoseconds - start.nanoseconds))
      try end()
      try sway.wait("the window \(appID) is gone") { sway.open.isEmpty }
    }
    return times
  }

  /// - Returns: the instant since which the window is in its place, and stays there.
  private func waitUntilPlaced(_ appID: String) throws -> MonotonicInstant {
    var since: MonotonicInstant?
    try sway.waitWithoutEvents("the window \(appID) is in its place") {
      let isPlaced = try sway.window(appID).map(Self.isPlaced) ?? false
      let now = MonotonicInstant.now
      since = isPlaced ? since ?? now : nil
      if let since, now - since >= Self.rest { return true }
      usleep(Self.pause)
      return false
    }
    return since!
  }

  /// Whether a window has its place and its size, and its program has drawn it in that size: sway tells the area of the title bar as it
  /// is on the screen, and all other areas as they were asked for.
  private static func isPlaced(_ window: JSON) -> Bool {
    func area(_ name: String) -> [UInt64?] { ["x", "y", "width", "height"].map { window[name]?[$0]?.unsigned } }
    guard let bar = window["deco_rect"]?["height"]?.unsigned.map(Int.init), bar > 0 else { return false }
    return area("deco_rect") == [corner.x, corner.y, size.width, bar].map { UInt64($0) }
      && area("rect") == [corner.x, corner.y + bar, size.width, size.height - bar].map { UInt64($0) }
  }
}
