import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel

/// Places windows by scripts of KWin, since its protocol can do that for no program. A script is loaded for each placement, and
/// unloaded when its window has had the time to adopt its size.
final class KWinScripts {
  private enum Scripting {
    static let bus: BusName = "org.kde.KWin"
    static let path: ObjectPath = "/Scripting"
    static let name: InterfaceName = "org.kde.kwin.Scripting"
    static let load = Method(
      name, "loadScript", in: Arg<String>("filePath"), Arg<String>("pluginName"), out: Arg<Int32>("id"))
    /// Runs the scripts that are loaded and do not run.
    static let start = Method(name, "start")
    static let unload = Method(name, "unloadScript", in: Arg<String>("pluginName"), out: Arg<Bool>("isUnloaded"))
  }

  private let connection: Connection
  private let log: Logger
  private var lastNumber = 0
  /// The names of the scripts that are loaded, by window.
  private var loaded: [String: String] = [:]

  init(_ connection: Connection, _ log: Logger) { (self.connection, self.log) = (connection, log) }

  /// Carries out a placement by a script, which runs until its window has had the time to adopt its size, or is placed again.
  /// - Parameter window: the name of the window, its `internalId`.
  func place(_ window: String, _ placement: WindowPlacement) {
    guard let script = placement.kwinScript(for: window) else { return }
    // KWin starts a script some time after the request. Unloading the earlier script could prevent its placement, so only a script that
    // places the window, too, replaces it.
    let isOfPlace = placement.place != nil || placement.size != nil
    if isOfPlace { unload(scriptOf: window) }
    lastNumber += 1
    let name = "navd-windows-\(getpid())-\(lastNumber)"
    guard let path = Self.write(script, to: name) else {
      return log.warning("a window cannot be placed: no file can be written in $XDG_RUNTIME_DIR")
    }
    let report: (Result<Int32, DBusError>) -> Void = { [log] result in
      if case .failure(let error) = result { log.warning("a window cannot be placed: KWin: \(error.message)") }
    }
    connection.call(
      Scripting.load, on: Scripting.bus, at: Scripting.path, (path, name), autoStart: false, report)
    connection.call(Scripting.start, on: Scripting.bus, at: Scripting.path, (), autoStart: false) { _ in }
    if isOfPlace { loaded[window] = name }
    connection.loop.timer(after: Placements<WindowTable.Key>.timeToResize) { [weak self] in
      unlink(path)
      guard let self else { return }
      if !isOfPlace { unload(name) } else if loaded[window] == name { unload(scriptOf: window) }
    }
  }

  private func unload(scriptOf window: String) {
    if let name = loaded.removeValue(forKey: window) { unload(name) }
  }

  private func unload(_ name: String) {
    connection.call(Scripting.unload, on: Scripting.bus, at: Scripting.path, name, autoStart: false) { _ in }
  }

  /// - Returns: the path; nil if the file cannot be written.
  private static func write(_ script: String, to name: String) -> String? {
    guard let directory = Environment["XDG_RUNTIME_DIR"] else { return nil }
    let path = "\(directory)/\(name).js"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    let bytes = Array(script.utf8)
    return Glibc.write(file, bytes, bytes.count) == bytes.count ? path : nil
  }
}

extension WindowPlacement {
  /// A script of KWin 5 or 6 that places a window, and places it again when its program has adopted its size.
  /// - Parameter window: the name of the window, its `internalId`.
  /// - Returns: nil if there is nothing that a script has to do.
  fileprivate func kwinScript(for window: String) -> String? {
    var actions: [String] = []
    if let isSticky { actions.append("window.onAllDesktops = \(isSticky);") }
    // KWin raises the window to which the focus returns. One without the focus would be below it.
    if isAbove == true || takesFocus == false {
      actions.append("window.keepAbove = true;")
    } else if isAbove == false {
      actions.append("window.keepAbove = false;")
    }
    if let isFullscreen { actions.append("window.fullScreen = \(isFullscreen);") }
    if place != nil || size != nil {
      actions.append("place(true);")
      if place != nil { actions.append("window.frameGeometryChanged.connect(follow);") }
      actions.append("if (typeof QTimer !== \"undefined\")\n    watch(new QTimer());")
    }
    guard !actions.isEmpty else { return nil }
    let (x, y) = kwinPlace ?? ("frame.x", "frame.y")
    return """
      (() => {
        const windows = workspace.windowList ? workspace.windowList() : workspace.clientList();
        const window = windows.find(window => String(window.internalId) === "\(window)");
        if (!window)
          return;
        const inside = (at, start, room) => start + Math.max(0, Math.min(Math.round(at), room));
        const former = Object.assign({}, window.frameGeometry);
        let asked, last;
        const place = isFirst => {
          const area = workspace.clientArea(KWin.PlacementArea, window);
          const frame = Object.assign({}, window.frameGeometry);
          const before = JSON.stringify(frame);
          if (isFirst) {
            frame.width = \(kwinLength(size?.width, of: "width"));
            frame.height = \(kwinLength(size?.height, of: "height"));
          }
          frame.x = inside(\(x), area.x, area.width - frame.width);
          frame.y = inside(\(y), area.y, area.height - frame.height);
          if (isFirst)
            asked = frame;
          if (isFirst || JSON.stringify(frame) !== before)
            window.frameGeometry = frame;
          last = frame;
        };
        // A window that its user moves stays there.
        const follow = () => {
          const {x, y, width, height} = window.frameGeometry;
          if (width !== last.width || height !== last.height)
            place(false);
          else if (x !== last.x || y !== last.y)
            window.frameGeometryChanged.disconnect(follow);
        };
        const isAsLarge = (one, other) => one.width === other.width && one.height === other.height;
        // An answer of its program to a change of its focus may undo all of that, or bring the corner for the size that was asked for.
        const again = () => {
          const frame = window.frameGeometry;
          const isAt = other => frame.x === other.x && frame.y === other.y;
          if (!frame || isAsLarge(frame, asked))
            return;
          if (isAt(former) && isAsLarge(frame, former))
            place(true);
          else if (isAt(asked))
            place(false);
        };
        const watch = timer => {
          timer.interval = 50;
          timer.timeout.connect(again);
          timer.start();
        };
        \(actions.joined(separator: "\n  "))
      })();

      """
  }

  private func kwinLength(_ length: Length?, of side: String) -> String {
    switch length {
    case nil: "frame.\(side)"
    case .pixels(let number): "Math.min(\(number), area.\(side))"
    case .percent(let number): "Math.max(1, Math.floor(area.\(side) * \(number) / 100))"
    }
  }

  /// The place in the usable area, as expressions; nil to leave it.
  private var kwinPlace: (x: String, y: String)? {
    let margin = margin ?? 0
    func distance(_ side: Side, _ length: String) -> String {
      switch side {
      case .start: "\(margin)"
      case .middle: "(area.\(length) - frame.\(length)) / 2"
      case .end: "area.\(length) - frame.\(length) - \(margin)"
      }
    }
    switch place {
    case nil: return nil
    case .point(let x, let y): return ("\(x)", "\(y)")
    case .pointer: return ("workspace.cursorPos.x - area.x", "workspace.cursorPos.y - area.y")
    case .anchor(let anchor): return (distance(anchor.sides.x, "width"), distance(anchor.sides.y, "height"))
    }
  }
}
