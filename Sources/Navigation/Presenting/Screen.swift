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
  ///
  /// A screen that asks its user first calls ``Showing/ask(_:)``. A forced dismissal cancels the task of an earlier one that was not
  /// forced; if that declines all the same, this is called once more. See ``Showing/isForced``.
  /// - Returns: a result for clients that wait for the presentation (D6).
  /// - Throws: `Declined` to stay on the screen (P15). If the dismissal is forced, it counts as gone all the same.
  func disappear(_ showing: Showing, animated: Bool) async throws(Declined) -> Properties
}

/// The refusal of a screen to disappear (P15). The state that presents it gets its item back, and so does the state of everything that
/// was being dismissed and has to stay because of it.
public struct Declined: Error, Hashable, Sendable {
  /// The reason, for clients that watch; empty for none.
  public let message: String

  /// - Parameter message: the reason, for clients that watch; at most the limit `id` of bytes, the rest is cut off.
  public init(_ message: String = "") { self.message = message }
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

  /// The transaction in which the program's state has requested it and, while it disappears, its end (T2). Without values
  /// of the program if another client has. ``Transaction/current`` is the same while the screen appears and disappears.
  public internal(set) var transaction: Transaction

  /// The screen; nil after the end, because the screen may retain this object.
  package private(set) var screen: (any Screen)?
  private let navigator: Navigator
  /// Whether the screen must disappear: the coordinator ignores it if it declines (P15). Also true after the end.
  public private(set) var isForced = false

  private var appearing: Task<Void, any Error>?
  /// Whether it was asked to disappear, and has not declined that.
  private var disappearing: Task<Result<Properties, Declined>, Never>?
  /// The question that its user is asked before it disappears.
  private var question: String?
  /// The result with which its user has closed it.
  private var closing: Properties?
  private var isToldClosed = false
  /// Presences of items presented from here, retained while this is shown.
  private var children: [Presence] = []

  init(_ item: PresentedItem, screen: any Screen, _ transaction: Transaction, _ navigator: Navigator) {
    self.transaction = transaction
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
    navigator.vanished(self)
    try await navigator.coordinator.closed(presentation, result: result)
    isToldClosed = true
  }

  /// Reports an action of its user. All watchers are notified of it before its consequences (P8).
  public func act(_ action: String, _ parameters: Properties = [:]) async throws(NavigationError) {
    try await navigator.coordinator.act(presentation, action, parameters)
  }

  /// Reports that its user is asked before it disappears (P16): the coordinator then waits for as long as that takes, unless the
  /// dismissal is forced. Has no effect if it was not asked to disappear.
  /// - Parameter message: the question, for clients that watch.
  /// - Throws: `unreachable` if there is no coordinator now; the next coordinator receives the report.
  public func ask(_ message: String) async throws(NavigationError) {
    question = message
    try await navigator.coordinator.asking(presentation, message)
  }

  /// Presences from here end with it.
  public func keep(_ presence: Presence) { children.append(presence) }

  func appear() async throws {
    let task = Transaction.$current.withValue(transaction) {
      Task { [screen] () async throws -> Void in
        try await screen?.appear(self)
        if closing == nil { navigator.appeared(self) }
      }
    }
    appearing = task
    try await task.value
  }

  func update(_ item: Properties) { self.item = item }

  /// A new coordinator assumes that it is shown, so a failed report of its close is repeated.
  func restored(_ item: Properties) {
    self.item = item
    if let closing, !isToldClosed { Task { try await close(closing) } }
  }

  /// Disappears once, even if it is asked several times; again only after it has declined.
  func disappear(animated: Bool, isForced: Bool) async throws(Declined) -> Properties {
    if closing != nil { return [:] }
    self.isForced = self.isForced || isForced
    if isForced {
      disappearing?.cancel()
    } else if disappearing != nil, let question {
      // A new coordinator does not know that its user is being asked.
      Task { try? await ask(question) }
    }
    let result = await (disappearing ?? beginDisappearing(animated: animated)).value
    if isForced, case .failure = result {
      return (try? await (disappearing ?? beginDisappearing(animated: animated)).value.get()) ?? [:]
    }
    return try result.get()
  }

  /// - Returns: a task that fails only if the dismissal was not forced when it began.
  private func beginDisappearing(animated: Bool) -> Task<Result<Properties, Declined>, Never> {
    question = nil
    appearing?.cancel()
    let task = Transaction.$current.withValue(transaction) {
      Task { [appearing, isForced] () -> Result<Properties, Declined> in
        // A screen that never appeared does not disappear.
        do { try await appearing?.value } catch { return .success([:]) }
        do throws(Declined) {
          let result = try await screen?.disappear(self, animated: animated) ?? [:]
          navigator.vanished(self)
          return .success(result)
        } catch {
          if isForced {
            navigator.vanished(self)
            return .success([:])
          }
          disappearing = nil
          return .failure(error)
        }
      }
    }
    disappearing = task
    return task
  }

  /// Ends it after the coordinator has; the screen disappears unless it already has. Items presented from it have ended
  /// before (C3), so their state drives nothing any more.
  func leave() {
    for child in children { child.forget() }
    children = []
    Task {
      _ = try? await disappear(animated: false, isForced: true)
      (screen, appearing, disappearing) = (nil, nil, nil)
    }
  }
}
