import DBusValues
import PresentationModel

/// The focus of the session: that of the display that its user has used last (N14).
final class SessionFocus {
  private var display: BusName?

  /// Whether the rules are to hear of a report. A display that its user does not use loses no
  /// focus.
  /// - Parameter display: the display whose windows it is about.
  func counts(_ report: Report, on display: BusName) -> Bool {
    switch report {
    case .focused:
      self.display = display
      return true
    case .focusLost, .noFocus: return self.display == display
    default: return true
    }
  }

  /// Notes that the user has made a request on a display.
  /// - Returns: whether the focus of another display has counted until now.
  func move(to display: BusName) -> Bool {
    guard let before = self.display, before != display else { return false }
    self.display = display
    return true
  }
}
