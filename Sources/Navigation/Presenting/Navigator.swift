// Why this file exists: a program's state and what is presented of it are two; here is who carries changes from the one to
// the other, in both directions and in order.

import CoordinatorAPI
import DBusValues
import PresentationModel
import Synchronization

/// Presents a program's state through a coordinator, and writes what becomes of it back.
///
///     let navigator = Navigator(try await Coordinator.session())
///     navigator.present(item: $model.fact) { fact in FactWindow(fact) }
///
/// All changes of a turn of the main actor become one transaction. What is presented is the program's own (O1): it ends when the
/// program leaves the bus. While no coordinator can be reached state waits; when one comes it is presented. When the bus is
/// gone, so is what was shown: nil is written, and screens go.
///
/// A navigator lives as long as it shows something; one that is let go dismisses what it has others show.
@MainActor
public final class Navigator: Presenting {
  /// Through which it presents.
  public let coordinator: Coordinator
  /// A request was refused, and the state that asked for it was made to say so. Without it: a line on standard error.
  public var onRefused: ((NavigationError) -> Void)?

  /// Of what the program shows itself.
  let destination: String
  private let patience: DestinationOptions
  /// What the coordinator knows that is shown here.
  private var served: Set<String> = []
  private var drivers: [any Driver] = []
  /// Those that drive nothing any more, but have to hear the end of what they showed.
  private var retired: [any Driver] = []
  /// Whose state is to be read, in the order of their adding, and in which transaction.
  private var marked: [(driver: any Driver, transaction: Transaction)] = []
  /// What is to be asked for on behalf of drivers that are gone.
  private var farewells: [Coordinator.Change] = []
  private var isSending = false
  private var unsettled: [CheckedContinuation<Void, Never>] = []
  private var showings: [PresentationHandle: Showing] = [:]
  /// What the coordinator wants to have shown, and has not been told to go.
  private var wanted: Set<PresentationHandle> = []
  /// Who waits for anything to change.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// Of the state that was heard of last.
  private var heard: UInt64 = 0
  private var isLost = false
  private var following: Task<Void, Never>?

  private static let count = Mutex(0)

  /// Presents through a coordinator, as long as it is held.
  ///
  /// - Parameters:
  ///   - coordinator: who presents; several navigators may share one.
  ///   - startTimeout: how long a screen may take to appear before it counts as failed (D4); nil: 10 seconds.
  ///   - grace: how long a screen may take to disappear before it counts as gone (P14); nil: 2 seconds.
  public init(_ coordinator: Coordinator, startTimeout: Duration? = nil, grace: Duration? = nil) {
    self.coordinator = coordinator
    patience = DestinationOptions(startTimeout: startTimeout, grace: grace)
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    destination = "navigation-\(coordinator.client)-\(number)"
    following = inNoTransaction { [weak self, following = coordinator.following] in
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
    guard !served.isEmpty || !farewells.isEmpty else { return }
    Task { [coordinator, served] in
      for change in farewells { _ = try? await coordinator.apply([change]) }
      for destination in served { try? await coordinator.backend.stopServing(destination) }
    }
  }

  /// What is presented from here is presented from nothing, and is in no stack.
  public var presentationSource: PresentationSource {
    PresentationSource(navigator: self, binding: nil, stack: nil)
  }

  /// What is presented from here goes on as long as this does.
  public func keep(_ presence: Presence) {}

  /// Returns when all that the state says has been asked for, and was answered. For tests, and for the end of a program.
  public func settle() async {
    // What this turn has changed is told in the next.
    await Task.yield()
    guard isSending else { return }
    await withCheckedContinuation { unsettled.append($0) }
  }

  // MARK: Drivers

  func add(_ driver: any Driver) -> Presence {
    if let driver = driver as? ItemDriver { takeOver(driver) }
    drivers.append(driver)
    mark(driver, Transaction.current)
    return Presence(driver, self)
  }

  /// A binding is one slot: where it is presented once more, the last counts, and has what is there.
  private func takeOver(_ driver: ItemDriver) {
    driver.onDifference = { [weak self, weak driver] in
      if let driver { self?.mark(driver, Transaction()) }
    }
    guard let index = drivers.firstIndex(where: driver.drivesSame(as:)), let former = drivers[index] as? ItemDriver
    else { return }
    drivers.remove(at: index)
    marked.removeAll { $0.driver === former }
    former.handOver(to: driver)
    if !former.isOver { retired.append(former) }
  }

  func remove(_ driver: any Driver, dismissing: Bool) {
    guard drivers.contains(where: { $0 === driver }) else { return }
    drivers.removeAll { $0 === driver }
    marked.removeAll { $0.driver === driver }
    let farewell = driver.farewell()
    if !driver.isOver { retired.append(driver) }
    guard dismissing else { return }
    farewells += farewell
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
    _ = inNoTransaction { [self] in
      while !marked.isEmpty || !farewells.isEmpty { await send() }
      isSending = false
      for waiting in unsettled { waiting.resume() }
      unsettled = []
    }
  }

  /// What a driver asks for; nil: one that is gone.
  private typealias Asking = (driver: (any Driver)?, changes: [Coordinator.Change])

  /// Reads what is marked, and asks for all that follows at once.
  private func send() async {
    let farewells = farewells
    self.farewells = []
    var asking: [Asking] = farewells.map { (nil, [$0]) }
    // In the order of their adding: what stands on something else was added after it.
    for driver in drivers {
      guard let index = marked.firstIndex(where: { $0.driver === driver }) else { continue }
      let changes = changes(of: driver, marked.remove(at: index).transaction)
      if !changes.isEmpty { asking.append((driver, changes)) }
    }
    guard !asking.isEmpty else { return }
    do throws(NavigationError) {
      try await serve()
      try await send(asking)
    } catch .refused {
      // One by one, so that what is right is not refused with what is not.
      for (driver, changes) in asking { await send(changes, of: driver) }
    } catch {
      for (driver, _) in asking { driver?.postponed() }
    }
    haveHeard()
  }

  /// All as one transaction: first what goes, so that it takes nothing along that has just come.
  private func send(_ asking: [Asking]) async throws(NavigationError) {
    let places = asking.indices.flatMap { driver in asking[driver].changes.indices.map { (driver, $0) } }
    let order =
      places.filter { asking[$0].changes[$1].isRemoval } + places.filter { !asking[$0].changes[$1].isRemoval }
    let (replies, serial) = try await coordinator.apply(order.map { asking[$0].changes[$1] })
    var sorted = asking.map { [[Value]](repeating: [], count: $0.changes.count) }
    for ((driver, change), reply) in zip(order, replies) { sorted[driver][change] = reply }
    for (index, (driver, _)) in asking.enumerated() { driver?.accepted(sorted[index], serial: serial) }
  }

  private func send(_ changes: [Coordinator.Change], of driver: (any Driver)?) async {
    do throws(NavigationError) {
      let (replies, serial) = try await coordinator.apply(changes)
      driver?.accepted(replies, serial: serial)
    } catch .refused(let error) {
      if driver?.refused(error.name) == true { tellRefused(.refused(error)) }
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
    guard !served.contains(destination), drivers.contains(where: { $0.ownDestination == destination }) else { return }
    try await coordinator.backend.serve(destination, patience, by: Host(self))
    served.insert(destination)
  }

  // MARK: For others

  /// Shows the items of a destination, whoever presents them (D1): for programs that show for others, without state of
  /// their own for it. A coordinator that comes later is told of it, too.
  ///
  /// - Parameters:
  ///   - destination: a file name without `/` or a leading dot; the last registration of a name counts.
  ///   - options: what holds for its items.
  ///   - content: makes the screen of an item; what it throws is why the item cannot be shown (D7).
  /// - Throws: `refused` (`invalidArgument`, `invalidConfiguration`, `accessDenied` in a sandbox) or `unreachable`.
  public func serve(
    _ destination: String, _ options: DestinationOptions = DestinationOptions(),
    content: @escaping @MainActor (PresentedItem) throws -> any Screen
  ) async throws(NavigationError) {
    try await coordinator.backend.serve(destination, options, by: Host(self, content))
    served.insert(destination)
  }

  /// Shows no more items of a destination; what is shown stays.
  /// - Throws: as ``serve(_:_:content:)``.
  public func stopServing(_ destination: String) async throws(NavigationError) {
    served.remove(destination)
    try await coordinator.backend.stopServing(destination)
  }

  // MARK: From the coordinator

  private func take(_ element: Following.Element) {
    switch element {
    case .state(let state):
      // One that counts from the beginning knows nothing of what the one before accepted.
      if state.serial < heard { for driver in drivers + retired { driver.forgetSerials() } }
      heard = state.serial
      reconcile(state)
      for driver in drivers { mark(driver, Transaction()) }
    case .event(let event):
      heard = event.serial
      take(event)
    }
    haveHeard()
  }

  /// Drivers were told something.
  private func haveHeard() {
    for driver in drivers + retired { farewells += driver.leftovers() }
    if !farewells.isEmpty { plan() }
    retired.removeAll(where: \.isOver)
    changed()
  }

  private func take(_ event: NavigationEvent) {
    switch event.kind {
    case .presented(let subject, let item):
      let destination = StateEntry(item).destination
      for driver in drivers where driver.drives(subject.binding) {
        driver.appeared(subject.presentation, id: subject.id, destination: destination)
      }
    case .dismissed(let subject, let reason):
      for driver in drivers + retired where driver.drives(subject.binding) {
        driver.ended(subject.presentation, reason)
      }
      leave(subject.presentation)
    case .updated(let subject, let item):
      guard let value = StateEntry(item).value else { return }
      for driver in drivers where driver.drives(subject.binding) {
        driver.updated(subject.presentation, value: value, serial: event.serial)
      }
    case .phase, .action, .selection, .group, .path: break
    }
  }

  private func reconcile(_ state: NavigationState) {
    for driver in drivers + retired {
      for lost in driver.reconcile(state, client: coordinator.client) { leave(lost) }
    }
  }

  /// The bus is gone, or the coordinator was closed, and with it all that was shown through it.
  private func lost(_ error: NavigationError) {
    isLost = true
    reconcile(NavigationState(StateSnapshot([:]), serial: .max))
    for presentation in showings.keys.sorted(by: >) { leave(presentation) }
    haveHeard()
    // Who closes a coordinator knows.
    if error != .closed { tellRefused(error) }
  }

  private func leave(_ presentation: PresentationHandle) {
    wanted.remove(presentation)
    showings.removeValue(forKey: presentation)?.leave()
  }

  /// Returns when something has changed.
  private func change() async { await withCheckedContinuation { waiting.append($0) } }

  private func changed() {
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Showing

  fileprivate func present(
    _ item: PresentedItem, after serial: UInt64, _ content: Content?
  ) async throws(ShowingError) {
    let presentation = item.presentation
    // After a restart of navd it asks for what is there already.
    if let shown = showings[presentation] { return shown.restored(item.all) }
    wanted.insert(presentation)
    while wanted.contains(presentation) {
      // What happened before this was asked for comes first: another's end, for example.
      if heard >= serial || isLost, let screen = try screen(for: item, content) {
        return try await show(Showing(item, screen: screen, self))
      }
      await change()
    }
    throw ShowingError(why: "it was dismissed before it came")
  }

  private func screen(for item: PresentedItem, _ content: Content?) throws(ShowingError) -> (any Screen)? {
    do {
      if let content { return try content(item) }
      guard let driver = drivers.last(where: { $0.drives(item.binding) }) else {
        throw ShowingError(why: "nothing in the program presents \(item.binding) now")
      }
      return try driver.screen(for: item.presentation, binding: item.binding, id: item.id)
    } catch {
      wanted.remove(item.presentation)
      throw error as? ShowingError ?? ShowingError(why: "\(error)")
    }
  }

  private func show(_ showing: Showing) async throws(ShowingError) {
    showings[showing.presentation] = showing
    do {
      try await showing.appear()
    } catch {
      leave(showing.presentation)
      throw ShowingError(why: "\(error)")
    }
  }

  fileprivate func update(_ presentation: PresentationHandle, item: Properties) {
    showings[presentation]?.update(item)
  }

  fileprivate func dismiss(_ presentation: PresentationHandle, animated: Bool) async -> Properties {
    if wanted.remove(presentation) != nil { changed() }
    return await showings[presentation]?.disappear(animated: animated) ?? [:]
  }
}

private typealias Content = @MainActor (PresentedItem) throws -> any Screen

/// What the coordinator calls; it does not keep the navigator.
private final class Host: PresenterHost {
  @MainActor private weak var navigator: Navigator?
  /// nil: what state drives.
  private let content: Content?

  @MainActor init(_ navigator: Navigator, _ content: Content? = nil) {
    self.navigator = navigator
    self.content = content
  }

  @MainActor func present(_ item: PresentedItem, after serial: UInt64) async throws(ShowingError) {
    guard let navigator else { throw ShowingError(why: "the program has let its navigator go") }
    try await navigator.present(item, after: serial, content)
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

/// Begins something that goes on beyond the transaction in which it is begun.
@MainActor
private func inNoTransaction(_ body: @escaping @MainActor () async -> Void) -> Task<Void, Never> {
  Transaction.$current.withValue(Transaction()) { Task { await body() } }
}
