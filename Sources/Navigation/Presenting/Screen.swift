import DBusValues
import PresentationModel

/// Something that a program shows: a window, a page in one, lines on a terminal. A screen is made for one presentation
/// when that is shown, and released when it has ended.
@MainActor
public protocol Screen: AnyObject {
  /// Shows the screen, and returns when it is visible. Until then it does not count as presented.
  ///
  /// The task is cancelled if the screen is dismissed before that.
  /// - Throws: the reason why it cannot be shown (rule D7). The state that presents it becomes nil.
  func appear(_ showing: Showing) async throws

  /// Hides the screen after it has appeared, and returns when it is gone. The next screen waits for that (P3, G1).
  /// - Returns: a result for clients that wait for the presentation (D6).
  func disappear(_ showing: Showing, animated: Bool) async -> Properties
}

extension Screen {
  /// Disappears at once, without a result.
  public func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

/// An item that the coordinator asks this program to show.
public struct PresentedItem: Hashable, Sendable {
  /// The handle of the presentation.
  public let presentation: PresentationHandle
  /// The text of its binding on the bus.
  public let binding: String
  /// The item's id; empty if it has none.
  public let id: String
  /// The item's properties as named in `org.navd.Presenter1`: value, container-values, style, title, group, tag, stack,
  /// from, animated, restored, platform-data.
  public let all: Properties

  /// The item's value.
  public var value: Properties { StateEntry(all).value ?? [:] }
}

/// One presentation as seen by the screen that shows it. Items presented from it end before it does (C3).
@MainActor
public final class Showing: Presenting {
  /// The handle of the presentation.
  public let presentation: PresentationHandle
  /// The binding of its item, as text on the bus.
  public let binding: String
  /// The item's id as text; empty if it has none (P7).
  public let id: String
  /// The item's properties as named in `org.navd.Presenter1`: style, title, animated, …
  public private(set) var item: Properties
  /// Items presented from here end before it does (C3), and are pushed on the stack that contains it.
  public let presentationSource: PresentationSource

  /// The screen; nil after the end, because the screen may retain this object.
  private var screen: (any Screen)?
  private let navigator: Navigator
  private var appearing: Task<Void, any Error>?
  /// Whether it was asked to disappear.
  private var disappearing: Task<Properties, Never>?
  /// The result with which its user has closed it.
  private var closing: Properties?
  private var isToldClosed = false
  /// Presences of items presented from here, retained while this is shown.
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

  /// Reports that its user has closed it. The state that presents it becomes nil. `disappear` is not called, because
  /// the screen is already gone.
  /// - Throws: `unreachable` if there is no coordinator now; the next coordinator receives the report.
  public func close(_ result: Properties = [:]) async throws(NavigationError) {
    closing = result
    try await navigator.coordinator.closed(presentation, result: result)
    isToldClosed = true
  }

  /// Reports an action of its user. All watchers are notified of it before its consequences (P8).
  public func act(_ action: String, _ parameters: Properties = [:]) async throws(NavigationError) {
    try await navigator.coordinator.act(presentation, action, parameters)
  }

  /// Presences from here end with it.
  public func keep(_ presence: Presence) { children.append(presence) }

  func appear() async throws {
    let task = Task { [screen] () async throws -> Void in try await screen?.appear(self) }
    appearing = task
    try await task.value
  }

  func update(_ item: Properties) { self.item = item }

  /// A new coordinator assumes that it is shown, so a failed report of its close is repeated.
  func restored(_ item: Properties) {
    self.item = item
    if let closing, !isToldClosed { Task { try await close(closing) } }
  }

  /// Disappears once, even if it is asked several times.
  func disappear(animated: Bool) async -> Properties {
    if closing != nil { return [:] }
    if let disappearing { return await disappearing.value }
    appearing?.cancel()
    let task = Task { [appearing] in
      // A screen that never appeared does not disappear.
      do { try await appearing?.value } catch { return [:] as Properties }
      return await screen?.disappear(self, animated: animated) ?? [:]
    }
    disappearing = task
    return await task.value
  }

  /// Ends it after the coordinator has; the screen disappears unless it already has. Items presented from it have ended
  /// before (C3), so their state drives nothing any more.
  func leave() {
    for child in children { child.forget() }
    children = []
    Task {
      _ = await disappear(animated: false)
      (screen, appearing, disappearing) = (nil, nil, nil)
    }
  }
}
