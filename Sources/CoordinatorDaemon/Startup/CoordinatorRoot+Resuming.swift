import CoordinatorCore
import DBus
import Logging
import PresentationModel
import PresentationRules
import TextFormats

extension CoordinatorRoot {
  /// Asks for the facts of the session. The bus answers while navd reads its files.
  func askSession() {
    facts.begin()
    connection.flush()
  }

  /// Resumes the recorded state (R2). Clients are served after the presenters have searched for their presentations.
  /// - Parameter completion: called once.
  func resume(_ recovered: RecoveredSession, _ completion: @escaping () -> Void) {
    // The items of another session ended with it, long ago.
    if !recovered.isOfOtherSession {
      service.machine.forEachPresentation { [hooks, checks] presentation in
        hooks.follow(presentation)
        checks.follow(presentation)
      }
    }
    facts.whenKnown(recorded: service.machine.facts) { [self] facts in resume(recovered, facts, completion) }
  }

  private func resume(
    _ recovered: RecoveredSession, _ facts: [SessionFact: Bool], _ completion: @escaping () -> Void
  ) {
    // Until now the record belonged to the previous navd; changes of this navd, with its clock, belong to its own session.
    connection.handlers.beforeFlush = { [unowned self] in turns.record() }
    // The presentations of another session end, and its fallbacks end with them.
    let isFresh = service.machine.isEmpty || recovered.isOfOtherSession
    presenters.adopt(service.machine.survivors, parked: service.machine.parked, from: recovered) {
      [self] survivals in
      if !isFresh {
        fallbackClock.groups = configuration.files.groups
        if let groups = fallbackClock.look() { service.load(groups: groups) }
      }
      let clients = service.machine.knownClients
      let absent = recovered.absent(of: clients)
      record.note(recovered.session)
      if recovered.isFirst { service.forgetEnvironment() }
      // The kept items also include those that end now.
      let kept = recovered.isFirst ? service.machine.loginItems : []
      let keptHolds = recovered.isFirst ? service.machine.loginHolds : [:]
      let before = service.machine.count
      let early = inbox.open(to: self)
      service.resume(survivals, absent: absent, isOtherSession: recovered.isOfOtherSession, facts: facts)
      tell(.resumed)
      for client in clients.subtracting(absent) { clientDepartures.follow(client) }
      if before > 0 {
        log.notice(
          "resumed the state of the previous navd",
          metadata: [
            "presentations": "\(service.machine.count)", "ended meanwhile": "\(before - service.machine.count)",
          ])
      }
      for incoming in early { handle(incoming) }
      connection.callers = .served
      // They come before the items that they hold up.
      if !keptHolds.isEmpty { service.restore(keptHolds) }
      if !kept.isEmpty { log.notice("presenting what was kept for this login", metadata: ["count": "\(kept.count)"]) }
      present(again: kept[...]) { [self] in
        guard isFresh else { return completion() }
        // The fallbacks come after the startup transaction, so that none is started for a moment (K1).
        func finish() {
          loadGroups()
          completion()
        }
        if let startup = configuration.files.startup { carryOut(startup, finish) } else { finish() }
      }
    }
  }

  /// Carries out the startup transaction (K4). A refused transaction changes nothing.
  /// - Parameter completion: called once.
  private func carryOut(_ startup: StartupFile, _ completion: @escaping () -> Void) {
    func carryOut() {
      do throws(Refusal) {
        let requests = try startup.requests(service.machine.containerValueDefaults)
        if let unknown = windows.systemToBeKnown(for: requests) { return unknown.whenKnown(carryOut) }
        try authorization.inlineCommands.check(requests, inTransaction: true)
        try windows.check(requests, inTransaction: true)
        try service.perform(windows.placing(requests, inTransaction: true), by: nil)
        log.notice("startup carried out", metadata: ["requests": "\(requests.count)"])
      } catch {
        configuration.note(startup.fault(error))
        log.error("startup is not carried out: \(startup.fault(error))")
      }
      completion()
    }
    carryOut()
  }

  /// Presents again the items kept from an earlier session (K4). An item that is refused is no longer kept.
  /// - Parameter completion: called once.
  private func present(
    again kept: ArraySlice<(binding: BindingID, item: LoginItem)>, _ completion: @escaping () -> Void
  ) {
    for (index, (binding, item)) in zip(kept.indices, kept) {
      guard let request = service.machine.request(presentingAgain: item, at: binding) else { continue }
      if let unknown = windows.systemToBeKnown(for: [request]) {
        return unknown.whenKnown { [self] in present(again: kept[index...], completion) }
      }
      do throws(Refusal) {
        try windows.check([request], inTransaction: false)
        try service.perform(windows.placing([request], inTransaction: false), by: nil, isRestoring: true)
      } catch {
        log.warning(
          "an item of the last session is not presented again: \(error.message)", metadata: ["binding": "\(binding)"])
      }
    }
    service.forgetOtherLoginItems()
    completion()
  }
}
