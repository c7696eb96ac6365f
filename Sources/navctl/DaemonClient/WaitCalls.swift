import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel

extension DaemonClient {
  /// Waits until a presentation is presented, or gone.
  ///
  /// The successor of a navd that restarts is asked (R5). The question starts no navd, because the
  /// session may be ending.
  /// - Parameter wasRunning: whether navd has replied before, so that its absence can only be a restart.
  func wait(
    for presentation: ObjectPath, _ phase: WaitPhase = .gone, wasRunning: Bool = true
  ) throws(Failure) -> WaitOutcome {
    var reply: Result<WaitOutcome, DBusError>?
    func finish(_ result: Result<WaitOutcome, DBusError>) {
      reply = reply ?? result
      loop.stop()
    }
    var wasRunning = wasRunning
    let watch = connection.watchName(CoordinatorNames.bus) { [self] owner in
      guard owner != nil else {
        if !wasRunning { finish(.failure(DBusError(name: .nameHasNoOwner, message: ""))) }
        return
      }
      wasRunning = true
      _ = callWait(presentation, phase) { result in
        if case .failure(let error) = result, Self.isRestart(error) { return }
        finish(result)
      }
    }
    defer { watch.cancel() }
    connection.handlers.onDisconnected = {
      finish(.failure(DBusError(name: .disconnected, message: Failure.disconnected)))
    }
    if let timeLeft {
      _ = loop.timer(after: timeLeft) { finish(.failure(DBusError(name: .timedOut, message: ""))) }
    }
    if reply == nil { loop.run() }
    switch reply {
    case .success(let outcome)?: return outcome
    case .failure(let error)? where error.name == .timedOut:
      throw Failure(
        operation, "not \(phase.rawValue) in time",
        hint: "“navctl wait --presentation \(presentation.presentationNumber)” continues to wait", status: .timedOut)
    case .failure(let error)?: throw Failure(operation, error)
    case nil: throw Failure(operation, "interrupted")
    }
  }

  /// Whether the error means that navd is stopping, and its successor can be asked.
  static func isRestart(_ error: DBusError) -> Bool {
    error.name == .noReply || error.name == .nameHasNoOwner || error.name == .serviceUnknown
      || CoordinatorError.Name(error.name) == .shuttingDown
  }

  private func callWait(
    _ presentation: ObjectPath, _ phase: WaitPhase,
    _ completion: @escaping (Result<WaitOutcome, DBusError>) -> Void
  ) -> PendingCall {
    connection.call(
      CoordinatorInterface.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object,
      (presentation, phase.rawValue), timeout: nil, autoStart: false
    ) { result in
      completion(result.map { WaitOutcome(reason: $0.0, result: PresentationResult($0.1)) })
    }
  }

  // MARK: Outcomes that are known already

  /// The outcomes of those presentations that have ended.
  ///
  /// navd replies at once about a presentation that has ended, so its reply precedes the reply to a ping sent after the calls.
  func outcomes(of presentations: [ObjectPath]) throws(Failure) -> [ObjectPath: WaitOutcome] {
    guard !presentations.isEmpty else { return [:] }
    var outcomes: [ObjectPath: WaitOutcome] = [:]
    let calls = presentations.map { presentation in
      callWait(presentation, .gone) { if case .success(let outcome) = $0 { outcomes[presentation] = outcome } }
    }
    var failure: DBusError?
    connection.call(
      Peer.ping, on: CoordinatorNames.bus, at: CoordinatorNames.object, (), timeout: timeLeft ?? defaultTimeout,
      autoStart: false
    ) { [loop] in
      if case .failure(let error) = $0 { failure = error }
      loop.stop()
    }
    loop.run()
    for call in calls { call.cancel() }
    if let failure { throw Failure(operation, failure) }
    return outcomes
  }

  /// Finds the reasons of failed presentations that have ended, as far as navd remembers them.
  func errors(of entries: [EndingEntry], _ completion: @escaping ([String?]) -> Void) {
    var errors = [String?](repeating: nil, count: entries.count)
    var missing = entries.count
    for (index, entry) in entries.enumerated() {
      _ = callWait((entry.failedPresentation ?? Handle(0)).path, .gone) { result in
        errors[index] = (try? result.get())?.result.error
        missing -= 1
        if missing == 0 { completion(errors) }
      }
    }
  }

  // The request has succeeded, and later questions cannot change that: in a sandbox that permits the request alone, navd does not
  // answer them.

  /// Reports a program that could not be started, for presentations, and for the members of groups whose presentations a reply does
  /// not name. navd starts it right after its reply, so the next call knows the result.
  /// - Parameters:
  ///   - isNamed: whether the error names the item, because the operation does not.
  ///   - serial: the serial of the reply.
  /// - Throws: `Failure` with the reason of the first one. Queued items are not waited for, and crashes of shown items are ignored:
  ///   these results would depend on timing.
  func requireStart(
    of presentations: [ObjectPath] = [], in groups: Set<String> = [], isNamed: Bool = false, after serial: UInt64
  ) throws(Failure) {
    let presentations = presentations.filter { $0 != .root }
    guard !presentations.isEmpty || !groups.isEmpty else { return }
    let failures = failuresAndNotes(after: serial)
    if global.notifies { try watchStart(of: presentations + shown(in: groups)) }
    // Calls of Wait, one for each presentation, would make navd follow this client.
    for failure in failures.reversed() {
      let presentation = failure.presentation.map(CoordinatorNames.presentation) ?? .root
      if presentations.contains(presentation) || failure.group.map(groups.contains) == true {
        try reportFailedStart(of: presentation, at: isNamed ? failure.binding : nil)
      }
    }
  }

  // MARK: Failed starts as notifications

  /// The time in which a person still associates an event with the pressed key.
  private static let startTime = Duration.seconds(2)

  /// The presentations of the selected members of groups.
  private func shown(in groups: Set<String>) -> [ObjectPath] {
    guard !groups.isEmpty, let state = try? state() else { return [] }
    return state.entries.filter { $0.group.map(groups.contains) == true && $0.knownPhase != .waiting }
      .compactMap { $0.presentation.map(CoordinatorNames.presentation) }
  }

  /// Fails if programs that were just started fail at once (`--notify`), because nothing else would tell the user.
  /// - Throws: `Failure` for the first program that fails.
  private func watchStart(of presentations: [ObjectPath]) throws(Failure) {
    guard !presentations.isEmpty else { return }
    var failure: Failure?
    var open = presentations.count
    let calls = presentations.map { presentation in
      callWait(presentation, .gone) { [self] result in
        open -= 1
        if case .success(let outcome) = result {
          failure = failure ?? outcome.failureAtStart.map { Failure(operation, $0) }
        }
        if open == 0 || failure != nil { loop.stop() }
      }
    }
    let timer = loop.timer(after: min(Self.startTime, timeLeft ?? Self.startTime)) { [loop] in loop.stop() }
    loop.run()
    timer.cancel()
    for call in calls { call.cancel() }
    if let failure { throw failure }
    if open > 0 { tellLateStart(of: presentations) }
  }

  /// Tells of programs that run and have no window when their start timeout is over: they go on, so this is no failure.
  private func tellLateStart(of presentations: [ObjectPath]) {
    let numbers = Set(presentations.map(\.presentationNumber))
    /// The entries of those that follow windows and have none yet.
    func starting() -> [StateEntry] {
      ((try? state())?.entries ?? []).filter { entry in
        entry.knownPhase == .presenting && entry.windows != nil
          && entry.presentation.map { numbers.contains(String($0)) } == true
      }
    }
    let waiting = starting()
    guard !waiting.isEmpty else { return }
    if waiting.allSatisfy({ $0.late == nil }) {
      let names = Set(waiting.compactMap(\.destination))
      let longest =
        ((try? destinations()) ?? []).filter { names.contains($0.name) }
        .compactMap(\.entry.startTimeout).max() ?? 0
      let time = min(Duration.milliseconds(Int64(clamping: longest)), timeLeft ?? .seconds(60))
      var open = waiting.count
      let calls = waiting.compactMap(\.presentation).map { number in
        callWait(CoordinatorNames.presentation(number), .presented) { [loop] _ in
          open -= 1
          if open == 0 { loop.stop() }
        }
      }
      let timer = loop.timer(after: time) { [loop] in loop.stop() }
      loop.run()
      timer.cancel()
      for call in calls { call.cancel() }
    }
    for entry in starting() {
      guard let late = entry.late else { continue }
      let failure = Failure(operation, late)
      ErrorOutput.write(failure.line)
      DesktopNotification.show(failure)
    }
  }

  /// Asks what came of a request, and notes what its user may not have meant, in one round trip: whoever holds the key waits for it.
  /// - Returns: the failures after a serial, the latest first; none if navd does not answer.
  private func failuresAndNotes(after serial: UInt64) -> [EndingEntry] {
    var filter: Properties = [:]
    filter[Options.reason] = Reason.failed.rawValue
    filter[Options.afterSerial] = serial
    var failures: [EndingEntry] = []
    var open = 0
    func ask<Input, Output>(
      _ method: Method<Input, Output>, _ input: Input, _ receive: @escaping (Output) -> Void
    ) {
      open += 1
      connection.call(
        method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: timeLeft ?? defaultTimeout,
        autoStart: false
      ) { [loop] result in
        if case .success(let output) = result { receive(output) }
        open -= 1
        if open == 0 { loop.stop() }
      }
    }
    var mistakes: [String: String] = [:]
    if destination != nil, !global.quiet {
      ask(CoordinatorInterface.mistakes, ()) { mistakes = $0 }
    }
    var names: [String] = []
    if word != nil, !global.quiet {
      ask(CoordinatorInterface.destinations, ()) { names = $0.map(\.fields.0) }
    }
    ask(CoordinatorInterface.history, (0, filter)) { failures = $0.map(EndingEntry.init) }
    loop.run()
    noteRequest(mistakes: mistakes, destinations: names)
    return failures
  }

  /// - Parameter binding: the name for the error, if the operation does not contain it.
  private func reportFailedStart(of presentation: ObjectPath, at binding: String? = nil) throws(Failure) {
    guard let outcome = try? outcomes(of: [presentation])[presentation], outcome.hasFailed,
      outcome.result.signal == nil, let error = outcome.result.error
    else { return }
    throw Failure(operation, (binding.map { "“\($0)” " } ?? "") + ErrorOutput.part(error))
  }
}
