import CoordinatorAPI
import DBusValues
import PresentationModel
import Synchronization

/// Presents a program's state through a coordinator, and writes changes of the presentations back into the state.
///
///     let navigator = Navigator(try await Coordinator.session())
///     navigator.present(item: $model.fact) { fact in FactWindow(fact) }
///
/// All changes within a turn of the main actor are one transaction. The presentations are owned by the program (O1):
/// they end when it leaves the bus. While no coordinator can be reached, state waits, and is presented when one can.
/// When the bus ends, all screens are dismissed and their state becomes nil. A ``DecliningScreen`` is asked then, too.
///
/// A navigator retains the closures that make its screens. So a closure that uses the navigator captures it weakly, as in
/// `{ [weak navigator] fact in … }`; otherwise neither is ever released.
///
/// A navigator lives as long as it shows screens of its own. When it is released, it dismisses the presentations that other
/// destinations show for it.
@MainActor
public final class Navigator: Presenting {
  /// The coordinator through which the navigator presents.
  ///
  ///     let isAnythingShown = try await !navigator.coordinator.state().presentations.isEmpty
  public let coordinator: Coordinator
  /// Called when a request was refused, after the state was changed to agree; when a later coordinator refused to register a
  /// destination; and once when no coordinator can be reached, while the state waits for one. By default each error is a line on
  /// standard error.
  ///
  ///     navigator.onRefused = { error in print("not shown: \(error)") }
  public var onRefused: ((NavigationError) -> Void)?

  /// The name of the destination that the navigator registers for the program's own screens.
  let destination: String
  private let timeouts: DestinationOptions
  /// The position in the program that creates the navigator, for reports.
  private let file: StaticString, line: UInt
  /// The hosts of the registered destinations, by their names.
  private var served: [String: Host] = [:]
  private var drivers = Drivers()
  /// The drivers whose state a later one presents, with their tabs, the earliest first. The last one counts again when the later one ends.
  private var covered: [DrivenSubject: [(driver: ItemDriver, tab: DeclaredTab?)]] = [:]
  /// The drivers of state that the screens of tabs present, which serve it while no screen does.
  private var hidden: [DrivenSubject: HiddenDriver] = [:]
  private var isSending = false
  /// The number of times that requests were sent.
  private var sendCount = 0
  /// The tasks that wait until all requests are answered.
  private var unsettled: [CheckedContinuation<Void, Never>] = []
  private var screens = ShownScreens()
  private let received = ReceivedEvents()
  /// Whether the absence of a coordinator was reported.
  private var isUnreachable = false
  private var following: Task<Void, Never>?

  private static let count = Mutex(0)

  /// Creates a navigator. It presents while it is retained.
  ///
  ///     let navigator = Navigator(coordinator, startTimeout: .seconds(30), grace: .seconds(5))
  ///
  /// - Parameters:
  ///   - coordinator: the coordinator; several navigators may share one.
  ///   - startTimeout: the time in which a screen has to appear before it counts as failed; nil for
  ///     10 seconds (D4).
  ///   - grace: the grace period, in which a screen has to disappear before it counts as gone; nil
  ///     for 2 seconds (P14).
  ///   - file: the program's file, for reports.
  ///   - line: the line in the file.
  public init(
    _ coordinator: Coordinator, startTimeout: Duration? = nil, grace: Duration? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.coordinator = coordinator
    (self.file, self.line) = (file, line)
    timeouts = DestinationOptions(startTimeout: startTimeout, grace: grace)
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    destination = "navigation-\(coordinator.client)-\(number)"
    following = Task { [weak self, following = coordinator.following] in
      var iterator = following.makeAsyncIterator()
      do throws(NavigationError) {
        while var element = try await iterator.next(isolation: MainActor.shared) {
          guard let self else { return }
          // The state lacks requests that were accepted after it was read.
          while case .state = element, drivers.all.contains(where: { $0.acceptance > iterator.moment }) {
            guard let state = try await iterator.newest() else { break }
            element = .state(state)
          }
          if case .event(let event) = element, case .declined(let subject, _) = event.kind {
            await takeBack(subject.presentation, at: subject.binding)
          }
          // Everything that another client has requested becomes the program's state in one change.
          // The events up to that state follow, with the reasons of ends.
          if case .event(let event) = element, mayBeOfAnother(event) {
            let (state, moment) = (try? await coordinator.stateAndMoment()) ?? (.empty, Moment())
            adopt(StateIndex(state, at: moment), requestedItems(of: event))
          }
          take(element, at: iterator.moment)
          if case .state(let state) = element {
            // The missing events may have said that the dismissals of these presentations were declined.
            for kept in state.presentations
            where kept.phase != .dismissing
              && (hasGivenUp(kept) || screens[kept.presentation]?.isBeingDismissed == true)
            {
              await takeBack(kept.presentation, at: kept.binding)
            }
          }
        }
      } catch {
        self?.lost(error)
      }
    }
  }

  isolated deinit {
    following?.cancel()
    for driver in drivers.live.inOrder where coordinator.navigators[driver.subject]?.navigator == nil {
      coordinator.navigators[driver.subject] = nil
    }
    let dismissals = drivers.takeDismissals() + drivers.live.inOrder.flatMap { $0.retire() }
    guard !served.isEmpty || !dismissals.isEmpty else { return }
    Task { [coordinator, served] in
      var unanswered = await Self.send(dismissals, to: coordinator)
      for (destination, host) in served { try? await coordinator.backend.stopServing(destination, by: host) }
      for _ in 0..<Self.maxAttempts where !unanswered.isEmpty {
        // The loop waits for the state of the next coordinator, and throws if the bus is gone.
        do { for try await _ in coordinator.following { break } } catch { return }
        unanswered = await Self.send(unanswered, to: coordinator)
      }
    }
  }

  /// The maximum number of coordinators to which a released navigator sends its dismissals again.
  private static let maxAttempts = 10

  /// Sends requests one by one.
  /// - Returns: the requests that no coordinator has answered.
  private static func send(_ changes: [Coordinator.Request], to coordinator: Coordinator) async -> [Coordinator.Request]
  {
    var unanswered: [Coordinator.Request] = []
    for change in changes {
      do throws(NavigationError) {
        _ = try await coordinator.apply([change])
      } catch .unreachable {
        unanswered.append(change)
      } catch {
        // A repetition does not change a refusal.
      }
    }
    return unanswered
  }

  /// The source of items presented from a navigator, which have no parent and are in no stack.
  public var presentationSource: PresentationSource {
    PresentationSource(navigator: self, binding: nil, stack: nil)
  }

  /// The tags that are presented for selections.
  let declaredTabs = Box<[DeclaredTab]>([])

  /// Presences of a navigator live as long as the navigator.
  public func keep(_ presence: Presence) {}

  /// Returns when all requests that follow from the state have been answered, and all announcements of the coordinator have reached
  /// the state. Screens may still be appearing or disappearing, and state becomes nil only when its screen has disappeared. For
  /// tests, and for the end of a program.
  ///
  ///     model.note = Note()
  ///     await navigator.settle()
  public func settle() async {
    repeat {
      await answered()
      guard !received.isOver, let moment = try? await coordinator.moment() else { return }
      while received.moment < moment, !received.isOver { await change() }
      // Announced events may have changed the state, and other state follows from the changes.
      await Task.yield()
      await Task.yield()
    } while isSending
  }

  /// Returns when nothing is presented any more, and the last screen is really gone: a program with windows ends then. A screen that
  /// asks its user is still there, and so is one that has stayed because its presentation was lost. State that waits for a coordinator
  /// counts as presented. Returns at once if there is nothing to present.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { MainWindow() }
  ///     await navigator.waitUntilAllGone()
  public func waitUntilAllGone() async {
    while true {
      await answered()
      if screens.isEmpty, drivers.all.allSatisfy(\.isIdle) { return }
      if !isSending { await change() }
    }
  }

  /// Returns when all requests that follow from the state have been answered.
  func answered() async {
    // Changes in this turn are observed only in the next one.
    await Task.yield()
    guard isSending else { return }
    await withCheckedContinuation { unsettled.append($0) }
  }

  /// Reads the activity that is under way.
  /// - Returns: the bindings whose screens are appearing or disappearing, without those that wait for a user (P16); whether this
  ///   navigator already has the state in which they are: later events, such as a declined dismissal, may change the program's state;
  ///   and the moment of that state.
  package func underWay() async -> (bindings: [String], isCurrent: Bool, moment: Moment) {
    let last = received.moment
    guard let (state, moment) = try? await coordinator.stateAndMoment() else { return ([], true, last) }
    let bindings = state.presentations.filter { entry in
      (entry.phase == .presenting || entry.phase == .dismissing) && entry.message?.isEmpty != false
        && (served[entry.destination ?? ""] != nil || !drivers[entry.binding].isEmpty)
    }.map(\.binding)
    return (bindings, moment <= last || received.isOver, moment)
  }

  /// Returns at the first change after a moment, at once if that has come.
  package func change(after moment: Moment) async { await received.change(after: moment) }

  /// The screens that are shown, in the order of appearance.
  package var visible: [Showing] { screens.visible }

  /// The screens that are shown and presented from another one, the last one first.
  func screens(presentedFrom showing: Showing) -> [Showing] {
    visible.reversed().filter { $0 !== showing && StateEntry($0.item).from == showing.binding }
  }

  /// The selected tags by their groups, as far as the coordinator has announced them.
  private var selections: [String: String] = [:]

  /// Whether a screen ends only because it is out of view.
  func isHidden(_ showing: Showing) -> Bool {
    drivers[showing.binding].contains { driver in
      if driver.isHidden(showing.presentation) { return true }
      // Another client has selected another tag, which the state does not have yet.
      guard case .member(let group, let tag, _)? = (driver as? ItemDriver)?.place.kind,
        let selected = selections[group]
      else { return false }
      return selected != tag
    }
  }

  func appeared(_ showing: Showing) {
    screens.appeared(showing)
    if let stack = showing.presentationSource.stack { path(named: stack)?.hasShown(showing.presentation) }
  }

  func vanished(_ showing: Showing) {
    screens.vanished(showing)
    changed()
  }

  // MARK: Drivers

  func add(_ driver: any Driver) -> Presence {
    driver.onDifference = { [weak self, weak driver] in
      if let driver { self?.schedule(driver) }
    }
    if let driver = driver as? ItemDriver {
      driver.whenGone = { [weak self] presentation, body in
        // The screen may decline, because its presentation was lost, or because the coordinator has not waited for its answer.
        if let showing = self?.screens[presentation], showing.isShown { showing.atEnd(body) } else { body() }
      }
      driver.askChange = askChange
      takeOver(driver)
    }
    (driver as? PathDriver)?.askChange = askChange
    if let driver = driver as? PathDriver, let former = path(named: driver.name), former.hasState(of: driver) {
      reportMisuse(
        "“\(driver.name)” has two stacks, of which the first counts; keep the one that the first call has returned",
        of: driver.root)
      return Presence(nil, self)
    }
    stepAside(for: driver)
    claim(driver)
    drivers.add(driver)
    inherit(driver)
    schedule(driver, in: Transaction.current)
    return Presence(driver, self)
  }

  /// Asks the screen of a presentation whether another client may change its value.
  private var askChange: AskChange {
    { [weak self] presentation, value, answer in
      guard let showing = self?.screens[presentation], showing.mayAllowChanges else { return answer(true) }
      Task { answer(await showing.allowsChange(to: value)) }
    }
  }

  /// Notes that this navigator presents a subject. Two navigators with one subject would end each other's presentations. A model that
  /// is gone leaves its name to the next one, even if its last screens keep their navigator for a moment.
  private func claim(_ driver: any Driver) {
    if let other = coordinator.navigators[driver.subject]?.navigator, other !== self,
      other.drivers.live.first(of: driver.subject)?.root.isGone == false
    {
      reportMisuse(
        "“\(driver.subject.name)” is presented by two navigators, each of which ends what the other shows; present it by one of them",
        of: driver.root)
    }
    coordinator.navigators[driver.subject] = WeakNavigator(self)
  }

  /// Adds a driver. A binding is one slot: if it is presented twice, the last driver counts and takes over the presentation. Other
  /// state, such as that of a model with the name of one that is gone, has screens of its own, after those of the former state.
  private func takeOver(_ driver: ItemDriver) {
    guard let former = drivers.live.first(of: driver.subject) as? ItemDriver else {
      guard let former = drivers.retired.last(of: driver.subject) as? ItemDriver else { return }
      let isSame = driver.hasState(of: former)
      if isSame { driver.inheritScreens(of: former) }
      // The presentation of a former presence of the same state may be taken over, once it is known.
      if former.isWaiting || !isSame { driver.follow(former) }
      return
    }
    guard driver.hasState(of: former) else {
      remove(former, dismissing: true)
      return driver.follow(former)
    }
    reportMisuse(
      "“\(driver.subject.name)” is presented twice, of which the later counts until it ends; cancel the first presence before",
      of: driver.root)
    covered[driver.subject, default: []].append((former, declaredTabs.value.first { $0.driver === former }))
    _ = forget(former)
    driver.inheritScreens(of: former)
    former.handOver(to: driver)
    drivers.keepEnded(former)
  }

  /// Lets the last earlier presence of a state count again, because the later one ends.
  /// - Returns: whether there is one.
  private func uncover(for driver: any Driver) -> Bool {
    guard let driver = driver as? ItemDriver, let (earlier, tab) = covered[driver.subject]?.popLast() else {
      return false
    }
    if covered[driver.subject]?.isEmpty == true { covered[driver.subject] = nil }
    earlier.revive()
    drivers.revive(earlier)
    if let tab { declaredTabs.value.append(tab) }
    earlier.inheritScreens(of: driver)
    if driver.place.isWithoutParent {
      // Its item ends with the screen from which it is presented.
      drivers.dismiss(driver.retire())
      earlier.follow(driver)
    } else {
      driver.handOver(to: earlier)
    }
    drivers.keepEnded(driver)
    schedule(earlier)
    return true
  }

  func remove(_ driver: any Driver, dismissing: Bool) {
    covered[driver.subject]?.removeAll { $0.driver === driver }
    guard forget(driver) else { return }
    if uncover(for: driver) { return }
    if coordinator.navigators[driver.subject]?.navigator === self { coordinator.navigators[driver.subject] = nil }
    let ending = driver.retire()
    drivers.keepEnded(driver)
    showHidden(driver.subject)
    guard dismissing else { return }
    drivers.dismiss(ending)
    plan()
  }

  /// Forgets a driver that ends, and its tab.
  /// - Returns: whether the driver was there.
  private func forget(_ driver: any Driver) -> Bool {
    if declaredTabs.value.contains(where: { $0.driver === driver }) {
      declaredTabs.value.removeAll { $0.driver === driver }
    }
    return drivers.remove(driver)
  }

  func path(named stack: String) -> PathDriver? {
    drivers.live.first(of: .stack(stack)) as? PathDriver
  }

  /// Schedules a reading of a driver's state in the next turn. A change until then has its own transaction.
  /// - Parameter transaction: the transaction of the changes to read, unless it was noted already.
  func schedule(_ driver: any Driver, in transaction: Transaction = Transaction()) {
    guard drivers.schedule(driver) else { return }
    driver.noted.note(transaction)
    driver.watch(tracking(driver))
    plan()
  }

  /// Notes that what a driver accepts from other clients has changed. A driver that has ended accepts nothing.
  func declare(_ driver: any Driver) {
    guard drivers.live.contains(driver) else { return }
    drivers.declarations.note(driver)
    plan()
  }

  // MARK: State out of view

  /// Accepts requests of other programs for the items and paths that a tab presents, even while the tab is not selected (D20).
  /// - Parameters:
  ///   - parent: the binding of the tab.
  ///   - presence: the presence of the tab.
  func serve(_ state: [PresentedState], from parent: String, until presence: Presence) {
    for driver in state.flatMap({ $0.drivers(self, parent) }) {
      hidden[driver.subject] = driver
      drivers.declarations.set(driver.subject.name, isHidden: true)
      showHidden(driver.subject)
      presence.atEnd { [weak self] in
        guard let self, hidden[driver.subject] === driver else { return }
        hidden[driver.subject] = nil
        drivers.declarations.set(driver.subject.name, isHidden: false)
        _ = forget(driver)
        plan()
      }
    }
    if !state.isEmpty { plan() }
  }

  /// Has the hidden driver of a subject serve it, unless another one does.
  private func showHidden(_ subject: DrivenSubject) {
    guard let driver = hidden[subject], drivers.live.first(of: subject) == nil else { return }
    coordinator.navigators[subject] = coordinator.navigators[subject] ?? WeakNavigator(self)
    drivers.add(driver)
    plan()
  }

  private func stepAside(for driver: any Driver) {
    if let hidden = hidden[driver.subject] { _ = drivers.remove(hidden) }
  }

  /// Gives a driver the presentations that were requested before it was there.
  private func inherit(_ driver: any Driver) {
    guard let waiting = hidden[driver.subject]?.takeWaiting(), !waiting.isEmpty else { return }
    if let driver = driver as? PathDriver { return driver.inherit(waiting) }
    for entry in waiting.values {
      driver.appeared(entry.presentation, id: entry.id, value: entry.value, destination: entry.destination)
    }
  }

  // MARK: State to coordinator

  private func plan() {
    guard !isSending else { return }
    isSending = true
    sendCount += 1
    Task {
      // Changes later in this turn are reported in the next one.
      await Task.yield()
      while drivers.isWaitingToSend { await send() }
      isSending = false
      for waiting in unsettled { waiting.resume() }
      unsettled = []
    }
  }

  /// The requests of one driver; the driver is nil if it has ended.
  private typealias Asking = (driver: (any Driver)?, changes: [Coordinator.Request])

  /// Reads the state of the scheduled drivers, and sends all requests that follow.
  private func send() async {
    await declare()
    await appearancesReported()
    let stateCount = drivers.stateCount
    var asking: [Asking] = drivers.takeDismissals().map { (nil, [$0]) }
    for driver in drivers.takeScheduled() {
      let changes = driver.changes(driver.noted.take(), tracking(driver))
      if !changes.isEmpty { asking.append((driver, changes)) }
    }
    // State may have changed back, and a screen that waited for that appears now.
    guard !asking.isEmpty else { return changed() }
    do throws(NavigationError) {
      try await serve()
      try await send(asking)
    } catch .refused {
      // Sending them one by one keeps an invalid request from causing the refusal of valid ones.
      for (driver, changes) in asking { await send(changes, of: driver, after: stateCount) }
    } catch {
      for (driver, changes) in asking { postpone(changes, of: driver, after: stateCount) }
      if case .unreachable = error, !isUnreachable, !received.isOver {
        isUnreachable = true
        tellRefused(error)
      }
    }
    collectLeftovers(of: asking.compactMap(\.driver))
  }

  /// Sends all requests as one transaction. Dismissals come first, so that they do not dismiss anything that the transaction presents.
  private func send(_ asking: [Asking]) async throws(NavigationError) {
    let places = asking.indices.flatMap { driver in asking[driver].changes.indices.map { (driver, $0) } }
    let order =
      places.filter { asking[$0].changes[$1].isRemoval } + places.filter { !asking[$0].changes[$1].isRemoval }
    let (replies, moment) = try await coordinator.apply(order.map { asking[$0].changes[$1] })
    var sorted = asking.map { [[Value]](repeating: [], count: $0.changes.count) }
    for ((driver, change), reply) in zip(order, replies) { sorted[driver][change] = reply }
    for (index, (driver, _)) in asking.enumerated() { driver?.accepted(sorted[index], at: moment) }
  }

  private func send(_ changes: [Coordinator.Request], of driver: (any Driver)?, after stateCount: Int) async {
    do throws(NavigationError) {
      let (replies, moment) = try await coordinator.apply(changes)
      driver?.accepted(replies, at: moment)
    } catch .refused(let error) {
      if let driver, driver.refused(error) { tellRefused(.refused(error.withoutIndex), of: driver.root) }
    } catch {
      postpone(changes, of: driver, after: stateCount)
    }
  }

  /// Keeps requests that could not be sent. The requests of a driver follow from its state again.
  /// - Parameter stateCount: the number of states received before the requests were sent.
  private func postpone(_ changes: [Coordinator.Request], of driver: (any Driver)?, after stateCount: Int) {
    if let driver { return driver.postponed() }
    if !received.isOver { drivers.postpone(changes, after: stateCount) }
  }

  func tellRefused(_ error: NavigationError, of root: BindingRoot? = nil) {
    if let onRefused { return onRefused(error) }
    reportMisuse("\(error)", file: root?.file ?? file, line: root?.line ?? line)
  }

  /// Makes a tracking of a driver's state, which schedules the driver.
  private func tracking(_ driver: any Driver) -> Tracking {
    driver.noted.tracking { [weak self, weak driver, changed = drivers.changed] in
      guard let driver else { return }
      TransactionBody.atEnd { [weak self] in self?.bodyEnded(of: driver) }
      guard changed.add(driver) else { return }
      // One task serves all drivers that change in this turn.
      Task { @MainActor [weak self] in
        for driver in changed.take() { self?.schedule(driver) }
      }
    }
  }

  /// Handles the end of a body in a transaction that has changed a driver's state. Later changes of the turn are not in the transaction,
  /// so nor are they if the body has requested neither a presentation nor an end.
  private func bodyEnded(of driver: any Driver) {
    guard drivers.live.contains(driver) else { return }
    if !driver.watch(tracking(driver)) { _ = driver.noted.take() }
  }

  /// Registers the program's own destination when it is first needed.
  private func serve() async throws(NavigationError) {
    guard served[destination] == nil, drivers.live.inOrder.contains(where: { $0.ownDestination == destination }) else {
      return
    }
    try await serve(destination, timeouts, by: Host(self))
  }

  /// Declares to the coordinator what the program serves, and what it serves no longer.
  private func declare() async {
    guard drivers.declarations.isWaiting else { return }
    do throws(NavigationError) {
      try await serve()
      guard served[destination] != nil else { return drivers.declarations.postpone() }
      let bindings = drivers.declarations.take()
      if bindings.isEmpty { return }
      do throws(NavigationError) {
        drivers.declarations.declared(
          bindings, elsewhere: try await coordinator.change(CoordinatorInterface.serve, (destination, bindings)))
      } catch .refused(let error) {
        tellRefused(.refused(error))
      }
    } catch {
      // The next coordinator gets all declarations.
      drivers.declarations.postpone()
    }
  }

  /// Writes what other clients have presented into the program's state, in one change.
  /// - Parameter requested: the items whose parents are out of view.
  private func adopt(_ state: StateIndex, _ requested: [RequestedEntry]) {
    for driver in drivers.live.inOrder {
      let items = requested.filter { item in drivers.live[item.binding ?? ""].contains { $0 === driver } }
      if !items.isEmpty { driver.request(items) }
      driver.adopt(
        state[driver.subject].filter {
          $0.phase != .dismissing && !drivers.hasGivenUp($0.presentation, at: $0.binding)
        })
    }
  }

  /// Whether an event is about a presentation that another client may have requested at a binding of this program.
  private func mayBeOfAnother(_ event: NavigationEvent) -> Bool {
    switch event.kind {
    case .phase(let subject, let phase) where phase != .dismissing:
      drivers.live[subject.binding].contains { $0.isUnknown(subject.presentation) }
    case .requested: !requestedItems(of: event).isEmpty
    default: false
    }
  }

  /// The items of this program that another client has requested while their parents were out of view.
  private func requestedItems(of event: NavigationEvent) -> [RequestedEntry] {
    if case .requested(let items) = event.kind { items.filter { $0.destination == destination } } else { [] }
  }

  // MARK: Presenting for others

  /// Presents the items that any client requests for a destination (D1). A program that shows items
  /// for others needs no state of its own for them. The destination is registered again with every
  /// new coordinator.
  ///
  ///     try await navigator.serve("note-viewer") { item in Window("Note \(item.id)") }
  ///
  /// - Parameters:
  ///   - destination: a file name without `/` or a leading dot. The last registration of a name counts.
  ///   - options: the defaults for its items.
  ///   - content: makes the screen of an item. An error that it throws is the reason of the item's failure (D7).
  /// - Throws: `refused` (`invalidArgument`, `invalidConfiguration`, `accessDenied` in a sandbox) or `unreachable`.
  public func serve(
    _ destination: String, _ options: DestinationOptions = DestinationOptions(),
    content: @escaping @MainActor (PresentedItem) throws -> any Screen
  ) async throws(NavigationError) {
    try await serve(destination, options, by: Host(self, content))
  }

  private func serve(
    _ destination: String, _ options: DestinationOptions, by host: Host
  ) async throws(NavigationError) {
    try await coordinator.backend.serve(destination, options, by: host)
    served[destination] = host
  }

  /// Removes the registration of a destination, unless another navigator has registered it since. Its screens stay.
  ///
  ///     try await navigator.stopServing("note-viewer")
  ///
  /// - Throws: as ``serve(_:_:content:)``.
  public func stopServing(_ destination: String) async throws(NavigationError) {
    let host = served.removeValue(forKey: destination) ?? Host(self)
    try await coordinator.backend.stopServing(destination, by: host)
  }

  // MARK: Coordinator to state

  private func take(_ element: Following.Element, at moment: Moment) {
    switch element {
    case .state(let state):
      isUnreachable = false
      selections = state.groups.compactMapValues(\.selection)
      drivers.receivedState()
      if moment.coordinator != received.moment.coordinator {
        for driver in drivers.all { driver.forgetRefusal() }
        drivers.declarations.forgetDeclared()
      }
      received.receivedState(at: moment)
      reconcile(state, at: moment)
      for driver in drivers.live.inOrder { schedule(driver) }
      collectLeftovers(of: drivers.retired.inOrder)
    case .event(let event):
      received.receivedEvent(at: moment)
      collectLeftovers(of: take(event, at: moment))
    }
  }

  /// Sends the remaining requests of ended drivers.
  /// - Parameter touched: the drivers for which an event came.
  private func collectLeftovers(of touched: [any Driver]) {
    drivers.collectLeftovers(of: touched)
    if drivers.isWaitingToSend { plan() }
    received.changed()
  }

  /// Passes an event to drivers.
  /// - Returns: the drivers.
  private func take(_ event: NavigationEvent, at moment: Moment) -> [any Driver] {
    switch event.kind {
    case .presented(let subject, let item):
      // The end of the presentation was requested while it was not yet announced.
      if drivers.hasGivenUp(subject.presentation, at: subject.binding) { return [] }
      let entry = StateEntry(item)
      let drivers = drivers.live[subject.binding]
      for driver in drivers {
        driver.appeared(
          subject.presentation, id: subject.id, value: entry.value ?? [:], destination: entry.destination)
      }
      return drivers
    case .dismissed(let subject, let reason):
      let end = Dismissal(reason: reason, error: reason == .failed ? screens.failure(of: subject.presentation) : nil)
      let drivers = drivers[subject.binding]
      // The drivers forget the place of a presentation with its end.
      let parent = end.followsAnother ? drivers.lazy.compactMap { $0.parent(of: subject.presentation) }.first : nil
      let former = drivers.compactMap { $0.ended(subject.presentation, end) }
      if let parent = parent.flatMap({ screens.last(at: $0) }) {
        parent.ended(screens[subject.presentation], isPopped: reason == .popped, former)
      }
      leave(subject.presentation)
      return drivers
    case .updated(let subject, let item):
      guard let value = StateEntry(item).value else { return [] }
      let drivers = drivers.live[subject.binding]
      for driver in drivers { driver.updated(subject.presentation, value: value, at: moment) }
      return drivers
    case .action(let subject, let action, let parameters):
      if screens[subject.presentation]?.announced(action) == false { return [] }
      let drivers = drivers[subject.binding]
      for driver in drivers { driver.acted(subject.presentation, action, parameters) }
      return drivers
    case .selection(let group, let tag):
      selections[group] = tag
      return []
    case .phase(let subject, .dismissing):
      screens[subject.presentation]?.beginsDismissal()
      return []
    case .phase, .declined, .asking, .group, .path, .hold, .parked, .requested: return []
    }
  }

  /// Passes an action to the program of which no coordinator tells.
  func acted(_ showing: Showing, _ action: String, _ parameters: Properties) {
    for driver in drivers[showing.binding] { driver.acted(showing.presentation, action, parameters) }
  }

  /// Gives the state its item back, because the coordinator keeps the presentation, unless a later
  /// request has ended it again (P15).
  private func takeBack(_ presentation: PresentationHandle, at binding: String) async {
    guard !drivers.live[binding].isEmpty else {
      for case let driver as ItemDriver in drivers.retired[binding] {
        drivers.dismiss(driver.endOfOrphan(presentation))
      }
      if drivers.isWaitingToSend { plan() }
      if drivers.retired[binding].isEmpty { screens[presentation]?.isKept() }
      return
    }
    var holder: PresentationHandle?
    var count: Int
    repeat {
      // The slot shows the last request if none is under way from before the reading of the slot
      // until after it.
      repeat { await answered() } while isSending
      count = sendCount
      holder = (try? await coordinator.presentation(at: binding))?.presentation
      await Task.yield()
    } while count != sendCount
    guard holder == presentation else { return }
    for driver in drivers.live[binding] {
      if let driver = driver as? ItemDriver {
        // The end may have been requested by a former presence of the same state.
        for case let former as ItemDriver in drivers.retired[binding] { driver.takeOver(presentation, of: former) }
      }
      driver.declined(presentation)
    }
    screens[presentation]?.isKept()
  }

  private func hasGivenUp(_ entry: PresentationState) -> Bool {
    drivers[entry.binding].contains { $0.hasGivenUp(entry.presentation) }
  }

  private func reconcile(_ state: NavigationState, at moment: Moment) {
    // The dismissals of these presentations may still be under way.
    let givenUp = Set(
      state.presentations.filter { drivers.hasGivenUp($0.presentation, at: $0.binding) }.map(\.presentation))
    let index = StateIndex(state, at: moment)
    // Each driver clears its state before any screen leaves: a screen ends the drivers of the items that are presented from it.
    let lost = drivers.all.flatMap { $0.reconcile(index, client: coordinator.client, givenUp: givenUp) }
    // Screens of served destinations, and those whose presences were cancelled, have no drivers.
    let others = screens.showings.values.filter {
      $0.beginning <= moment && !index.contains($0.presentation, of: $0.id, at: .slot($0.binding))
    }
    for presentation in lost + others.map(\.presentation).sorted() { screens.lose(presentation)?.leaveLost() }
  }

  /// Handles the end of the bus or of the coordinator, and thereby of all presentations.
  private func lost(_ error: NavigationError) {
    received.end()
    drivers.forgetPostponed()
    reconcile(.empty, at: .end)
    collectLeftovers(of: drivers.retired.inOrder)
    // The program that closed its coordinator gets no report of that.
    if error != .closed { tellRefused(error) }
  }

  private func leave(_ presentation: PresentationHandle) {
    guard let showing = screens.remove(presentation) else { return }
    if showing.mayStay { showing.leaveLost() } else { showing.leave() }
  }

  /// Returns at the next change.
  func change() async { await received.change() }

  /// Returns when the coordinator knows of every screen that has appeared, or will know of it before it gets any later request.
  func appearancesReported() async {
    while screens.hasUnreported { await change() }
  }

  /// Resumes the tasks that wait for a change.
  func changed() { received.changed() }

  // MARK: Screens

  fileprivate func present(_ item: PresentedItem, _ content: Content?) async throws(ShowingError) {
    let presentation = item.presentation
    screens.want(presentation)
    // Earlier events come first, such as the end of another presentation.
    await received.wait(for: item.beginning)
    if let shown = screens[presentation] {
      // A restarted navd presents a screen that exists already. Any other navd with this handle has
      // lost its record, and has given the handle again.
      if StateEntry(item.all).restored == true, shown.id == item.id {
        screens.unwant(presentation)
        return shown.restored(item.all)
      }
      screens.lose(presentation)?.leaveLost()
    }
    while screens.isWanted(presentation) {
      if let screen = try screen(for: item, content) {
        let transaction = transaction(of: presentation, at: item.binding, isEnding: false)
        return try await show(Showing(item, screen: screen, transaction ?? Transaction(), self))
      }
      await change()
    }
    throw ShowingError(why: "it was dismissed before it appeared")
  }

  /// The transaction in which this program's state requested a presentation or its end; nil if another client did.
  private func transaction(of presentation: PresentationHandle, at binding: String, isEnding: Bool) -> Transaction? {
    drivers[binding].lazy.compactMap { $0.transaction(of: presentation, isEnding: isEnding) }.first
  }

  private func screen(for item: PresentedItem, _ content: Content?) throws(ShowingError) -> (any Screen)? {
    do {
      if let content { return try content(item) }
      guard let driver = drivers.live[item.binding].last else {
        throw ShowingError(why: "no state of the program presents \(item.binding)")
      }
      return try driver.screen(
        for: item.presentation, binding: item.binding, id: item.id, value: item.value,
        isGivenUp: drivers.hasGivenUp(item.presentation, at: item.binding))
    } catch {
      screens.failed(item.presentation, error)
      throw error as? ShowingError ?? ShowingError(why: "\(error)")
    }
  }

  private func show(_ showing: Showing) async throws(ShowingError) {
    screens.show(showing)
    do {
      try await showing.appear()
      screens.unwant(showing.presentation)
      changed()
    } catch {
      let isWanted = screens.isWanted(showing.presentation)
      leave(showing.presentation)
      if isWanted { screens.failed(showing.presentation, error) }
      throw ShowingError(why: "\(error)")
    }
  }

  fileprivate func update(_ presentation: PresentationHandle, item: Properties) {
    screens[presentation]?.update(item)
  }

  fileprivate func dismiss(
    _ presentation: PresentationHandle, _ options: DismissalOptions
  ) async throws(Declined) -> Properties {
    screens.unwant(presentation)
    changed()
    guard let showing = screens[presentation] else { return [:] }
    var transaction =
      transaction(of: presentation, at: showing.binding, isEnding: true) ?? showing.transactionOfDismissal
      ?? Transaction()
    transaction.animated = options.animated ?? transaction.animated
    showing.transaction = transaction
    let result = try await showing.disappear(animated: options.animated ?? true, isForced: options.forced ?? false)
    // A navd that has lost its record may have given the handle to another item, of which this is not the result.
    return screens[presentation] === showing ? result : [:]
  }
}

private typealias Content = @MainActor (PresentedItem) throws -> any Screen

/// Receives the coordinator's calls of a destination, without retaining the navigator.
private final class Host: PresenterHost {
  private weak var navigator: Navigator?
  /// Makes the screens of a served destination; nil for the program's own destination.
  private let content: Content?

  init(_ navigator: Navigator, _ content: Content? = nil) {
    self.navigator = navigator
    self.content = content
  }

  func present(_ item: PresentedItem) async throws(ShowingError) {
    guard let navigator else { throw ShowingError(why: "the program has released its navigator") }
    try await navigator.present(item, content)
  }

  func update(_ presentation: PresentationHandle, item: Properties) async {
    navigator?.update(presentation, item: item)
  }

  func dismiss(
    _ presentation: PresentationHandle, _ options: DismissalOptions
  ) async throws(Declined) -> Properties {
    try await navigator?.dismiss(presentation, options) ?? [:]
  }

  /// Screens retain their navigator.
  var isOver: Bool { navigator == nil }

  func registrationRefused(_ error: NavigationError) async { navigator?.tellRefused(error) }
}

/// A navigator that may be gone.
@MainActor
struct WeakNavigator {
  private(set) weak var navigator: Navigator?
  init(_ navigator: Navigator) { self.navigator = navigator }
}
