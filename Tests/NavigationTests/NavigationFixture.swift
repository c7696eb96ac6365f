import EventLoops
import NavigationTesting
import Synchronization
import TestSupport
import Testing

@testable import Navigation

/// The kind of coordinator for a scenario: one in the process, or a navd on a private bus. Most tests run with both.
enum CoordinatorKind: String, CaseIterable, Sendable {
  case embedded, navd
}

let bothKinds = CoordinatorKind.allCases

/// A coordinator, a navigator and a display for one scenario.
@MainActor
final class NavigationFixture {
  struct Timeout: Error, CustomStringConvertible { let description: String }

  let coordinator: Coordinator
  let navigator: Navigator
  let display = Display()
  /// The session of navd; nil if the coordinator is embedded.
  let session: Session?

  convenience init(
    _ kind: CoordinatorKind, startTimeout: Duration = Session.limit, grace: Duration = Session.limit
  ) async throws {
    switch kind {
    case .embedded: self.init(.embedded(), startTimeout: startTimeout, grace: grace)
    case .navd:
      let session = try Session()
      self.init(
        try await .bus(address: session.bus.address), session, startTimeout: startTimeout, grace: grace)
    }
  }

  init(
    _ coordinator: Coordinator, _ session: Session? = nil, startTimeout: Duration = Session.limit,
    grace: Duration = Session.limit
  ) {
    _ = MisuseLog.shared
    (self.coordinator, self.session) = (coordinator, session)
    navigator = Navigator(coordinator, startTimeout: startTimeout, grace: grace)
  }

  /// The text of a binding on the bus.
  func text<Value>(_ binding: Binding<Value>) -> String { coordinator.text(of: binding) }

  /// Waits until a condition on observed state holds. The condition is evaluated again when that state changes.
  func until(_ condition: @escaping @MainActor () -> Bool, _ file: String = #fileID, _ line: Int = #line) async throws {
    do {
      try await NavigationTesting.until(within: limit, condition)
    } catch {
      throw Timeout(
        description: "\(file):\(line): the condition was not met; shown: \(display.names), log: \(display.log)")
    }
  }

  /// Waits until the display shows exactly these screens, in order of appearance.
  func shows(_ names: String..., line: Int = #line) async throws {
    try await until({ [display] in display.names == names }, #fileID, line)
  }

  /// Waits until a condition on the coordinator's state holds.
  func state(
    _ condition: @escaping @MainActor (NavigationState) -> Bool, _ file: String = #fileID, _ line: Int = #line
  ) async throws {
    do {
      try await coordinator.until(within: limit, condition)
    } catch {
      let state = try await coordinator.state()
      throw Timeout(
        description: "\(file):\(line): the condition was not met; presented: \(state.presentations.map(\.binding))")
    }
  }

  /// Waits until there is one presentation whose screen may decline to disappear, since the coordinator knows that it has appeared.
  func isPresented(line: Int = #line) async throws {
    try await state({ $0.presentations.map(\.phase) == [.presented] }, #fileID, line)
  }

  /// All tests share the main actor, and its turns take longer beside other work. Only a test that fails waits so long.
  private let limit = Duration.seconds(60)
}

/// Waits until a condition without an event holds.
@MainActor func poll(line: Int = #line, until condition: @MainActor () async throws -> Bool) async throws {
  let end = MonotonicInstant.now + Session.limit
  while try await !condition() {
    try #require(MonotonicInstant.now < end, "line \(line)")
    try await Task.sleep(for: .milliseconds(5))
  }
}

extension PresentationOptions {
  /// The options of an item that is state only.
  static var state: Self { Self().asState }

  /// The options, for an item that is state only.
  var asState: Self {
    var copy = self
    copy.request.allowsState = true
    return copy
  }
}

extension Session {
  /// Turns the session's loop, which serves peers of navd in this process, until a condition holds.
  @MainActor func serve(line: Int = #line, until condition: () -> Bool) async throws {
    let end = MonotonicInstant.now + Session.limit
    while !condition() {
      try #require(MonotonicInstant.now < end, "line \(line)")
      loop.turn(wait: .milliseconds(5))
      await Task.yield()
    }
  }
}

/// A log of the reports of misuse of all tests. They run at the same time, so a test looks for a name that only it has.
final class MisuseLog: Sendable {
  static let shared: MisuseLog = {
    let log = MisuseLog()
    Misuse.report { message, file, _ in log.add(message, file) }
    return log
  }()

  private let all = Mutex<[(message: String, file: String)]>([])
  var messages: [String] { all.withLock { $0.map(\.message) } }
  /// The files that the reports of a mistake name.
  func files(of message: String) -> [String] { all.withLock { $0.filter { $0.message.contains(message) }.map(\.file) } }

  /// Returns the reports that a body makes. The body does not wait, so that no other test can run meanwhile.
  @MainActor static func messages(during body: () -> Void) -> [String] {
    let count = shared.messages.count
    body()
    return Array(shared.messages.dropFirst(count))
  }

  func add(_ message: String, _ file: String) { all.withLock { $0.append((message, file)) } }
}
