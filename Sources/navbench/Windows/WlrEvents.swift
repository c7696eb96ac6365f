import EventLoops
import PresentationModel
import WindowAdapter

/// The window events of a compositor with `wlr-foreign-toplevel-management-unstable-v1`.
final class WlrEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let connection: WlrConnection

  let backend = "wlr"
  let knowsProcesses = false

  init(_ loop: EventLoop) throws {
    connection = try WlrConnection()
    connection.onChange = { [unowned self] toplevel in
      let properties = toplevel.properties
      onTitle?("\(toplevel.key)", properties.appID ?? "", properties.title ?? "", .now)
    }
    connection.onClosed = { [unowned self] in onClosed?("\($0.key)") }
    try connection.follow(loop)
  }
}
