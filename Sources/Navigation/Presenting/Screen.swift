// Why this file exists: what a program shows itself is told to come and to go, and says when it has.

import DBusValues
import PresentationModel

/// Something that a program shows: a window, a page in one, lines on a terminal. It is made for one presentation, when that is
/// to be shown, and let go when that is gone.
@MainActor
public protocol Screen: AnyObject {
  /// Comes on screen. Return when it is there: until then it counts as not shown.
  ///
  /// The task is cancelled where it is to go before it has come.
  /// - Throws: why it cannot be shown (rule D7); whoever presented it finds nil in its state.
  func appear(_ showing: Showing) async throws

  /// Goes, after it has come. Return when it is gone: what is to come next waits for that (P3, G1).
  /// - Returns: a result, for those who wait for the presentation (D6).
  func disappear(_ showing: Showing, animated: Bool) async -> Properties
}

extension Screen {
  /// Goes at once, without a result.
  public func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

/// An item that the coordinator wants to have shown.
public struct PresentedItem: Hashable, Sendable {
  /// The handle, by which it is reported closed.
  public let presentation: PresentationHandle
  /// The text of its binding on the bus.
  public let binding: String
  /// Empty for an item without an id.
  public let id: String
  /// All that the coordinator says of it, by the names of `org.navd.Presenter1`: value, container-values, style, title,
  /// group, tag, stack, from, animated, restored, platform-data.
  public let all: Properties

  /// What the item holds.
  public var value: Properties { StateEntry(all).value ?? [:] }
}

/// One presentation, as the screen that shows it sees it. What is presented from it goes before it does (C3).
@MainActor
public final class Showing: Presenting {
  /// Which one it is.
  public let presentation: PresentationHandle
  /// The binding of its item, as it is called on the bus.
  public let binding: String
  /// The item's id as text; empty for what has none (P7).
  public let id: String
  /// What the coordinator says of the item, by the names of `org.navd.Presenter1`: style, title, animated, …
  public private(set) var item: Properties
  /// What is presented from here goes before it does (C3), and is pushed on the stack that it stands in.
  public let presentationSource: PresentationSource

  /// nil when it is gone: it may hold this.
  private var screen: (any Screen)?
  private let navigator: Navigator
  private var appearing: Task<Void, any Error>?
  /// It was told to go.
  private var disappearing: Task<Properties, Never>?
  /// It has gone by itself, with this.
  private var closing: Properties?
  private var isToldClosed = false
  /// What is presented from here, as long as this is shown.
  private var children: [Presence] = []

  init(_ item: PresentedItem, screen: any Screen, _ navigator: Navigator) {
    presentation = item.presentation
    binding = item.binding
    id = item.id
    self.item = item.all
    self.screen = screen
    self.navigator = navigator
    presentationSource = PresentationSource(
      navigator: navigator, binding: binding, stack: StateEntry(item.all).stack)
  }

  /// Its user has closed it: nil is written to the state that it is presented from. It does not disappear by this: it has.
  /// - Throws: `unreachable` where there is no coordinator now; one that comes is told.
  public func close(_ result: Properties = [:]) async throws(NavigationError) {
    closing = result
    try await navigator.coordinator.closed(presentation, result: result)
    isToldClosed = true
  }

  /// Its user has done something in it: all who watch are told, before they are told of anything that comes of it (P8).
  public func act(_ action: String, _ parameters: Properties = [:]) async throws(NavigationError) {
    try await navigator.coordinator.act(presentation, action, parameters)
  }

  /// What is presented from here goes with it.
  public func keep(_ presence: Presence) { children.append(presence) }

  func appear() async throws {
    let task = Task { [screen] () async throws -> Void in try await screen?.appear(self) }
    appearing = task
    try await task.value
  }

  func update(_ item: Properties) { self.item = item }

  /// A coordinator that comes believes it to be shown.
  func restored(_ item: Properties) {
    self.item = item
    if let closing, !isToldClosed { Task { try await close(closing) } }
  }

  /// However often it is told, it goes once.
  func disappear(animated: Bool) async -> Properties {
    if closing != nil { return [:] }
    if let disappearing { return await disappearing.value }
    appearing?.cancel()
    let task = Task { [appearing] in
      // What does not come need not go.
      do { try await appearing?.value } catch { return [:] as Properties }
      return await screen?.disappear(self, animated: animated) ?? [:]
    }
    disappearing = task
    return await task.value
  }

  /// It is gone for the coordinator; it goes, if nobody told it to. What was presented from here went before (C3): that
  /// state drives nothing any more.
  func leave() {
    for child in children { child.forget() }
    children = []
    Task {
      _ = await disappear(animated: false)
      (screen, appearing, disappearing) = (nil, nil, nil)
    }
  }
}
