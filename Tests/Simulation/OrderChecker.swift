import DBusValues
import PresentationModel
import PresentationRules

/// A checker of what is on screen, and of the order in which presentations start and end. It knows the commands, reports and
/// announcements alone, and never the state of the machine.
struct OrderChecker {
  /// The stage of a presentation, as known from the log.
  enum Stage: Equatable {
    case waiting
    /// The presenter was asked to show it, by a deadline in milliseconds.
    /// - Parameter due: nil if the item may take as long as its program runs (N2).
    case presenting(due: UInt64?)
    case presented
    /// The presenter was asked to end it, by a deadline in milliseconds.
    case asked(due: UInt64)
    /// The presenter asks its user (P16).
    case asking
    case killed(due: UInt64)
    /// The windows are gone, and the result is awaited by a deadline in milliseconds (N3).
    case settling(due: UInt64)
    case ended
  }

  struct Showing {
    let handle: Handle
    let token: Token
    let binding: BindingID
    let id: String
    let group: BindingID?
    let tag: String?
    let stack: BindingID?
    let position: Int
    let parent: Handle?
    let hasNamedParent: Bool
    let destination: String?
    var presenter: Destination.Presenter
    var startTimeout: UInt64
    /// Whether the start timeout ends it (N2).
    var isStartLimited: Bool
    var grace: UInt64
    let followsWindows: Bool
    let creator: Client?
    /// Whether its destination has an item stay until the one with the next id is there (G10).
    let overlaps: Bool
    /// Whether its program still has to say that it is on the screen, and whether its presenter has answered before that (D19).
    var awaitsReady: Bool
    var isStarted = false
    /// Whether its window has to come to the front before that of another one, which its presenter is asked for once it is ready (G10,
    /// D19), and whether that was asked for.
    var comesForwardWhenReady = false
    var comesForward = false
    var stage = Stage.waiting
    /// Whether it is being dismissed.
    var isGoing = false
    /// Whether one of several changes of this input dismisses it.
    var isAboutToGo = false
    /// The reason of its dismissal, as the machine announced it.
    var reason: Reason?
    /// Whether it was told to be presented.
    var hasAppeared = false
    /// Whether its successor has been on the screen since: it goes, whatever comes next (G10).
    var hasHandedOver = false
    /// Whether its presenter was asked to end it, by this navd or by one before.
    var wasAsked = false
    /// Whether its presenter was asked to end it without leave to decline (P15).
    var isForced = false
    /// Whether its presenter ended it without being asked, or its windows are gone for good.
    var hasDeparted = false
    /// Whether its windows are gone for good, and its result is to come (N3).
    var awaitsResult = false
    /// The result that its end has to have, as far as its presenter reported one.
    var result: Properties?
    var isUpdateUnderWay = false
    /// The item as its presenter knows it.
    var told: Shared<Item>?
    /// Whether navd has restarted and may ask its presenter once more.
    var isToBeShownAgain = false
    /// Whether its presenter had left when navd was killed, and has not shown it since.
    var isShownByNobody = false
    /// The time at which it may start; nil once that has come (K3).
    var startDue: UInt64?
    /// The deadline of its presenter's answer after a restart, or of its presenter's return.
    var againDue: UInt64?
    /// Whether its presenter has left the bus, and may come back (D4).
    var isAway = false
    /// The times at which its presenter has left.
    var absences: [UInt64] = []

    var isStateOnly: Bool { presenter == .none }
    var isBus: Bool { if case .bus = presenter { true } else { false } }
    var canBeKilled: Bool { !isStateOnly && !isBus }
    var hasStarted: Bool { stage != .waiting && stage != .ended }
    var due: UInt64? {
      switch stage {
      case .presenting(let due): due
      case .asked(let due), .killed(let due), .settling(let due): due
      // A presentation that is to go is waited for in another way.
      case .waiting, .presented, .asking, .ended: isGoing ? nil : againDue
      }
    }
    /// Whether its presenter was told to end it, has not answered, and may answer that it stays. For windows that is known only
    /// after the grace (N6).
    var isAsked: Bool {
      switch stage {
      case .asked, .asking: true
      case .killed: followsWindows
      case .waiting, .presenting, .presented, .settling, .ended: false
      }
    }
    var isSettling: Bool { if case .settling = stage { true } else { false } }

    /// Notes that a later change of this input dismisses it.
    mutating func goes(later reason: Reason) { (self.reason, isAboutToGo) = (reason, true) }

    /// Adds to the result. The first value of a key counts.
    mutating func add(_ more: Properties) { result = (result ?? [:]).merging(more) { first, _ in first } }
  }

  /// What should be shown after one of the changes of an input.
  struct Goal {
    /// The items that should be shown, and whether they are not queued.
    var selected: [Token: Bool] = [:]
    /// The items that a hold keeps from being presented (H4).
    var held: Set<Token> = []
  }

  /// What should be shown after each change of the last input, if it made several: the state before it, and those after its changes, in
  /// their order. Otherwise the state after it alone.
  var goals = [Goal()]
  private var goal: Goal { goals[goals.count - 1] }
  /// The presentations that stayed when an input of several changes came, by the tokens of those for which they did (G10).
  private var outlastingBefore: [Token: [Token]] = [:]
  /// The groups whose fallback comes in the same input if nothing else is selected (K1).
  var groupsWithFallback: Set<BindingID> = []
  /// The groups whose members overlap (G10).
  var overlapping: Set<BindingID> = []
  /// The presentations of which their user sees nothing (N3).
  var unseen: Set<Token> = []
  /// The presentations that have not ended, the oldest first.
  private(set) var alive: [Showing] = []
  private(set) var lastHandle = Handle(0)
  /// Presentations that are new in this step.
  private var introduced: Set<Handle> = []
  /// Presentations whose dismissal was answered in this step.
  private var acknowledged: Set<Handle> = []
  /// Presentations that the machine abandoned in this step, and those that ended without an answer.
  private var abandoned: Set<Handle> = []
  private var endedUnanswered: Set<Handle> = []

  func showing(_ handle: Handle) -> Showing? { alive.first { $0.handle == handle } }

  private func index(_ handle: Handle) throws(Violation) -> Int {
    guard let index = alive.firstIndex(where: { $0.handle == handle }) else {
      throw Violation("P6", "\(handle) is spoken of, but it is gone or was never there")
    }
    return index
  }

  // MARK: The log

  /// Introduces a new presentation.
  /// - Parameter hasNamedParent: whether a request said from what it is presented.
  /// - Parameter startDue: when it may start; nil for at once.
  mutating func introduce(
    _ presentation: Presentation, token: Token, hasNamedParent: Bool, startDue: UInt64?
  ) throws(Violation) {
    try require(presentation.handle > lastHandle, "P6", "\(presentation.handle) was used before")
    lastHandle = presentation.handle
    introduced.insert(presentation.handle)
    let destination = presentation.item.destination
    alive.append(
      Showing(
        handle: presentation.handle, token: token, binding: presentation.binding,
        id: presentation.item.id, group: presentation.item.membership?.group, tag: presentation.item.membership?.tag,
        stack: presentation.item.position?.stack,
        position: presentation.item.position?.index ?? 0, parent: presentation.parent, hasNamedParent: hasNamedParent,
        destination: destination?.name, presenter: destination?.presenter ?? .none,
        startTimeout: destination?.startTimeout ?? 0,
        isStartLimited: destination?.window == nil || destination?.isStartTimeoutWritten == true
          || destination?.itemSettings?.awaitsReady == true,
        grace: destination?.grace ?? 0, followsWindows: destination?.window != nil, creator: presentation.creator,
        overlaps: destination?.itemSettings?.replacement == .overlap,
        awaitsReady: destination?.itemSettings?.awaitsReady == true, startDue: startDue))
  }

  /// Lets time pass, after which presentations that waited for it may start (K3).
  mutating func pass(to now: UInt64) {
    for index in alive.indices where alive[index].startDue.map({ $0 <= now }) == true { alive[index].startDue = nil }
  }

  /// Takes in a report of a presenter.
  /// - Returns: the presentation that ends because of it, with the reason; nil if the report is too late or too early, or
  ///   answers a command.
  mutating func hear(_ report: Report, at now: UInt64) -> (handle: Handle, reason: Reason)? {
    acknowledged = []
    switch report {
    case .presentAnswered(let handle, let error):
      guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return nil }
      if alive[index].isGoing {
        // The presentation is not shown, though it was to end only later.
        if let error, alive[index].stage == .presented, !alive[index].hasDeparted {
          alive[index].hasDeparted = true
          // A presentation that was not shown again in time has that as its first error.
          if alive[index].againDue == nil { alive[index].result = alive[index].result ?? ["error": .string(error)] }
        }
        return nil
      }
      switch alive[index].stage {
      case .presenting: break
      case .presented where alive[index].againDue != nil && !alive[index].isAway: break
      default: return nil
      }
      alive[index].againDue = nil
      guard let error else {
        if alive[index].awaitsReady {
          alive[index].isStarted = true
          return nil
        }
        if alive[index].comesForwardWhenReady, !alive[index].comesForward {
          alive[index].comesForward = true
          return nil
        }
        alive[index].stage = .presented
        alive[index].isUpdateUnderWay = false
        return nil
      }
      alive[index].hasDeparted = true
      alive[index].result = ["error": .string(error)]
      return (handle, .failed)

    case .ready(let handle):
      guard let index = alive.firstIndex(where: { $0.handle == handle }), !alive[index].isGoing,
        case .presenting = alive[index].stage, alive[index].awaitsReady
      else { return nil }
      alive[index].awaitsReady = false
      guard alive[index].isStarted else { return nil }
      if alive[index].comesForwardWhenReady {
        alive[index].comesForward = true
      } else {
        alive[index].stage = .presented
      }
      return nil

    // Only presenters of windows report these; other presenters make a call on the bus.
    case .asking, .focused, .focusLost, .noFocus: return nil

    // The model says whether these are possible.
    case .hidden, .guestHidden, .parkedShown, .parkedEnded, .parkedStays, .outputGone, .windowsBack, .startsSlowly:
      return nil

    // The model says whether the item stays until the result (K3).
    case .windowsGone(let handle, let isFinal):
      guard isFinal, let index = alive.firstIndex(where: { $0.handle == handle }), alive[index].hasStarted,
        !alive[index].hasDeparted
      else { return nil }
      alive[index].hasDeparted = true
      alive[index].awaitsResult = true
      return alive[index].isGoing ? nil : (handle, .closed)

    case .presenterLeft(let handle):
      guard let index = alive.firstIndex(where: { $0.handle == handle }), alive[index].isBus, !alive[index].hasDeparted,
        !alive[index].isAway
      else { return nil }
      switch alive[index].stage {
      case .presented where !alive[index].isGoing:
        // The rule D4 says: “six times within ten seconds”.
        let absences = alive[index].absences.filter { now - $0 < 10_000 }
        alive[index].absences = absences + [now]
        alive[index].againDue = nil
        alive[index].isUpdateUnderWay = false
        guard absences.count < 5 else {
          alive[index].hasDeparted = true
          return (handle, .failed)
        }
        goAway(index, at: now)
        return nil
      case .presenting, .presented:
        alive[index].hasDeparted = true
        return alive[index].isGoing ? nil : (handle, .failed)
      case .asked, .asking, .killed: acknowledge(index, [:])
      case .waiting, .settling, .ended: break
      }
      return nil

    case .presenterReturned(let handle):
      if let showing = showing(handle), showing.isAway { comesBack(handle) }
      return nil

    case .hung(let handle, _):
      guard let showing = showing(handle), case .presented = showing.stage, !showing.isGoing, !showing.hasDeparted
      else {
        return nil
      }
      return (handle, .failed)

    case .updateAnswered(let handle):
      guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return nil }
      alive[index].isUpdateUnderWay = false
      return nil

    case .dismissAnswered(let handle, let result):
      guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return nil }
      switch alive[index].stage {
      case .asked, .asking, .killed, .settling: acknowledge(index, result)
      default: break
      }
      return nil

    // The model says whether a decline is possible.
    case .declined: return nil

    case .ended(let handle, let failed, let result):
      guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return nil }
      if alive[index].isSettling {
        acknowledge(index, result)
      } else if alive[index].awaitsResult {
        // The presentations that depend on it have to end first.
        alive[index].awaitsResult = false
        alive[index].add(result)
      }
      guard !alive[index].hasDeparted else { return nil }
      switch alive[index].stage {
      case .presenting, .presented:
        alive[index].hasDeparted = true
        alive[index].result = alive[index].result ?? result
        return alive[index].isGoing ? nil : (handle, failed ? .failed : .closed)
      case .asked, .asking, .killed:
        acknowledge(index, result)
        return nil
      case .waiting, .settling, .ended: return nil
      }
    }
  }

  private mutating func goAway(_ index: Int, at now: UInt64) {
    alive[index].isAway = true
    alive[index].againDue = now + 2000
  }

  /// Notes that a presenter has come back, perhaps under another name.
  mutating func comesBack(_ handle: Handle) {
    guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return }
    alive[index].isAway = false
    alive[index].isToBeShownAgain = true
  }

  /// Notes that the presenter of another registration shows a presentation.
  mutating func handOver(_ handle: Handle, to destination: Destination) {
    guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return }
    alive[index].presenter = destination.presenter
    (alive[index].startTimeout, alive[index].grace) = (destination.startTimeout, destination.grace)
  }

  /// Ends the presentations that are to go while their presenters are away.
  mutating func endAbsences(unless isCurrent: (Token) -> Bool) -> [Token] {
    var ended: [Token] = []
    for index in alive.indices where alive[index].isAway && !isCurrent(alive[index].token) {
      alive[index].isAway = false
      alive[index].hasDeparted = true
      ended.append(alive[index].token)
    }
    return ended
  }

  /// Forgets how often presenters have left, as a navd that starts anew does.
  mutating func forgetAbsences() { for index in alive.indices { alive[index].absences = [] } }

  private mutating func acknowledge(_ index: Int, _ result: Properties) {
    acknowledged.insert(alive[index].handle)
    alive[index].add(result)
  }

  /// Lets slots, groups and stacks wait no longer for presentations of which only the results are awaited, and on which nothing
  /// depends (N3).
  private mutating func settle(at now: UInt64) {
    while let index = alive.firstIndex(where: {
      $0.awaitsResult && $0.hasStarted && !$0.isSettling && obstacle(toEndOf: $0, by: goal) == nil
    }) {
      alive[index].stage = .settling(due: now + alive[index].grace)
    }
  }

  /// Notes that the windows of a presentation are hidden, which ends its dismissal (N8).
  mutating func hides(_ handle: Handle) { acknowledged.insert(handle) }

  /// Notes that a presenter asks its user, which stops its grace (P16).
  mutating func asks(_ handle: Handle) {
    guard let index = alive.firstIndex(where: { $0.handle == handle }) else { return }
    alive[index].stage = .asking
  }

  /// Takes in what became of live presentations while navd was not running.
  /// - Returns: the presentations that were lost.
  mutating func note(_ survivals: [Handle: Survival], at now: UInt64) -> [Token] {
    var lost: [Token] = []
    for index in alive.indices {
      alive[index].isUpdateUnderWay = false
      alive[index].isStarted = false
      (alive[index].comesForwardWhenReady, alive[index].comesForward) = (false, false)
      alive[index].againDue = nil
      let wasAway = alive[index].isAway
      alive[index].isAway = false
      // A result does not come any more (N3).
      if alive[index].isSettling { acknowledged.insert(alive[index].handle) }
      alive[index].awaitsResult = false
      guard let survival = survivals[alive[index].handle] else { continue }
      switch (survival, alive[index].stage) {
      case (.gone(let result), .presenting), (.gone(let result), .presented):
        if !alive[index].isGoing { lost.append(alive[index].token) }
        alive[index].hasDeparted = true
        alive[index].result = alive[index].result ?? result
      case (.gone(let result), _): acknowledge(index, result)
      case (_, .asked), (_, .asking), (_, .killed):
        alive[index].stage = .presented
        alive[index].isForced = false
      case (.shown, .presenting) where !alive[index].isGoing:
        alive[index].isStarted = true
        alive[index].stage = alive[index].awaitsReady ? .presenting(due: startDue(of: index, at: now)) : .presented
      case (.awaited, .presented) where !alive[index].isGoing: goAway(index, at: now)
      // What is kept meanwhile is shown again, too (G10).
      case (.toBeShown, _) where !alive[index].isGoing || alive[index].stage == .presented && !alive[index].wasAsked:
        alive[index].isToBeShownAgain = true
        alive[index].isShownByNobody = wasAway
      default: break
      }
    }
    return lost
  }

  /// Notes the result of a report that a presentation was closed (D11).
  mutating func note(_ result: Properties, of handle: Handle) {
    guard let index = alive.firstIndex(where: { $0.handle == handle }), !alive[index].isGoing else { return }
    alive[index].result = result
  }

  /// Takes in the outcome of one input.
  ///
  /// - Parameters:
  ///   - forced: the presentations that must not stay (P15).
  ///   - isOneChange: whether the input is one difference between two states.
  mutating func take(
    _ outcome: Outcome, at now: UInt64, forced: Set<Token>, isOneChange: Bool,
    machine: borrowing StateMachine
  ) throws(Violation) {
    defer {
      alive.removeAll { $0.stage == .ended }
      for index in alive.indices { alive[index].isAboutToGo = false }
      outlastingBefore = [:]
      introduced = []
      acknowledged = []
      abandoned = []
      endedUnanswered = []
    }
    var goingAfterwards: [Handle] = []
    outlastingBefore = goals.count == 1 ? [:] : outlasting(by: goals[0]).mapValues { $0.map(\.token) }
    let goingLater = noteGoing(outcome.changes, machine, isOneChange)
    settle(at: now)
    for change in outcome.changes {
      switch change.event {
      case .presented(let handle, _, _, _):
        let index = try index(handle)
        if alive[index].isStateOnly {
          try checkStart(index, isOneChange)
        } else {
          try require(alive[index].stage == .presented, "P1", "\(handle) was told to be presented without an answer")
        }
        try require(!alive[index].isGoing, "P11", "\(handle) was presented while it was going")
        alive[index].stage = .presented
        alive[index].hasAppeared = true
        if let reason = goingLater[handle] { alive[index].goes(later: reason) }
        for other in alive.indices
        where goals.contains(where: { mayStay(alive[other], beside: alive[index], by: $0) }) {
          alive[other].hasHandedOver = true
        }
      case .phase(let handle, _, _, .dismissing):
        let index = try index(handle)
        // Of several changes, a presentation that came with the first may go with the second.
        if isOneChange { alive[index].isGoing = true } else { goingAfterwards.append(handle) }
      case .declined(let handle, _, _, _):
        let index = try index(handle)
        try require(
          alive[index].isGoing && !alive[index].hasDeparted
            && (alive[index].isAsked || alive[index].stage == .presented),
          "P15", "\(handle) is to stay, but is \(alive[index].stage)")
        alive[index].stage = .presented
        (alive[index].isGoing, alive[index].wasAsked, alive[index].hasHandedOver) = (false, false, false)
        if let reason = goingLater[handle] { alive[index].goes(later: reason) }
        // The answer to showing it again is awaited no longer; the answer to an update is.
        if alive[index].againDue != nil { alive[index].isUpdateUnderWay = false }
        alive[index].againDue = nil
      case .dismissed(let handle, _, _, _, let result):
        try checkEnd(try index(handle), result, at: now)
        settle(at: now)
      default: break
      }
    }
    for command in outcome.commands {
      switch command {
      case .present(let handle):
        let index = try index(handle)
        try require(!alive[index].isStateOnly, "D2", "\(handle) is nothing but state, and its presenter was called")
        // A program that was parked has said so before (D19).
        if machine.presentation(handle)?.program != nil { alive[index].awaitsReady = false }
        if alive[index].isToBeShownAgain {
          alive[index].isToBeShownAgain = false
          alive[index].isShownByNobody = false
          alive[index].told = machine.presentation(handle)?.item
          if case .presenting = alive[index].stage {
            alive[index].stage = .presenting(due: startDue(of: index, at: now))
          } else {
            alive[index].againDue = now + alive[index].startTimeout
            alive[index].isUpdateUnderWay = true
          }
          continue
        }
        if alive[index].comesForward, case .presenting = alive[index].stage {
          alive[index].stage = .presenting(due: startDue(of: index, at: now))
          continue
        }
        try checkStart(index, isOneChange)
        alive[index].comesForwardWhenReady =
          alive[index].awaitsReady && alive[index].followsWindows && machine.presentation(handle)?.takesOver == true
        alive[index].stage = .presenting(due: startDue(of: index, at: now))
        alive[index].told = machine.presentation(handle)?.item
      case .update(let handle, _):
        let index = try index(handle)
        try require(alive[index].isBus, "D10", "\(handle) has no presenter that is told of updates")
        try require(!alive[index].isAway, "D4", "\(handle) was updated, and its presenter is away")
        try require(alive[index].stage == .presented, "D8", "\(handle) was updated while \(alive[index].stage)")
        try require(!alive[index].isUpdateUnderWay, "D8", "\(handle) was updated while an update was under way")
        alive[index].isUpdateUnderWay = true
        alive[index].told = machine.presentation(handle)?.item
      case .dismiss(let handle, _, _, let isForced):
        let index = try index(handle)
        try require(
          isForced == forced.contains(alive[index].token), "P15", "\(handle) was asked to go, forced: \(isForced)")
        switch alive[index].stage {
        case .presenting, .presented: break
        case .asked where isForced && !alive[index].isForced && alive[index].isBus: break
        case .asking where isForced && !alive[index].isForced: break
        default: throw Violation("P6", "\(handle) was asked to go while \(alive[index].stage)")
        }
        try require(!alive[index].hasDeparted, "P6", "\(handle) was asked to go, but it had said that it is gone")
        try checkCanEnd(index)
        alive[index].isForced = isForced
        alive[index].stage = .asked(due: now + alive[index].grace)
        alive[index].wasAsked = true
      case .kill(let handle):
        let index = try index(handle)
        guard case .asked(let due) = alive[index].stage, due <= now, alive[index].canBeKilled else {
          throw Violation("P14", "\(handle) was killed while \(alive[index].stage)")
        }
        alive[index].stage = .killed(due: now + alive[index].grace)
      case .raise, .bring, .move, .endParked, .releaseParked: break
      case .abandon(let handle):
        abandoned.insert(handle)
      }
    }
    try checkParents()
    for handle in goingAfterwards { alive[try index(handle)].isGoing = true }
    try require(
      abandoned == endedUnanswered, "P14",
      "given up: \(abandoned.sorted()), ended without an answer: \(endedUnanswered.sorted())")
  }

  /// Notes what was on the screen before the input and goes with it. Phases are told last, after what comes meanwhile (G10).
  /// - Returns: what comes or stays by one change of the input, and goes by a later one, with the reason (K7).
  private mutating func noteGoing(
    _ changes: [Change], _ machine: borrowing StateMachine, _ isOneChange: Bool
  ) -> [Handle: Reason] {
    var (there, goingLater): (Set<Handle>, [Handle: Reason]) = ([], [:])
    for change in changes {
      let (handle, reason): (Handle, Reason?)
      switch change.event {
      case .presented(let other, _, _, _), .declined(let other, _, _, _):
        there.insert(other)
        continue
      case .phase(let other, _, _, .dismissing):
        (handle, reason) = (other, machine.presentation(other)?.phase.dismissal?.reason)
      case .dismissed(let other, _, _, let why, _): (handle, reason) = (other, why)
      default: continue
      }
      if there.contains(handle), !isOneChange { goingLater[handle] = reason }
      guard let index = alive.firstIndex(where: { $0.handle == handle }), !alive[index].isGoing,
        alive[index].stage == .presented
      else { continue }
      alive[index].reason = reason
      if isOneChange { alive[index].isGoing = true } else { alive[index].isAboutToGo = true }
    }
    return goingLater
  }

  // MARK: Coming (P13, G1, C1, C2, S2)

  /// Checks new presentations against everything that is to be shown after their transaction (C1).
  private func checkParents() throws(Violation) {
    for showing in alive
    where introduced.contains(showing.handle) && !showing.hasNamedParent && showing.stage != .ended {
      let nearest = alive.filter {
        !$0.isGoing && $0.stage != .ended && goal.selected[$0.token] == true
          && derives(showing.binding, from: $0.binding)
      }.max { $0.binding.text.count < $1.binding.text.count }
      try require(
        showing.parent == nearest?.handle, "C1",
        "\(showing.handle) at \(showing.binding) is presented from \(showing.parent?.description ?? "nothing"), but the "
          + "nearest one is \(nearest?.handle.description ?? "none")")
    }
  }

  private func checkStart(_ index: Int, _ isOneChange: Bool) throws(Violation) {
    let showing = alive[index]
    if isOneChange {
      for handle in [showing.handle, showing.parent].compactMap(\.self) {
        try require(
          self.showing(handle).map { goal.selected[$0.token] != nil } ?? true, "P11",
          "\(showing.handle) was started, but \(handle) should not be shown")
      }
    }
    try require(showing.stage == .waiting, "P13", "\(showing.handle) was started while \(showing.stage)")
    guard let obstacle = obstacle(to: showing, by: goal),
      goals.allSatisfy({ $0.selected[showing.token] == nil || self.obstacle(to: showing, by: $0) != nil })
    else { return }
    throw Violation(obstacle.rule, "\(showing.handle) was started, but \(obstacle.what)")
  }

  /// The reason by P13 why a presentation has to wait; nil if it may start.
  private func obstacle(to showing: Showing, by goal: Goal) -> Violation? {
    if let due = showing.startDue { return Violation("K3", "it may come at \(due)") }
    let formerOnes = alive.filter {
      $0.binding == showing.binding && $0.handle < showing.handle && $0.stage != .ended && !$0.isSettling
    }
    if let other = formerOnes.first(where: {
      formerOnes.count > 1 || !mayStay($0, beside: showing, by: goal)
    }) {
      return Violation("P13", "\(other.handle) at the same binding is not gone")
    }
    if let group = showing.group {
      if goal.selected[showing.token] == false { return Violation("G9", "it is not the selected one of \(group)") }
      let others = alive.filter {
        $0.group == group && $0.handle != showing.handle && $0.hasStarted && !$0.isSettling
      }
      if let other = others.first(where: {
        others.count > 1 || !mayStay($0, beside: showing, by: goal)
      }) {
        return Violation("G1", "\(other.handle) of the group \(group) is live")
      }
    }
    if goal.held.contains(showing.token) { return Violation("H4", "a hold is in force") }
    if let parent = showing.parent {
      guard let parent = self.showing(parent) else { return Violation("C6", "its parent \(parent) is gone") }
      if parent.stage != .presented { return Violation("C2", "its parent \(parent.handle) is \(parent.stage)") }
    }
    if let stack = showing.stack {
      let others = alive.filter {
        $0.stack == stack && $0.handle != showing.handle && $0.stage != .ended && !$0.isSettling
      }
      if let above = others.first(where: { $0.isGoing && $0.position >= showing.position }) {
        return Violation("S2", "\(above.handle), which stood there or above, is not gone")
      }
      if let above = others.first(where: { $0.hasStarted && $0.position >= showing.position }) {
        return Violation("S1", "\(above.handle) at \(above.position) started before it")
      }
      if showing.position > 0 {
        let below = others.first { $0.position == showing.position - 1 && !$0.isGoing }
        guard let below else { return Violation("S5", "nothing stands below it") }
        if below.stage != .presented { return Violation("S5", "\(below.handle) below it is \(below.stage)") }
      }
    }
    return nil
  }

  // MARK: Going (C3, S2, P6, P12)

  private func checkCanEnd(_ index: Int) throws(Violation) {
    let showing = alive[index]
    guard let obstacle = obstacle(toEndOf: showing, by: goal),
      goals.allSatisfy({ $0.selected[showing.token] != nil || self.obstacle(toEndOf: showing, by: $0) != nil })
    else { return }
    throw Violation(obstacle.rule, "\(showing.handle) was asked to go, or ended, but \(obstacle.what)")
  }

  /// The presentation that comes while another one, which has to go for it, is still on the screen; nil if there is none (G10).
  private func successor(of showing: Showing, by goal: Goal) -> Showing? {
    guard mayOutlast(showing), goal.selected[showing.token] == nil else { return nil }
    let isOfGroup = isOfOverlappingGroup(showing)
    let next = alive.first {
      guard !$0.isGoing, $0.stage != .ended, goal.selected[$0.token] == true else { return false }
      return isOfGroup
        ? $0.group == showing.group
        : showing.overlaps && showing.reason == .replaced && $0.binding == showing.binding
          && $0.destination == showing.destination
    }
    let hasOther = alive.contains {
      $0.binding == showing.binding && !$0.isGoing && $0.stage != .ended && goal.selected[$0.token] == true
        && $0.token != next?.token
    }
    return next?.stack == nil && !hasOther ? next : nil
  }

  /// Whether a presentation, which has to go, may be on the screen beside the one that starts, perhaps until a later change (G10).
  private func mayStay(_ showing: Showing, beside other: Showing, by goal: Goal) -> Bool {
    successor(of: showing, by: goal)?.handle == other.handle
      || outlastingBefore[other.token, default: []].contains(showing.token)
  }

  /// Whether the fallback of its group comes for something that has to go, with a later change of the same input (K1).
  private func isFallbackToCome(after showing: Showing, by goal: Goal) -> Bool {
    guard let group = showing.group, groupsWithFallback.contains(group), isOfOverlappingGroup(showing),
      mayOutlast(showing)
    else { return false }
    func isSelected(by goal: Goal) -> Bool {
      alive.contains { $0.group == group && goal.selected[$0.token] == true }
    }
    return !isSelected(by: goal) && isSelected(by: self.goal)
  }

  private func isOfOverlappingGroup(_ showing: Showing) -> Bool {
    showing.group.map { overlapping.contains($0) } ?? false
  }

  /// Whether something that has to go stays on the screen until another one comes, if there is one.
  private func mayOutlast(_ showing: Showing) -> Bool {
    guard showing.isGoing || showing.isAboutToGo, !showing.hasHandedOver, !showing.hasDeparted, !showing.wasAsked,
      showing.stage == .presented, showing.hasAppeared, showing.stack == nil,
      !unseen.contains(showing.token), let reason = showing.reason,
      [.deselected, .replaced, .dismissed, .expired].contains(reason),
      showing.parent.flatMap({ self.showing($0) }).map({ $0.isGoing || $0.isAboutToGo }) != true
    else { return false }
    return true
  }

  /// The presentations that stay until others are there, by the tokens of these others, and whether each goes only for the other one
  /// (G10).
  var outlasting: [Token: [(token: Token, isReplaced: Bool)]] { outlasting(by: goal) }

  private func outlasting(by goal: Goal) -> [Token: [(token: Token, isReplaced: Bool)]] {
    var found: [Token: [(token: Token, isReplaced: Bool)]] = [:]
    for showing in alive {
      guard let next = successor(of: showing, by: goal), !next.isGoing, !next.hasAppeared else { continue }
      found[next.token, default: []].append((showing.token, [.deselected, .replaced].contains(showing.reason!)))
    }
    return found
  }

  /// The reason why a presentation may not be dismissed yet; nil if it may.
  private func obstacle(toEndOf showing: Showing, by goal: Goal) -> Violation? {
    if let next = successor(of: showing, by: goal) {
      switch next.stage {
      // Nobody knows when a hold is over.
      case .waiting where goal.held.contains(next.token): break
      case .waiting, .presenting: return Violation("G10", "\(next.handle) is not there yet")
      case .presented, .asked, .asking, .killed, .settling, .ended: break
      }
    } else if isFallbackToCome(after: showing, by: goal) {
      return Violation("G10", "the fallback of its group is not there yet")
    }
    if let child = alive.first(where: { $0.parent == showing.handle && $0.stage != .ended }) {
      return Violation("C3", "its child \(child.handle) is not gone")
    }
    if let stack = showing.stack, !showing.isSettling,
      let above = alive.first(where: {
        $0.stack == stack && $0.position > showing.position && !$0.isSettling
          && ($0.hasStarted && showing.hasStarted || $0.isGoing && $0.stage == .waiting)
      })
    {
      return Violation("S2", "\(above.handle), which stands above it, is not gone")
    }
    return nil
  }

  private mutating func checkEnd(_ index: Int, _ result: Properties, at now: UInt64) throws(Violation) {
    let showing = alive[index]
    try checkCanEnd(index)
    switch showing.stage {
    case .waiting: break
    case .presenting, .presented:
      try require(
        showing.isStateOnly || showing.isShownByNobody || showing.hasDeparted && !showing.awaitsResult, "P6",
        "\(showing.handle) ended, but its presenter was not asked to end it, or its result is to come")
    case .asked, .asking, .killed:
      if !acknowledged.contains(showing.handle) { endedUnanswered.insert(showing.handle) }
    case .settling(let due):
      try require(
        acknowledged.contains(showing.handle) || due <= now, "N3",
        "\(showing.handle) ended before its result, and before \(due)")
    case .ended: throw Violation("P6", "\(showing.handle) ended twice")
    }
    if let expected = showing.result {
      for (key, value) in expected {
        try require(result[key] == value, "D6", "\(showing.handle) ended with \(result), but was handed \(expected)")
      }
    }
    alive[index].stage = .ended
  }

  private func startDue(of index: Int, at now: UInt64) -> UInt64? {
    alive[index].isStartLimited ? now + alive[index].startTimeout : nil
  }

  // MARK: No wait that nothing will end (P14)

  func checkWaits(now: UInt64, nextDeadline: UInt64?) throws(Violation) {
    let isInTime = nextDeadline.map { $0 > now } ?? true
    for showing in alive {
      if let due = showing.due {
        try require(!isInTime || due > now, "P14", "\(showing.handle) is still \(showing.stage) at \(now)")
        try require(
          nextDeadline.map { $0 <= due } ?? false, "P14",
          "\(showing.handle) is \(showing.stage), but nobody wakes up for it")
      }
      if let due = showing.startDue, !showing.isGoing {
        try require(nextDeadline.map { $0 <= due } ?? false, "K3", "nobody wakes up for \(showing.handle) at \(due)")
      }
      switch showing.stage {
      case .waiting:
        if showing.isGoing {
          try require(
            obstacle(toEndOf: showing, by: goal) != nil, "P14", "\(showing.handle) was never shown, and could end")
        } else {
          try require(obstacle(to: showing, by: goal) != nil, "P13", "\(showing.handle) waits, and could start")
        }
      case .presenting, .presented:
        if showing.isGoing {
          try require(
            obstacle(toEndOf: showing, by: goal) != nil, "P14", "\(showing.handle) is to go, and could be told to")
        }
      case .asked, .asking, .killed, .settling, .ended: break
      }
    }
  }

  /// Checks the state when nothing is under way.
  func checkRest(machine: borrowing StateMachine) throws(Violation) {
    for showing in alive {
      let isQueued = showing.group != nil && goal.selected[showing.token] == false
      try require(
        showing.stage == .presented && !showing.isGoing
          || showing.stage == .waiting && (isQueued || !goal.held.isEmpty && !showing.isGoing), "P14",
        "\(showing.handle) is \(showing.stage)\(showing.isGoing ? " and to go" : "") when all is quiet")
      if showing.isBus, let told = showing.told, let item = machine.presentation(showing.handle)?.item {
        try require(
          told.value == item.value && told.title == item.title && told.style == item.style, "D8",
          "the presenter of \(showing.handle) knows \(told), but it is \(item)")
      }
    }
  }
}
