// Why this file exists: one optional item is one slot of the coordinator. This is the one place where they are kept the same,
// for sheets, pushed pages and members of groups alike.

import CoordinatorAPI
import DBusValues

/// One piece of optional state: how it is read, written, and shown.
@MainActor
struct DrivenContent {
  /// What the state says is to be shown.
  struct Wanted: Hashable {
    var id: String
    var options: PresentationOptions
  }

  let route: BindingRoute
  let read: () -> Wanted?
  /// Writes nil.
  let clear: () -> Void
  /// Writes what others made of the item's value; nil where they cannot.
  let edit: ((Properties) -> Void)?
  /// Writes that it is shown, since others say so; nil where that cannot be written.
  let adopt: (() -> Void)?
  /// Makes the screen of what is there; nil where others show it.
  let content: (() -> (any Screen)?)?
  let onDismiss: OnDismiss?

  static func item<Item, ID: Hashable & Codable>(
    _ item: Binding<Item?>, id: @escaping (Item) -> ID, options: @escaping @MainActor (Item) -> PresentationOptions,
    to destination: String? = nil, onDismiss: OnDismiss?, content: (@MainActor (Binding<Item>) -> any Screen)? = nil
  ) -> DrivenContent {
    var edit: ((Properties) -> Void)?
    if let type = Item.self as? any Decodable.Type {
      edit = { properties in
        if item.wrappedValue != nil, let value = Coding.value(type, of: properties) as? Item {
          item.wrappedValue = value
        }
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

  static func truth(
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

/// Keeps a slot and a piece of optional state the same.
@MainActor
final class ItemDriver: Driver {
  /// How it is presented.
  enum Kind: Hashable {
    case presented
    case member(group: String, tag: String)
    case pushed(stack: String)
  }

  /// What the slot holds of this state.
  private struct Current {
    let presentation: PresentationHandle
    var wanted: DrivenContent.Wanted
  }

  private let content: DrivenContent
  private let kind: Kind
  private let binding: String
  private let from: String?
  let ownDestination: String?

  /// nil also from when it was asked to go: then its end is no news for the state (P5).
  private var current: Current?
  /// What was asked for and has no answer yet; `.some(nil)` is nil.
  private var asked: DrivenContent.Wanted??
  /// Of the state after the last answer.
  private var acceptedSerial: UInt64 = 0
  /// What this state showed, or had accepted, and is not gone.
  private var remaining: Set<PresentationHandle> = []
  /// What became of what, before the answer that would have told its handle.
  private var early: [(presentation: PresentationHandle, news: News)] = []

  private enum News {
    case ended(NavigationReason)
    case updated(Properties)
  }

  /// - Parameter destination: the program's own.
  init(_ content: DrivenContent, as kind: Kind, binding: String, from: String?, destination: String) {
    self.content = content
    ownDestination = content.content == nil ? nil : destination
    self.kind = kind
    self.binding = binding
    self.from = from
  }

  func drives(_ binding: String) -> Bool { binding == self.binding }

  // MARK: From the state

  func changes(
    _ transaction: Transaction, onChange: @escaping @MainActor @Sendable (Transaction) -> Void
  ) -> [Coordinator.Change] {
    let wanted = track(content.read, onChange: onChange)
    switch (current, wanted) {
    case (nil, nil): return []
    case (let current?, nil):
      asked = .some(nil)
      self.current = nil
      return [dismissal(of: current.presentation, animated: transaction.animated)]
    case (let current?, let wanted?) where current.wanted.id == wanted.id:
      guard wanted != current.wanted else { return [] }
      asked = wanted
      // It may have been closed meanwhile, and is not to be shown again by this.
      return [
        .present(
          binding, id: wanted.id, wanted.options, expecting: Expectation(presentation: current.presentation))
      ]
    case (_, let wanted?):
      asked = wanted
      current = nil
      return [.present(binding, id: wanted.id, starting(wanted.options).owned(in: transaction))]
    }
  }

  private func starting(_ options: PresentationOptions) -> PresentationOptions {
    var options = options
    options.destination = options.destination ?? ownDestination
    options.from = options.from ?? from
    switch kind {
    case .presented: break
    case .member(let group, let tag):
      options.group = group
      options.tag = tag
    case .pushed(let stack):
      options.stack = stack
      // What is below it on the stack is enough to go with.
      options.from = nil
    }
    return options
  }

  private func dismissal(of presentation: PresentationHandle, animated: Bool?) -> Coordinator.Change {
    switch kind {
    case .presented, .pushed: .dismiss(binding, animated: animated, expecting: Expectation(presentation: presentation))
    case .member(let group, let tag): .deselect(group, tag, animated: animated)
    }
  }

  func farewell() -> [Coordinator.Change] {
    guard let current else { return [] }
    self.current = nil
    return [dismissal(of: current.presentation, animated: nil)]
  }

  // MARK: Answers

  func accepted(_ replies: [[Value]], serial: UInt64) {
    acceptedSerial = serial
    guard let wanted = asked else { return }
    asked = nil
    if let wanted, let path = replies.first?.first.flatMap(ObjectPath.init(value:)),
      let presentation = PresentationHandle(optional: path)
    {
      remaining.insert(presentation)
      current = Current(presentation: presentation, wanted: wanted)
    }
    catchUp()
  }

  func refused() {
    let wasWanted = asked.flatMap { $0 }
    postponed()
    // What was to be changed in place may have been closed, of which there will be news.
    if let wasWanted, current == nil, content.read()?.id == wasWanted.id { content.clear() }
  }

  func postponed() {
    asked = nil
    catchUp()
  }

  private func catchUp() {
    let news = early
    early = []
    for (presentation, news) in news {
      switch news {
      case .ended(let reason): ended(presentation, reason)
      case .updated(let value): updated(presentation, value: value)
      }
    }
  }

  // MARK: To the state

  func ended(_ presentation: PresentationHandle, _ reason: NavigationReason) {
    guard remaining.remove(presentation) != nil else {
      if asked != nil { early.append((presentation, .ended(reason))) }
      return
    }
    if let ended = current, ended.presentation == presentation {
      current = nil
      // Only if it is still the one: the state may have moved on, and not have been read since.
      if content.read()?.id == ended.wanted.id { content.clear() }
    }
    content.onDismiss?(reason)
  }

  func updated(_ presentation: PresentationHandle, value: Properties) {
    guard let edit = content.edit else { return }
    guard var current, current.presentation == presentation else {
      if asked != nil { early.append((presentation, .updated(value))) }
      return
    }
    // The news of what was asked for from here.
    if let asked = asked.flatMap({ $0 }), asked.options.value == value { return }
    guard current.wanted.options.value != value else { return }
    current.wanted.options.value = value
    self.current = current
    if content.read()?.id == current.wanted.id { edit(value) }
  }

  func reconcile(_ state: NavigationState) -> [PresentationHandle] {
    // It may be from before what was accepted since.
    guard state.serial >= acceptedSerial else { return [] }
    let there = Set(state.presentations.map(\.presentation))
    let lost = remaining.subtracting(there).sorted()
    for presentation in lost { ended(presentation, .lost) }
    if let entry = state.presentations.first(where: { $0.presentation == current?.presentation }) {
      updated(entry.presentation, value: entry.value)
    }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)? {
    guard let make = content.content else { throw ShowingError(why: "\(binding) is not shown by this program") }
    if content.read() == nil, current == nil, asked == nil, let adopt = content.adopt {
      adopt()
      guard let wanted = content.read(), wanted.id == id else {
        throw ShowingError(why: "the program does not show \(binding) now")
      }
      remaining.insert(presentation)
      current = Current(presentation: presentation, wanted: wanted)
    }
    guard content.read()?.id == id else { return nil }
    return make()
  }
}
