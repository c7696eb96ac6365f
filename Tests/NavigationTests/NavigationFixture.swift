// Why this file exists: the same scenarios are played with a coordinator inside the program and with a real navd; here is
// what they are played on.

import DBusValues
import Glibc
import Observation
import Synchronization
import TestSupport

@testable import Navigation

/// Which coordinator a scenario is played with.
enum Coordinating: String, CaseIterable, Sendable {
  case embedded, navd
}

/// A screen that writes what becomes of it on the wall.
@MainActor
final class Sign: Screen {
  struct Refusal: Error, CustomStringConvertible { let description = "there is no room" }

  let name: String
  private let wall: Wall
  /// Called when it is on the wall.
  private let onAppear: (@MainActor (Showing) -> Void)?
  private(set) var showing: Showing?

  init(_ name: String, on wall: Wall, onAppear: (@MainActor (Showing) -> Void)? = nil) {
    self.name = name
    self.wall = wall
    self.onAppear = onAppear
  }

  func appear(_ showing: Showing) async throws {
    if wall.refused.contains(name) { throw Refusal() }
    self.showing = showing
    try await wall.wait(for: name)
    wall.signs.append(self)
    wall.log.append("+\(name)")
    onAppear?(showing)
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    wall.leaving.append(name)
    while wall.stuck.contains(name) { await wall.change() }
    wall.take(self, animated ? "-" : "-!")
    return ["name": .string(name)]
  }

  /// Its user closes it.
  func close() async throws {
    wall.take(self, "x")
    try await showing?.close()
  }
}

/// What is on screen, and what has been.
@MainActor @Observable
final class Wall {
  var signs: [Sign] = []
  var log: [String] = []
  /// Why presentations ended, as their presenters in the state were told.
  var ends: [NavigationReason] = []
  /// What else was told.
  var notes: [String] = []
  /// Those that were told to go.
  var leaving: [String] = []
  /// Those that do not go when they are told, until they are taken out of here.
  var stuck: Set<String> = []
  /// Those that cannot be shown.
  var refused: Set<String> = []
  /// Those that take their time to come, until they are taken out of here.
  var slow: Set<String> = []
  /// Those that come all the same when they are told not to.
  var deaf: Set<String> = []
  /// Those that were slow.
  var coming: [String] = []
  /// Those that were told not to come any more.
  var cancelled: [String] = []

  var names: [String] { signs.map(\.name) }
  subscript(name: String) -> Sign? { signs.last { $0.name == name } }

  func take(_ sign: Sign, _ how: String) {
    guard signs.contains(where: { $0 === sign }) else { return }
    signs.removeAll { $0 === sign }
    log.append("\(how)\(sign.name)")
  }

  /// Returns when a sign can come.
  func wait(for name: String) async throws {
    guard slow.contains(name) else { return }
    coming.append(name)
    try await withTaskCancellationHandler {
      while slow.contains(name), deaf.contains(name) || !cancelled.contains(name) { await change() }
      if !deaf.contains(name) { try Task.checkCancellation() }
    } onCancel: {
      Task { @MainActor in cancelled.append(name) }
    }
  }

  /// Returns when something has changed.
  func change() async {
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = (signs, stuck, slow, cancelled)
      } onChange: {
        Task { @MainActor in continuation.resume() }
      }
    }
  }
}

/// A coordinator, a navigator and a wall.
@MainActor
final class Stage {
  struct Timeout: Error, CustomStringConvertible { let description: String }

  let coordinator: Coordinator
  let navigator: Navigator
  let wall = Wall()
  /// nil where the coordinator is embedded.
  let session: Session?

  init(
    _ coordinating: Coordinating, startTimeout: Duration = Session.limit, grace: Duration = Session.limit
  ) async throws {
    switch coordinating {
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

  /// Waits until a condition on what is observed holds; it is looked at again when what it read has changed.
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
    throw Timeout(description: "\(file):\(line): this did not come about; on the wall: \(wall.names), log: \(wall.log)")
  }

  /// Waits until the wall shows exactly these, the first shown first.
  func shows(_ names: String..., line: Int = #line) async throws {
    try await until({ [wall] in wall.names == names }, #fileID, line)
  }

  /// Waits until the coordinator's state is so.
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
      description: "\(file):\(line): this did not come about; presented: \(state.presentations.map(\.binding))")
  }
}

/// What was told as misuse.
final class Told: Sendable {
  private let all = Mutex<[String]>([])
  var messages: [String] { all.withLock { $0 } }
  func add(_ message: String) { all.withLock { $0.append(message) } }
}
