import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules

/// Shows items by calling programs on the bus (`org.navd.Presenter1`), whose replies are the acknowledgements (D4).
final class BusPresenter: ProgramPresenter {
  private final class Showing {
    let name: BusName
    let path: ObjectPath
    var watch: NameWatch?
    /// The owner of the name, as far as known.
    var owner: Client?
    /// Whether navd has made a call to dismiss that cannot be declined (P15).
    var isForced = false
    /// Whether the program has left the bus, so that only its name may come back.
    var isGone = false

    init(name: BusName, path: ObjectPath) {
      self.name = name
      self.path = path
    }
  }

  private let connection: Connection
  private let limits: Limits
  private let log: Logger
  private let reports: any ReportReceiver
  private var showing: [Handle: Showing] = [:]
  /// Presentations that presenters shall show again and were not asked to: those of the previous navd (R2), and those of
  /// presenters that have left the bus (D4).
  private var restored: Set<Handle> = []
  /// Calls that wait for room, in their order.
  private var waiting: [BusName: [() -> Void]] = [:]
  private var isLookingForRoom = false
  /// Unreported departures and returns of presenters.
  private var movements: ArraySlice<Report> = []
  /// The limit of `movements` reported in one turn: a presenter may leave very many presentations behind (L2).
  private static let reportsPerTurn = 100

  init(_ connection: Connection, limits: Limits, log: Logger, reports: any ReportReceiver) {
    self.connection = connection
    self.limits = limits
    self.log = log
    self.reports = reports
  }

  /// The reason that a presenter gives for its failure, without the name of the general error, which adds nothing.
  private static func reason(_ error: DBusError) -> String {
    error.name == .failed && !error.message.isEmpty ? error.message : error.description
  }

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    guard case .bus(let text, let path) = presentation.item.destination?.presenter, let name = BusName(text) else {
      reports.take(.presentAnswered(handle, error: "the destination has no valid bus name"))
      return
    }
    guard waiting[name] == nil, hasRoom(name) else {
      reports.take(.presentAnswered(handle, error: noRoom(name)))
      return
    }
    stopShowing(handle)
    let showing = Showing(name: name, path: path)
    self.showing[handle] = showing
    var item = properties
    item[StateEntry.keys.animated] = presentation.item.animated
    if restored.remove(handle) != nil { item[StateEntry.keys.restored] = true }
    var platformData = presentation.item.platformData
    if let output = presentation.item.output { platformData["output"] = .string(output) }
    item[StateEntry.keys.platformData] = platformData
    call(
      PresenterInterface.present, of: showing, (handle.path, presentation.binding.text, presentation.item.id, item),
      autoStart: true
    ) { [weak self] result in
      guard let self, self.showing[handle] === showing else { return }
      switch result {
      case .success: reports.take(.presentAnswered(handle, error: nil))
      // The bus may send this error before the change of the name's owner.
      case .failure(let error) where error.name == .noReply: left(handle)
      case .failure(let error): reports.take(.presentAnswered(handle, error: Self.reason(error)))
      }
    }
    // The name may have no owner until the call has activated its program.
    follow(showing, handle)
  }

  /// Calls a presenter without a timeout, because the rules set the deadlines.
  private func call<Input, Output>(
    _ method: Method<Input, Output>, of showing: Showing, _ input: Input, autoStart: Bool = false,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    connection.call(method, on: showing.name, at: showing.path, input, timeout: nil, autoStart: autoStart) {
      [weak self] result in
      self?.scheduleWaitingCalls()
      completion(result)
    }
  }

  // MARK: Limits

  /// Whether a presenter may get another call.
  private func hasRoom(_ name: BusName) -> Bool {
    connection.openCallCount(to: name) < min(limits.callsPerPresenter, shareOfCalls)
  }

  /// The number of unanswered calls that one presenter may have because of the others. Presenters that never answer share the
  /// limit with those that do, so each has at most a share of the calls that are left, but always a few.
  private var shareOfCalls: Int {
    let guaranteed = connection.openCallCount < limits.allCalls ? Limits.guaranteedCalls : 0
    return max(guaranteed, roomInAll / Limits.shareOfCalls)
  }

  private var roomInAll: Int { max(0, limits.calls - connection.openCallCount) }

  /// The reason why a presenter may not get another call.
  private func noRoom(_ name: BusName) -> String {
    let found = connection.openCallCount(to: name) + (waiting[name]?.count ?? 0)
    let (most, limit) =
      found < limits.callsPerPresenter
      ? (
        "fewer than \(shareOfCalls) unanswered calls of the presenter \(name), with \(roomInAll) left of \(limits.calls) for "
          + "all", "calls"
      )
      : ("at most \(limits.callsPerPresenter) unanswered calls of the presenter \(name)", "calls-per-presenter")
    return "expected \(most) (the limit “\(limit)”), found \(found)"
  }

  /// Makes a call now, or after the presenter's waiting calls when there is room for it.
  private func whenRoom(_ name: BusName, _ call: @escaping () -> Void) {
    if waiting[name] == nil, hasRoom(name) { call() } else { waiting[name, default: []].append(call) }
  }

  /// Makes the waiting calls that have room, once a turn.
  private func scheduleWaitingCalls() {
    guard !waiting.isEmpty, !isLookingForRoom else { return }
    isLookingForRoom = true
    connection.loop.soon { [weak self] in
      guard let self else { return }
      isLookingForRoom = false
      for (name, calls) in waiting {
        // A call is counted as soon as it is made.
        let made = calls.prefix { call in
          guard self.hasRoom(name) else { return false }
          call()
          return true
        }
        if made.count == calls.count { waiting[name] = nil } else { waiting[name]?.removeFirst(made.count) }
      }
    }
  }

  // MARK: Presentations

  private func follow(_ showing: Showing, _ handle: Handle) {
    var hadOwner = false
    showing.watch = connection.watchName(showing.name) { [weak self] owner in
      guard let self, self.showing[handle] === showing else { return }
      if let owner {
        if hadOwner, showing.owner != Client(owner.text) { left(handle) }
        hadOwner = true
        showing.owner = Client(owner.text)
      } else if hadOwner || showing.name.isUnique {
        left(handle)
      }
    }
  }

  /// Reports that the presenter of an item has left the bus (D4).
  private func left(_ handle: Handle) {
    guard let name = showing[handle]?.name, let path = showing[handle]?.path else { return }
    stopShowing(handle)
    notice(.presenterLeft(handle))
    awaitReturn(handle, name, path)
  }

  /// Waits until a name has an owner again. The unique name of a connection never has.
  private func awaitReturn(_ handle: Handle, _ name: BusName, _ path: ObjectPath) {
    restored.insert(handle)
    guard !name.isUnique else { return }
    let gone = Showing(name: name, path: path)
    gone.isGone = true
    showing[handle] = gone
    gone.watch = connection.watchName(name) { [weak self] owner in
      guard let self, owner != nil, showing[handle] === gone else { return }
      notice(.presenterReturned(handle))
    }
  }

  private func notice(_ movement: Report) {
    if movements.isEmpty { connection.loop.soon { [weak self] in self?.reportMovements() } }
    movements.append(movement)
  }

  private func reportMovements() {
    let some = movements.prefix(Self.reportsPerTurn)
    movements.removeFirst(some.count)
    if !movements.isEmpty { connection.loop.soon { [weak self] in self?.reportMovements() } }
    for movement in some { reports.take(movement) }
  }

  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {
    let handle = presentation.handle
    guard let showing = showing[handle], !showing.isGone else { return }
    guard author == nil || author != showing.owner else {
      reports.take(.updateAnswered(handle))
      return
    }
    whenRoom(showing.name) { [weak self] in
      guard let self, self.showing[handle] === showing else { return }
      call(PresenterInterface.update, of: showing, (handle.path, properties)) { [weak self] _ in
        guard let self, self.showing[handle] === showing else { return }
        reports.take(.updateAnswered(handle))
      }
    }
  }

  func dismiss(_ handle: Handle, _ reason: Reason, isRequested: Bool, animated: Bool, isForced: Bool) {
    guard let showing = showing[handle], !showing.isGone else {
      reports.take(.dismissAnswered(handle, result: [:]))
      return
    }
    showing.isForced = showing.isForced || isForced
    let options = DismissalOptions(animated: animated, forced: isForced)
    whenRoom(showing.name) { [weak self] in
      self?.call(PresenterInterface.dismiss, of: showing, (handle.path, reason.rawValue, options.properties)) {
        [weak self] result in
        guard case .failure(let error) = result, error.name == .unknownMethod || error.name == .invalidArgs else {
          self?.answered(handle, showing, reason, result)
          return
        }
        // The presenter may still close the item by itself; otherwise its grace time ends the item (P14).
        self?.log.warning(
          "the presenter does not implement Dismiss of \(PresenterInterface.name): \(error)",
          metadata: ["presenter": "\(showing.name)", "presentation": "\(handle)"])
      }
    }
  }

  private func answered(
    _ handle: Handle, _ showing: Showing, _ reason: Reason, _ result: Result<Properties, DBusError>
  ) {
    let isDeclined =
      if case .failure(let error) = result { ErrorCode(error.name) == .declined } else { false }
    guard self.showing[handle] === showing else {
      // The presenter keeps an item that counts as gone (P14), so it is called once more; its answer changes nothing.
      if isDeclined, !showing.isForced {
        showing.isForced = true
        let options = DismissalOptions(animated: false, forced: true)
        call(PresenterInterface.dismiss, of: showing, (handle.path, reason.rawValue, options.properties)) { _ in }
      }
      return
    }
    switch result {
    case .failure(let error) where isDeclined: return reports.take(.declined(handle, message: error.message))
    case .success(let values):
      forget(handle)
      reports.take(.dismissAnswered(handle, result: values))
    case .failure(let error):
      forget(handle)
      reports.take(.dismissAnswered(handle, result: ["error": .string(error.description)]))
    }
  }

  /// Presenters that are still on the bus are asked to show their items again, and so learn of the new navd.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    var survivals: [Handle: Survival] = [:]
    for presentation in remembered.map(\.presentation) {
      guard case .bus(let text, let path) = presentation.item.destination?.presenter, let name = BusName(text) else {
        continue
      }
      if recovered.names.contains(text) {
        let showing = Showing(name: name, path: path)
        self.showing[presentation.handle] = showing
        follow(showing, presentation.handle)
        restored.insert(presentation.handle)
        survivals[presentation.handle] = .toBeShown
      } else if presentation.awaitsPresenter {
        awaitReturn(presentation.handle, name, path)
        survivals[presentation.handle] = .awaited
      }
    }
    completion(survivals)
  }

  /// Does nothing: navd has not started the program.
  func kill(_ handle: Handle) {}
  func abandon(_ handle: Handle) {}

  func platform(of handle: Handle) -> Properties { [:] }

  /// Whether a client is the presenter of the presentation (D11).
  func shows(_ handle: Handle, as client: Client) -> Bool { showing[handle]?.owner == client }

  func forget(_ handle: Handle) {
    restored.remove(handle)
    stopShowing(handle)
  }

  private func stopShowing(_ handle: Handle) { showing.removeValue(forKey: handle)?.watch?.cancel() }
}
