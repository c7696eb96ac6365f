import EventLoops
import WindowAdapter

/// The window events of KDE Plasma. A desktop file must name this program, as for navd-windows.
final class PlasmaEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let connection: PlasmaConnection

  let backend = "plasma"
  /// The command of xterm, because foot 1.13 ends on an output without a physical size, such as KWin's virtual one.
  func command(_ appID: String) -> [String] { Terminal.xterm(appID) }

  init(_ loop: EventLoop) throws {
    connection = try PlasmaConnection()
    connection.onChange = { [unowned self] window in onTitle?(window.uuid, window.appID, window.title, .now) }
    connection.onClosed = { [unowned self] in onClosed?($0.uuid) }
    try connection.follow(loop)
  }
}
