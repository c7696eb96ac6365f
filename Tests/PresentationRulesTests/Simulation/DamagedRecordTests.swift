import DBusValues
import Glibc
import HeapModule
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Answers all commands for presenters, until there are no more.
private func answer(_ commands: [PresenterCommand], of machine: inout StateMachine, at now: Instant) -> Int {
  var (open, answers) = (commands, 0)
  while let command = open.popLast(), answers < 10_000 {
    answers += 1
    let report: Report
    switch command {
    case .present(let handle): report = .presentAnswered(handle, error: nil)
    case .update(let handle, _): report = .updateAnswered(handle)
    // Half of the presenters keep the items that they may keep.
    case .dismiss(let handle, _, _, isForced: false) where handle.number % 2 == 0:
      report = .declined(handle, message: "")
    case .dismiss(let handle, _, _, _), .kill(let handle): report = .dismissAnswered(handle, result: [:])
    case .endParked(let program, _): report = .parkedEnded(program)
    case .abandon, .raise, .bring, .move, .releaseParked: continue
    }
    open += machine.report(report, at: now).commands
  }
  return answers
}

/// The damage to a record that no checksum finds: numbers, relations and phases are other valid ones.
private struct Damage {
  var state: RecordedState
  var dice: SplitMix64

  private mutating func number() -> UInt64 {
    let large: [UInt64] = [1 << 62, UInt64(Int64.max), 1 << 63, .max - 1, .max]
    return dice.pick([0, 1, 2, UInt64(dice.below(50))] + large)
  }

  private mutating func instant() -> Instant { Instant(nanoseconds: number()) }

  private mutating func lifecycle() -> Lifecycle {
    let stage: PendingDismissal.Stage = dice.pick([
      .overtaken, .held, .departed, .asked, .asking(message: ""), .settling, .killed,
    ])
    return dice.pick([
      .waiting, .presenting, .presented,
      .dismissing(
        PendingDismissal(
          stage, reason: dice.pick(Reason.allCases), isForced: dice.chance(30),
          timeLeft: dice.chance(50) ? nil : number(), hasHandedOver: dice.chance(20))),
    ])
  }

  mutating func strike() {
    let handles = state.presentations.keys.sorted()
    guard dice.chance(75), !handles.isEmpty else { return strikeElsewhere() }
    let (handle, other) = (dice.pick(handles), dice.pick(handles))
    let old = state.presentations[handle]!
    var row = old
    let item = state.presentations[other]!.presentation.item.content
    func set(_ binding: BindingID, _ handle: Handle) {
      row = RecordedState.PresentationRow(
        Presentation(
          handle: handle, binding: binding, item: old.presentation.item, phase: old.presentation.phase,
          parent: old.presentation.parent, creator: old.presentation.creator))
    }
    switch dice.below(13) {
    case 0: row.presentation.parent = other
    case 1: row.presentation.parent = Handle(number())
    case 2: row.presentation.parent = nil
    case 3, 4: row.presentation.phase = lifecycle()
    case 5: row.presentation.item.membership = item.membership
    case 6: row.presentation.item.position = item.position
    case 7: row.presentation.item.position?.index = Int(truncatingIfNeeded: number() % (1 << 32))
    case 8: row.presentation.item.isQueued.toggle()
    case 9: row.presentation.item.queueAge = dice.chance(20) ? nil : number()
    case 10:
      (row.presentation.expires, row.presentation.answerDue) = (instant(), dice.chance(50) ? nil : instant())
      // A presented item would be asked for again, and not be shown.
      if row.presentation.phase == .presented { row.presentation.answerDue = nil }
    case 11: row.presentation.item.destination = item.destination
    default:
      let isMoved = dice.chance(50)
      set(
        isMoved ? state.presentations[other]!.presentation.binding : old.presentation.binding,
        isMoved ? handle : Handle(number()))
      state.presentations[handle] = nil
    }
    state.presentations[row.presentation.handle] = row
  }

  private mutating func strikeElsewhere() {
    switch dice.below(6) {
    case 0: state.numbers.serial = Serial(number())
    case 1: state.numbers.lastHandle = Handle(number())
    case 2: state.numbers.lastQueueAge = number()
    case 3: if let key = state.tags.keys.randomElement(using: &dice) { state.tags[key]!.stamp = number() }
    case 4: if let key = state.presentations.keys.randomElement(using: &dice) { state.presentations[key] = nil }
    default:
      guard let old = state.endings.values.randomElement(using: &dice) else { return }
      let handle = Handle(dice.chance(50) ? old.handle.number : number())
      state.endings[handle] = Ending(
        handle, old.binding, id: old.id, reason: old.reason, serial: Serial(number()))
    }
  }
}

/// Restoring from damaged rows, which is refused or gives a consistent state (R4).
@Suite struct DamagedRecordTests {
  private static let seed = getenv("NAVD_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
  private static let worlds = getenv("NAVD_TEST_RECORDS").flatMap { Int(String(cString: $0)).map { $0 / 20 } } ?? 40

  /// The faults of a machine that was restored from damaged rows; nil if it was refused.
  private func faults(_ damage: Damage) -> [String]? {
    let now = Instant(nanoseconds: 1 << 40)
    guard var machine = try? StateMachine(restoring: damage.state) else { return nil }
    var dice = damage.dice
    var survivals: [Handle: Survival] = [:]
    for survivor in machine.survivors {
      let isAskedAgain = survivor.phase == .presented && survivor.answerDue != nil
      survivals[survivor.handle] =
        isAskedAgain ? .toBeShown : dice.pick([.shown, .toBeShown, .gone(result: [:])])
    }
    let outcome = machine.resume(survivals, absent: dice.chance(50) ? machine.knownClients : [], at: now)
    _ = answer(outcome.commands, of: &machine, at: now)
    var faults = machine.brokenInvariants()
    _ = machine.expire(at: now)
    _ = try? machine.perform(Request(.present(binding("fresh"), id: "", ItemOptions())), by: nil, at: now)
    let ends = machine.shutDown(at: now)
    let answers = answer(ends.commands, of: &machine, at: now)
    // Deadlines end the commands that nobody answers: those that exist, and two for each presentation, when it is asked and when it
    // is killed.
    let deadlines = machine.state.deadlines.count + 2 * machine.count
    for _ in 0..<deadlines where !machine.isEmpty { _ = machine.expire(at: Instant(nanoseconds: .max)) }
    if answers >= 10_000 || !machine.isEmpty { faults.append("\(machine.count) do not end") }
    return faults
  }

  @Test("R4: a record with other numbers and relations is refused, or gives a state that keeps all invariants")
  func recordFuzz_rules_areRefusedOrConsistent() throws {
    var (refused, restored) = (0, 0)
    for index in 0..<Self.worlds {
      let seed = Self.seed &+ UInt64(index)
      var world = World(seed: seed)
      try world.start()
      for step in 0..<40 { try world.step(step) }
      for round in 0..<20 {
        var damage = Damage(state: world.disk, dice: SplitMix64(seed: seed, step: 1000 + round))
        for _ in 0...damage.dice.below(2) { damage.strike() }
        guard let faults = faults(damage) else {
          refused += 1
          continue
        }
        restored += 1
        if !faults.isEmpty {
          Issue.record("NAVD_SEED=\(seed), round \(round): \(faults.joined(separator: "\n"))")
        }
      }
    }
    print("damaged records: \(refused) refused, \(restored) restored")
    #expect(refused > 0 && restored > 0)
  }
}
