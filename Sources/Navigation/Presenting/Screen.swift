import CoordinatorAPI
import DBusValues
import PresentationModel

/// Something that a program shows: a window, a page in a window, lines on a terminal. A screen is created when its one presentation
/// is shown, and released when the presentation has ended.
///
///     final class Line: Screen {
///       private let text: String
///       init(_ text: String) { self.text = text }
///
///       func appear(_ showing: Showing) async throws { print(text) }
///       func disappear(_ showing: Showing, animated: Bool) async -> Properties {
///         print("\(text) is gone")
///         return [:]
///       }
///     }
@MainActor
public protocol Screen: AnyObject {
  /// Shows the screen, and returns when it is visible. Until then it does not count as presented.
  ///
  /// The task is cancelled if the screen is dismissed before that.
  /// - Throws: the reason why the screen cannot be shown (D7). The state that presents it becomes nil.
  func appear(_ showing: Showing) async throws

  /// Hides the screen after it has appeared, and returns when it is gone. The next screen waits for that (P3, G1).
  ///
  /// The screen cannot decline here: a screen that may have to stay is a ``DecliningScreen``, which is asked before.
  /// - Parameters:
  ///   - showing: the presentation that the screen shows.
  ///   - animated: false to disappear at once.
  /// - Returns: a result for clients that wait for the presentation; `[:]` for none (D6).
  func disappear(_ showing: Showing, animated: Bool) async -> Properties
}

/// An item that the coordinator asks this program to show.
///
///     func appear(_ showing: Showing) async throws {
///       let item = showing.presentedItem
///       print(item.presentation, item.binding, item.id, item.value, item.all.keys)
///     }
public struct PresentedItem: Hashable, Sendable {
  /// The handle of the presentation.
  public let presentation: PresentationHandle
  /// The text of the binding on the bus.
  public let binding: String
  /// The item's id; empty if it has none.
  public let id: String
  /// The item's properties as named in `org.navd.Presenter1`: value, container-values, style, title, group, tag, stack,
  /// from, animated, restored, platform-data.
  public internal(set) var all: Properties
  /// A moment at which the presentation was in the coordinator's state, unless it had ended.
  let beginning: Moment

  /// The item's value.
  public var value: Properties { StateEntry(all).value ?? [:] }
}

/// One presentation as seen by its screen. Items presented from it end before it does (C3).
///
///     func appear(_ showing: Showing) async throws {
///       // What is presented from here ends before this screen does.
///       showing.present(item: $model.note) { note in Window(note.wrappedValue.text) }
///       showing.observe { print(model.text) }
///     }
@MainActor
public final class Showing: Presenting {
  /// The item as the coordinator has it now: the texts of its binding and of its id, and its properties on the bus. The program's own value
  /// is that of the ``Binding`` which the closure of the screen gets.
  ///
  ///     print("\(showing.presentedItem.binding) \(showing.presentedItem.id) is shown")
  public private(set) var presentedItem: PresentedItem
  /// The handle of the presentation.
  ///
  ///     let (reason, result) = try await coordinator.waitUntilGone(showing.presentation)
  public var presentation: PresentationHandle { presentedItem.presentation }
  package var binding: String { presentedItem.binding }
  package var id: String { presentedItem.id }
  package var item: Properties { presentedItem.all }

  /// The transaction in which the program's state has requested the presentation and, while it disappears, its end (T2). It has no
  /// values of the program if another client has requested them. What the screen changes while it appears and disappears is not in this
  /// transaction.
  ///
  ///     func appear(_ showing: Showing) async throws {
  ///       if showing.transaction.animated == false { print("it is there at once") }
  ///     }
  public internal(set) var transaction: Transaction

  /// The screen; nil after the end, because the screen may retain this object.
  package private(set) var screen: (any Screen)?
  private let navigator: Navigator
  /// Whether the screen must disappear, even if it declines (P15). Also true after the end.
  ///
  ///     func disappear(_ showing: Showing, animated: Bool) async -> Properties {
  ///       if showing.isForced { try? await model.save() }
  ///       return [:]
  ///     }
  public private(set) var isForced = false

  private var appearing: Task<Void, any Error>?
  /// The preparation to disappear, which returns a refusal, if any; nil after that.
  private var preparing: Task<Declined?, Never>?
  /// Whether the screen was asked to disappear, and has not answered.
  private(set) var isPreparing = false
  private var disappearing: Task<Properties, Never>?
  /// The question that the user is asked before the screen disappears.
  private var question: String?
  /// The result with which the user has closed the screen. `isTold`: whether a coordinator has received it.
  private var closed: (result: Properties, isTold: Bool)?
  /// The announcement of the last action by the coordinator.
  private var announcement = Announcement.unexpected

  private enum Announcement: Equatable {
    case unexpected
    case awaited
    /// The program has got this action without the coordinator.
    case superfluous(String)
  }

  /// The result and the transaction given to ``dismiss(_:force:)``.
  private var dismissing: (result: Properties, transaction: Transaction)?
  /// The presences of items presented from here, retained while this presentation is shown.
  private var children: [Presence] = []
  /// Whether the presentation has ended, so that nothing is presented from here any more. A screen that has stayed after its
  /// presentation was lost can still ask its user.
  private(set) var isOver = false
  /// The functions that present again what was presented from here, and has ended with this presentation's dismissal. `isPopped`: whether
  /// it was an element above this one in a stack.
  private var former: [(isPopped: Bool, present: @MainActor () -> Void)] = []
  private(set) var isBeingDismissed = false
  private let work = ScreenWork()
  /// The functions to call when the screen is gone.
  private var ends: [@MainActor () -> Void] = []
  /// The leaving of a screen whose presentation is lost, which returns whether the screen has left; nil before that.
  private var leaving: Task<Bool, Never>?
  /// Whether the presentation was lost, so that the coordinator does not know the screen.
  private var isLost: Bool { leaving != nil }

  /// A moment at which the presentation was in the coordinator's state, unless it had ended.
  var beginning: Moment { presentedItem.beginning }

  init(_ item: PresentedItem, screen: any Screen, _ transaction: Transaction, _ navigator: Navigator) {
    self.transaction = transaction
    presentedItem = item
    self.screen = screen
    self.navigator = navigator
  }

  /// The source of items presented from here. They are pushed on the stack that contains this
  /// presentation, and end before it does (C3). An item presented while the screen prepares to
  /// disappear is the question to the user: the coordinator waits for the answer (P16). The
  /// question ends with the preparation. If the question declines to end, the screen declines, too.
  public var presentationSource: PresentationSource {
    PresentationSource(navigator: navigator, binding: binding, stack: StateEntry(item).stack, parent: self)
  }

  /// Dismisses the presentation, as a button “Cancel” or “Done” does. The coordinator accepts the dismissal, and then calls the
  /// screen as for any other one. So a ``DecliningScreen`` is asked first, unless the dismissal is forced. When the screen has
  /// disappeared, the state that presents it becomes nil. Has no effect if the presentation has ended or is being dismissed.
  ///
  ///     showing.connect(button, "clicked") { showing.dismiss() }
  ///
  /// The current transaction applies (``withTransaction(_:isolation:_:)``). If there is no coordinator now, or none that knows the
  /// screen, the screen disappears nevertheless, after those that are presented from it, and the next coordinator receives the report.
  /// A dismissal that is not permitted is reported to ``Navigator/onRefused``.
  /// - Parameters:
  ///   - result: a result for clients that wait for the presentation, added to the result of
  ///     ``Screen/disappear(_:animated:)`` (D6). For a key in both, this one counts.
  ///   - force: whether the screen must not decline, as for a button “Discard”. Also true in a transaction with ``Transaction/isForced``.
  public func dismiss(_ result: Properties = [:], force: Bool = false) {
    var transaction = Transaction.current
    if force { transaction.isForced = true }
    Task {
      do throws(NavigationError) { try await dismiss(result, in: transaction) } catch { navigator.tellRefused(error) }
    }
  }

  /// Dismisses the presentation, and returns when the coordinator has accepted the dismissal.
  ///
  ///     try await showing.dismiss(["choice": "tea"], animated: false)
  ///
  /// - Parameters:
  ///   - result: a result for clients that wait for the presentation (D6).
  ///   - animated: whether the screen disappears with an animation; nil leaves it to the screen.
  ///   - force: whether the screen must not decline.
  /// - Throws: `refused` if the dismissal is not permitted; `cancelled`.
  public func dismiss(
    _ result: Properties = [:], animated: Bool? = nil, force: Bool = false
  ) async throws(NavigationError) {
    var transaction = Transaction()
    transaction.animated = animated
    transaction.isForced = force
    try await dismiss(result, in: transaction)
  }

  private func dismiss(_ result: Properties, in transaction: Transaction) async throws(NavigationError) {
    if isOver { return }
    dismissing = (result, transaction)
    let (animated, isForced) = (transaction.animated, transaction.isForced)
    if isLost { return await dismissWithoutCoordinator(animated: animated, isForced: isForced) }
    await navigator.appearancesReported()
    do throws(NavigationError) {
      try await navigator.coordinator.dismiss(
        binding, animated: animated, force: isForced, expecting: Expectation(presentation: presentation))
    } catch {
      switch error {
      case .refused(let refusal) where refusal.name == .stale: break
      case .refused, .cancelled: throw error
      case .unreachable, .closed: await dismissWithoutCoordinator(animated: animated, isForced: isForced)
      }
    }
  }

  private func dismissWithoutCoordinator(animated: Bool?, isForced: Bool) async {
    do throws(Declined) {
      // Items presented from this presentation end before it does (C3). A screen that has stayed after its presentation was lost has no
      // part in a later one of its binding.
      for child in navigator.screens(presentedFrom: self) where child.isLost == isLost {
        await child.dismissWithoutCoordinator(animated: animated, isForced: isForced)
        if child.isShown {
          dismissing = nil
          return
        }
      }
      let result = try await disappear(animated: animated ?? true, isForced: isForced)
      if isLost { end() } else { try? await reportClosed(result) }
    } catch {
      // The screen stays.
    }
  }

  /// Whether the screen has appeared, and neither disappeared nor been closed.
  var isShown: Bool { navigator.visible.contains { $0 === self } }

  /// Reports that the user has closed the screen, when it is already gone, for example by the button of its window. The state that
  /// presents it becomes nil. The screen is not called; if it prepares to disappear, that task is cancelled. A button of the screen
  /// itself calls ``dismiss(_:force:)`` instead.
  ///
  ///     Task { try? await showing.reportClosed() }
  ///
  /// - Parameter result: a result for clients that wait for the presentation (D6).
  /// - Throws: `unreachable` if there is no coordinator now; the next coordinator receives the report.
  public func reportClosed(_ result: Properties = [:]) async throws(NavigationError) {
    closed = (result, false)
    preparing?.cancel()
    endWork()
    navigator.vanished(self)
    // Its handle may be that of another presentation now.
    if isLost { return end() }
    try await navigator.coordinator.reportClosed(presentation, result: result)
    closed?.isTold = true
  }

  /// Reports an action of the user. All watchers are notified before its consequences (P8). Without a coordinator, nobody gets it.
  ///
  ///     try await showing.act("reply", ["text": "Milk"])
  ///
  /// - Parameters:
  ///   - action: the name of the action.
  ///   - parameters: what belongs to the action.
  /// - Throws: `unreachable` if there is no coordinator now; `refused`; `cancelled`.
  public func act(_ action: String, _ parameters: Properties = [:]) async throws(NavigationError) {
    try await navigator.coordinator.act(presentation, action, parameters)
  }

  /// Reports an action of the user, which the program gets in any case, once.
  /// - Parameter isSecret: whether the program alone gets the parameters.
  /// - Throws: `cancelled`.
  func deliver(_ action: String, _ parameters: Properties, isSecret: Bool) async throws(NavigationError) {
    if isSecret {
      navigator.acted(self, action, parameters)
      announcement = .superfluous(action)
      do throws(NavigationError) { if !isLost { try await act(action) } } catch {
        if error == .cancelled { throw error }
      }
      return
    }
    announcement = .awaited
    defer { if announcement == .awaited { announcement = .unexpected } }
    do throws(NavigationError) {
      if !isLost { return try await act(action, parameters) }
    } catch {
      if error == .cancelled { throw error }
    }
    // A coordinator that has ended may have announced the action before, and its signal may be read after the error.
    guard announcement == .awaited else { return }
    navigator.acted(self, action, parameters)
    announcement = .superfluous(action)
  }

  /// Notes that the coordinator has announced an action.
  /// - Returns: whether the program gets it by the coordinator; false if it has it already.
  func announced(_ action: String) -> Bool {
    defer { announcement = .unexpected }
    return announcement != .superfluous(action)
  }

  /// Reports that the user is asked before the screen disappears (P16). The coordinator then waits without a limit, unless the
  /// dismissal is forced. Has no effect if the screen was not asked to disappear.
  ///
  /// A ``DecliningScreen`` calls this while it prepares to disappear. It also asks its user if
  /// there is no coordinator now; the next one receives the question.
  ///
  ///     try await showing.ask("Discard the changes?")
  ///
  /// - Parameter message: the question, for watching clients.
  /// - Throws: `cancelled`, for example when the dismissal is forced meanwhile; `refused`.
  public func ask(_ message: String) async throws(NavigationError) {
    question = message
    // The handle may be that of another presentation now.
    if isLost { return }
    do throws(NavigationError) {
      try await navigator.coordinator.reportAsking(presentation, message)
    } catch {
      switch error {
      case .unreachable, .closed: break
      case .refused, .cancelled: throw error
      }
    }
  }

  /// Runs `apply` now, and again after changes of the observable properties that it read (``observe(isolation:_:)``), until the screen
  /// begins to disappear.
  ///
  ///     func appear(_ showing: Showing) async throws {
  ///       showing.observe { [fact] in print(fact.wrappedValue.text) }
  ///     }
  public func observe(_ apply: @escaping @MainActor () -> Void) { work.observe(apply) }

  /// Runs a task, which is cancelled when the screen begins to disappear.
  ///
  ///     func appear(_ showing: Showing) async throws {
  ///       showing.task { [model] in
  ///         for await price in Prices() { model.price = price }
  ///       }
  ///     }
  ///
  /// - Parameter body: the task's work. After the screen has ended, it is begun cancelled.
  /// - Returns: the task.
  @discardableResult
  public func task(_ body: @escaping @MainActor () async -> Void) -> Task<Void, Never> { work.run(body) }

  /// Ends the observations and tasks of the screen, which begins to disappear or is gone.
  package func endWork() { work.end() }

  /// Retains a presence until this presentation ends.
  public func keep(_ presence: Presence) {
    if isOver { return }
    children.append(presence)
    presence.atEnd { [weak self, unowned presence] in self?.children.removeAll { $0 === presence } }
  }

  /// Whether the screen ends only because it is out of view: it is a tab that is not selected any more, or presented from one.
  var isHidden: Bool { navigator.isHidden(self) }

  /// Whether the screen is asked before another program changes its item.
  var mayAllowChanges: Bool { screen is any DecliningScreen && isShown }

  /// Asks a screen that may decline whether another program may change its item.
  func allowsChange(to value: Properties) async -> Bool {
    guard let screen = screen as? any DecliningScreen else { return true }
    do {
      try await screen.prepareToChange(self, to: value)
      return true
    } catch {
      return false
    }
  }

  func appear() async throws {
    let task = Task { [screen] () async throws -> Void in
      try await screen?.appear(self)
      if closed == nil { navigator.appeared(self) }
    }
    appearing = task
    try await task.value
  }

  func update(_ item: Properties) {
    presentedItem.all = item
  }

  /// Handles a new coordinator, which assumes that the presentation is shown. So a failed report of its close is repeated.
  func restored(_ item: Properties) {
    update(item)
    announcement = .unexpected
    if let closed, !closed.isTold { Task { try await reportClosed(closed.result) } }
  }

  /// The transaction in which the program has called ``dismiss(_:force:)``; nil if it has not.
  var transactionOfDismissal: Transaction? { dismissing?.transaction }

  /// Reports that the user is asked by an item presented during the preparation, unless the screen has reported it.
  func asks(_ message: String) {
    guard isPreparing, question == nil else { return }
    question = message
    Task { try? await ask(message) }
  }

  /// Ends the items presented during the preparation. The coordinator does not know that they belong to this presentation.
  /// - Returns: the refusal of one of them to end, if any. A forced screen does not wait for it.
  @discardableResult
  private func endQuestions() async -> Declined? {
    let questions = children.compactMap { $0.driver as? ItemDriver }.filter(\.place.isWithoutParent)
    withTransaction(\.isForced, isForced) { for question in questions { question.endWithParent() } }
    while !isForced {
      // No screen waits for an item that itself waits for the next screen of the slot.
      let open = questions.filter { $0.place.isWithoutParent && !$0.isOver }
      if open.isEmpty { break }
      if let kept = open.first(where: \.isKept) { return Declined("\(kept.place.binding) stays") }
      await navigator.change()
    }
    return nil
  }

  /// Asks the screen if it may decline, and makes it disappear. This happens once, even if the screen is dismissed several times, and
  /// again only after it has declined. A forced dismissal does not wait for the answer to one that is not forced.
  func disappear(animated: Bool, isForced: Bool) async throws(Declined) -> Properties {
    if closed != nil { return [:] }
    self.isForced = self.isForced || isForced
    if isForced {
      preparing?.cancel()
      navigator.changed()
    } else if disappearing == nil, screen is any DecliningScreen {
      // A new coordinator does not know that the screen prepares.
      if preparing != nil { tellPreparing() }
      let declined = await (preparing ?? beginPreparing()).value
      if let declined, !self.isForced { throw declined }
      if closed != nil { return [:] }
    }
    return await (disappearing ?? beginDisappearing(animated: animated)).value
  }

  private func beginPreparing() -> Task<Declined?, Never> {
    question = nil
    appearing?.cancel()
    let task = Task { [appearing] () -> Declined? in
      // A screen that never appeared cannot decline.
      do { try await appearing?.value } catch { return nil }
      guard let screen = screen as? any DecliningScreen, !isForced else { return nil }
      let declined = await prepare(screen)
      if declined != nil { (preparing, question, dismissing) = (nil, nil, nil) }
      return declined
    }
    preparing = task
    return task
  }

  /// Asks the screen, and ends what was presented meanwhile.
  /// - Returns: the refusal of either, if any.
  private func prepare(_ screen: any DecliningScreen) async -> Declined? {
    isPreparing = true
    Task {
      await Task.yield()
      if isPreparing, question == nil { tellPreparing() }
    }
    do {
      defer { isPreparing = false }
      try await screen.prepareToDisappear(self)
    } catch {
      Task { await endQuestions() }
      return error as? Declined ?? Declined("\(error)")
    }
    return await endQuestions()
  }

  /// Tells the coordinator that the screen prepares, so that it waits for the answer without a limit (P16).
  private func tellPreparing() {
    if isLost { return }
    Task { [question] in try? await navigator.coordinator.reportAsking(presentation, question ?? "") }
  }

  private func beginDisappearing(animated: Bool) -> Task<Properties, Never> {
    appearing?.cancel()
    let task = Task { [appearing] () -> Properties in
      // A screen that never appeared does not disappear.
      do { try await appearing?.value } catch { return [:] }
      // Items presented from this presentation end before it does (C3).
      await endQuestions()
      endWork()
      let result = await screen?.disappear(self, animated: animated) ?? [:]
      navigator.vanished(self)
      return result.merging(dismissing?.result ?? [:]) { $1 }
    }
    disappearing = task
    return task
  }

  /// Ends the presentation after the coordinator has ended it; the screen disappears unless it
  /// already has. The state of items presented from it controls nothing any more, since these items
  /// have ended before (C3).
  func leave() {
    isOver = true
    forgetChildren()
    Task {
      _ = try? await disappear(animated: false, isForced: true)
      end()
    }
  }

  /// Whether the screen may decline to disappear, but had no chance to: its presentation has ended,
  /// since the coordinator has not waited any longer for its answer or its appearance (P14, D4).
  var mayStay: Bool {
    disappearing == nil && closed == nil && !isForced && screen is any DecliningScreen && isShown
  }

  /// Ends the presentation because the coordinator is gone, no longer knows it, or has not waited for the screen. A screen that declines
  /// stays then until its user closes it. So does each screen from which it is presented (C3).
  func leaveLost() {
    forgetChildren()
    let others = navigator.screens(presentedFrom: self)
    leaving = Task {
      for other in others { guard await other.leaving?.value != false else { return false } }
      do throws(Declined) {
        _ = try await disappear(animated: false, isForced: false)
        end()
        return true
      } catch {
        return false
      }
    }
  }

  private func forgetChildren() {
    let children = children
    self.children = []
    for child in children { child.forget() }
  }

  /// Notes that the coordinator dismisses this presentation. It may be kept (P15).
  func beginsDismissal() { isBeingDismissed = true }

  /// Notes that the dismissal was declined, and presents again what was presented from here, from the outermost.
  func isKept() {
    isBeingDismissed = false
    presentAgain(former.filter { !$0.isPopped }.map(\.present))
    former = []
  }

  /// Handles the end of what was presented from here, since its parent was being dismissed.
  /// - Parameters:
  ///   - child: its screen; nil if this program does not show it.
  ///   - isPopped: whether it was an element above this one in a stack.
  ///   - present: functions that present it again.
  func ended(_ child: Showing?, isPopped: Bool, _ present: [@MainActor () -> Void]) {
    let all = (child?.former.map(\.present) ?? []) + present
    if isBeingDismissed {
      former += all.map { (isPopped, $0) }
    } else if !isPopped, closed == nil {
      // This presentation is kept already.
      presentAgain(all)
    }
  }

  /// Handles the refusal of what was to be presented from here while this presentation was being dismissed: it is presented if this one
  /// is kept.
  func refused(_ present: @escaping @MainActor () -> Void) {
    if isBeingDismissed { former.append((false, present)) }
  }

  private func presentAgain(_ all: [@MainActor () -> Void]) { for present in all.reversed() { present() } }

  /// Calls a function when the screen is gone after its presentation has ended.
  func atEnd(_ body: @escaping @MainActor () -> Void) { ends.append(body) }

  /// Releases the screen, which is gone.
  private func end() {
    isOver = true
    endWork()
    forgetChildren()
    (screen, appearing, preparing, disappearing) = (nil, nil, nil, nil)
    let ends = ends
    self.ends = []
    for end in ends { end() }
  }
}
