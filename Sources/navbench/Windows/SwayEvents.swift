import EventLoops
import TextFormats
import WindowAdapter

/// The window events of sway or i3, by its socket.
final class SwayEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let socket: I3Socket

  let backend = "sway"
  private let isSway: Bool

  init(_ path: String, isSway: Bool, _ loop: EventLoop) throws {
    self.isSway = isSway
    socket = try I3Socket(path, loop)
    socket.onEvent = { [unowned self] _, event in
      guard let event, let change = event["change"]?.string, let window = event["container"],
        case .integer(let number)? = window["id"]
      else { return }
      if change == "close" { return onClosed?("\(number)") ?? () }
      let appID = window["app_id"]?.string ?? window["window_properties"]?["class"]?.string ?? ""
      onTitle?("\(number)", appID, window["name"]?.string ?? "", .now)
    }
    try socket.send(.subscribe, "[\"window\"]") { _ in }
  }

  func command(_ appID: String) -> [String] { isSway ? Terminal.foot(appID) : Terminal.xterm(appID) }
}
