// Why this file exists: whether a window is on screen is for the compositor to say, and in which order they came and went,
// too.

import CoordinatorAPI
import TextFormats

/// The windows of a session's desktop, as its manager tells of them from now on.
public final class Windows {
  public struct Window: Hashable {
    /// The manager's own number.
    public let id: Int64
    /// The program's name for it: a Wayland window's application id, an X window's class.
    public let name: String
  }

  private let session: Session
  private let messenger: String
  private let subscription: Program
  private var read = 0
  private var ticks: [String] = []

  /// Those that are open, in the order in which they were opened.
  public private(set) var open: [Window] = []
  /// What came and went, in the manager's order: `new volume`, `close volume`.
  public private(set) var log: [String] = []
  /// The one that what is typed goes to.
  public private(set) var focused: Window?
  /// How many were open at once, at most.
  public private(set) var most = 0

  /// - Throws: `Session.Failure`.
  public init(_ session: Session) throws {
    guard let desktop = session.desktop else { throw Session.Failure("the session has no desktop") }
    self.session = session
    messenger = desktop.manager.messenger
    subscription = try session.start(program: messenger, ["-m", "-t", "subscribe", "[\"window\",\"tick\"]"])
    // Who subscribes to ticks is sent one at once.
    try session.wait("the manager tells of windows") {
      follow()
      return !ticks.isEmpty
    }
    open = try tree()
    most = open.count
  }

  /// Waits until the names of the open windows are these, in the order in which they were opened.
  public func wait(for names: String...) throws {
    do {
      try session.wait("the windows are \(names)") {
        follow()
        return open.map(\.name) == names
      }
    } catch {
      throw Session.Failure("\(error)\nthe windows are \(open), and there were: \(log)")
    }
  }

  /// Waits until what is typed goes to a window of that name.
  public func waitForFocus(on name: String) throws {
    try session.wait("\(name) has the focus") {
      follow()
      return focused?.name == name && open.contains { $0 == focused }
    }
  }

  /// Learns of everything that has happened to windows until now.
  public func catchUp() throws {
    let name = "catch-up-\(ticks.count)"
    try ask("-t", "send_tick", name)
    try session.wait("the manager has told all") {
      follow()
      return ticks.contains(name)
    }
  }

  /// Forgets what came and went so far.
  public func forget() { (log, most) = ([], open.count) }

  /// The windows that there are now, as the manager's tree has them.
  public func tree() throws -> [Window] {
    func windows(_ node: JSON) -> [Window] {
      let inner = [node["nodes"], node["floating_nodes"]].flatMap { $0?.array ?? [] }.flatMap(windows)
      return (Self.window(node).map { [$0] } ?? []) + inner
    }
    return windows(try JSON.parse(ask("-t", "get_tree").outputText)).sorted { $0.id < $1.id }
  }

  /// Closes a window as its user does: the program is asked to.
  public func close(_ window: Window) throws { try ask("[con_id=\(window.id)] kill") }

  /// Asks the manager something, or tells it to do something.
  /// - Throws: `Session.Failure`, if it does not.
  @discardableResult
  public func ask(_ arguments: String...) throws -> Program {
    let run = try session.run(program: messenger, arguments)
    guard run.exitCode == 0 else {
      throw Session.Failure("\(messenger) \(arguments): \(run.outputText)\(run.errorText)")
    }
    return run
  }

  /// Takes in what the manager has told since.
  private func follow() {
    let lines = subscription.lines
    for line in lines[read...] {
      guard let event = try? JSON.parse(line) else { continue }
      if let payload = event["payload"]?.string { ticks.append(payload) }
      guard let change = event["change"]?.string, let window = event["container"].flatMap(Self.window) else { continue }
      if change == "new" {
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

  /// nil for what is no window: an output, a workspace, what only holds others.
  private static func window(_ node: JSON) -> Window? {
    guard case .integer(let id)? = node["id"], node["nodes"]?.array?.isEmpty != false else { return nil }
    let name = node["app_id"]?.string ?? node["window_properties"]?["class"]?.string
    return name.map { Window(id: Int64(id), name: $0) }
  }
}
