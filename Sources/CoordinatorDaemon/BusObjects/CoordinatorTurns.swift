import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import PresentationModel
import PresentationRules

/// The turns of the coordinator: the alarm that begins one, the record of its changes, and what follows its announcements. Then
/// ended presentations leave their presenters, hooks start, presenters get their commands, and after `Quit` navd ends.
final class CoordinatorTurns {
  private unowned let coordinator: CoordinatorRoot
  private var alarm: Timer?
  /// The next attempt to record what waits for room on the disk.
  private var attempt: Timer?
  /// Commands for presenters, carried out at the end of the turn, after the announcements.
  private var commands: [PresenterCommand] = []
  /// The limit of programs that start in one turn: each takes milliseconds.
  private static let startsPerTurn = 16
  /// Whether presenters' answers of the last turn have led to further commands.
  private var hasFollowing = false
  /// The number of commands at the beginning of `commands` that an earlier turn left over.
  private var countOfLate = 0
  /// Ended presentations, removed from the presenters at the end of the turn.
  private var ended: [Handle] = []
  private var isQuitting = false
  /// Called once, when everything has ended after `Quit`.
  var onQuit: (() -> Void)?

  init(of coordinator: CoordinatorRoot) { self.coordinator = coordinator }

  func begin() {
    // The next program starts before the end of the last one is announced, because the user waits for the new program. A client
    // that asks about the failure then also finds the new program.
    coordinator.connection.handlers.hasMoreToCome = { [unowned self] in !commands.isEmpty && mayStart }
    coordinator.connection.handlers.isBusy = { [unowned self] in hasFollowing && mayStart }
    coordinator.loop.atEndOfTurn(of: self) { $0.finish() }
  }

  private var service: CoordinatorService<CoordinatorRoot> { coordinator.service }
  private var hooks: HookRunner { coordinator.hooks }

  func append(_ command: PresenterCommand) { commands.append(command) }

  func note(_ event: Change.Event) {
    if case .dismissed(let handle, _, _, _, _) = event { ended.append(handle) }
  }

  /// Ends navd once everything has ended.
  func quit() { isQuitting = true }

  func setAlarm(at time: Instant) {
    alarm?.cancel()
    alarm = coordinator.loop.timer(at: MonotonicInstant(nanoseconds: Int64(clamping: time.nanoseconds))) {
      [inbox = coordinator.inbox] in inbox.take(.alarm)
    }
  }

  /// Handles the alarm.
  func expire() {
    // A presenter cannot be late with a command that it has not received yet.
    for command in commands {
      let due = service.machine.presentation(command.handle)?.answerDue
      if let due, due <= coordinator.now { service.restartAnswer(of: command.handle) }
    }
    service.expire()
  }

  /// Records the changes of a turn before its messages are sent, so that a client only hears of recorded changes (R1).
  func record() {
    coordinator.presenters.windows.recordChanges()
    coordinator.record.note(windowsToShow: coordinator.presenters.windows.toShow)
    let changes = service.takeUnrecorded()
    if !changes.isEmpty { coordinator.tell(.changed(changes)) }
    do throws(Refusal) {
      try coordinator.record.write(changes, clock: service.machine.wallClockLead)
    } catch {
      coordinator.connection.failReplies(with: DBusError(error))
    }
  }

  /// Ends a turn after its announcements: removes ended presentations, and carries out commands.
  private func finish() {
    let connection = coordinator.connection
    coordinator.tell(.turnEnded)
    // No other code calls this when the bus is not connected.
    if !connection.isOpen { connection.handlers.beforeFlush?() }
    for handle in ended { coordinator.presenters.forget(handle) }
    ended.removeAll(keepingCapacity: true)
    coordinator.presenters.commands.environment = service.machine.environment
    if mayStart { hooks.startSome(isLast: isQuitting) } else { waitForRoom() }
    hasFollowing = false
    guard !commands.isEmpty else {
      if isQuitting, service.machine.isEmpty, hooks.isIdle {
        isQuitting = false
        onQuit?()
      }
      return
    }
    let ready = takeReady()
    for (command, isLate) in ready {
      if isLate { service.restartAnswer(of: command.handle) }
      carryOut(command)
    }
    hasFollowing = commands.count > countOfLate
    // The next turn announces the answers that presenters gave at once.
    if !ready.isEmpty { coordinator.loop.soon {} }
  }

  /// Whether anything may start now: what starts has to be on record, or the next navd would start it again (R2). What navd ends for
  /// `Quit` does not wait.
  private var mayStart: Bool { isQuitting || !coordinator.record.isFull }

  /// Takes the next commands, with whether an earlier turn has left them over. Programs that may not start yet wait, with the later
  /// commands for the same presentations.
  private func takeReady() -> [(command: PresenterCommand, isLate: Bool)] {
    var starts = mayStart ? Self.startsPerTurn : 0
    var (ready, waiting, unstarted): ([(PresenterCommand, Bool)], [PresenterCommand], Set<Handle>) = ([], [], [])
    for (index, command) in commands.enumerated() {
      if isStart(command), !unstarted.contains(command.handle) {
        if starts == 0 { unstarted.insert(command.handle) }
        starts = max(0, starts - 1)
      }
      if unstarted.contains(command.handle) {
        waiting.append(command)
      } else {
        ready.append((command, index < countOfLate))
      }
    }
    commands = waiting
    countOfLate = waiting.count
    return ready
  }

  /// Whether a command starts a program. To call a presenter on the bus is quick, but may have to wait for the record, too.
  private func isStart(_ command: PresenterCommand) -> Bool {
    guard case .present(let handle) = command else { return false }
    if mayStart, case .bus? = service.machine.presentation(handle)?.item.destination?.presenter { return false }
    return true
  }

  /// Has another turn try to record what waits for room on the disk.
  private func waitForRoom() {
    guard attempt == nil, !commands.isEmpty || !hooks.isIdle else { return }
    attempt = coordinator.loop.timer(after: .seconds(1)) { [unowned self] in attempt = nil }
  }

  private func carryOut(_ command: PresenterCommand) {
    let presenters = coordinator.presenters
    switch command {
    case .present(let handle):
      guard let presentation = service.machine.presentation(handle) else { return }
      // The request may be older than the setting: it waited, its group remembered it, or it was recorded.
      if presentation.item.destination?.source == .request,
        let refusal = coordinator.authorization.inlineCommands.refusal
      {
        // `ended` also completes an earlier dismissal.
        return service.report(.ended(handle, failed: true, result: ["error": .string(refusal.message)]))
      }
      presenters.presenter(for: presentation)?.present(
        presentation, service.machine.itemEntry(of: presentation).properties)
      coordinator.tell(.platformChanged(handle))
    case .update(let handle, let author):
      guard let presentation = service.machine.presentation(handle) else { return }
      presenters[handle]?.update(presentation, service.machine.itemEntry(of: presentation).properties, author: author)
    case .dismiss(let handle, let reason, let animated, let isForced):
      let isRequested = service.machine.presentation(handle)?.endedBy != nil
      presenters[handle]?.dismiss(handle, reason, isRequested: isRequested, animated: animated, isForced: isForced)
    case .kill(let handle):
      presenters[handle]?.kill(handle)
    case .raise(let handle):
      presenters.arranger(of: handle)?.raise(handle)
    case .bring(let handle, let output):
      presenters.arranger(of: handle)?.bring(handle, to: output)
    case .move(let handle):
      guard let presentation = service.machine.presentation(handle) else { return }
      presenters.arranger(of: handle)?.move(presentation)
    // This was carried out at once.
    case .abandon: break
    case .endParked(let program, let isForced):
      presenters.windows.endParked(program, isForced: isForced)
    case .releaseParked(let program): presenters.windows.releaseParked(program)
    }
  }
}
