import CoordinatorAPI
import DBusValues
import PresentationModel

/// Keeps one slot of the coordinator and a piece of optional state in agreement, for sheets, pushed pages and members of groups.
@MainActor
final class ItemDriver: Driver {
  private let content: DrivenContent
  private(set) var place: ItemPlace
  let noted = NotedTransaction()

  /// The content of the slot, or the event that the driver awaits before it knows the content.
  private enum KnownSlot {
    /// Nothing of this state is in the slot. The competitor is a presentation of another client there, with the item of the state,
    /// but without a destination.
    case free(competitor: PresentationHandle? = nil)
    case occupied(by: PresentationHandle)
    /// A request was not answered yet.
    case asking(Asked)
    /// An ended driver of other state with the same name has presentations, which end before this driver presents anything. The slot
    /// may be held already, by a screen that declined to disappear.
    case awaiting(ItemDriver, held: PresentationHandle? = nil)
  }

  /// A request that was not answered yet.
  private struct Asked {
    enum Request {
      case present(DrivenContent.Wanted, former: PresentationHandle?)
      case update(PresentationHandle, DrivenContent.Wanted)
      case dismiss(PresentationHandle)
    }

    var request: Request
    /// The events that were received before the answer that contains their handle.
    var early: [(presentation: PresentationHandle, event: EarlyEvent)] = []

    /// The requested item; nil to dismiss.
    var wanted: DrivenContent.Wanted? {
      switch request {
      case .present(let wanted, _), .update(_, let wanted): wanted
      case .dismiss: nil
      }
    }

    /// The presentation in the slot before the request.
    var former: PresentationHandle? {
      switch request {
      case .present(_, let former): former
      case .update(let former, _), .dismiss(let former): former
      }
    }

    var isUpdate: Bool { if case .update = request { true } else { false } }
  }

  private enum EarlyEvent {
    case appeared(id: String, value: Properties, destination: String?)
    case ended(Dismissal)
    case acted(String, Properties)
    case updated(Properties, at: Moment)
  }

  /// The connection to the state.
  private enum Life {
    case live
    case ended
    /// The parent is gone, and the presentation, which has no parent on the bus, has to follow it.
    case orphaned
    /// Another driver now presents the same state.
    case replaced(by: Successor)
  }

  private struct Successor { weak var driver: ItemDriver? }

  private var slot = KnownSlot.free()
  private var life = Life.live
  /// Presentations of this state that were shown or accepted and have not ended, with their last items.
  private var shown: [PresentationHandle: DrivenContent.Wanted] = [:]
  /// The transaction of the last requests; nil if another client has requested what the slot holds.
  private var transaction: Transaction?
  private(set) var acceptance = Moment()
  /// The item that was refused because of a limit: it is too large, or one too many. The state keeps it, and requests it again after
  /// a change.
  private var refused: DrivenContent.Wanted?
  /// The driver that waits until this one is over.
  private weak var follower: ItemDriver?
  var onDifference: (() -> Void)?
  /// Called when a screen has ended and is gone.
  var onDismiss: [@MainActor (Dismissal) -> Void] = []
  /// Calls a function when the screen of a presentation that has ended is gone.
  var whenGone: (PresentationHandle, @escaping @MainActor () -> Void) -> Void = { $1() }
  /// Asks the screen of a presentation whether its item may be changed, and calls a function with the answer.
  var askChange: AskChange?

  init(_ content: DrivenContent, at place: ItemPlace) {
    self.content = content
    self.place = place
  }

  var ownDestination: String? { place.ownDestination }

  var served: (binding: String, accepts: ServedEntry)? {
    ownDestination == nil ? nil : (place.binding, place.placing(content.accepts()))
  }

  var root: BindingRoot { content.route.root }

  var subject: DrivenSubject { .slot(place.binding) }

  /// Whether a presentation is that of a tab that is not selected any more, or is presented from one. What is presented from it is out of
  /// view, and its state stays.
  func isHidden(_ presentation: PresentationHandle) -> Bool {
    if place.parent?.isHidden == true { return true }
    guard case .member = place.kind else { return false }
    return hasGivenUp(presentation) || content.read() == nil
  }

  /// Whether the state stays when the parent ends.
  private var outlivesParent: Bool { place.outlivesParent || place.parent?.isHidden == true }

  // MARK: The slot

  /// The presentation in the slot. It is nil once its dismissal was requested, so that its end does not change the state (P5).
  private var current: PresentationHandle? {
    switch slot {
    case .occupied(let presentation): presentation
    case .awaiting(_, let held): held
    case .asking(let asked):
      if case .update(let presentation, _) = asked.request, shown[presentation] != nil { presentation } else { nil }
    case .free: nil
    }
  }

  private var asked: Asked? { if case .asking(let asked) = slot { asked } else { nil } }

  private var isAwaiting: Bool { if case .awaiting = slot { true } else { false } }

  private var isRetired: Bool { if case .live = life { false } else { true } }

  private var isOrphaned: Bool { if case .orphaned = life { true } else { false } }

  private var successor: ItemDriver? { if case .replaced(let successor) = life { successor.driver } else { nil } }

  /// Notes that a presentation is in the slot.
  private func occupy(with presentation: PresentationHandle) {
    if case .awaiting(let former, _) = slot {
      slot = .awaiting(former, held: presentation)
    } else {
      slot = .occupied(by: presentation)
    }
  }

  /// Gives up the presentation in the slot. The answer to its update counts as that to its dismissal.
  private func release() {
    switch slot {
    case .occupied: slot = .free()
    case .awaiting(let former, _): slot = .awaiting(former)
    case .asking(var asked):
      guard case .update(let presentation, _) = asked.request else { return }
      asked.request = .dismiss(presentation)
      slot = .asking(asked)
    case .free: break
    }
  }

  /// Keeps an event until the answer has come.
  /// - Returns: whether an answer is awaited.
  @discardableResult
  private func keepEarly(_ event: EarlyEvent, of presentation: PresentationHandle) -> Bool {
    guard case .asking(var asked) = slot else { return false }
    asked.early.append((presentation, event))
    slot = .asking(asked)
    return true
  }

  // MARK: State to coordinator

  func changes(_ transaction: Transaction, _ tracking: Tracking) -> [Coordinator.Request] {
    let read = tracking.begin(content.read)
    if isAwaiting { return [] }
    if read != refused { refused = nil }
    let wanted = refused == nil ? read : nil
    let current = current
    if wanted?.id != current.flatMap({ shown[$0]?.id }) { self.transaction = transaction }
    switch (current, wanted) {
    case (nil, nil): return []
    case (let current?, nil):
      slot = .asking(Asked(request: .dismiss(current)))
      return [place.dismissal(of: current, transaction)]
    case (let current?, let wanted?) where shown[current]?.id == wanted.id:
      let isSame = wanted == shown[current]
      // The state gets this item back if its screen declines to disappear, even if the coordinator does not accept the update,
      // because the item is being dismissed. The item may differ where the options do not show it.
      shown[current]?.putBack = wanted.putBack
      shown[current]?.act = wanted.act
      if isSame { return [] }
      slot = .asking(Asked(request: .update(current, wanted)))
      // The presentation may have been closed meanwhile, and an update must not present the item again.
      var options = wanted.options
      options.destination = options.destination ?? ownDestination
      return [.present(place.binding, id: wanted.id, options, expecting: Expectation(presentation: current))]
    case (_, let wanted?):
      var requests: [Coordinator.Request] = []
      if case .free(let competitor?) = slot {
        requests.append(.dismiss(place.binding, expecting: Expectation(presentation: competitor)))
      }
      slot = .asking(Asked(request: .present(wanted, former: current)))
      return requests + [.present(place.binding, id: wanted.id, place.starting(wanted.options).owned(in: transaction))]
    }
  }

  func watch(_ tracking: Tracking) -> Bool {
    let read = tracking.begin(content.read)
    // The state gets this item back if its screen declines.
    if let current, let read, shown[current]?.id == read.id { shown[current]?.putBack = read.putBack }
    return read?.id != (asked.map(\.wanted) ?? current.flatMap { shown[$0] })?.id
  }

  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction? {
    let isRequested = isEnding ? presentation != current : presentation == current || asked != nil
    return isRequested ? transaction : nil
  }

  /// Sets the state to nil if it was presented while its parent was being dismissed.
  func endWithParent() {
    let wanted = asked?.wanted ?? current.flatMap { shown[$0] }
    if let wanted, content.read()?.id == wanted.id { clear() }
  }

  /// Sets the state to nil, because the parent is gone. The screen cannot decline then.
  func endAfterParent() {
    endWithParent()
    if case .replaced = life { return }
    life = .orphaned
  }

  /// Whether the state has the item that is presented, and neither is about to change.
  var isKept: Bool { asked == nil && current != nil && content.read()?.id == current.flatMap { shown[$0]?.id } }

  func retire() -> [Coordinator.Request] {
    if case .live = life { life = .ended }
    guard let current, successor == nil else { return [] }
    release()
    return [dismissal(of: current)]
  }

  private func dismissal(of presentation: PresentationHandle) -> Coordinator.Request {
    var transaction = Transaction()
    transaction.isForced = isOrphaned
    return place.dismissal(of: presentation, transaction)
  }

  /// Returns the request that ends a presentation although its screen has declined, because its parent is gone.
  func endOfOrphan(_ presentation: PresentationHandle) -> [Coordinator.Request] {
    isOrphaned && shown[presentation] != nil ? [dismissal(of: presentation)] : []
  }

  /// Whether this driver waits for the answer to a request, or for the end of others' presentations.
  var isWaiting: Bool {
    switch slot {
    case .asking, .awaiting: true
    case .free, .occupied: false
    }
  }

  var isOver: Bool { !isWaiting && shown.isEmpty }

  var isIdle: Bool { isOver && (refused != nil || content.read() == nil) }

  /// Waits with all presentations until those of an ended driver have ended.
  func follow(_ former: ItemDriver) {
    if former.isOver { return }
    slot = .awaiting(former, held: current)
    former.follower = self
  }

  /// Presents the state's item, now that the former driver is over.
  private func formerIsOver() {
    if case .awaiting(_, let held) = slot { slot = held.map { .occupied(by: $0) } ?? .free() }
    onDifference?()
    tellOver()
  }

  private func tellOver() {
    guard isOver, let follower else { return }
    self.follower = nil
    follower.formerIsOver()
  }

  /// Whether the driver presents the same state as another driver, and not only state with the same name.
  func hasState(of other: ItemDriver) -> Bool { content.route.place == other.content.route.place }

  /// Takes over the values that the screens of an earlier presence of the same state have written.
  func inheritScreens(of former: ItemDriver) {
    if let values = former.content.screens { content.screens?.inherit(from: values) }
  }

  /// Gives the slot and its item to another driver.
  func handOver(to successor: ItemDriver) {
    life = .replaced(by: Successor(driver: successor))
    if case .awaiting(let former, let held) = slot {
      slot = held.map { .occupied(by: $0) } ?? .free()
      successor.follow(former)
    }
    handOn()
  }

  /// Controls the state again, because the driver has ended to which it was handed over.
  func revive() { life = .live }

  /// Takes over a presentation of an ended driver of the same state, because its screen has declined to disappear.
  func takeOver(_ presentation: PresentationHandle, of former: ItemDriver) {
    guard shown[presentation] == nil, hasState(of: former) else { return }
    shown[presentation] = former.shown.removeValue(forKey: presentation)
    former.tellOver()
  }

  private func handOn() {
    guard let successor, asked == nil else { return }
    if let current, successor.asked == nil, successor.current == nil { successor.occupy(with: current) }
    successor.shown.merge(shown) { last, _ in last }
    if place.isWithoutParent { successor.place.isWithoutParent = true }
    successor.acceptance = max(successor.acceptance, acceptance)
    release()
    shown = [:]
  }

  // MARK: Answers

  func accepted(_ replies: [[Value]], at moment: Moment) {
    acceptance = moment
    guard let asked else { return }
    var held = current
    if let wanted = asked.wanted {
      let path = replies.last?.first.flatMap(ObjectPath.init(value:))
      if let presentation = path.flatMap(Handle.init(path:)) {
        // The item to update may have ended since.
        if !asked.isUpdate || shown[presentation] != nil {
          shown[presentation] = wanted
          held = presentation
        }
      } else if content.read()?.id == wanted.id, !outlivesParent {
        // The parent was dismissed in the same turn.
        clear()
      }
    }
    answered(asked, held: held)
    if held == nil { tellUnshown(asked) }
  }

  func leftovers() -> [Coordinator.Request] { isRetired && asked == nil ? retire() : [] }

  func refused(_ error: CoordinatorError) -> Bool {
    guard let asked else { return false }
    defer { tellUnshown(asked) }
    let name = error.name
    if name == .stale {
      answered(asked, held: current)
      // The presentation of another client was to be dismissed first, and has just ended.
      if asked.wanted != nil, !asked.isUpdate { onDifference?() }
      return false
    }
    giveBack(asked)
    if name == .limitExceeded, !asked.isUpdate {
      refused = asked.wanted
      // The presentation shown in its place is dismissed.
      if current != nil { onDifference?() }
      return true
    }
    // The parent has just ended.
    let isOrphan = name == .notPresented && asked.wanted?.options.from == nil && !place.isTooLate
    // An item whose screen has just declined to disappear is there already. It cannot get its
    // parent back (P2). The state has it again when the navigator hears of it.
    let hasStayed =
      name == .invalidArgument && !asked.isUpdate && shown.values.contains { $0.id == asked.wanted?.id }
    let isFault = !isOrphan && !hasStayed
    // The item to update may have been closed; the event of its end will follow.
    if let wanted = asked.wanted, !asked.isUpdate {
      if isOrphan { place.parent?.refused(presentingAgain(wanted, staysInState: outlivesParent)) }
      if content.read()?.id == wanted.id, !(isOrphan && outlivesParent) { clear() }
      if isFault, content.onUnshown == nil {
        tellGone(Dismissal(reason: .failed, error: NavigationError.refused(error.withoutIndex)))
      }
    }
    return isFault
  }

  func postponed() {
    guard let asked else { return }
    giveBack(asked)
    tellUnshown(asked)
  }

  private func tellUnshown(_ asked: Asked) {
    if asked.wanted != nil, !asked.isUpdate { content.onUnshown?() }
  }

  /// Restores the slot as it was before the request.
  private func giveBack(_ asked: Asked) {
    answered(asked, held: asked.former.flatMap { shown[$0] == nil ? nil : $0 })
  }

  private func answered(_ asked: Asked, held: PresentationHandle?) {
    slot = held.map { .occupied(by: $0) } ?? .free()
    for (presentation, event) in asked.early {
      switch event {
      case .appeared(let id, let value, let destination):
        appeared(presentation, id: id, value: value, destination: destination)
      case .ended(let end): ended(presentation, end)
      case .acted(let action, let parameters): acted(presentation, action, parameters)
      case .updated(let value, let moment): updated(presentation, value: value, at: moment)
      }
    }
    handOn()
    tellOver()
  }

  private func clear() {
    if !isRetired { content.clear() }
  }

  // MARK: Coordinator to state

  func isUnknown(_ presentation: PresentationHandle) -> Bool {
    !isRetired && !isAwaiting && asked == nil && shown[presentation] == nil && current.map { $0 < presentation } ?? true
  }

  func adopt(_ entries: [PresentationState]) {
    for entry in entries where isUnknown(entry.presentation) {
      appeared(entry.presentation, id: entry.id, value: entry.value, destination: entry.destination)
    }
  }

  func request(_ items: [RequestedEntry]) {
    if !isRetired { content.adopt(items) }
  }

  func appeared(_ presentation: PresentationHandle, id: String, value: Properties, destination: String?) {
    guard !isRetired, !isAwaiting, shown[presentation] == nil,
      current.map({ $0 < presentation }) ?? true
    else { return }
    if keepEarly(.appeared(id: id, value: value, destination: destination), of: presentation) { return }
    // The item of another program is not adopted: two copies of one program would take it from each other without end.
    let isOthers = destination != nil && ownDestination != nil && destination != ownDestination
    let state = content.read()
    // A change of the state that was not requested yet has priority.
    if !isOthers, state?.id != id, state?.id == current.flatMap({ shown[$0]?.id }) { content.adopt(id, value) }
    guard let wanted = content.read(), wanted.id == id else { return }
    if let own = wanted.options.destination ?? ownDestination, own != destination {
      // The other client did not know the destination. If it had given another one, the request of this state would be refused.
      if current == nil, destination == nil { slot = .free(competitor: presentation) }
      return
    }
    shown[presentation] = wanted
    occupy(with: presentation)
    // Another client has requested it.
    transaction = nil
  }

  func parent(of presentation: PresentationHandle) -> String? { place.isWithoutParent ? nil : place.from }

  @discardableResult
  func ended(_ presentation: PresentationHandle, _ end: Dismissal) -> (@MainActor () -> Void)? {
    if case .free(presentation) = slot { slot = .free() }
    let isCurrent = presentation == current
    guard let wanted = shown.removeValue(forKey: presentation) else {
      keepEarly(.ended(end), of: presentation)
      return nil
    }
    var presentAgain: (@MainActor () -> Void)?
    if isCurrent {
      if asked == nil { release() }
      // The state may have changed since it was last read, so this clears only the same item.
      if content.read()?.id == wanted.id, !isRetired {
        let staysInState = end.reason == .parent && outlivesParent
        if staysInState || end.followsAnother { presentAgain = presentingAgain(wanted, staysInState: staysInState) }
        if !staysInState { clear() }
      }
    }
    if !onDismiss.isEmpty { whenGone(presentation) { [self] in tellGone(end) } }
    tellOver()
    return presentAgain
  }

  /// A function that presents an item again, unless the state has changed since.
  private func presentingAgain(_ wanted: DrivenContent.Wanted, staysInState: Bool) -> @MainActor () -> Void {
    if staysInState { return { [weak self] in self?.onDifference?() } }
    return { [content] in if content.isVacant() { wanted.putBack() } }
  }

  private func tellGone(_ end: Dismissal) { for body in onDismiss { body(end) } }

  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties) {
    if isRetired { return }
    if let wanted = shown[presentation] {
      wanted.act?(action, parameters)
    } else {
      keepEarly(.acted(action, parameters), of: presentation)
    }
  }

  func hasGivenUp(_ presentation: PresentationHandle) -> Bool {
    shown[presentation] != nil && presentation != current
  }

  func declined(_ presentation: PresentationHandle) {
    // An update may have been refused meanwhile.
    if presentation == current { onDifference?() }
    guard let wanted = shown[presentation], !isRetired, asked == nil, hasGivenUp(presentation) else { return }
    // The state gets the item back only if it has not changed since it was last read; a change is requested next.
    if content.read()?.id == current.flatMap({ shown[$0]?.id }) { wanted.putBack() }
    occupy(with: presentation)
  }

  func updated(_ presentation: PresentationHandle, value: Properties, at moment: Moment) {
    // A later request has priority.
    guard let edit = content.edit, !isRetired, moment > acceptance else { return }
    if keepEarly(.updated(value, at: moment), of: presentation) { return }
    guard presentation == current, let wanted = shown[presentation], wanted.options.value != value else { return }
    // The coordinator has no value of an item that is not published.
    if value.isEmpty, wanted.options.value == nil { return }
    shown[presentation]?.options.value = value
    guard let state = content.read(), state.id == wanted.id else { return }
    // An unsent change of the state has priority: it is requested next.
    if state.options.value != wanted.options.value { onDifference?(); return }
    guard let askChange else { return edited(presentation, value, edit) }
    askChange(presentation, value) { [weak self] isAllowed in
      // A later update, or one of the state, has priority.
      guard let self, presentation == self.current, self.shown[presentation]?.options.value == value else { return }
      if isAllowed { edited(presentation, value, edit) } else { onDifference?() }
    }
  }

  /// Writes an item that another client has edited.
  private func edited(_ presentation: PresentationHandle, _ value: Properties, _ edit: (Properties) -> Bool) {
    guard let id = shown[presentation]?.id, content.read()?.id == id else { return }
    if !edit(value) { onDifference?() }
  }

  func forgetRefusal() { refused = nil }

  func reconcile(
    _ state: StateIndex, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle] {
    let lost = shown.filter { !state.contains($0.key, of: $0.value.id, at: subject) }.keys.sorted()
    for presentation in lost { ended(presentation, Dismissal(reason: .lost, error: nil)) }
    for entry in state[subject] where entry.phase != .dismissing {
      if entry.presentation == current {
        updated(entry.presentation, value: entry.value, at: state.moment)
      } else if hasGivenUp(entry.presentation) || givenUp.contains(entry.presentation) {
        // The navigator gives the item back if the dismissal was declined.
        continue
      } else if entry.isOwned(by: client), !isRetired, !isWaiting, current == nil {
        // The answer to this program's request was lost.
        shown[entry.presentation] = .init(id: entry.id, options: PresentationOptions())
        occupy(with: entry.presentation)
      } else {
        appeared(entry.presentation, id: entry.id, value: entry.value, destination: entry.destination)
      }
    }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String, value: Properties, isGivenUp: Bool
  ) throws(ShowingError) -> (any Screen)? {
    if isGivenUp, shown[presentation] == nil { return nil }
    guard let make = content.content else { throw ShowingError(why: "\(binding) is not shown by this program") }
    if isAwaiting { throw ShowingError(why: "the state that presents \(binding) has ended") }
    appeared(presentation, id: id, value: value, destination: ownDestination)
    if content.read()?.id == id {
      guard let screen = make() else {
        throw ShowingError(why: "the program makes no screen for “\(id)” at \(binding)")
      }
      return screen
    }
    guard asked != nil || shown[presentation] != nil else {
      throw ShowingError(
        why: "no state of the program presents “\(id)” at \(binding); expected \(content.accepts().summary)")
    }
    return nil
  }
}
