import CoordinatorAPI
import DBusValues
import PresentationModel

/// A piece of optional state: how to read, write and show it.
@MainActor
struct DrivenContent {
  /// The item that the state asks for.
  struct Wanted: Hashable {
    var id: String
    var options: PresentationOptions
  }

  let route: BindingRoute
  let read: () -> Wanted?
  /// Writes nil.
  let clear: () -> Void
  /// Writes the item's value as edited by another client, unless it is not this item. nil if others cannot edit it.
  let edit: ((Properties) -> Bool)?
  /// Writes that it is presented, because another client has presented it; nil if that cannot be written.
  let adopt: (() -> Void)?
  /// Makes the screen of the current item; nil if another destination presents it.
  let content: (() -> (any Screen)?)?
  let onDismiss: OnDismiss?

  static func item<Item, ID: Hashable & Codable>(
    _ item: Binding<Item?>, id: @escaping (Item) -> ID, options: @escaping @MainActor (Item) -> PresentationOptions,
    to destination: String? = nil, onDismiss: OnDismiss?, content: (@MainActor (Binding<Item>) -> any Screen)? = nil
  ) -> DrivenContent {
    var edit: ((Properties) -> Bool)?
    if let type = Item.self as? any Decodable.Type {
      edit = { properties in
        // Others cannot change the item's identity (D8).
        guard let current = item.wrappedValue, let value = Coding.value(type, of: properties) as? Item,
          id(value) == id(current)
        else { return false }
        item.wrappedValue = value
        return true
      }
    }
    return DrivenContent(
      route: item.route,
      read: {
        item.wrappedValue.map { value in
          var options = options(value)
          options.destination = options.destination ?? destination
          if options.value == nil, let value = value as? any Encodable { options.value = Coding.properties(of: value) }
          return Wanted(id: Coding.id(of: id(value)), options: options)
        }
      },
      clear: { item.wrappedValue = nil }, edit: edit, adopt: nil,
      content: content.map { content in { Binding(item).map(content) } }, onDismiss: onDismiss)
  }

  static func bool(
    _ isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions,
    to destination: String? = nil,
    onDismiss: OnDismiss?, content: (@MainActor () -> any Screen)? = nil
  ) -> DrivenContent {
    DrivenContent(
      route: isPresented.route,
      read: {
        guard isPresented.wrappedValue else { return nil }
        var options = options()
        options.destination = options.destination ?? destination
        return Wanted(id: "", options: options)
      },
      clear: { isPresented.wrappedValue = false }, edit: nil, adopt: { isPresented.wrappedValue = true },
      content: content.map { content in { content() } }, onDismiss: onDismiss)
  }
}

/// Keeps one slot of the coordinator and a piece of optional state in agreement. Sheets, pushed pages and members of
/// groups all use it.
@MainActor
final class ItemDriver: Driver {
  /// The way in which it is presented.
  enum Kind: Hashable {
    case presented
    /// Member of a group, pushed on a stack if there is one.
    case member(group: String, tag: String, stack: String? = nil)
    case pushed(stack: String)
  }

  /// The presentation of this state in the slot.
  private struct Current {
    let presentation: PresentationHandle
    var wanted: DrivenContent.Wanted
  }

  private let content: DrivenContent
  private let kind: Kind
  private let binding: String
  private let from: String?
  let ownDestination: String?

  /// A request without an answer yet.
  private struct Asked {
    /// The requested item; nil to dismiss.
    let wanted: DrivenContent.Wanted?
    /// The item in the slot before the request.
    let former: Current?
  }

  /// Events received before the answer that contains the handle.
  private enum EarlyEvent {
    case appeared(id: String, destination: String?)
    case ended(NavigationReason)
    case updated(Properties, serial: UInt64)
  }

  /// The presentation in the slot. Also nil once its dismissal was requested, so that its end does not change the state
  /// (P5).
  private var current: Current?
  private var asked: Asked?
  /// The serial of the state after the last answer.
  private var acceptedSerial: UInt64 = 0
  /// Presentations of this state that were shown or accepted and have not ended.
  private var remaining: Set<PresentationHandle> = []
  private var early: [(presentation: PresentationHandle, event: EarlyEvent)] = []
  /// Presentations of other clients in the slot, which differ from the state.
  private var competitor: PresentationHandle?
  private var isRetired = false
  /// Called if the coordinator has another value than the state, which is kept.
  var onDifference: (() -> Void)?
  /// The driver that presents the same binding now.
  private weak var successor: ItemDriver?

  /// - Parameter destination: the destination that this program registers.
  init(_ content: DrivenContent, as kind: Kind, binding: String, from: String?, destination: String) {
    self.content = content
    ownDestination = content.content == nil ? nil : destination
    self.kind = kind
    self.binding = binding
    self.from = from
  }

  func drives(_ binding: String) -> Bool { binding == self.binding }

  func drivesSame(as other: any Driver) -> Bool { other.drives(binding) && other is ItemDriver }

  // MARK: State to coordinator

  func changes(
    _ transaction: Transaction, onChange: @escaping @MainActor @Sendable (Transaction) -> Void
  ) -> [Coordinator.Change] {
    let wanted = track(content.read, onChange: onChange)
    switch (current, wanted) {
    case (nil, nil): return []
    case (let current?, nil):
      asked = Asked(wanted: nil, former: current)
      self.current = nil
      return [dismissal(of: current.presentation, animated: transaction.animated)]
    case (let current?, let wanted?) where current.wanted.id == wanted.id:
      guard wanted != current.wanted else { return [] }
      asked = Asked(wanted: wanted, former: current)
      // It may have been closed in the meantime, and an update must not present it again.
      return [
        .present(
          binding, id: wanted.id, wanted.options, expecting: Expectation(presentation: current.presentation))
      ]
    case (_, let wanted?):
      asked = Asked(wanted: wanted, former: current)
      current = nil
      let competitor = competitor
      self.competitor = nil
      return (competitor.map { [.dismiss(binding, expecting: Expectation(presentation: $0))] } ?? [])
        + [.present(binding, id: wanted.id, starting(wanted.options).owned(in: transaction))]
    }
  }

  private func starting(_ options: PresentationOptions) -> PresentationOptions {
    var options = options
    options.destination = options.destination ?? ownDestination
    options.from = options.from ?? from
    switch kind {
    case .presented: break
    case .member(let group, let tag, let stack):
      options.group = group
      options.tag = tag
      options.stack = stack
    case .pushed(let stack): options.stack = stack
    }
    return options
  }

  private func dismissal(of presentation: PresentationHandle, animated: Bool?) -> Coordinator.Change {
    switch kind {
    case .presented, .pushed: .dismiss(binding, animated: animated, expecting: Expectation(presentation: presentation))
    case .member(let group, let tag, _): .deselect(group, tag, animated: animated)
    }
  }

  func retire() -> [Coordinator.Change] {
    isRetired = true
    guard let current, successor == nil else { return [] }
    self.current = nil
    return [dismissal(of: current.presentation, animated: nil)]
  }

  var isOver: Bool { asked == nil && remaining.isEmpty }

  /// Another driver uses the slot from now on, and owns the item in it.
  func handOver(to successor: ItemDriver) {
    self.successor = successor
    isRetired = true
    handOn()
  }

  private func handOn() {
    guard let successor, asked == nil else { return }
    if successor.asked == nil, successor.current == nil { successor.current = current }
    successor.remaining.formUnion(remaining)
    successor.acceptedSerial = max(successor.acceptedSerial, acceptedSerial)
    (current, remaining) = (nil, [])
  }

  // MARK: Answers

  func accepted(_ replies: [[Value]], serial: UInt64) {
    acceptedSerial = serial
    if let wanted = asked?.wanted {
      let path = replies.last?.first.flatMap(ObjectPath.init(value:))
      if let presentation = path.flatMap(Handle.init(path:)) {
        remaining.insert(presentation)
        current = Current(presentation: presentation, wanted: wanted)
      } else if content.read()?.id == wanted.id {
        // Its parent was dismissed in the same turn.
        clear()
      }
    }
    answered()
  }

  func leftovers() -> [Coordinator.Change] { isRetired && asked == nil ? retire() : [] }

  func refused(_ name: CoordinatorError.Name) -> Bool {
    guard let asked else { return false }
    if name == .stale { answered() } else { postponed() }
    // The item to update may have been closed; the event of that will follow.
    if let wanted = asked.wanted, wanted.id != asked.former?.wanted.id, content.read()?.id == wanted.id { clear() }
    // Its parent has just ended.
    let isOrphan = name == .notPresented && asked.wanted?.options.from == nil
    return name != .stale && !isOrphan
  }

  func postponed() {
    if let former = asked?.former, remaining.contains(former.presentation) { current = former }
    answered()
  }

  private func answered() {
    asked = nil
    let events = early
    early = []
    for (presentation, event) in events {
      switch event {
      case .appeared(let id, let destination): appeared(presentation, id: id, destination: destination)
      case .ended(let reason): ended(presentation, reason)
      case .updated(let value, let serial): updated(presentation, value: value, serial: serial)
      }
    }
    handOn()
  }

  private func clear() {
    if !isRetired { content.clear() }
  }

  // MARK: Coordinator to state

  func appeared(_ presentation: PresentationHandle, id: String, destination: String?) {
    guard !isRetired, !remaining.contains(presentation), current.map({ $0.presentation < presentation }) ?? true else {
      return
    }
    guard asked == nil else {
      return early.append((presentation, .appeared(id: id, destination: destination)))
    }
    if current == nil, content.read() == nil { content.adopt?() }
    guard let wanted = content.read(), wanted.id == id else { return }
    if let own = wanted.options.destination ?? ownDestination, own != destination {
      // The other client did not know the destination.
      if current == nil { competitor = presentation }
      return
    }
    remaining.insert(presentation)
    current = Current(presentation: presentation, wanted: wanted)
  }

  func ended(_ presentation: PresentationHandle, _ reason: NavigationReason) {
    guard remaining.remove(presentation) != nil else {
      if asked != nil { early.append((presentation, .ended(reason))) }
      return
    }
    if let ended = current, ended.presentation == presentation {
      current = nil
      // Only if it is still this item: the state may have changed since it was last read.
      if content.read()?.id == ended.wanted.id { clear() }
    }
    content.onDismiss?(reason)
  }

  func updated(_ presentation: PresentationHandle, value: Properties, serial: UInt64) {
    // A later request decides.
    guard let edit = content.edit, !isRetired, serial > acceptedSerial else { return }
    guard asked == nil else { return early.append((presentation, .updated(value, serial: serial))) }
    guard var current, current.presentation == presentation, current.wanted.options.value != value else { return }
    current.wanted.options.value = value
    self.current = current
    if content.read()?.id == current.wanted.id, !edit(value) { onDifference?() }
  }

  func forgetSerials() { acceptedSerial = 0 }

  func reconcile(_ state: NavigationState, client: String) -> [PresentationHandle] {
    // The event may be older than the last accepted request.
    guard state.serial >= acceptedSerial else { return [] }
    let there = Set(state.presentations.map(\.presentation))
    let lost = remaining.subtracting(there).sorted()
    for presentation in lost { ended(presentation, .lost) }
    for entry in state.presentations where entry.binding == binding && entry.phase != .dismissing {
      if entry.presentation == current?.presentation {
        updated(entry.presentation, value: entry.value, serial: state.serial)
      } else if entry.isOwned(by: client), !isRetired, asked == nil, current == nil,
        !remaining.contains(entry.presentation)
      {
        // This program requested it, and the answer was lost.
        remaining.insert(entry.presentation)
        current = Current(
          presentation: entry.presentation, wanted: .init(id: entry.id, options: PresentationOptions()))
      } else {
        appeared(entry.presentation, id: entry.id, destination: entry.destination)
      }
    }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)? {
    guard let make = content.content else { throw ShowingError(why: "\(binding) is not shown by this program") }
    appeared(presentation, id: id, destination: ownDestination)
    if content.read()?.id == id { return make() }
    guard asked != nil || remaining.contains(presentation) else {
      throw ShowingError(why: "no state of the program presents “\(id)” at \(binding)")
    }
    return nil
  }
}
