import CoordinatorAPI
import TextFormats

/// The windows on a session's desktop, as reported by the window manager from now on.
public final class Windows {
  public struct Window: Hashable {
    /// The manager's ID of the window.
    public let id: Int64
    /// The Wayland application ID or the X window class.
    public let name: String
  }

  private let session: Session
  private let messenger: String
  private let subscription: Program
  private var read = 0
  private var ticks: [String] = []

  /// The open windows, in the order in which they were opened.
  public private(set) var open: [Window] = []
  /// Opened and closed windows in the manager's order: `new volume`, `close volume`.
  public private(set) var log: [String] = []
  /// The window with the keyboard focus.
  public private(set) var focused: Window?
  /// The largest number of windows open at the same time.
  public private(set) var most = 0

  /// - Throws: `Session.Failure`.
  public init(_ session: Session) throws {
    guard let desktop = session.desktop else { throw Session.Failure("the session has no desktop") }
    self.session = session
    messenger = desktop.manager.messenger
    subscription = try session.start(program: messenger, ["-m", "-t", "subscribe", "[\"window\",\"tick\"]"])
    // A subscriber to ticks is sent one immediately.
    try session.wait("the manager reports windows") {
      follow()
      return !ticks.isEmpty
    }
    open = try tree()
    most = open.count
  }

  /// Waits until the open windows have these names, in the order in which they were opened.
  public func wait(for names: String...) throws { try wait(for: names) }

  public func wait(for names: [String]) throws {
    do {
      try session.wait("the windows are \(names)") {
        follow()
        return open.map(\.name) == names
      }
    } catch {
      throw Session.Failure("\(error)\nthe windows are \(open), and the log is \(log)")
    }
  }

  /// Waits until a window with a name has the keyboard focus.
  public func waitForFocus(on name: String) throws {
    try session.wait("\(name) has the focus") {
      follow()
      return focused?.name == name && open.contains { $0 == focused }
    }
  }

  /// Waits until every window event so far was processed.
  public func catchUp() throws {
    let name = "catch-up-\(ticks.count)"
    try ask("-t", "send_tick", name)
    try session.wait("the manager has reported all events") {
      follow()
      return ticks.contains(name)
    }
  }

  /// Clears `log` and `most`.
  public func forget() { (log, most) = ([], open.count) }

  /// The current windows according to the manager's tree.
  public func tree() throws -> [Window] {
    func windows(_ node: JSON) -> [Window] {
      let inner = [node["nodes"], node["floating_nodes"]].flatMap { $0?.array ?? [] }.flatMap(windows)
      return (Self.window(node).map { [$0] } ?? []) + inner
    }
    return windows(try JSON.parse(ask("-t", "get_tree").outputText)).sorted { $0.id < $1.id }
  }

  /// Asks a window's program to close it, as a click on its close button does.
  public func close(_ window: Window) throws { try ask("[con_id=\(window.id)] kill") }

  /// Sends the manager a request.
  /// - Throws: `Session.Failure` if the manager refuses.
  @discardableResult
  public func ask(_ arguments: String...) throws -> Program {
    let run = try session.run(program: messenger, arguments)
    guard run.exitCode == 0 else {
      throw Session.Failure("\(messenger) \(arguments): \(run.outputText)\(run.errorText)")
    }
    return run
  }

  /// Processes the manager's new reports.
  private func follow() {
    let lines = subscription.lines
    for line in lines[read...] {
      guard let event = try? JSON.parse(line) else { continue }
      if let payload = event["payload"]?.string { ticks.append(payload) }
      guard let change = event["change"]?.string, let window = event["container"].flatMap(Self.window) else { continue }
      if change == "new" {
        // The tree contains a window already if it was reported while the tree was requested.
        guard !open.contains(where: { $0.id == window.id }) else { continue }
        open.append(window)
        most = max(most, open.count)
        log.append("new \(window.name)")
      } else if change == "focus" {
        focused = window
      } else if change == "close" {
        open.removeAll { $0.id == window.id }
        log.append("close \(window.name)")
      }
    }
    read = lines.count
  }

  /// Returns nil for a node that is not a window: an output, a workspace, a container.
  private static func window(_ node: JSON) -> Window? {
    guard case .integer(let id)? = node["id"], node["nodes"]?.array?.isEmpty != false else { return nil }
    let name = node["app_id"]?.string ?? node["window_properties"]?["class"]?.string
    return name.map { Window(id: Int64(id), name: $0) }
  }
}
