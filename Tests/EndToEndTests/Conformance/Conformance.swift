import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport

private typealias Rows = WindowSystemInterface

/// The scenarios that every adapter of `org.navd.WindowSystem1` passes, with the compositor's own view of its windows as the judge.
///
/// One session runs them all, one after the other, since a desktop takes seconds to start. A scenario is left out if the adapter
/// does not claim its subject.
final class Conformance {
  /// The outcome of a scenario.
  enum Outcome: Equatable {
    case passed
    /// The adapter does not claim the subject of the scenario.
    case notClaimed
    /// The judge does not know the subject of the scenario, or the desktop cannot do it.
    case notJudged
    case failed(String)
  }

  struct Scenario {
    let name: String
    /// The claims for which the scenario is tried; with none it is tried for all adapters.
    var capabilities: [WindowCapability] = []
    let run: (Conformance) throws -> Void
  }

  /// The error of a scenario whose subject the judge does not know.
  struct Unjudged: Error {}

  let setup: AdapterSetup
  let session: Session
  let screen: ManagersWindows
  private(set) var adapter: RunningAdapter
  /// The claims of the adapter by now. Some adapters claim an ability only when they have seen that the compositor has it.
  var claimed: Set<WindowCapability> {
    let texts = [String](value: adapter.properties["Capabilities"] ?? .string("")) ?? []
    return Set(texts.compactMap(WindowCapability.init(rawValue:)))
  }
  /// The programs of the scenario, which end with it.
  private var programs: [Program] = []
  /// The application id of each window that was ever told, by the id of the window.
  private var names: [String: String] = [:]

  init(_ setup: AdapterSetup) throws {
    self.setup = setup
    session = try Session(
      starting: false, desktop: setup.manager, configuration: setup.secondOutput,
      files: ["bin/editor.py": editorProgram])
    if setup.manager == .sway { try session.runTool("/usr/bin/swaymsg", ["create_output"]) }
    screen = ManagersWindows(session: session)
    adapter = try RunningAdapter(session, "--backend", setup.backend)
  }

  /// Runs the scenarios, and returns the outcome of each.
  func run() -> [(scenario: Scenario, outcome: Outcome)] {
    Self.scenarios.map { ($0, outcome(of: $0)) }
  }

  private func outcome(of scenario: Scenario) -> Outcome {
    guard claimed.isSuperset(of: scenario.capabilities) else { return .notClaimed }
    do {
      defer { programs = [] }
      try scenario.run(self)
      try clear()
      return .passed
    } catch is Unjudged {
      do { try clear() } catch { return .failed("\(error)") }
      return .notJudged
    } catch {
      try? clear()
      return .failed("\(error)")
    }
  }

  /// Ends the programs of a scenario, and waits until the adapter and the judge know no window.
  private func clear() throws {
    for program in programs { program.send(SIGKILL) }
    for process in session.processes() { kill(process.pid, SIGKILL) }
    programs = []
    try adapter.wait("there is no window") { adapter.windows.isEmpty }
    try session.poll("the compositor has no window") { try screen.all().isEmpty }
  }

  // MARK: What scenarios are written in

  /// Opens the editor, and waits until the adapter and the judge have its window.
  func open(_ name: String, _ variables: [String: String] = [:]) throws -> (program: Program, window: Window) {
    let program = try session.edit(name, variables)
    programs.append(program)
    let window = try opened(name, "one")
    // KWin 5 adds a number to a title that another window has.
    try screen.poll(name, "is there") { $0?.title.hasPrefix("one") == true }
    return (program, window)
  }

  /// Waits until the adapter tells a window.
  func opened(_ name: String, _ title: String) throws -> Window {
    let window = try adapter.open(name, title)
    if let former = names.updateValue(name, forKey: window.id), former != name {
      throw Session.Failure("the id \(window.id) of \(former) is used again, for \(name)")
    }
    return window
  }

  func tell(_ name: String, _ line: String) throws { try session.tell(name, line) }

  /// Waits until the adapter tells a property of an editor's window.
  func wait(_ name: String, _ what: String, until condition: (WindowProperties) -> Bool) throws {
    try adapter.wait("the adapter tells: \(name) \(what)") {
      adapter.window(name).map { condition($0.properties) } ?? false
    }
  }

  /// Waits until the judge says the same of a window.
  func judge(_ name: String, _ what: String, until condition: (ManagersWindows.Window?) throws -> Bool) throws {
    do {
      try screen.poll(name, what, until: condition)
    } catch {
      throw Session.Failure("\(error)\nthe compositor has \((try? screen.all()) ?? [])")
    }
  }

  func expect(_ condition: Bool, _ what: String) throws {
    guard condition else {
      throw Session.Failure(
        "expected: \(what); the adapter tells \(adapter.windows), the compositor has \((try? screen.all()) ?? [])")
    }
  }

  /// Ends the scenario if the description does not have a key of windows.
  func needs(_ key: String) throws {
    guard setup.manager == .described else { return }
    guard try DescribedWindows(session: session).keys().contains(key) else { throw Unjudged() }
  }

  /// Ends the scenario if the desktop shows only one workspace, or does not tell which one. dwm has tags in place of workspaces.
  func needsWorkspaces() throws {
    if setup.manager == .dwm { throw Unjudged() }
    guard setup.manager == .described else { return }
    guard try DescribedWindows(session: session).can("workspace") else { throw Unjudged() }
  }

  func refusal<Input>(_ method: Method<Input, Void>, _ input: Input) throws -> ErrorCode? {
    try adapter.refusal(method, input)
  }

  /// Kills the adapter, and starts it again.
  func restartAdapter() throws {
    try adapter.kill()
    adapter = try RunningAdapter(session, "--backend", setup.backend)
  }
}

extension AdapterSetup {
  /// The setup that `NAVD_TEST_DESKTOP` chooses: a description, or one of the tests' own as `MANAGER:BACKEND`; nil without the
  /// variable.
  static let chosen: AdapterSetup? = {
    if DescribedDesktop.path != nil { return AdapterSetup(manager: .described, backend: "") }
    guard let words = getenv("NAVD_TEST_DESKTOP").map({ String(cString: $0).split(separator: ":") }), words.count == 2,
      let manager = Desktop.Manager(rawValue: String(words[0]))
    else { return nil }
    return AdapterSetup(manager: manager, backend: String(words[1]))
  }()

  /// The lines of the manager's configuration for a second output, where it needs some.
  fileprivate var secondOutput: String {
    switch manager {
    case .gnome: "--virtual-monitor 1024x768"
    case .kwin: "--output-count 2"
    case .i3: "fake-outputs 640x720+0+0,640x720+640+0\n"
    default: ""
    }
  }
}
