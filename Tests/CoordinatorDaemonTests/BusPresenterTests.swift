import CoordinatorAPI
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules
import TestSupport
import Testing

@testable import CoordinatorDaemon
@testable import DBus

// Presenters on the bus: the calls that they get, their answers, their limits, and what follows when they leave (D4, P15).

private let barName: BusName = "org.example.Bar"
private let handle = Handle(1)

/// A program that implements `org.navd.Presenter1` and answers when the test says so.
private final class ScriptedPresenter {
  let connection: Connection
  /// The calls received, such as `Present panel 1`.
  private(set) var calls: [String] = []
  private(set) var items: [Properties] = []
  /// The answers to give, with an error or without.
  private var answers: [(DBusError?) -> Void] = []
  var result: Properties = [:]

  init(_ bus: BusFixture, name: BusName? = barName) throws {
    connection = try bus.connect()
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { [unowned self] input, call in
      calls.append("Present \(input.1) \(input.2)")
      items.append(input.3)
      answers.append { if let error = $0 { call.fail(error) } else { call.reply() } }
    }
    object.implement(PresenterInterface.update) { [unowned self] input, call in
      calls.append("Update \(input.0)")
      items.append(input.1)
      answers.append { if let error = $0 { call.fail(error) } else { call.reply() } }
    }
    object.implement(PresenterInterface.dismiss) { [unowned self] input, call in
      let options = DismissalOptions(input.2)
      calls.append("Dismiss \(input.1) \(options.animated!)\(options.forced! ? " forced" : "")")
      answers.append { [unowned self] in if let error = $0 { call.fail(error) } else { call.reply(result) } }
    }
    connection.export("/presenter", [object])
    bus.keep(self)
    if let name { try bus.own(name, connection) }
  }

  /// Answers the oldest unanswered call.
  func answer(error: String? = nil, named name: ErrorName = .failed) throws {
    try #require(!answers.isEmpty, "no call: \(calls)")
    answers.removeFirst()(error.map { DBusError(name: name, message: $0) })
  }
}

/// The presenter under test, and the reports that it makes.
private final class BusPresenterFixture {
  let bus: BusFixture
  let presenter: BusPresenter
  private let log = ReportLog()
  var reports: [Report] {
    get { log.reports }
    set { log.reports = newValue }
  }

  init(limits: Limits = Limits()) throws {
    bus = try BusFixture()
    presenter = BusPresenter(
      bus.connection, limits: limits, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, reports: log)
  }

  func presentation(
    _ number: UInt64 = 1, name: String = barName.text, _ change: (inout Item) -> Void = { _ in }
  ) throws -> Presentation {
    try .example(number, .bus(name: name, path: "/presenter"), change)
  }

  func present(_ number: UInt64 = 1, name: String = barName.text, _ properties: Properties = [:]) throws {
    presenter.present(try presentation(number, name: name), properties)
    try bus.settle()
  }

  /// Presents an item, and waits for the presenter's answer.
  func presentWhole(_ program: ScriptedPresenter) throws {
    try present()
    try program.answer()
    try bus.settle()
    try #require(reports == [.presentAnswered(handle, error: nil)])
    reports = []
  }

  func dismiss(isForced: Bool = false) throws {
    presenter.dismiss(handle, .replaced, isRequested: true, animated: false, isForced: isForced)
    try bus.settle()
  }
}

@Test("D4: the presenter's reply is the acknowledgement")
func busPresenter_presentAnswered_isPresented() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  let presentation = try fixture.presentation {
    $0.platformData = ["parent-window": .string("x")]
    $0.output = "DP-1"
    $0.animated = false
  }
  fixture.presenter.present(presentation, ["title": .string("Volume")])
  try fixture.bus.settle()
  #expect(program.calls == ["Present panel 1"])
  #expect(
    program.items == [
      [
        "title": .string("Volume"), "animated": .boolean(false),
        "platform-data": (["output": .string("DP-1"), "parent-window": .string("x")] as Properties).value,
      ]
    ])
  #expect(fixture.reports == [])
  try program.answer()
  try fixture.bus.settle()
  #expect(fixture.reports == [.presentAnswered(handle, error: nil)])
  #expect(fixture.presenter.shows(handle, as: Client(program.connection.uniqueName.text)))
  #expect(!fixture.presenter.shows(handle, as: Client(fixture.bus.connection.uniqueName.text)))
}

@Test func busPresenter_presentRefused_hasFailedWithTheError() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.present()
  try program.answer(error: "no screen")
  try fixture.bus.settle()
  guard case .presentAnswered(handle, let error?)? = fixture.reports.first else {
    Issue.record("unexpected reports: \(fixture.reports)")
    return
  }
  #expect(error.contains("no screen"))
}

@Test func busPresenter_nameWithoutOwner_hasFailedOnce() throws {
  let fixture = try BusPresenterFixture()
  try fixture.present()
  #expect(fixture.reports.count == 1)
  guard case .presentAnswered(handle, .some)? = fixture.reports.first else {
    Issue.record("unexpected reports: \(fixture.reports)")
    return
  }
}

@Test func busPresenter_invalidName_hasFailed() throws {
  let fixture = try BusPresenterFixture()
  try fixture.present(name: "no name")
  #expect(fixture.reports == [.presentAnswered(handle, error: "the destination has no valid bus name")])
}

@Test("The rules set the deadlines, so a call to a presenter never times out by itself")
func busPresenter_noAnswer_isAwaitedUntilThePresenterLeaves() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.present()
  try fixture.bus.advance(by: .seconds(3600))
  #expect(fixture.reports == [])
  try fixture.bus.close(program.connection)
  // Two things tell of the end, the bus's answer to the call and the loss of the name; the first of them is reported.
  #expect(fixture.reports == [.presenterLeft(handle)])
}

@Test("D4: a presenter that leaves the bus is reported once, and so is one that takes the name afterwards")
func busPresenter_leavesAndReturns_isReportedOnceEach() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.bus.close(program.connection)
  #expect(fixture.reports == [.presenterLeft(handle)])
  #expect(!fixture.presenter.shows(handle, as: Client(program.connection.uniqueName.text)))
  let next = try ScriptedPresenter(fixture.bus)
  try fixture.bus.settle()
  #expect(fixture.reports == [.presenterLeft(handle), .presenterReturned(handle)])
  #expect(next.calls == [])
  try fixture.present()
  #expect(next.items.map { $0["restored"] } == [.boolean(true)])
}

@Test("D4: after the end of its item, navd does not wait for a presenter that has left")
func busPresenter_leavesAndIsForgotten_isNotWatched() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.bus.close(program.connection)
  fixture.presenter.forget(handle)
  #expect(fixture.bus.connection.rules.watchedNames.isEmpty)
  _ = try ScriptedPresenter(fixture.bus)
  try fixture.bus.settle()
  #expect(fixture.reports == [.presenterLeft(handle)])
}

@Test("D4, L2: a presenter that leaves many items is reported over several turns")
func busPresenter_leavesWithMany_isReportedOverTurns() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  for number: UInt64 in 1...250 { fixture.presenter.present(try fixture.presentation(number), [:]) }
  try fixture.bus.settle()
  for _ in 1...250 { try program.answer() }
  try fixture.bus.settle()
  var counts = [fixture.reports.count]
  fixture.bus.loop.atEndOfTurn(of: fixture) { counts.append($0.reports.count) }
  try fixture.bus.close(program.connection)
  try #require(fixture.bus.loop.turn { fixture.reports.count == 500 })
  #expect(Set(fixture.reports.map { "\($0)" }).count == 500)
  #expect(zip(counts.dropFirst(), counts).allSatisfy { $0 - $1 <= 100 }, "\(counts)")
}

@Test func busPresenter_uniqueNameThatHasLeft_isReported() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus, name: nil)
  let name = program.connection.uniqueName.text
  try fixture.present(name: name)
  try program.answer()
  try fixture.bus.settle()
  #expect(fixture.reports == [.presentAnswered(handle, error: nil)])
  try fixture.bus.close(program.connection)
  #expect(fixture.reports.count == 2)
  // This item is for a presenter that had left before the call.
  try fixture.present(2, name: name)
  #expect(fixture.reports.contains(.presenterLeft(Handle(2))))
}

// MARK: Updating

@Test("D8: updates by the presenter itself are not sent back to it")
func busPresenter_update_isSentUnlessThePresenterIsTheAuthor() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  let presentation = try fixture.presentation()
  fixture.presenter.update(
    presentation, ["title": .string("a")], author: Client(program.connection.uniqueName.text))
  #expect(fixture.reports == [.updateAnswered(handle)])
  fixture.presenter.update(presentation, ["title": .string("b")], author: Client(":1.99"))
  try fixture.bus.settle()
  #expect(program.items.last == ["title": .string("b")])
  #expect(fixture.reports.count == 1)
  // An error in the answer to an update ends nothing.
  try program.answer(error: "no")
  try fixture.bus.settle()
  #expect(fixture.reports == [.updateAnswered(handle), .updateAnswered(handle)])
}

@Test func busPresenter_updateOfUnknownPresentation_isIgnored() throws {
  let fixture = try BusPresenterFixture()
  fixture.presenter.update(try fixture.presentation(), [:], author: nil)
  try fixture.bus.settle()
  #expect(fixture.reports == [])
}

// MARK: Dismissing

@Test func busPresenter_dismissAnswered_isDismissedWithTheResult() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  program.result = ["choice": .int32(3)]
  try fixture.dismiss()
  #expect(program.calls.last == "Dismiss replaced false")
  #expect(fixture.reports == [])
  try program.answer()
  try fixture.bus.settle()
  #expect(fixture.reports == [.dismissAnswered(handle, result: ["choice": .int32(3)])])
  #expect(fixture.bus.connection.rules.watchedNames.isEmpty)
}

@Test("P4: an error counts as gone")
func busPresenter_dismissRefused_isDismissedWithTheError() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.dismiss()
  try program.answer(error: "stuck")
  try fixture.bus.settle()
  guard case .dismissAnswered(handle, let result)? = fixture.reports.first else {
    Issue.record("unexpected reports: \(fixture.reports)")
    return
  }
  #expect(result["error"].flatMap { String(value: $0) }?.contains("stuck") == true)
}

@Test func busPresenter_leavesInsteadOfDismissing_endsOnce() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.dismiss()
  try fixture.bus.close(program.connection)
  #expect(fixture.reports.count == 1)
}

@Test func busPresenter_dismissOfUnknownPresentation_isAnswered() throws {
  let fixture = try BusPresenterFixture()
  try fixture.dismiss()
  #expect(fixture.reports == [.dismissAnswered(handle, result: [:])])
}

@Test func busPresenter_answersAfterForgetting_areIgnored() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.present()
  try fixture.dismiss()
  fixture.presenter.forget(handle)
  try program.answer()
  try program.answer()
  try fixture.bus.settle()
  #expect(fixture.reports == [])
}

// MARK: Limits

@Test("L1: calls-per-presenter counts the unanswered calls of each presenter")
func busPresenter_tooManyUnansweredCalls_failNewItemsOnly() throws {
  var limits = Limits()
  limits.callsPerPresenter = 2
  let fixture = try BusPresenterFixture(limits: limits)
  let program = try ScriptedPresenter(fixture.bus)
  let other = try ScriptedPresenter(fixture.bus, name: "org.example.Other")
  for number in 1...3 { try fixture.present(UInt64(number)) }
  #expect(
    fixture.reports == [
      .presentAnswered(
        Handle(3),
        error:
          "expected at most 2 unanswered calls of the presenter org.example.Bar (the limit “calls-per-presenter”), "
          + "found 2")
    ])
  #expect(program.calls.count == 2)
  try fixture.present(4, name: "org.example.Other")
  #expect(other.calls.count == 1)
  // Each answer makes room for one call.
  try program.answer()
  try fixture.bus.settle()
  try fixture.present(5)
  #expect(program.calls.count == 3)
}

@Test("L1: a presenter has at most a share of the calls that are left, so that some are left for others")
func busPresenter_manyThatNeverAnswer_leaveRoomForOthers() throws {
  var limits = Limits()
  limits.calls = 480
  let fixture = try BusPresenterFixture(limits: limits)
  let names: [BusName] = [barName, "org.example.B", "org.example.C", "org.example.D"]
  let programs = try names.map { try ScriptedPresenter(fixture.bus, name: $0) }
  for (index, name) in names.enumerated() {
    for number: UInt64 in 0..<60 { try fixture.present(UInt64(index) * 100 + number, name: name.text) }
  }
  #expect(programs.map(\.calls.count) == [53, 47, 42, 37])
  #expect(
    fixture.reports.last
      == .presentAnswered(
        Handle(359),
        error:
          "expected fewer than 37 unanswered calls of the presenter org.example.D, with 301 left of 480 for all (the limit "
          + "“calls”), found 37"))
  try programs[3].answer()
  try fixture.bus.settle()
  try fixture.present(360, name: "org.example.D")
  #expect(programs[3].calls.count == 38)
  // The bus answers the calls to a presenter that leaves.
  try fixture.bus.close(programs[0].connection)
  #expect(fixture.bus.connection.openCallCount == 126)
}

@Test("L1: each presenter has a few calls when others have used up all, as long as the bus has room")
func busPresenter_noneLeftForAll_eachHasAFew() throws {
  var limits = Limits()
  limits.calls = 80
  let fixture = try BusPresenterFixture(limits: limits)
  let names = (1...14).map { "org.example.N\($0)" }
  let programs = try names.map { try ScriptedPresenter(fixture.bus, name: BusName($0)) }
  for (index, name) in names.enumerated() {
    for number: UInt64 in 0..<12 { try fixture.present(UInt64(index) * 100 + number, name: name) }
  }
  // The last calls exceed the limit of 80 by a tenth.
  #expect(programs.map(\.calls.count) == [9] + [Int](repeating: 8, count: 9) + [7, 0, 0, 0])
  #expect(fixture.bus.connection.openCallCount == limits.allCalls)
  try programs[0].answer()
  try fixture.bus.settle()
  try fixture.present(2000, name: names[13])
  #expect(programs[13].calls.count == 1)
}

@Test("L1: a call that was given up counts until its answer, since the bus keeps it until then")
func busPresenter_callsGivenUp_countUntilTheirAnswer() throws {
  var limits = Limits()
  limits.callsPerPresenter = 2
  let fixture = try BusPresenterFixture(limits: limits)
  let program = try ScriptedPresenter(fixture.bus)
  for number: UInt64 in 1...2 {
    try fixture.present(number)
    fixture.presenter.forget(Handle(number))
  }
  try fixture.present(3)
  #expect(fixture.reports.count == 1 && program.calls.count == 2)
  try program.answer()
  try fixture.bus.settle()
  try fixture.present(4)
  #expect(fixture.reports.count == 1 && program.calls.count == 3)
}

@Test("L1: updates and dismissals past the limit wait for answers, and are sent in their order")
func busPresenter_dismissalsPastTheLimit_wait() throws {
  var limits = Limits()
  limits.callsPerPresenter = 2
  let fixture = try BusPresenterFixture(limits: limits)
  let program = try ScriptedPresenter(fixture.bus)
  for number: UInt64 in 1...4 {
    try fixture.present(number)
    try program.answer()
    try fixture.bus.settle()
  }
  fixture.presenter.update(try fixture.presentation(1), [:], author: nil)
  for number: UInt64 in 1...4 {
    fixture.presenter.dismiss(Handle(number), .dismissed, isRequested: true, animated: true, isForced: false)
  }
  try fixture.bus.settle()
  #expect(program.calls.count == 6)
  // The presenter may still show the item, so it gets the call although navd has forgotten it.
  fixture.presenter.forget(Handle(4))
  // New calls do not overtake the waiting ones.
  try program.answer()
  fixture.presenter.present(try fixture.presentation(5), [:])
  try fixture.bus.settle()
  #expect(program.calls.count == 7)
  #expect(fixture.reports.contains { if case .presentAnswered(Handle(5), .some) = $0 { true } else { false } })
  for _ in 1...4 {
    try program.answer()
    try fixture.bus.settle()
  }
  #expect(program.calls.dropFirst(4).map { $0.prefix(1) } == ["U", "D", "D", "D", "D"])
  #expect(fixture.reports.count { if case .dismissAnswered = $0 { true } else { false } } == 3)
}

// MARK: Declining

private let declined: ErrorName = "org.navd.Error.Declined"

@Test("P15: the error Declined is a decline, and the item stays with its presenter")
func busPresenter_dismissDeclined_isReportedAndStays() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.dismiss()
  try program.answer(error: "unsaved", named: declined)
  try fixture.bus.settle()
  #expect(fixture.reports == [.declined(handle, message: "unsaved")])
  #expect(fixture.presenter.shows(handle, as: Client(program.connection.uniqueName.text)))
  // A second dismissal is a second call.
  try fixture.dismiss()
  try program.answer()
  try fixture.bus.settle()
  #expect(program.calls.suffix(2) == ["Dismiss replaced false", "Dismiss replaced false"])
  #expect(fixture.reports.last == .dismissAnswered(handle, result: [:]))
}

@Test("P15: a dismissal that is forced later is another call, and either answer is the end")
func busPresenter_dismissForcedLater_isCalledAgain() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.dismiss()
  try fixture.dismiss(isForced: true)
  #expect(program.calls.suffix(2) == ["Dismiss replaced false", "Dismiss replaced false forced"])
  try program.answer(error: "unsaved", named: declined)
  try fixture.bus.settle()
  // The first call's answer is reported, and the rules ignore it.
  #expect(fixture.reports == [.declined(handle, message: "unsaved")])
  try program.answer()
  try fixture.bus.settle()
  #expect(fixture.reports.last == .dismissAnswered(handle, result: [:]))
}

@Test("P15: a presenter that declines after navd gave up is told once more, by force")
func busPresenter_declinedAfterItWasGivenUp_isForcedOnce() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  try fixture.presentWhole(program)
  try fixture.dismiss()
  fixture.presenter.forget(handle)
  try program.answer(error: "unsaved", named: declined)
  try fixture.bus.settle()
  #expect(program.calls.last == "Dismiss replaced false forced")
  try program.answer(error: "unsaved", named: declined)
  try fixture.bus.settle()
  #expect(program.calls.count == 3)
  #expect(fixture.reports == [])
}

@Test("P15: a presenter without a suitable Dismiss ends nothing")
func busPresenter_noDismiss_isNoEnd() throws {
  let fixture = try BusPresenterFixture()
  let connection = try fixture.bus.connect()
  let object = ImplementedInterface(Interface(PresenterInterface.name, doc: "", members: [PresenterInterface.present]))
  object.implement(PresenterInterface.present) { _, call in call.reply() }
  connection.export("/presenter", [object])
  try fixture.bus.own(barName, connection)
  try fixture.present()
  try fixture.bus.settle()
  try #require(fixture.reports == [.presentAnswered(handle, error: nil)])
  try fixture.dismiss()
  try fixture.bus.settle()
  #expect(fixture.reports == [.presentAnswered(handle, error: nil)])
}

// MARK: After a restart

@Test("R2: presenters that are still on the bus are asked to show their items again")
func busPresenter_adopted_isToBeShownAsRestored() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  var survivals: [Handle: Survival]?
  fixture.presenter.adopt(
    [
      Remembered(presentation: try fixture.presentation(), memory: [:], shownAs: nil),
      Remembered(presentation: try fixture.presentation(2, name: "org.example.Gone"), memory: [:], shownAs: nil),
    ], from: .example(names: [barName.text])
  ) { survivals = $0 }
  #expect(survivals == [handle: .toBeShown])
  try fixture.bus.settle()
  #expect(program.calls == [])
  try fixture.present()
  try program.answer()
  try fixture.present()
  try program.answer()
  #expect(program.items.map { $0["restored"] } == [.boolean(true), nil])
}

@Test func busPresenter_adoptedAndLeavesBeforeItIsAsked_isReported() throws {
  let fixture = try BusPresenterFixture()
  let program = try ScriptedPresenter(fixture.bus)
  fixture.presenter.adopt(
    [Remembered(presentation: try fixture.presentation(), memory: [:], shownAs: nil)],
    from: .example(names: [barName.text])
  ) { _ in }
  try fixture.bus.settle()
  try fixture.bus.close(program.connection)
  #expect(fixture.reports == [.presenterLeft(handle)])
}

@Test("D4, R6: the next navd waits for a presenter that was away when navd was killed")
func busPresenter_adoptedWhileAway_isReportedWhenItReturns() throws {
  let fixture = try BusPresenterFixture()
  var away = try fixture.presentation()
  away.awaitsPresenter = true
  var survivals: [Handle: Survival]?
  fixture.presenter.adopt([Remembered(presentation: away, memory: [:], shownAs: nil)], from: .example(names: [])) {
    survivals = $0
  }
  #expect(survivals == [handle: .awaited])
  _ = try ScriptedPresenter(fixture.bus)
  try fixture.bus.settle()
  #expect(fixture.reports == [.presenterReturned(handle)])
}
