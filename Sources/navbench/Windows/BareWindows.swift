import DBus
import DBusValues
import EventLoops

/// The minimal work for a new window: a program that sends a signal when the compositor reports the window's title.
final class BareWindows {
  static let name: BusName = "org.navd.Bench.Windows"
  static let path: ObjectPath = "/org/navd/Bench/Windows"
  /// The signal about a window, with the time at which its event was received, in nanoseconds of the monotonic clock.
  static let opened = Signal(
    "org.navd.Bench.Windows", "Opened", Arg<String>("window"), Arg<String>("app_id"), Arg<Int64>("received"))
  static let closed = Signal("org.navd.Bench.Windows", "Closed", Arg<String>("window"))

  /// Runs until the process is killed.
  static func serve() throws {
    let loop = try EventLoop()
    let connection = try Connection.session(loop: loop)
    let events = try WindowEventSource.open(loop, connection)
    var titles = FirstTitles()
    events.onTitle = { window, appID, title, received in
      guard titles.isFirst(window, title) else { return }
      try? connection.emit(opened, from: path, (window, appID, received.nanoseconds))
    }
    events.onClosed = { titles.closed($0) }
    connection.requestName(name) { _ in }
    withExtendedLifetime(events) { loop.run() }
  }
}

/// Finds the first event of each window that has a title.
struct FirstTitles {
  private var known: Set<String> = []

  mutating func isFirst(_ window: String, _ title: String) -> Bool { !title.isEmpty && known.insert(window).inserted }

  mutating func closed(_ window: String) { known.remove(window) }
}
