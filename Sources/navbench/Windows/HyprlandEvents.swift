import EventLoops
import WindowAdapter

/// The window events of Hyprland, by its event socket. A window is reported once its process is known. The event does not contain the
/// process, so every program has to ask, and the answer may wait for the picture that Hyprland draws.
final class HyprlandEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let stream: EventStream
  private let requests: RequestQueue

  let backend = "hyprland"

  /// - Parameter directory: the directory of Hyprland's sockets.
  init(_ directory: String, _ loop: EventLoop) throws {
    stream = try EventStream("\(directory)/.socket2.sock", request: "", limit: 64 << 10, loop)
    requests = RequestQueue("\(directory)/.socket.sock", limit: 1 << 20, loop)
    stream.onLine = { [unowned self] line in
      let parts = String(decoding: line ?? [], as: UTF8.self).split(separator: ">>", maxSplits: 1)
      guard parts.count == 2 else { return }
      // The data contain the address, the workspace, the class and the title of a new window.
      let words = parts[1].split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
      switch parts[0] {
      case "openwindow" where words.count == 4:
        let received = MonotonicInstant.now
        requests.ask("j/clients") { [unowned self] _ in onTitle?(words[0], words[2], words[3], received) }
      case "closewindow": onClosed?(words[0])
      default: break
      }
    }
    stream.start()
  }
}
