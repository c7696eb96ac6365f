import EventLoops
import WindowAdapter

/// The events of windows of KDE Plasma. A desktop file must name this program, as it names navd-windows.
final class PlasmaEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let connection: PlasmaConnection

  let backend = "plasma"
  /// foot 1.13 ends on an output without a physical size, as KWin's virtual one is.
  func command(_ appID: String) -> [String] { Terminal.xterm(appID) }

  init(_ loop: EventLoop) throws {
    connection = try PlasmaConnection()
    connection.onChange = { [unowned self] window in onTitle?(window.uuid, window.appID, window.title, .now) }
    connection.onClosed = { [unowned self] in onClosed?($0.uuid) }
    try connection.follow(loop)
  }
}
