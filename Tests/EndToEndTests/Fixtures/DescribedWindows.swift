import Glibc
import TestSupport
import TextFormats

/// The windows of a described desktop, as its description prints them.
struct DescribedWindows {
  let session: Session

  /// The exit status of a description that does not support a request.
  static let cannot: Int32 = 3

  func all() throws -> [ManagersWindows.Window] {
    try run("windows").outputText.split(separator: "\n").map { line in
      let window = try JSON.parse(String(line))
      guard let name = window["app-id"]?.string, let title = window["title"]?.string else {
        throw Session.Failure("expected “app-id” and “title” of each window, found: \(line)")
      }
      func number(_ key: String) -> Int? { if case .integer(let number)? = window[key] { Int(number) } else { nil } }
      let frame = window["frame"]?.array?.compactMap { if case .integer(let number) = $0 { Int(number) } else { nil } }
      return ManagersWindows.Window(
        id: window["id"]?.string ?? name, name: name, title: title, output: window["output"]?.string ?? "",
        workspace: window["workspace"]?.string ?? "", isHidden: window["hidden"] == true,
        isFocused: window["focused"] == true,
        frame: frame.flatMap { $0.count == 4 ? .init(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) : nil },
        pid: number("pid").map { pid_t($0) })
    }
  }

  func close(_ window: ManagersWindows.Window) throws { try run("close", window.id) }

  func minimize(_ window: ManagersWindows.Window) throws { try run("minimize", window.id) }

  func focus(_ window: ManagersWindows.Window) throws { try run("focus", window.id) }

  func workspace() throws -> String { try run("workspace").lines.first ?? "" }

  func show(workspace: Int) throws { try run("workspace", String(workspace)) }

  /// The name of the compositor, and its version.
  func version() throws -> String { try run("version").lines.first ?? "" }

  /// Whether the description supports a verb.
  func can(_ verb: String) throws -> Bool {
    try session.run(program: session.path(DescribedDesktop.program), [verb]).exitCode != Self.cannot
  }

  /// The keys that the description prints for a window.
  func keys() throws -> Set<String> {
    let lines = try run("windows").outputText.split(separator: "\n")
    return try lines.reduce(into: []) { keys, line in
      for (key, _) in try JSON.parse(String(line)).object ?? [:] { keys.insert(key) }
    }
  }

  @discardableResult
  private func run(_ arguments: String...) throws -> Program {
    let run = try session.run(program: session.path(DescribedDesktop.program), arguments)
    guard run.exitCode == 0 else {
      throw Session.Failure("\(DescribedDesktop.program) \(arguments): \(run.outputText)\(run.errorText)")
    }
    return run
  }
}
