// Why this file exists: a program's state and what is presented of it are two; here is who carries changes from the one to
// the other, in both directions and in order.

import CoordinatorAPI
import DBusValues
import Synchronization

/// Presents a program's state through a coordinator, and writes what becomes of it back.
///
///     let navigator = Navigator(try await Coordinator.session())
///     navigator.present(item: $model.fact) { fact in FactWindow(fact) }
///
/// All changes of a turn of the main actor become one transaction. What is presented is the program's own (O1): it ends when the
/// program leaves the bus. While no coordinator can be reached state waits; when one comes it is presented.
@MainActor
public final class Navigator: Presenting {
  /// Through which it presents.
  public let coordinator: Coordinator
  /// A request was refused, and the state that asked for it was made to say so. Without it: a line on standard error.
  public var onRefused: ((NavigationError) -> Void)?

  /// Of what the program shows itself.
  let destination: String
  private var isServing = false
  private var drivers: [any Driver] = []
  /// Whose state is to be read, in the order of their adding, and in which transaction.
  private var marked: [(driver: any Driver, transaction: Transaction)] = []
  /// What is to be asked for on behalf of drivers that are gone.
  private var farewells: [Coordinator.Change] = []
  private var isSending = false
  private var unsettled: [CheckedContinuation<Void, Never>] = []
  private var showings: [PresentationHandle: Showing] = [:]
  private var following: Task<Void, Never>?
  private var kept: [Presence] = []

  private static let count = Mutex(0)

  /// Presents through a coordinator, as long as it is held.
  public init(_ coordinator: Coordinator) {
    self.coordinator = coordinator
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    destination = "navigation-\(coordinator.client)-\(number)"
    following = Task { [weak self, following = coordinator.following] in
      do throws(NavigationError) {
        for try await element in following {
          guard let self else { return }
          take(element)
        }
      } catch {
        self?.lost(error)
      }
    }
  }

  isolated deinit {
    following?.cancel()
    let farewells = farewells + drivers.flatMap { $0.farewell() }
    guard !farewells.isEmpty else { return }
    Task { [coordinator] in
      for change in farewells { _ = try? await coordinator.apply([change]) }
    }
  }

  /// What is presented from here is presented from nothing, and is in no stack.
  public var presentationSource: PresentationSource {
    PresentationSource(navigator: self, binding: nil, stack: nil)
  }

  public func keep(_ presence: Presence) { kept.append(presence) }

  /// Returns when all that the state says has been asked for, and was answered. For tests, and for the end of a program.
  public func settle() async {
    guard isSending else { return }
    await withCheckedContinuation { unsettled.append($0) }
  }

  // MARK: Drivers

  func add(_ driver: any Driver) -> Presence {
    drivers.append(driver)
    mark(driver, Transaction.current)
    return Presence(driver, self)
  }

  func remove(_ driver: any Driver, dismissing: Bool) {
    drivers.removeAll { $0 === driver }
    marked.removeAll { $0.driver === driver }
    guard dismissing else { return }
    farewells += driver.farewell()
    plan()
  }

  func path(named stack: String) -> PathDriver? {
    drivers.lazy.compactMap { $0 as? PathDriver }.first { $0.name == stack }
  }

  /// A driver's state is to be read, in the next turn.
  func mark(_ driver: any Driver, _ transaction: Transaction) {
    guard drivers.contains(where: { $0 === driver }) else { return }
    if let index = marked.firstIndex(where: { $0.driver === driver }) {
      marked[index].transaction = marked[index].transaction.merging(transaction)
    } else {
      marked.append((driver, transaction))
    }
    plan()
  }

  // MARK: To the coordinator

  private func plan() {
    guard !isSending else { return }
    isSending = true
    Task {
      while !marked.isEmpty || !farewells.isEmpty { await send() }
      isSending = false
      for waiting in unsettled { waiting.resume() }
      unsettled = []
    }
  }

  /// Reads what is marked, and asks for all that follows at once.
  private func send() async {
    let (ready, farewells) = (marked, farewells)
    marked = []
    self.farewells = []
    var asking: [(driver: (any Driver)?, changes: [Coordinator.Change])] = farewells.map { (nil, [$0]) }
    for (driver, transaction) in ready {
      let changes = changes(of: driver, transaction)
      if !changes.isEmpty { asking.append((driver, changes)) }
    }
    guard !asking.isEmpty else { return }
    do throws(NavigationError) {
      try await serve()
      let (all, serial) = try await coordinator.apply(asking.flatMap(\.changes))
      var replies = all[...]
      for (driver, changes) in asking {
        driver?.accepted(Array(replies.prefix(changes.count)), serial: serial)
        replies = replies.dropFirst(changes.count)
      }
    } catch .refused {
      // One by one, so that what is right is not refused with what is not.
      for (driver, changes) in asking { await send(changes, of: driver) }
    } catch {
      for (driver, _) in asking { driver?.postponed() }
    }
  }

  private func send(_ changes: [Coordinator.Change], of driver: (any Driver)?) async {
    do throws(NavigationError) {
      let (replies, serial) = try await coordinator.apply(changes)
      driver?.accepted(replies, serial: serial)
    } catch .refused(let error) {
      driver?.refused()
      // That it has gone by itself meanwhile, there is news of.
      if error.name != .stale, driver != nil { tellRefused(.refused(error)) }
    } catch {
      driver?.postponed()
    }
  }

  private func tellRefused(_ error: NavigationError) {
    if let onRefused { onRefused(error) } else { reportMisuse("\(error)", file: #fileID, line: #line) }
  }

  private func changes(of driver: any Driver, _ transaction: Transaction) -> [Coordinator.Change] {
    driver.changes(transaction) { [weak self, weak driver] transaction in
      if let driver { self?.mark(driver, transaction) }
    }
  }

  /// Registers the program's own destination, once there is something to be shown in it.
  private func serve() async throws(NavigationError) {
    guard !isServing, drivers.contains(where: { $0.ownDestination == destination }) else { return }
    try await coordinator.service.serve(destination, by: Host(self))
    isServing = true
  }

  // MARK: From the coordinator

  private func take(_ element: Following.Element) {
    switch element {
    case .state(let state):
      for driver in drivers {
        for lost in driver.reconcile(state) { leave(lost) }
        mark(driver, Transaction())
      }
    case .event(let event):
      switch event.kind {
      case .dismissed(let subject, let reason):
        for driver in drivers where driver.drives(subject.binding) { driver.ended(subject.presentation, reason) }
        leave(subject.presentation)
      case .updated(let subject, let item):
        guard let value = item["value"].flatMap(Properties.init(value:)) else { return }
        for driver in drivers where driver.drives(subject.binding) {
          driver.updated(subject.presentation, value: value)
        }
      default: break
      }
    }
  }

  /// The bus is gone, and with it all that was shown through it.
  private func lost(_ error: NavigationError) {
    tellRefused(error)
  }

  private func leave(_ presentation: PresentationHandle) {
    showings.removeValue(forKey: presentation)?.leave()
  }

  // MARK: Showing

  fileprivate func present(
    _ presentation: PresentationHandle, binding: String, id: String, item: Properties
  ) async throws(ShowingError) {
    // After a restart of navd it asks for what is there already.
    if let shown = showings[presentation] { return shown.update(item) }
    guard let driver = drivers.last(where: { $0.drives(binding) }) else {
      throw ShowingError(why: "nothing in the program presents \(binding) now")
    }
    guard let screen = try driver.screen(for: presentation, binding: binding, id: id) else { return }
    let showing = Showing(presentation, binding: binding, id: id, item: item, screen: screen, self)
    showings[presentation] = showing
    do {
      try await showing.appear()
    } catch {
      leave(presentation)
      throw ShowingError(why: "\(error)")
    }
  }

  fileprivate func update(_ presentation: PresentationHandle, item: Properties) {
    showings[presentation]?.update(item)
  }

  fileprivate func dismiss(_ presentation: PresentationHandle, animated: Bool) async -> Properties {
    await showings[presentation]?.disappear(animated: animated) ?? [:]
  }
}

/// What the coordinator calls; it does not keep the navigator.
private final class Host: PresenterHost {
  @MainActor private weak var navigator: Navigator?

  @MainActor init(_ navigator: Navigator) { self.navigator = navigator }

  @MainActor func present(
    _ presentation: PresentationHandle, binding: String, id: String, item: Properties
  ) async throws(ShowingError) {
    guard let navigator else { throw ShowingError(why: "the program has let its navigator go") }
    try await navigator.present(presentation, binding: binding, id: id, item: item)
  }

  @MainActor func update(_ presentation: PresentationHandle, item: Properties) async {
    navigator?.update(presentation, item: item)
  }

  @MainActor func dismiss(
    _ presentation: PresentationHandle, reason: String, animated: Bool
  ) async -> Properties {
    await navigator?.dismiss(presentation, animated: animated) ?? [:]
  }
}
