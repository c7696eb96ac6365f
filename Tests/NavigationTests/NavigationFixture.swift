import DBusValues
import Glibc
import Observation
import Synchronization
import TestSupport

@testable import Navigation

/// The kind of coordinator that a scenario runs with.
enum CoordinatorKind: String, CaseIterable, Sendable {
  case embedded, navd
}

/// A screen that records its appearance and disappearance in a display.
@MainActor
final class DisplayedScreen: Screen {
  struct Refusal: Error, CustomStringConvertible { let description = "there is no room" }

  let name: String
  private let display: Display
  /// Called after it has appeared.
  private let onAppear: (@MainActor (Showing) -> Void)?
  private(set) var showing: Showing?

  init(_ name: String, on display: Display, onAppear: (@MainActor (Showing) -> Void)? = nil) {
    self.name = name
    self.display = display
    self.onAppear = onAppear
  }

  func appear(_ showing: Showing) async throws {
    if display.refused.contains(name) { throw Refusal() }
    self.showing = showing
    try await display.wait(for: name)
    display.screens.append(self)
    display.log.append("+\(name)")
    onAppear?(showing)
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    display.disappearing.append(name)
    while display.stuck.contains(name) { await display.change() }
    display.take(self, animated ? "-" : "-!")
    return ["name": .string(name)]
  }

  /// Closes it like its user.
  func close() async throws {
    display.take(self, "x")
    try await showing?.close()
  }
}

/// A simulated display: the screens shown, a log, and switches that make screens slow or faulty.
@MainActor @Observable
final class Display {
  var screens: [DisplayedScreen] = []
  var log: [String] = []
  /// The reasons of ended presentations, as passed to onDismiss.
  var ends: [NavigationReason] = []
  /// Other notes of a test.
  var notes: [String] = []
  /// Names of screens that were asked to disappear.
  var disappearing: [String] = []
  /// Names of screens that do not disappear while they are in this set.
  var stuck: Set<String> = []
  /// Names of screens that throw in `appear`.
  var refused: Set<String> = []
  /// Names of screens that do not appear while they are in this set.
  var slow: Set<String> = []
  /// Names of screens that ignore cancellation while they appear.
  var uncancellable: Set<String> = []
  /// Names of slow screens that have begun to appear.
  var appearing: [String] = []
  /// Names of slow screens whose appearance was cancelled.
  var cancelled: [String] = []

  var names: [String] { screens.map(\.name) }
  subscript(name: String) -> DisplayedScreen? { screens.last { $0.name == name } }

  func take(_ screen: DisplayedScreen, _ how: String) {
    guard screens.contains(where: { $0 === screen }) else { return }
    screens.removeAll { $0 === screen }
    log.append("\(how)\(screen.name)")
  }

  /// Returns when a screen may appear.
  func wait(for name: String) async throws {
    guard slow.contains(name) else { return }
    appearing.append(name)
    try await withTaskCancellationHandler {
      while slow.contains(name), uncancellable.contains(name) || !cancelled.contains(name) { await change() }
      if !uncancellable.contains(name) { try Task.checkCancellation() }
    } onCancel: {
      Task { @MainActor in cancelled.append(name) }
    }
  }

  /// Returns at the next change of the display's state.
  func change() async {
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = (screens, stuck, slow, cancelled)
      } onChange: {
        Task { @MainActor in continuation.resume() }
      }
    }
  }
}

/// A coordinator, a navigator and a display for one scenario.
@MainActor
final class NavigationFixture {
  struct Timeout: Error, CustomStringConvertible { let description: String }

  let coordinator: Coordinator
  let navigator: Navigator
  let display = Display()
  /// The session of navd; nil if the coordinator is embedded.
  let session: Session?

  init(
    _ kind: CoordinatorKind, startTimeout: Duration = Session.limit, grace: Duration = Session.limit
  ) async throws {
    switch kind {
    case .embedded:
      session = nil
      coordinator = .embedded()
    case .navd:
      let session = try Session()
      self.session = session
      coordinator = try await .bus(address: session.bus.address)
    }
    navigator = Navigator(coordinator, startTimeout: startTimeout, grace: grace)
  }

  /// The text of a binding on the bus.
  func text<Value>(_ binding: Binding<Value>) -> String { binding.route.text(client: coordinator.client) }

  /// Waits until a condition on observed state holds. The condition is evaluated again when that state changes.
  func until(_ condition: @escaping @MainActor () -> Bool, _ file: String = #fileID, _ line: Int = #line) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let observing = observe { if condition() { continuation.yield(true) } }
    let limit = Task {
      try await Task.sleep(for: .seconds(20))
      continuation.yield(false)
    }
    defer {
      observing.cancel()
      limit.cancel()
    }
    for await isMet in stream {
      if isMet { return }
      break
    }
    throw Timeout(
      description: "\(file):\(line): the condition was not met; shown: \(display.names), log: \(display.log)")
  }

  /// Waits until the display shows exactly these screens, in order of appearance.
  func shows(_ names: String..., line: Int = #line) async throws {
    try await until({ [display] in display.names == names }, #fileID, line)
  }

  /// Waits until a condition on the coordinator's state holds.
  func state(
    _ condition: @escaping @MainActor (NavigationState) -> Bool, _ file: String = #fileID, _ line: Int = #line
  ) async throws {
    let looking = Task { [coordinator] in
      for try await _ in coordinator.following {
        if condition(try await coordinator.state()) { return true }
      }
      return false
    }
    let limit = Task {
      try await Task.sleep(for: .seconds(20))
      looking.cancel()
    }
    defer { limit.cancel() }
    if (try? await looking.value) == true { return }
    let state = try await coordinator.state()
    throw Timeout(
      description: "\(file):\(line): the condition was not met; presented: \(state.presentations.map(\.binding))")
  }
}

/// Records reports of misuse.
final class MisuseLog: Sendable {
  private let all = Mutex<[String]>([])
  var messages: [String] { all.withLock { $0 } }
  func add(_ message: String) { all.withLock { $0.append(message) } }
}
