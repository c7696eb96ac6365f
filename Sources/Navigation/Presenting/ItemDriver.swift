import CoordinatorAPI
import DBusValues
import PresentationModel

/// A piece of optional state, with the ways to read, write and show it.
@MainActor
struct DrivenContent {
  /// The item that the state asks for.
  struct Wanted: Equatable {
    var id: String
    var options: PresentationOptions
    /// Writes the item back into the state.
    var putBack: @MainActor () -> Void = {}
    /// Handles an action of the user (P8) and its parameters; nil if the item has no actions.
    var act: (@MainActor (String, Properties) -> Void)?

    static func == (one: Self, other: Self) -> Bool { one.id == other.id && one.options == other.options }
  }

  let route: BindingRoute
  let read: () -> Wanted?
  /// Writes nil.
  let clear: () -> Void
  /// Writes the item's value as edited by another client, unless the state has another item; nil if others cannot edit it.
  let edit: ((Properties) -> Bool)?
  /// Writes that the state is presented, because another client has presented it; nil if this cannot be written.
  let adopt: (() -> Void)?
  /// Makes the screen of the current item, or no screen if the program cannot; nil if another destination presents it.
  let content: (() -> (any Screen)?)?
  let onDismiss: OnDismiss?
  /// The values of the items that screens show; nil if these have no bindings of the items.
  private(set) var screens: (any AnyObject & InheritingValues)?
  /// Called when the request to present the item was refused, or could not be sent.
  var onUnshown: (@MainActor () -> Void)?

  static func item<Item, ID: Hashable & Codable>(
    _ item: Binding<Item?>, id: @escaping (Item) -> ID, options: @escaping @MainActor (Item) -> PresentationOptions,
    to destination: String? = nil, onDismiss: OnDismiss?, content: ((Binding<Item>) -> (any Screen)?)? = nil,
    onAction: (@MainActor (Item, String, Properties) -> Void)? = nil
  ) -> DrivenContent {
    let (unencodableID, unencodableValue) = (OneReport(), OneReport())
    let screens = ScreenValues<Item>()
    // A number that is none (NaN) does not equal itself, but has the same text.
    func isSame(_ one: ID, _ other: ID) -> Bool { one == other || Coding.id(of: one) {} == Coding.id(of: other) {} }
    var edit: ((Properties) -> Bool)?
    if let type = Item.self as? any Decodable.Type {
      edit = { properties in
        // Others cannot change the item's identity (D8).
        guard let current = item.wrappedValue, let value = Coding.value(type, of: properties) as? Item,
          isSame(id(value), id(current))
        else { return false }
        item.wrappedValue = value
        return true
      }
    }
    var driven = DrivenContent(
      route: item.route,
      read: {
        item.wrappedValue.map { value in
          var options = options(value)
          options.destination = options.destination ?? destination
          if options.value == nil, let value = value as? any Encodable {
            options.value = Coding.properties(of: value)
            if options.value == nil {
              options.value = [:]
              unencodableValue.send(
                "a \(Item.self) at “\(item.route.description)” is presented without a value, since it cannot be encoded, or has "
                  + "a null, which D-Bus cannot; leave nil out when it is encoded, or give another value in the options",
                of: item.route.root)
            }
          }
          let identity = id(value)
          let text = Coding.id(of: identity) {
            unencodableID.send(
              "the id of a \(Item.self) at “\(item.route.description)” cannot be encoded; its description in Swift is used, "
                + "which other programs may not know", of: item.route.root)
          }
          screens.sees(value, id: text)
          var wanted = Wanted(id: text, options: options) {
            item.restore(screens.last(of: text) { isSame(id($0), identity) } ?? value)
          }
          if let onAction { wanted.act = { onAction(value, $0, $1) } }
          return wanted
        }
      },
      clear: { item.wrappedValue = nil }, edit: edit,
      adopt: Item.self == Void.self ? { item.restore(() as? Item) } : nil,
      content: content.map { content in
        {
          item.wrappedValue.flatMap { value in
            let shown = id(value)
            let last = screens.shows(value, id: Coding.id(of: shown) {})
            return content(Binding(item, last: last) { isSame(id($0), shown) })
          }
        }
      }, onDismiss: onDismiss)
    driven.screens = screens
    return driven
  }

  static func bool(
    _ isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions,
    to destination: String? = nil,
    onDismiss: OnDismiss?, content: (@MainActor () -> (any Screen)?)? = nil
  ) -> DrivenContent {
    DrivenContent(
      route: isPresented.route,
      read: {
        guard isPresented.wrappedValue else { return nil }
        var options = options()
        options.destination = options.destination ?? destination
        return Wanted(id: "", options: options) { isPresented.restore(true) }
      },
      clear: { isPresented.wrappedValue = false }, edit: nil, adopt: { isPresented.restore(true) },
      content: content.map { content in { content() } }, onDismiss: onDismiss)
  }
}

/// Values that are passed on to a later presence of the same state.
@MainActor
protocol InheritingValues {
  func inherit(from former: AnyObject)
}

/// The last values of the items that screens show, by the texts of their ids. A screen may have written a value after the driver has
/// read the state for the last time, also while the state does not contain the item.
@MainActor
private final class ScreenValues<Item>: InheritingValues {
  private struct Value { weak var last: Last<Item>? }
  private var values: [String: Value] = [:]

  /// Returns the last value for the binding of a new screen of an item.
  func shows(_ item: Item, id: String) -> Last<Item> {
    values = values.filter { $0.value.last != nil }
    let last = Last(item)
    values[id] = Value(last: last)
    return last
  }

  /// Takes over the values of screens that were made for an earlier presence of the same state.
  func inherit(from former: AnyObject) {
    guard let former = former as? Self else { return }
    values.merge(former.values) { last, _ in last }
  }

  /// Notes the value that the state has now.
  func sees(_ item: Item, id: String) { values[id]?.last?.value = item }

  /// The last value of an item's screen; nil if there is no screen, or it has made another item of it.
  func last(of id: String, where isSame: (Item) -> Bool) -> Item? {
    values[id]?.last.flatMap { isSame($0.value) ? $0.value : nil }
  }
}

/// Keeps one slot of the coordinator and a piece of optional state in agreement, for sheets, pushed pages and members of groups.
@MainActor
final class ItemDriver: Driver {
  private let content: DrivenContent
  private(set) var place: ItemPlace
  let noted = NotedTransaction()

  /// A request that was not answered yet.
  private struct Asked {
    /// The requested item; nil to dismiss.
    let wanted: DrivenContent.Wanted?
    /// The presentation in the slot before the request.
    let former: PresentationHandle?
    var isUpdate = false
    /// The events that were received before the answer that contains their handle.
    var early: [(presentation: PresentationHandle, event: EarlyEvent)] = []
  }

  private enum EarlyEvent {
    case appeared(id: String, destination: String?)
    case ended(Dismissal)
    case acted(String, Properties)
    case updated(Properties, at: Moment)
  }

  /// The presentation in the slot. It is also nil once its dismissal was requested, so that its end does not change the state (P5).
  private var current: PresentationHandle?
  private var asked: Asked?
  /// The transaction of the last requests.
  private var transaction: Transaction?
  private(set) var acceptance = Moment()
  /// Presentations of this state that were shown or accepted and have not ended, with their last items.
  private var remaining: [PresentationHandle: DrivenContent.Wanted] = [:]
  /// A presentation of another client in the slot, with the item of the state, but without a destination.
  private var competitor: PresentationHandle?
  /// The end of the connection to the state.
  private enum Retirement {
    case ended
    /// The parent is gone, and the presentation, which has no parent on the bus, has to follow it.
    case orphaned
  }

  private var retirement: Retirement?
  private var isRetired: Bool { retirement != nil }
  /// The item that was refused because of a limit: it is too large, or one too many. The state keeps it, and requests it again after
  /// a change.
  private var refused: DrivenContent.Wanted?
  var onDifference: (() -> Void)?
  /// The driver that now presents the same binding.
  private weak var successor: ItemDriver?
  /// The ended driver of other state with the same name, whose presentations end before this driver presents anything.
  private var predecessor: ItemDriver?
  /// Called when the driver is over.
  private var onOver: (() -> Void)?

  init(_ content: DrivenContent, at place: ItemPlace) {
    self.content = content
    self.place = place
  }

  var ownDestination: String? { place.ownDestination }

  var root: BindingRoot { content.route.root }

  var subject: DrivenSubject { .slot(place.binding) }

  // MARK: State to coordinator

  func changes(_ transaction: Transaction, _ tracking: Tracking) -> [Coordinator.Request] {
    let read = tracking.begin(content.read)
    if predecessor != nil { return [] }
    if read != refused { refused = nil }
    let wanted = refused == nil ? read : nil
    if wanted?.id != current.flatMap({ remaining[$0]?.id }) { self.transaction = transaction }
    switch (current, wanted) {
    case (nil, nil): return []
    case (let current?, nil):
      asked = Asked(wanted: nil, former: current)
      self.current = nil
      return [place.dismissal(of: current, transaction)]
    case (let current?, let wanted?) where remaining[current]?.id == wanted.id:
      let isSame = wanted == remaining[current]
      // The state gets this item back if its screen declines to disappear, even if the coordinator does not accept the update,
      // because the item is being dismissed. The item may differ where the options do not show it.
      remaining[current]?.putBack = wanted.putBack
      remaining[current]?.act = wanted.act
      if isSame { return [] }
      asked = Asked(wanted: wanted, former: current, isUpdate: true)
      // The presentation may have been closed meanwhile, and an update must not present the item again.
      return [.present(place.binding, id: wanted.id, wanted.options, expecting: Expectation(presentation: current))]
    case (_, let wanted?):
      asked = Asked(wanted: wanted, former: current)
      current = nil
      let competitor = competitor
      self.competitor = nil
      return (competitor.map { [.dismiss(place.binding, expecting: Expectation(presentation: $0))] } ?? [])
        + [.present(place.binding, id: wanted.id, place.starting(wanted.options).owned(in: transaction))]
    }
  }

  func watch(_ tracking: Tracking) { _ = tracking.begin(content.read) }

  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction? {
    let isRequested = isEnding ? presentation != current : presentation == current || asked != nil
    return isRequested ? transaction : nil
  }

  /// Sets the state to nil if it was presented while its parent was being dismissed.
  func endWithParent() {
    let wanted = asked?.wanted ?? current.flatMap { remaining[$0] }
    if let wanted, content.read()?.id == wanted.id { clear() }
  }

  /// Sets the state to nil, because the parent is gone. The screen cannot decline then.
  func endAfterParent() {
    endWithParent()
    retirement = .orphaned
  }

  /// Whether the state has the item that is presented, and neither is about to change.
  var isKept: Bool { asked == nil && current != nil && content.read()?.id == current.flatMap { remaining[$0]?.id } }

  func retire() -> [Coordinator.Request] {
    retirement = retirement ?? .ended
    guard let current, successor == nil else { return [] }
    self.current = nil
    return [dismissal(of: current)]
  }

  private func dismissal(of presentation: PresentationHandle) -> Coordinator.Request {
    var transaction = Transaction()
    transaction.isForced = retirement == .orphaned
    return place.dismissal(of: presentation, transaction)
  }

  /// Returns the request that ends a presentation although its screen has declined, because its parent is gone.
  func endOfOrphan(_ presentation: PresentationHandle) -> [Coordinator.Request] {
    retirement == .orphaned && remaining[presentation] != nil ? [dismissal(of: presentation)] : []
  }

  /// Whether this driver waits for the answer to a request, or for the end of others' presentations.
  var isWaiting: Bool { asked != nil || predecessor != nil }

  var isOver: Bool { asked == nil && remaining.isEmpty && predecessor == nil }

  /// Waits with all presentations until those of an ended driver have ended.
  func follow(_ former: ItemDriver) {
    if former.isOver { return }
    predecessor = former
    former.onOver = { [weak self] in
      self?.predecessor = nil
      self?.onDifference?()
      self?.tellOver()
    }
  }

  private func tellOver() {
    guard isOver, let tell = onOver else { return }
    onOver = nil
    tell()
  }

  /// Whether the driver presents the same state as another driver, and not only state with the same name.
  func hasState(of other: ItemDriver) -> Bool { content.route.place == other.content.route.place }

  /// Takes over the values that the screens of an earlier presence of the same state have written.
  func inheritScreens(of former: ItemDriver) {
    if let values = former.content.screens { content.screens?.inherit(from: values) }
  }

  /// Gives the slot and its item to another driver.
  func handOver(to successor: ItemDriver) {
    self.successor = successor
    retirement = .ended
    if let predecessor {
      self.predecessor = nil
      successor.follow(predecessor)
    }
    handOn()
  }

  /// Takes over a presentation of an ended driver of the same state, because its screen has declined to disappear.
  func takeOver(_ presentation: PresentationHandle, of former: ItemDriver) {
    guard remaining[presentation] == nil, hasState(of: former) else { return }
    remaining[presentation] = former.remaining.removeValue(forKey: presentation)
    former.tellOver()
  }

  private func handOn() {
    guard let successor, asked == nil else { return }
    if successor.asked == nil, successor.current == nil { successor.current = current }
    successor.remaining.merge(remaining) { last, _ in last }
    if place.isWithoutParent { successor.place.isWithoutParent = true }
    successor.acceptance = max(successor.acceptance, acceptance)
    (current, remaining) = (nil, [:])
  }

  // MARK: Answers

  func accepted(_ replies: [[Value]], at moment: Moment) {
    acceptance = moment
    let asked = asked
    if let asked, let wanted = asked.wanted {
      let path = replies.last?.first.flatMap(ObjectPath.init(value:))
      if let presentation = path.flatMap(Handle.init(path:)) {
        // The item to update may have ended since.
        if !asked.isUpdate || remaining[presentation] != nil {
          remaining[presentation] = wanted
          current = presentation
        }
      } else if content.read()?.id == wanted.id, !place.outlivesParent {
        // The parent was dismissed in the same turn.
        clear()
      }
    }
    let isUnshown = current == nil
    answered()
    if isUnshown, let asked { tellUnshown(asked) }
  }

  func leftovers() -> [Coordinator.Request] { isRetired && asked == nil ? retire() : [] }

  func refused(_ name: CoordinatorError.Name) -> Bool {
    guard let asked else { return false }
    defer { tellUnshown(asked) }
    if name == .stale {
      answered()
      // The presentation of another client was to be dismissed first, and has just ended.
      if asked.wanted != nil, !asked.isUpdate { onDifference?() }
      return false
    }
    giveBack()
    if name == .limitExceeded, !asked.isUpdate {
      refused = asked.wanted
      // The presentation shown in its place is dismissed.
      if current != nil { onDifference?() }
      return true
    }
    // The parent has just ended.
    let isOrphan = name == .notPresented && asked.wanted?.options.from == nil && !place.isTooLate
    // The item is there already, since its screen has just declined to disappear. It cannot get its parent back (P2), and is in the
    // state again when the navigator hears of it.
    let hasStayed =
      name == .invalidArgument && !asked.isUpdate && remaining.values.contains { $0.id == asked.wanted?.id }
    // The item to update may have been closed; the event of its end will follow.
    if let wanted = asked.wanted, !asked.isUpdate, content.read()?.id == wanted.id, !(isOrphan && place.outlivesParent)
    {
      clear()
    }
    return !isOrphan && !hasStayed
  }

  func postponed() {
    let lost = asked
    giveBack()
    if let lost { tellUnshown(lost) }
  }

  private func tellUnshown(_ asked: Asked) {
    if asked.wanted != nil, !asked.isUpdate { content.onUnshown?() }
  }

  /// Has again what was there before the request.
  private func giveBack() {
    if let former = asked?.former, remaining[former] != nil { current = former }
    answered()
  }

  private func answered() {
    let events = asked?.early ?? []
    asked = nil
    for (presentation, event) in events {
      switch event {
      case .appeared(let id, let destination): appeared(presentation, id: id, destination: destination)
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

  func appeared(_ presentation: PresentationHandle, id: String, destination: String?) {
    guard !isRetired, predecessor == nil, remaining[presentation] == nil,
      current.map({ $0 < presentation }) ?? true
    else { return }
    guard asked == nil else {
      asked?.early.append((presentation, .appeared(id: id, destination: destination)))
      return
    }
    // The item of another program is not adopted: two copies of one program would take it from each other without end.
    let isOthers = destination != nil && ownDestination != nil && destination != ownDestination
    if current == nil, content.read() == nil, !isOthers { content.adopt?() }
    guard let wanted = content.read(), wanted.id == id else { return }
    if let own = wanted.options.destination ?? ownDestination, own != destination {
      // The other client did not know the destination. If it had given another one, the request of this state would be refused.
      if current == nil, destination == nil { competitor = presentation }
      return
    }
    remaining[presentation] = wanted
    current = presentation
    // Another client has requested it.
    transaction = nil
  }

  func ended(_ presentation: PresentationHandle, _ end: Dismissal) {
    if presentation == competitor { competitor = nil }
    guard let wanted = remaining.removeValue(forKey: presentation) else {
      asked?.early.append((presentation, .ended(end)))
      return
    }
    if current == presentation {
      current = nil
      // The state may have changed since it was last read, so this clears only the same item.
      if content.read()?.id == wanted.id, !(end.reason == .parent && place.outlivesParent) { clear() }
    }
    content.onDismiss?(end)
    tellOver()
  }

  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties) {
    if isRetired { return }
    if let wanted = remaining[presentation] {
      wanted.act?(action, parameters)
    } else {
      asked?.early.append((presentation, .acted(action, parameters)))
    }
  }

  func hasGivenUp(_ presentation: PresentationHandle) -> Bool {
    remaining[presentation] != nil && presentation != current
  }

  func declined(_ presentation: PresentationHandle) {
    // An update may have been refused meanwhile.
    if presentation == current { onDifference?() }
    guard let wanted = remaining[presentation], !isRetired, asked == nil, hasGivenUp(presentation) else { return }
    // The state gets the item back only if it has not changed since it was last read; a change is requested next.
    if content.read()?.id == current.flatMap({ remaining[$0]?.id }) { wanted.putBack() }
    current = presentation
  }

  func updated(_ presentation: PresentationHandle, value: Properties, at moment: Moment) {
    // A later request has priority.
    guard let edit = content.edit, !isRetired, moment > acceptance else { return }
    guard asked == nil else {
      asked?.early.append((presentation, .updated(value, at: moment)))
      return
    }
    guard presentation == current, let wanted = remaining[presentation], wanted.options.value != value else { return }
    remaining[presentation]?.options.value = value
    guard let state = content.read(), state.id == wanted.id else { return }
    // An unsent change of the state has priority: it is requested next.
    let isUnsent = state.options.value != wanted.options.value
    if isUnsent || !edit(value) { onDifference?() }
  }

  func forgetRefusal() { refused = nil }

  func reconcile(
    _ state: StateIndex, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle] {
    let lost = remaining.filter { !state.contains($0.key, of: $0.value.id, at: subject) }.keys.sorted()
    for presentation in lost { ended(presentation, Dismissal(reason: .lost, error: nil)) }
    for entry in state[subject] where entry.phase != .dismissing {
      if entry.presentation == current {
        updated(entry.presentation, value: entry.value, at: state.moment)
      } else if hasGivenUp(entry.presentation) || givenUp.contains(entry.presentation) {
        // If its dismissal was declined, the navigator gives the item back.
        continue
      } else if entry.isOwned(by: client), !isRetired, predecessor == nil, asked == nil, current == nil {
        // This program requested it, and the answer was lost.
        remaining[entry.presentation] = .init(id: entry.id, options: PresentationOptions())
        current = entry.presentation
      } else {
        appeared(entry.presentation, id: entry.id, destination: entry.destination)
      }
    }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String, isGivenUp: Bool
  ) throws(ShowingError) -> (any Screen)? {
    if isGivenUp, remaining[presentation] == nil { return nil }
    guard let make = content.content else { throw ShowingError(why: "\(binding) is not shown by this program") }
    if predecessor != nil { throw ShowingError(why: "the state that presents \(binding) has ended") }
    appeared(presentation, id: id, destination: ownDestination)
    if content.read()?.id == id {
      guard let screen = make() else {
        throw ShowingError(why: "the program makes no screen for “\(id)” at \(binding)")
      }
      return screen
    }
    guard asked != nil || remaining[presentation] != nil else {
      throw ShowingError(why: "no state of the program presents “\(id)” at \(binding)")
    }
    return nil
  }
}
