import EventLoops
import WindowAdapter

/// The events of windows of Hyprland, by its socket for events. A window is told when its process is known, too, for which everybody has to
/// ask: the event does not tell it, and an answer may wait for the picture that Hyprland draws.
final class HyprlandEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let stream: EventStream
  private let requests: RequestQueue

  let backend = "hyprland"

  /// - Parameter directory: that of its sockets.
  init(_ directory: String, _ loop: EventLoop) throws {
    stream = try EventStream("\(directory)/.socket2.sock", request: "", limit: 64 << 10, loop)
    requests = RequestQueue("\(directory)/.socket.sock", limit: 1 << 20, loop)
    stream.onLine = { [unowned self] line in
      let parts = String(decoding: line ?? [], as: UTF8.self).split(separator: ">>", maxSplits: 1)
      guard parts.count == 2 else { return }
      // The address, the workspace, the class and the title of a window that opens.
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
