import DBusValues
import Glibc
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Unfit: Codable, Hashable, Identifiable {
    var id: Double
    var sizes: [Int?] = []
  }
  /// An identity that can never be encoded.
  struct Secret: Codable, Hashable {
    var number: Int
    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "secret"))
    }
  }
  struct Owner: Codable, Identifiable { var id: Secret }
  enum Place: Hashable {
    case help
    case note(Int)
  }
  var unfit: Unfit?
  var other: Unfit?
  var owner: Owner?
  var place: Place?
  var path = NavigationPath()
  var isPresented = false
  var reals: [Double] = []
  var secrets: [Secret] = []
}

/// A screen without a display.
private final class Screenless: Screen {
  struct NoDisplay: Error, CustomStringConvertible {
    var description: String { "there is no display" }
  }

  func appear(_ showing: Showing) async throws { throw NoDisplay() }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

/// Mistakes and failures that a program must hear of: each is reported or thrown, and none is silent.
@Suite @MainActor struct NeverSilentTests {
  @Test("D7: the error of a screen reaches onDismiss, the waiting calls, the history and navd's log")
  func screen_throws_isTold() async throws {
    for kind in CoordinatorKind.allCases {
      let (fixture, model) = (try await NavigationFixture(kind), Model())
      var ends: [Dismissal] = []
      let binding = Bindable(model, .own("failing")).unfit.named("unfit")
      fixture.navigator.present(item: binding) { _ in Screenless() }.onDismiss { ends.append($0) }
      model.unfit = .init(id: 1)
      try await fixture.until { model.unfit == nil && !ends.isEmpty }
      #expect(ends.first?.reason == .failed && ends.first?.error is Screenless.NoDisplay, "\(ends)")
      let ending = try #require(try await fixture.coordinator.history(most: 1).first)
      #expect(ending.reason == "failed" && ending.binding == fixture.text(binding))
      let handle = PresentationHandle(try #require(ending.presentation))
      let result = try await fixture.coordinator.waitUntilGone(handle).result
      #expect(result["error"].flatMap(String.init(value:))?.hasPrefix("there is no display") == true, "\(result)")
      guard let session = fixture.session else { continue }
      #expect(try session.navctl("history").outputText.contains("there is no display"))
      try session.wait("it is logged") { session.navd?.errorText.contains("there is no display") == true }
    }
  }

  @Test("Reports have the position of the program's state, or of its navigator", arguments: bothKinds)
  func report_aboutState_hasThePositionInTheProgram(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, file) = (fixture.display, "NavigationTests/NeverSilentTests.swift")
    let name = "position-\(kind)"
    let bindable = Bindable(model, .own(name))
    fixture.navigator.present(item: bindable.unfit.named("unfit").published()) { _ in
      RecordingScreen("unfit", on: display)
    }
    fixture.navigator.present(item: bindable.owner.named("owner").published()) { _ in
      RecordingScreen("owner", on: display)
    }
    let stack = fixture.navigator.stack(path: bindable.path.named("path"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
    model.unfit = .init(id: 1, sizes: [nil])
    model.owner = .init(id: .init(number: 1))
    model.path = NavigationPath(["text"])
    try await fixture.until { Set(display.names) == ["unfit", "owner"] }
    // The four reports are about the id and the value of the owner, the value of the other item, and a value of the path.
    #expect(MisuseLog.shared.files(of: name) == [file, file, file, file])
    // A refusal names no place in the state.
    var options = PresentationOptions()
    options.group.name = "no group of \(kind)"
    fixture.navigator.present(item: Bindable(model).other.named("other"), options: { [options] _ in options }) { _ in
      RecordingScreen("other", on: display)
    }
    model.other = .init(id: 2)
    try await fixture.until { model.other == nil }
    await fixture.navigator.settle()
    #expect(MisuseLog.shared.files(of: "no group of \(kind)") == [file])
  }

  @Test("On a bus without navd, connecting fails and does not wait for ever")
  func coordinator_noNavd_throws() async throws {
    let session = try Session(starting: false)
    let address = session.bus.address
    let error = await #expect(throws: NavigationError.self) { try await Coordinator.bus(address: address) }
    #expect(error?.description.contains("no navd runs on the bus, and the bus cannot start one") == true)
    // A bus that can start navd starts it.
    let activatable = try Session(starting: false, activatable: true)
    let coordinator = try await Coordinator.bus(address: activatable.bus.address)
    #expect(try await coordinator.state().presentations.isEmpty)
  }

  @Test("An item whose id changes to one that is not a JSON number has another screen", arguments: bothKinds)
  func id_notFinite_isAnotherIdentity(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model).unfit) {
      RecordingScreen("\($0.wrappedValue.id)", on: display)
    }
    for id: Double in [Double.infinity, -Double.infinity, 1.0] {
      model.unfit = .init(id: id)
      try await fixture.shows("\(id)")
    }
    #expect(fixture.display.log == ["+inf", "-inf", "+-inf", "--inf", "+1.0"])
  }

  @Test("An id that cannot be encoded is reported, and another one is another screen", arguments: bothKinds)
  func id_notEncodable_isAnotherIdentity(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model, .own("unencodable-\(kind)")).owner.named("owner")) {
      RecordingScreen("\($0.wrappedValue.id.number)", on: display)
    }
    model.owner = .init(id: .init(number: 1))
    try await fixture.shows("1")
    model.owner = .init(id: .init(number: 2))
    try await fixture.shows("2")
    #expect(MisuseLog.shared.messages.filter { $0.contains("unencodable-\(kind)") && $0.contains("id") }.count == 1)
  }

  @Test("A destination that is missing in an embedded coordinator is not looked for in files")
  func destination_missingWhenEmbedded_isServedByTheProgram() async throws {
    let coordinator = Coordinator.embedded()
    let error = await #expect(throws: NavigationError.self) {
      try await coordinator.present("dialog", PresentationOptions(destination: "dialog"))
    }
    #expect(
      error?.description == """
        UnknownDestination: there is no destination “dialog”; let the program serve it, since an embedded coordinator reads no files
        """)
  }

  @Test("A value that D-Bus cannot have is reported once", arguments: bothKinds)
  func value_notEncodable_isReported(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model, .own("null-\(kind)")).unfit.named("unfit").published()) {
      RecordingScreen("\($0.wrappedValue.id)", on: display)
    }
    model.unfit = .init(id: 1, sizes: [1, nil])
    try await fixture.shows("1.0")
    model.unfit?.sizes = [nil]
    await fixture.navigator.settle()
    #expect(fixture.display.log == ["+1.0"])
    #expect(MisuseLog.shared.messages.filter { $0.contains("null-\(kind)") }.count == 1)
  }

  @Test("A path keeps values that are not JSON numbers", arguments: bothKinds)
  func path_notFinite_isShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let stack = fixture.navigator.stack(path: Bindable(model).reals.named("reals"))
    stack.navigationDestination(for: Double.self) { RecordingScreen("\($0)", on: display) }
    model.reals = [1, .infinity, 2]
    try await fixture.shows("1.0", "inf", "2.0")
    try await fixture.display["2.0"]?.close()
    try await fixture.until { model.reals == [1, .infinity] }
  }

  @Test(
    "A path value of a type without a screen is reported and cut, so that later ones are shown", arguments: bothKinds)
  func path_unknownType_isCut(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let stack = fixture.navigator.stack(path: Bindable(model, .own("unknown-\(kind)")).path.named("path"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
    model.path = NavigationPath([1])
    model.path.append("two")
    model.path.append(3)
    try await fixture.until { model.path.count == 1 }
    model.path.append("four")
    model.path.append(5)
    try await fixture.until { model.path.count == 1 }
    model.path.append(6)
    try await fixture.shows("1", "6")
    #expect(model.path == NavigationPath([1, 6]))
    #expect(
      MisuseLog.shared.messages.filter { $0.contains("unknown-\(kind)") && $0.contains("Swift.String") }.count == 2)
  }

  @Test("A restored path value that does not fit its type is reported", arguments: bothKinds)
  func path_unfitValue_isReported(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let stack = fixture.navigator.stack(path: Bindable(model, .own("misfit-\(kind)")).path.named("path"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
    model.path.elements = [.init(type: "Swift.Int", value: "1"), .init(type: "Swift.Int", value: "\"text\"")]
    try await fixture.shows("1")
    try await fixture.until { model.path.count == 1 }
    #expect(MisuseLog.shared.messages.filter { $0.contains("misfit-\(kind)") }.count == 1)
  }

  @Test("A case without a payload that another client presents is written", arguments: bothKinds)
  func payloadlessCase_presentedByOthers_isWritten(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let help = EnumCase("help", { Model.Place.help }) { if case .help = $0 { () } else { nil } }
    let binding = Bindable(model).place.named("place").case(help)
    fixture.navigator.present(isPresented: Binding(binding)) { RecordingScreen("help", on: display) }
    model.place = .help
    try await fixture.shows("help")
    model.place = nil
    try await fixture.shows()
    try await fixture.coordinator.present(
      fixture.text(binding), PresentationOptions(destination: fixture.navigator.destination))
    try await fixture.shows("help")
    try await fixture.until { model.place == .help }
  }

  @Test("A binding that is presented twice, or by two navigators, is reported once")
  func binding_presentedTwice_isReported() {
    let reports = MisuseLog()
    Misuse.reporting(to: { message, file, _ in reports.add(message, file) }) {
      let (coordinator, model, display) = (Coordinator.embedded(), Model(), Display())
      let (one, other) = (Navigator(coordinator), Navigator(coordinator))
      let binding = Bindable(model, .shared("doubly")).isPresented.named("panel")
      one.present(isPresented: binding) { RecordingScreen("a", on: display) }.cancel()
      let second = one.present(isPresented: binding) { RecordingScreen("a", on: display) }
      #expect(reports.messages == [])
      one.present(isPresented: binding) { RecordingScreen("b", on: display) }
      #expect(reports.messages.count == 1 && reports.messages[0].contains("“doubly.panel” is presented twice"))
      other.present(isPresented: binding) { RecordingScreen("c", on: display) }
      #expect(reports.messages.count == 2 && reports.messages[1].contains("by two navigators"))
      #expect(reports.files(of: "doubly") == Array(repeating: "NavigationTests/NeverSilentTests.swift", count: 2))
      second.cancel()
    }
  }

  @Test("A model with the name of one that is gone is presented by another navigator, without a report")
  func binding_ofFormerModelsName_isNotReported() {
    let reports = MisuseLog()
    Misuse.reporting(to: { message, file, _ in reports.add(message, file) }) {
      let (coordinator, display) = (Coordinator.embedded(), Display())
      @MainActor func present(_ model: Model, by navigator: Navigator) {
        let binding = Bindable(model, .shared("one-after-another")).isPresented.named("panel")
        navigator.present(isPresented: binding) { RecordingScreen("a", on: display) }
      }
      let (former, navigator) = (Navigator(coordinator), Navigator(coordinator))
      present(Model(), by: former)
      withExtendedLifetime(former) { present(Model(), by: navigator) }
      #expect(reports.messages == [])
    }
  }

  @Test("A deep link whose screens declare the next ones when they appear is right", arguments: bothKinds)
  func path_declaredByItsScreens_isNotReported(_ kind: CoordinatorKind) async throws {
    let reports = MisuseLog()
    try await Misuse.reporting(to: { message, file, _ in reports.add(message, file) }) {
      let (fixture, model) = (try await NavigationFixture(kind), Model())
      let display = fixture.display
      let stack = fixture.navigator.stack(path: Bindable(model, .own("deep")).path.named("path"))
      stack.navigationDestination(for: Int.self) { number in
        RecordingScreen("\(number)", on: display) { showing in
          showing.navigationDestination(for: String.self) { text in RecordingScreen(text, on: display) }
        }
      }
      model.path = NavigationPath([1])
      model.path.append("two")
      try await fixture.shows("1", "two")
      #expect(reports.messages == [])
      // A value is reported if no screen has declared its type when the last one has appeared.
      model.path.append(3.5)
      await fixture.navigator.settle()
      #expect(reports.messages.count == 1 && reports.messages[0].contains("Swift.Double"))
      #expect(model.path.count == 2)
    }
  }

  @Test("A refusal says what was wrong, and not which request of the library it was", arguments: bothKinds)
  func refusal_ofAState_namesNoRequest(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [String] = []
    fixture.navigator.onRefused = { refusals.append("\($0)") }
    fixture.navigator.present(isPresented: Bindable(model).isPresented.named("panel"), to: "nowhere")
    model.isPresented = true
    try await fixture.until { !model.isPresented }
    #expect(refusals.count == 1 && !refusals[0].contains("request 0") && refusals[0].contains("nowhere"), "\(refusals)")
  }
}
