import EventLoops
import WindowAdapter

/// The events of windows of Hyprland, by its socket for events.
final class HyprlandEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let stream: EventStream

  let backend = "hyprland"

  init(_ path: String, _ loop: EventLoop) throws {
    stream = try EventStream(path, request: "", limit: 64 << 10, loop)
    stream.onLine = { [unowned self] line in
      let parts = String(decoding: line ?? [], as: UTF8.self).split(separator: ">>", maxSplits: 1)
      guard parts.count == 2 else { return }
      // The address, the workspace, the class and the title of a window that opens.
      let words = parts[1].split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
      switch parts[0] {
      case "openwindow" where words.count == 4: onTitle?(words[0], words[2], words[3], .now)
      case "closewindow": onClosed?(words[0])
      default: break
      }
    }
    stream.start()
  }
}
