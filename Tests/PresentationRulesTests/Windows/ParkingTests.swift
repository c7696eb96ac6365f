import PresentationModel
import Testing

@testable import PresentationRules

/// Parking: a dismissal hides the windows of a program, which shows a later item again (N8).
struct ParkingTests {
  private let fixture = RulesFixture(destinations: [
    Destination(
      name: "files", presenter: .command([[1]]), source: RulesFixture.file("files"),
      window: WindowFollowing(hides: true)),
    Destination(
      name: "plain", presenter: .command([[1]]), source: RulesFixture.file("plain"), window: WindowFollowing()),
  ])

  /// Presents and dismisses an item whose windows are hidden.
  private func park(_ binding: BindingID, _ id: String = "") throws -> Handle {
    let handle = try fixture.show(binding, id, .with(to: "files"))
    try fixture.dismiss(binding)
    fixture.report(.hidden(handle))
    _ = fixture.taken()
    return handle
  }

  private var parked: [Handle] { fixture.machine.parked.map(\.handle) }

  @Test("N8: a dismissal that has hidden the windows ends the item, and its program is parked")
  func dismissal_hiding_parksProgram() throws {
    let files = try fixture.show("files", "", ItemOptions())
    try fixture.dismiss("files")
    #expect(fixture.taken() == ["dismissing files", "dismiss 1 dismissed"])
    fixture.report(.hidden(files))
    #expect(fixture.taken() == ["dismissed files dismissed", "parked files"])
    #expect(parked == [files])
    #expect(fixture.ending(files)?.reason == .dismissed)
    #expect(fixture.shown == [])
  }

  @Test("N8: the same destination, binding and id is shown by the parked program, under another handle")
  func present_again_isShownByParkedProgram() throws {
    let files = try park("a", "1")
    try fixture.present("a", "1", .with(to: "files"))
    #expect(fixture.taken() == ["parked", "presenting a 1", "present 2 a"])
    #expect(fixture.machine.presentation(2)?.program == files)
    fixture.shows(2)
    #expect(fixture.taken() == ["presented a 1"])
    // The program is parked again under the handle for which it was started.
    try fixture.dismiss("a")
    fixture.report(.hidden(2))
    #expect(fixture.taken().last == "parked a 1")
    #expect(parked == [files])
  }

  @Test("N8: a parked program whose windows its user has shown is presented again, unless its slot holds another item")
  func parked_shownByItsUser_isPresented() throws {
    let files = try park("a", "1")
    fixture.report(.parkedShown(files))
    #expect(fixture.taken() == ["parked", "presenting a 1", "present 2 a"])
    fixture.shows(2)
    #expect(fixture.machine.current(at: "a")?.program == files)
    try fixture.dismiss("a")
    fixture.report(.hidden(2))
    try fixture.present("a", "2", .with(to: "plain"))
    _ = fixture.taken()
    fixture.report(.parkedShown(files))
    #expect(fixture.taken() == [] && parked == [files])
  }

  @Test("N8: a presentation is that of its program, with the time at which it was presented")
  func presentation_ofProgram_hasItsHandle() throws {
    let files = try park("a")
    try fixture.show("a", "", .with(to: "files"))
    fixture.pass(5)
    let again = fixture.machine.current(at: "a")
    #expect(again?.ofProgram.handle == files && again?.ofProgram.presentedAt == again?.presentedAt)
    let other = fixture.machine.presentation(try fixture.show("b", "", .with(to: "files")))
    #expect(other != nil && other?.ofProgram == other)
  }

  /// Changes the file of the destination, as its user does.
  private func edit(_ change: (inout Destination) -> Void) {
    var files = Destination(
      name: "files", presenter: .command([[1]]), source: RulesFixture.file("files"),
      window: WindowFollowing(hides: true))
    change(&files)
    fixture.take(fixture.machine.load([files]))
  }

  private func isOutdated(_ program: Handle) -> Bool { fixture.machine.isOutdated(program) }

  @Test("N8: instead of showing a parked program whose file has another command now, navd tells it to end")
  func present_afterEdit_endsOutdatedProgram() throws {
    let old = try park("a", "1")
    let other = try park("b")
    edit { $0.grace = 5 }
    #expect(fixture.taken() == [])
    edit { $0.presenter = .command([[2]]) }
    #expect(fixture.taken() == ["parked a 1 b"])
    #expect([old, other].allSatisfy(isOutdated))
    try fixture.present("a", "1", .with(to: "files"))
    #expect(fixture.taken() == ["presenting a 1", "end parked \(old)", "present 3 a"])
    #expect(fixture.machine.presentation(3)?.program == nil)
    fixture.shows(3)
    // Its user may cancel that. Then it is asked again the next time, and the new program is shown.
    fixture.report(.parkedStays(old, message: "asks"))
    #expect(parked == [old, other])
    try fixture.dismiss("a")
    fixture.report(.hidden(3))
    _ = fixture.taken()
    try fixture.present("a", "1", .with(to: "files"))
    #expect(fixture.taken() == ["parked a 1 b", "presenting a 1", "end parked \(old)", "present 4 a"])
    #expect(fixture.machine.presentation(4)?.program == 3)
    fixture.report(.parkedEnded(old))
    #expect(parked == [other])
    edit { _ in }
    #expect(!isOutdated(other))
  }

  @Test("N8: where the file does not hide any more, a parked program ends as the item is presented again")
  func present_afterEditWithoutHiding_endsProgram() throws {
    let old = try park("a")
    edit { $0.window = WindowFollowing() }
    #expect(isOutdated(old))
    _ = fixture.taken()
    try fixture.present("a", "", .with(to: "files"))
    #expect(fixture.taken() == ["presenting a", "end parked \(old)", "present 2 a"])
  }

  @Test("N8: a parked program whose file is gone is shown again, and hidden; another item of that name is refused")
  func present_withoutFile_isShownByParkedProgram() throws {
    let old = try park("files")
    fixture.take(fixture.machine.load([]))
    #expect(!isOutdated(old))
    let follows = fixture.machine.mayFollowWindows(.present("files", id: "", ItemOptions()))
    #expect(follows)
    #expect(throws: Refusal.self) { try fixture.present("files", "other", .with(to: "files")) }
    _ = fixture.taken()
    try fixture.present("files", "", .with(to: "files"))
    #expect(fixture.taken() == ["parked", "presenting files", "present 2 files"])
    #expect(fixture.machine.presentation(2)?.program == old)
    fixture.shows(2)
    try fixture.dismiss("files")
    fixture.report(.hidden(2))
    #expect(parked == [old])
  }

  @Test("N8: a registration of a client makes no parked program outdated")
  func register_leavesParked() throws {
    let files = try park("a")
    try fixture.register(RulesFixture.bus("files", source: .client("bar")), by: "bar")
    #expect(!isOutdated(files))
    // Its file counts, even behind the client.
    edit { $0.presenter = .command([[2]]) }
    #expect(isOutdated(files))
  }

  @Test("N8: a parked program that shows its item again, and then ends, is not parked any more")
  func shownAgain_ended_isNotParked() throws {
    _ = try park("a", "1")
    try fixture.present("a", "1", .with(to: "files"))
    fixture.shows(2)
    fixture.ends(2)
    #expect(fixture.ending(2)?.reason == .closed && parked == [])
  }

  @Test("N8: another id, binding or destination begins a new program")
  func present_other_beginsNewProgram() throws {
    let files = try park("a", "1")
    try fixture.present("a", "2", .with(to: "files"))
    try fixture.present("b", "1", .with(to: "files"))
    try fixture.dismiss("a")
    fixture.goes(2)
    try fixture.present("a", "1", .with(to: "plain"))
    for handle in [Handle(2), 3, 4] { #expect(fixture.machine.presentation(handle)?.program == nil) }
    #expect(parked == [files])
  }

  @Test("N8: A→B→A shows the first A again, once its windows are hidden")
  func replacement_andBack_isShownByParkedProgram() throws {
    let a = try fixture.show("note", "A", .with(to: "files"))
    try fixture.present("note", "B", .with(to: "files"))
    try fixture.present("note", "A", .with(to: "files"))
    fixture.report(.hidden(a))
    #expect(fixture.machine.presentation(3)?.program == a)
    #expect(parked == [])
    fixture.shows(3)
    #expect(fixture.shown == ["note=A"])
  }

  @Test("N8: a forced dismissal may hide windows, too; a dismissal of a destination that does not hide never does")
  func dismissal_forced_hides() throws {
    let files = try fixture.show("files", "", ItemOptions())
    try fixture.ask(.dismiss("files"), isForced: true)
    fixture.report(.hidden(files))
    #expect(parked == [files])
    let plain = try fixture.show("plain", "", ItemOptions())
    try fixture.dismiss("plain")
    fixture.report(.hidden(plain))
    fixture.goes(plain)
    #expect(parked == [files])
  }

  @Test("N8, R5: a program whose windows are hidden while navd quits ends all the same")
  func hidden_duringQuit_isToEnd() throws {
    let files = try fixture.show("files", "", ItemOptions())
    try fixture.dismiss("files")
    fixture.shutDown()
    fixture.report(.hidden(files))
    #expect(fixture.taken().last == "end parked \(files) forced")
  }

  @Test("N8, R5: a parked program that is about to be shown again when navd quits gets one request to end")
  func quit_whileShownAgain_endsProgramOnce() throws {
    let again = try park("again")
    let other = try fixture.show("other", "", .with(to: "files"))
    try fixture.present("again", "", .with(to: "files"))
    fixture.shutDown()
    _ = fixture.taken()
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed again shutdown", "parked again", "end parked \(again) forced"])
    fixture.report(.hidden(other))
    #expect(fixture.taken().filter { $0.hasPrefix("end parked") } == ["end parked \(other) forced"])
  }

  @Test("N8: a program that cannot be shown again stays parked")
  func present_failing_leavesProgramParked() throws {
    let files = try park("files")
    try fixture.present("files")
    fixture.fails(2)
    #expect(fixture.taken().last == "parked files")
    #expect(parked == [files])
    #expect(fixture.ending(2)?.reason == .failed)
  }

  @Test("N8: a parked program is asked to end, and leaves the state when it has ended")
  func dismissParked_endsPrograms() throws {
    let (a, b) = (try park("a"), try park("b"))
    #expect(try fixture.ask(.dismissAll(.parked)) == .count(2))
    #expect(fixture.taken() == ["end parked 1", "end parked 2"])
    fixture.report(.parkedEnded(b))
    #expect(fixture.taken() == ["parked a"])
    #expect(try fixture.ask(.dismissAll(.parked), isForced: true) == .count(1))
    #expect(fixture.taken() == ["end parked 1 forced"])
    // The program is about to end, so it shows no further item.
    try fixture.present("a", "", .with(to: "files"))
    #expect(fixture.machine.presentation(3)?.program == nil)
    fixture.report(.parkedEnded(a))
    #expect(parked == [])
    #expect(try fixture.ask(.dismissAll(.everything)) == .count(1))
    #expect(fixture.taken().contains("end parked 1") == false)
  }

  @Test("N8: a parked program whose end its user has cancelled can be shown again")
  func present_afterCancelledEnd_showsProgramAgain() throws {
    let a = try park("a")
    #expect(try fixture.ask(.dismissAll(.parked), isForced: true) == .count(1))
    fixture.report(.parkedStays(a, message: "asks"))
    try fixture.present("a", "", .with(to: "files"))
    #expect(fixture.machine.presentation(2)?.program == a)
  }

  @Test("N8: the state says why a parked program stays, until it is asked again or shown")
  func parked_asked_saysWhyItStays() throws {
    let files = try park("a")
    _ = fixture.taken()
    func reason() -> String? { fixture.machine.reasonToStay(of: files) }
    try fixture.ask(.dismissAll(.parked))
    fixture.report(.parkedStays(files, message: "Save?"))
    #expect(fixture.taken() == ["end parked \(files)", "parked a"])
    #expect(reason() == "Save?")
    try fixture.ask(.dismissAll(.parked))
    #expect(fixture.taken() == ["parked a", "end parked \(files)"])
    #expect(reason() == nil)
    fixture.report(.parkedStays(files, message: "Save?"))
    fixture.report(.parkedShown(files))
    #expect(fixture.taken() == ["parked a", "parked", "presenting a", "present 2 a"])
    try fixture.dismiss("a")
    fixture.report(.dismissAnswered(2, result: [:]))
    #expect(reason() == nil)
  }

  @Test("N8, R5: a parked program that stays when navd quits is given back to its user, and navd ends")
  func quit_programStays_isReleased() throws {
    let files = try park("a")
    fixture.take(fixture.machine.endParked(isForced: true))
    fixture.take(fixture.machine.end(fixture.machine.beginShutDown(), by: nil, at: fixture.now))
    _ = fixture.taken()
    fixture.report(.parkedStays(files, message: "asks"))
    #expect(fixture.taken() == ["parked", "release parked 1"])
    let isEmpty = fixture.machine.isEmpty
    #expect(isEmpty)
  }

  @Test("N8, R5: Quit ends parked programs, without a question")
  func quit_endsParked() throws {
    let files = try park("files")
    fixture.shutDown()
    #expect(fixture.taken() == ["end parked 1 forced"])
    #expect(parked == [files])
    fixture.report(.parkedEnded(files))
    let isOver = fixture.machine.isEmpty
    #expect(isOver)
  }

  @Test("N8: without the capability, the request is refused")
  func present_withoutCapability_isRefused() throws {
    var request = Request(.present("files", id: "", ItemOptions()))
    request.whyNoHiding = "it cannot hide"
    #expect(fixture.refusal(of: [request])?.code == .notSupported)
    request.operation = .present("plain", id: "", ItemOptions())
    try fixture.apply([request])
  }
}
