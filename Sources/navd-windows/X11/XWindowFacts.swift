import PresentationModel

/// What only the X server knows of an X window: its process, whether it can be asked to close, and the name that the adapter
/// gave it.
final class XWindowFacts {
  let connection: XConnection
  private let ids: WindowIDs

  /// - Parameter display: nil for that of the environment.
  init(_ ids: WindowIDs, display: String? = nil) throws(BackendFailure) {
    connection = try XConnection(display: display)
    self.ids = ids
  }

  /// The property that holds the id: it ends with the window, and outlives the adapter.
  private static let property = "_NAVD_WINDOW_ID"

  /// The id of a window; a new one if it has none, or has that of another.
  func id(of window: UInt32, isTaken: (String) -> Bool) -> String {
    if let id = connection.text(window, Self.property), id.utf8.count <= 64,
      id.utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 }), !isTaken(id)
    {
      return id
    }
    var id: String
    // A client can put any id on its window.
    repeat { id = ids.next() } while isTaken(id)
    connection.setText(window, Self.property, id)
    return id
  }

  func pid(of window: UInt32) -> UInt32? { connection.process(of: window) }

  /// Whether it takes part in WM_DELETE_WINDOW (ICCCM 4.2.8.1). Else a request to close it kills its client.
  func canBeAsked(_ window: UInt32) -> Bool {
    connection.numbers(window, "WM_PROTOCOLS").contains(connection.atom("WM_DELETE_WINDOW"))
  }

  /// Whether the window has closed. Its end is reported soon, so that nothing has to be asked to close.
  func isGone(_ window: UInt32) -> Bool { !connection.has(window) }
}
