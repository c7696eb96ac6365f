import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes

/// The times of navd's part in the handling of windows, on the desktop of the environment, with foot or xterm.
final class WindowBenchmark {
  private let harness: Harness
  private let rounds: Int
  private let switches: Int
  private let events: any WindowEvents
  private var titles = FirstTitles()
  /// The open windows of the two programs.
  private var open: [String: String] = [:]
  private var most = 0
  /// The times of each program's last window: mapped, titled, signalled by the bare subscriber, and presented by navd.
  private var mapped: [String: MonotonicInstant] = [:]
  private var titled: MonotonicInstant?
  private var told: MonotonicInstant?
  private var presented: MonotonicInstant?

  private static let names = ["bench-left", "bench-right"]

  init(harness: Harness, rounds: Int, switches: Int) throws {
    (self.harness, self.rounds, self.switches) = (harness, rounds, switches)
    events = try WindowEventSource.open(harness.loop, harness.connection)
    events.onTitle = { [unowned self] window, appID, title, received in
      guard Self.names.contains(appID) else { return }
      if titles.isFirst(window, title) { titled = received }
      guard open.updateValue(appID, forKey: window) == nil else { return }
      mapped[appID] = .now
      most = max(most, open.count)
    }
    events.onClosed = { [unowned self] window in
      titles.closed(window)
      open[window] = nil
    }
  }

  func run(into report: inout Report) throws {
    let destinations = Self.names.map { name in
      let window = events.knowsProcesses ? "true" : "{ app-id = \"\(name)\" }"
      return (name, "command = \(events.command(name))\nwindow = \(window)\ngroup = \"bench\"\n")
    }
    setenv("XDG_CONFIG_HOME", try harness.configuration(Dictionary(uniqueKeysWithValues: destinations)), 1)
    let navd = try harness.startNavd()
    defer { harness.stop(navd) }
    let helpers = try events is GnomeEvents ? nil : startHelpers()
    defer { for helper in [helpers?.adapter, helpers?.bare] { helper.map(harness.stop) } }
    if helpers != nil { try measureMemory(into: &report) }
    let subscriptions = [
      harness.connection.subscribe(to: BareWindows.opened, from: BareWindows.name, at: BareWindows.path) {
        [unowned self] opened, _ in if Self.names.contains(opened.1) { told = .now }
      },
      harness.connection.subscribe(
        to: CoordinatorInterface.presented, from: CoordinatorNames.bus, at: CoordinatorNames.object
      ) { [unowned self] _, _ in presented = .now },
    ]
    defer { for subscription in subscriptions { subscription.cancel() } }

    // One at a time: on two processors each would wait for the other.
    let signalling = try alternating(
      rounds,
      [
        { try self.medianTime(of: self.switches, without: helpers?.bare) { try self.presentByNavd() } },
        { try self.medianTime(of: self.switches, without: helpers?.adapter) { try self.openAlone() } },
      ])
    report.compare(
      "from the event of a window to Presented, \(events.backend)", with: "a bare subscriber's signal",
      signalling[0], signalling[1], goal: .atMost(2))

    var mostByNavd = 0
    let results = try alternating(
      rounds,
      [
        {
          try self.switchWindows(clear: { try self.clear() }) { try self.toggle($0) }
        },
        {
          mostByNavd = max(mostByNavd, self.most)
          defer { self.most = 0 }
          let all = Self.names.map { "[b]\($0.dropFirst())" }.joined(separator: "|")
          return try self.switchWindows(clear: { try self.shell("pkill -f '\(all)'; true") }) { name in
            let old = Self.names.first { $0 != name }!
            let command = self.events.command(name).joined(separator: " ")
            try self.shell("pkill -f '[b]\(old.dropFirst())'; \(command) >/dev/null 2>&1 &")
          }
        },
      ])
    report.compare(
      "navctl toggle, until the other window is there, \(events.backend)", with: "pkill old; new &", results[0],
      results[1],
      goal: .atMost(1.15))
    report.add("windows at once while navd replaces one, \(events.backend)", [Double(mostByNavd)], .count, .atMost(1))
    if let gnome = events as? GnomeEvents {
      report.add(
        "work of the extension for the events of a turn, gnome", try gnome.work(), .nanoseconds, .atMost(1e6))
    } else {
      try measureWakeUps(into: &report)
    }
  }

  /// Starts the adapter and the bare subscriber. In GNOME Shell, both run in the shell.
  private func startHelpers() throws -> (adapter: ProcessTree, bare: ProcessTree) {
    (
      try harness.start(
        ["\(harness.directory)/navd-windows", "--backend", events.backend], until: WindowSystemInterface.bus),
      try harness.start(["\(harness.directory)/navbench", "--bare-windows"], until: BareWindows.name)
    )
  }

  private func measureMemory(into report: inout Report) throws {
    // A second after its start, the adapter frees memory that only the start needed.
    let isStarted = harness.loop.now + .seconds(2)
    while harness.loop.now < isStarted { _ = harness.loop.turn(wait: isStarted - harness.loop.now) }
    let memory = MemoryBenchmark(harness: harness)
    report.compare(
      "navd-windows's memory, idle, \(events.backend)", with: "dbus-daemon's",
      [try memory.resident(try harness.process(of: WindowSystemInterface.bus))],
      [try memory.resident(try harness.process(of: Bus.name))], unit: .bytes, goal: .atMost(1.5))
  }

  private func measureWakeUps(into report: inout Report) throws {
    let idle = Duration.seconds(10)
    let count = harness.countWakeUps(of: try harness.process(of: WindowSystemInterface.bus), in: idle)
    report.add(
      "wake-ups of navd-windows in \(idle) in which nothing happens, \(events.backend)", [Double(count)], .count,
      .atMost(1))
  }

  /// - Parameter helper: a program that is suspended meanwhile.
  private func medianTime(of count: Int, without helper: ProcessTree?, _ time: () throws -> Double) throws -> Double {
    helper.map(harness.stall)
    defer { helper.map(harness.resume) }
    return median(try (0..<count).map { _ in try time() })
  }

  /// - Returns: the time from the event of an item's window to navd's signal, in nanoseconds.
  private func presentByNavd() throws -> Double {
    (titled, presented) = (nil, nil)
    let (presentation, _, _) = try harness.call(CoordinatorInterface.present, (Self.names[0], "", [:]))
    try turn("the compositor has told the window's title") { titled != nil }
    try turn("navd has signalled the window") { presented != nil }
    let time = time(to: presented)
    _ = try harness.call(CoordinatorInterface.dismiss, (Self.names[0], [:]))
    _ = try harness.call(CoordinatorInterface.wait, (presentation, "gone"))
    try turn("the window is gone") { open.isEmpty }
    return time
  }

  /// - Returns: the time from the event of a window to the bare subscriber's signal, in nanoseconds.
  private func openAlone() throws -> Double {
    (titled, told) = (nil, nil)
    let program = try start(events.command(Self.names[0]))
    try turn("the compositor has told the window's title") { titled != nil }
    try turn("the bare subscriber has signalled the window") { told != nil }
    let time = time(to: told)
    kill(program, SIGKILL)
    waitForExit(program)
    try turn("the window is gone") { open.isEmpty }
    return time
  }

  private func time(to signal: MonotonicInstant?) -> Double {
    Double((signal?.nanoseconds ?? 0) - (titled?.nanoseconds ?? 0))
  }

  /// Replaces one window by the other.
  /// - Returns: the median of the times until the new window is there, in nanoseconds.
  private func switchWindows(clear: () throws -> Void, _ change: (String) throws -> Void) throws -> Double {
    var times: [Double] = []
    for index in 0...switches {
      let name = Self.names[index % 2]
      mapped[name] = nil
      let start = MonotonicInstant.now
      try change(name)
      try turn("the window \(name) is there, alone") { mapped[name] != nil && open.values.allSatisfy { $0 == name } }
      if index > 0 { times.append(Double(mapped[name]!.nanoseconds - start.nanoseconds)) }
      // The program of a window that has just opened may still be starting.
      try settle()
    }
    try clear()
    try turn("the windows are gone") { open.isEmpty }
    return median(times)
  }

  private func toggle(_ name: String) throws { try run(["\(harness.directory)/navctl", "toggle", name]) }

  private func clear() throws { try run(["\(harness.directory)/navctl", "dismiss", "--group", "bench"]) }

  private func shell(_ line: String) throws { try run(["sh", "-c", line]) }

  private func run(_ arguments: [String]) throws { waitForExit(try start(arguments)) }

  private func start(_ arguments: [String]) throws -> pid_t {
    let null = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    return try spawn(arguments, reading: null, writing: null)
  }

  private func settle() throws {
    let end = harness.loop.now + .milliseconds(50)
    while harness.loop.now < end { _ = harness.loop.turn(wait: .milliseconds(10)) }
  }

  private func turn(_ what: String, until condition: () -> Bool) throws {
    let end = MonotonicInstant.now + .seconds(20)
    while !condition() {
      guard MonotonicInstant.now < end else { throw BenchmarkError(description: "waited 20 s until \(what)") }
      _ = harness.loop.turn(wait: .seconds(1))
    }
  }
}
