import DBusValues
import EventLoops
import Glibc
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Inventory: Navigable {
  struct Item: Codable, Hashable, Identifiable {
    var id: Int
    var name: String
    var count: Int
    var note: String?
  }

  enum Destination: HasCases {
    case edit(Item), help

    struct Cases {
      let edit = EnumCase("edit", Destination.edit) { if case .edit(let item) = $0 { item } else { nil } }
      let help = EnumCase("help", { Destination.help }) { if case .help = $0 { () } else { nil } }
    }
    static let cases = Cases()
  }

  static let memberNames: MemberNames<Inventory> = [
    \.isOpen: "isOpen", \.destination: "destination", \.path: "path", \.pages: "pages", \.mixed: "mixed", \.tab: "tab",
  ]

  var isOpen = false
  var destination: Destination?
  var path: [Item] = []
  var pages: [Int] = []
  var mixed = NavigationPath()
  var tab: String?

  var edited: Item? { if case .edit(let item)? = destination { item } else { nil } }
}

/// A program that serves its bindings, and another one on the bus.
@MainActor
private final class Served {
  let fixture: NavigationFixture
  let model: Inventory
  /// Another program on the bus; the same one, if the coordinator is embedded.
  let other: Coordinator

  init(_ kind: CoordinatorKind) async throws {
    fixture = try await NavigationFixture(kind)
    other =
      if let session = fixture.session { try await .bus(address: session.bus.address) } else { fixture.coordinator }
    @Bindable(.shared("inventory")) var model = Inventory()
    self.model = model
    let display = fixture.display
    let navigator = fixture.navigator
    navigator.present(isPresented: $model.isOpen) { RecordingScreen("open", on: display) }
    navigator.present(item: $model.destination.edit) { item in RecordingScreen("edit \(item.id)", on: display) }
    navigator.present(item: $model.destination.help, id: { _ in "" }) { _ in RecordingScreen("help", on: display) }
    navigator.present(tag: "list", selection: $model.tab) { RecordingScreen("list", on: display) }
    navigator.present(tag: "settings", selection: $model.tab) { RecordingScreen("settings", on: display) }
    let path = navigator.stack(path: $model.path)
    path.navigationDestination(for: Inventory.Item.self) { RecordingScreen("item \($0.id)", on: display) }
    let pages = navigator.stack(path: $model.pages)
    pages.navigationDestination(for: Int.self) { RecordingScreen("page \($0)", on: display) }
    let mixed = navigator.stack(path: $model.mixed)
    mixed.navigationDestination(for: Int.self) { RecordingScreen("number \($0)", on: display) }
    await navigator.settle()
  }

  /// The bindings and ids that should be presented, as the model has them.
  var agreed: [String] {
    var all: [String] = []
    if model.isOpen { all.append("inventory.isOpen ") }
    switch model.destination {
    case .edit(let item)?: all.append("inventory.destination.edit \(item.id)")
    case .help?: all.append("inventory.destination.help ")
    case nil: break
    }
    if let tab = model.tab { all.append("inventory.tab.\(tab) ") }
    all += model.path.enumerated().map { "inventory.path[\($0)] \($1.id)" }
    all += model.pages.enumerated().map { "inventory.pages[\($0)] \($1)" }
    all += model.mixed.elements.enumerated().map { "inventory.mixed[\($0)] \($1.type) \($1.value)" }
    return all.sorted()
  }

  func message(_ body: () async throws(NavigationError) -> Void) async -> String? {
    do throws(NavigationError) {
      try await body()
      return nil
    } catch {
      if case .refused(let refusal) = error { return refusal.message }
      return "\(error)"
    }
  }
}

/// A desk with an editor, whose user decides whether another program may change the text.
@MainActor @Observable
private final class Desk {
  var item: Binding<Inventory.Item>?
  var proposed: [Properties] = []
  @ObservationIgnored var answer: CheckedContinuation<Bool, Never>?

  func allow(_ isAllowed: Bool) {
    answer?.resume(returning: isAllowed)
    answer = nil
  }
}

private final class Editor: DecliningScreen {
  private let desk: Desk
  init(_ item: Binding<Inventory.Item>, on desk: Desk) {
    self.desk = desk
    desk.item = item
  }

  func appear(_ showing: Showing) async throws {}
  func prepareToDisappear(_ showing: Showing) async throws {}
  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }

  func prepareToChange(_ showing: Showing, to value: Properties) async throws {
    let isAllowed = await withCheckedContinuation { continuation in
      desk.answer = continuation
      desk.proposed.append(value)
    }
    if !isAllowed { throw Declined("its user types") }
  }
}

/// Requests of other programs at the bindings that this one serves: they become its state, or are refused (D18).
@MainActor struct OutsideRequestTests {
  @Test("D18: what only is on or off, a tag and a case are presented from outside", arguments: bothKinds)
  func present_booleanTagAndCase_becomeState(kind: CoordinatorKind) async throws {
    let test = try await Served(kind)
    try await test.other.present("inventory.isOpen")
    try await test.fixture.until { test.model.isOpen }
    try await test.other.select("settings", in: "inventory.tab")
    try await test.fixture.until { test.model.tab == "settings" }
    try await test.other.present("inventory.destination.help")
    try await test.fixture.until { if case .help? = test.model.destination { true } else { false } }
    try await test.fixture.shows("open", "settings", "help")
  }

  @Test("D18: an item from outside is written into the property, and replaces another", arguments: bothKinds)
  func present_item_becomesState(kind: CoordinatorKind) async throws {
    let test = try await Served(kind)
    let saw: Properties = ["name": .string("Saw"), "count": .int64(2)]
    try await test.other.present("inventory.destination.edit", id: "3", PresentationOptions(value: saw))
    try await test.fixture.shows("edit 3")
    #expect(test.model.edited == Inventory.Item(id: 3, name: "Saw", count: 2))
    // Without an id, that of the value counts.
    try await test.other.present(
      "inventory.destination.edit", PresentationOptions(value: saw.merging(["id": .int64(4)]) { $1 }))
    try await test.fixture.shows("edit 4")
    #expect(test.model.edited?.id == 4)
    try await test.other.update("inventory.destination.edit", ["count": .int64(7)])
    try await test.fixture.until { test.model.edited?.count == 7 }
    try await test.other.dismiss("inventory.destination.edit")
    try await test.fixture.until { test.model.destination == nil }
    try await test.fixture.shows()
  }

  @Test("D18: elements of a path from outside are written into it, in one change", arguments: bothKinds)
  func setPath_elements_becomeThePath(kind: CoordinatorKind) async throws {
    let test = try await Served(kind)
    var seen: [[Int]] = []
    let observing = observe { seen.append(test.model.pages) }
    defer { observing.cancel() }
    try await test.other.setPath([1, 2, 3].map { Coordinator.PathItem(id: "\($0)") }, of: "inventory.pages")
    try await test.fixture.shows("page 1", "page 2", "page 3")
    #expect(test.model.pages == [1, 2, 3])
    #expect(seen == [[], [1, 2, 3]])
    try await test.other.push("inventory.pages[3]", onto: "inventory.pages", id: "4")
    try await test.fixture.until { test.model.pages == [1, 2, 3, 4] }
    try await test.other.setPath([Coordinator.PathItem(id: "1")], of: "inventory.pages")
    try await test.fixture.until { test.model.pages == [1] }
    try await test.fixture.shows("page 1")
    try await test.other.push(
      "inventory.path[0]", onto: "inventory.path", id: "7",
      PresentationOptions(value: ["name": .string("Axe"), "count": .int64(1)]))
    try await test.fixture.until { test.model.path == [Inventory.Item(id: 7, name: "Axe", count: 1)] }
    try await test.other.push("inventory.mixed[0]", onto: "inventory.mixed", id: "Swift.Int 5")
    try await test.fixture.until { test.model.mixed == NavigationPath([5]) }
    try await test.fixture.shows("page 1", "item 7", "number 5")
    // The program goes on from there.
    test.model.pages.append(9)
    try await test.fixture.shows("page 1", "item 7", "number 5", "page 9")
    test.model.pages = []
    try await test.fixture.shows("item 7", "number 5")
  }

  @Test("D18: a transaction from outside is one change of the model", arguments: bothKinds)
  func apply_several_becomeStateTogether(kind: CoordinatorKind) async throws {
    let test = try await Served(kind)
    var seen: [String] = []
    let observing = observe {
      seen.append("\(test.model.isOpen) \(test.model.pages) \(test.model.edited?.id ?? 0)")
    }
    defer { observing.cancel() }
    try await test.other.apply {
      $0.present("inventory.isOpen")
      $0.push("inventory.pages[0]", onto: "inventory.pages", id: "1")
      $0.present(
        "inventory.destination.edit",
        PresentationOptions(value: ["id": .int64(3), "name": .string("Saw"), "count": .int64(2)]))
    }
    try await test.fixture.until { test.fixture.display.names.count == 3 }
    #expect(seen == ["false [] 0", "true [1] 3"])
  }

  @Test("D18: what does not decode is refused with what was expected, and nothing changes", arguments: bothKinds)
  func present_illTyped_isRefused(kind: CoordinatorKind) async throws {
    let test = try await Served(kind)
    let edit = "inventory.destination.edit"
    let fields = "{count: Int, id: Int, name: String, note?: String}"
    func item(_ id: Value, _ count: Value) -> PresentationOptions {
      PresentationOptions(value: ["id": id, "name": .string("Saw"), "count": count])
    }
    let found: [String?] = [
      await test.message { () async throws(NavigationError) in
        try await test.other.present(edit, id: "3", item(.int64(3), .string("many")))
      },
      await test.message { () async throws(NavigationError) in
        try await test.other.present(edit, id: "3", item(.int64(4), .int64(1)))
      },
      await test.message { () async throws(NavigationError) in try await test.other.present(edit, id: "3") },
      await test.message { () async throws(NavigationError) in
        try await test.other.present(
          edit, id: "3", PresentationOptions(value: ["name": .string("x"), "count": .int64(1), "size": .int64(1)]))
      },
      await test.message { () async throws(NavigationError) in try await test.other.present("inventory.isOpen", id: "1")
      },
      await test.message { () async throws(NavigationError) in
        try await test.other.select("nothing", in: "inventory.tab")
      },
      await test.message { () async throws(NavigationError) in
        try await test.other.push("inventory.pages[0]", onto: "inventory.pages", id: "one")
      },
      await test.message { () async throws(NavigationError) in
        try await test.other.push("inventory.pages[1]", onto: "inventory.pages", id: "1")
      },
      await test.message { () async throws(NavigationError) in
        try await test.other.push("inventory.mixed[0]", onto: "inventory.mixed", id: "Swift.String \"x\"")
      },
      await test.message { () async throws(NavigationError) in
        try await test.other.push("page", onto: "inventory.pages")
      },
    ]
    #expect(
      found == [
        "“\(edit)”: expected count: Int, found “many”",
        "id is “3”, but id of the value is 4; give the same, or only one",
        "“\(edit)”: expected count: Int, found nothing", "“\(edit)”: expected \(fields), found the key “size”",
        "“inventory.isOpen”: expected no id, found “1”",
        "a program shows the group “inventory.tab”, which has no tag “nothing”; expected “list” or “settings”",
        "“inventory.pages[0]”: expected an id: Int, found “one”",
        "“inventory.pages[1]” is not the next element of “inventory.pages”; expected “inventory.pages[0]”",
        "“inventory.mixed[0]”: expected the name of a type (Swift.Int), a space and a value as JSON as the id, "
          + "found “Swift.String \"x\"”",
        "“page” is no element of “inventory.pages”, which a program shows; expected “inventory.pages[0]”",
      ])
    await test.fixture.navigator.settle()
    #expect(test.model.destination == nil && test.model.pages.isEmpty && test.model.tab == nil && !test.model.isOpen)
    #expect(try await test.other.state().presentations.isEmpty)
    #expect(test.fixture.display.names.isEmpty)
  }

  @Test("D18: navctl drives every binding of a program, and shows what each accepts")
  func navctl_drivesEveryBinding() async throws {
    let test = try await Served(.navd)
    let session = try #require(test.fixture.session)
    func navctl(_ words: String...) async throws -> String {
      let run = try session.run(program: session.executable("navctl"), words)
      try await test.fixture.navigator.settle(within: Session.limit)
      return run.status == .exited(code: 0) ? run.outputText : run.errorText
    }
    #expect(try await navctl("present", "inventory.isOpen") == "")
    #expect(test.model.isOpen)
    #expect(
      try await navctl(
        "present", "inventory.destination.edit", "--value", "id:=3", "--value", "name=Saw", "--value", "count:=2") == ""
    )
    #expect(test.model.edited == Inventory.Item(id: 3, name: "Saw", count: 2))
    #expect(try await navctl("update", "inventory.destination.edit", "count:=5") == "")
    try await test.fixture.until { test.model.edited?.count == 5 }
    #expect(
      try await navctl("update", "inventory.destination.edit", "count=many")
        == "navctl: update inventory.destination.edit: “inventory.destination.edit”: expected count: Int, found “many”\n"
    )
    #expect(test.model.edited?.count == 5)
    #expect(try await navctl("select", "inventory.tab", "settings") == "")
    #expect(test.model.tab == "settings")
    #expect(try await navctl("set-path", "inventory.pages", "inventory.pages[0]=4", "inventory.pages[1]=5") == "")
    #expect(test.model.pages == [4, 5])
    #expect(try await navctl("pop", "inventory.pages") == "")
    #expect(test.model.pages == [4])
    #expect(try await navctl("push", "inventory.mixed", "inventory.mixed[0]", "Swift.Int 5") == "")
    #expect(test.model.mixed == NavigationPath([5]))
    #expect(try await navctl("dismiss", "inventory.destination.edit") == "")
    #expect(test.model.destination == nil)
    #expect(
      try await navctl("show", "inventory.destination.edit")
        == "navctl: show inventory.destination.edit: nothing is open under that name; a program shows it when asked "
        + "(id: Int, value: {count: Int, id: Int, name: String, note?: String})\n")
  }

  @Test(
    "D18: an update from outside is proposed to a screen whose user types; without an answer, or declined, the text stays",
    arguments: bothKinds)
  func update_whileItsUserTypes_isProposed(kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let other =
      if let session = fixture.session { try await Coordinator.bus(address: session.bus.address) } else {
        fixture.coordinator
      }
    @Bindable(.shared("desk")) var model = Inventory()
    let (desk, edit) = (Desk(), "desk.destination.edit")
    fixture.navigator.present(item: $model.destination.edit.published()) { Editor($0, on: desk) }
    model.destination = .edit(Inventory.Item(id: 3, name: "Saw", count: 1))
    try await fixture.isPresented()
    func held(_ name: Value) async throws -> Bool {
      try await other.presentation(at: edit)?.value["name"] == name
    }

    try await other.update(edit, ["name": .string("Axe")])
    try await fixture.until { desk.proposed.count == 1 }
    #expect(desk.proposed[0]["name"] == .string("Axe"))
    #expect(model.edited?.name == "Saw")
    desk.item?.wrappedValue.name = "Saw, sharp"
    try await poll { try await held(.string("Saw, sharp")) }
    // The answer is about a text that the user has replaced.
    desk.allow(true)
    try await fixture.navigator.settle(within: Session.limit)
    #expect(model.edited?.name == "Saw, sharp")

    try await other.update(edit, ["name": .string("Axe")])
    try await fixture.until { desk.proposed.count == 2 }
    desk.allow(false)
    try await poll { try await held(.string("Saw, sharp")) }
    #expect(model.edited?.name == "Saw, sharp")

    try await other.update(edit, ["name": .string("Axe")])
    try await fixture.until { desk.proposed.count == 3 }
    desk.allow(true)
    try await fixture.until { model.edited?.name == "Axe" }
  }

  @Test(
    "D18: an update of an element of a path is proposed to its page, too, whose text stays if it declines",
    arguments: bothKinds)
  func update_elementWhileItsUserTypes_isProposed(kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let other =
      if let session = fixture.session { try await Coordinator.bus(address: session.bus.address) } else {
        fixture.coordinator
      }
    @Bindable(.shared("desk")) var model = Inventory()
    let (desk, page) = (Desk(), "desk.path[0]")
    let stack = fixture.navigator.stack(path: $model.path.published())
    stack.navigationDestination(for: Binding<Inventory.Item>.self) { Editor($0, on: desk) }
    model.path = [Inventory.Item(id: 3, name: "Saw", count: 1)]
    try await fixture.isPresented()
    func held(_ name: Value) async throws -> Bool {
      try await other.presentation(at: page)?.value["name"] == name
    }
    try await other.update(page, ["name": .string("Axe")])
    try await fixture.until { desk.proposed.count == 1 }
    #expect(desk.proposed[0]["name"] == .string("Axe"))
    #expect(model.path[0].name == "Saw")
    desk.item?.wrappedValue.name = "Saw, sharp"
    try await poll { try await held(.string("Saw, sharp")) }
    desk.allow(true)
    try await fixture.navigator.settle(within: Session.limit)
    #expect(model.path[0].name == "Saw, sharp")

    try await other.update(page, ["name": .string("Axe")])
    try await fixture.until { desk.proposed.count == 2 }
    desk.allow(false)
    try await poll { try await held(.string("Saw, sharp")) }
    #expect(model.path[0].name == "Saw, sharp")

    try await other.update(page, ["name": .string("Axe")])
    try await fixture.until { desk.proposed.count == 3 }
    desk.allow(true)
    try await fixture.until { model.path[0].name == "Axe" }
  }

  /// The number of random requests: some seconds of them in `make test`, and minutes in `make fuzz`.
  private static let steps = getenv("NAVD_TEST_SERVED_REQUESTS").flatMap { Int(String(cString: $0)) } ?? 150

  @Test(
    "D18: after random requests of another program, its state, its screens and the coordinator agree",
    arguments: bothKinds)
  func fuzz_servedBindings_allAgree(kind: CoordinatorKind) async throws {
    let test = try await Served(kind)
    let seed = SeededNumbers.chosenSeed
    var numbers = SeededNumbers(seed: seed)
    let values: [Value] = [.int64(1), .int64(2), .string("many"), .string("Saw"), .double(1.5), .boolean(true)]
    for step in 0..<Self.steps {
      let before = test.agreed
      var refusal: CoordinatorError?
      do throws(NavigationError) {
        let id = numbers.pick(["", "1", "2", "x"])
        var value: Properties = [:]
        for key in ["id", "name", "count", "note", "size"] where numbers.chance(key == "size" ? 0.1 : 0.7) {
          value[key] = numbers.chance(0.7) ? (key == "name" ? .string("Saw") : .int64(1)) : numbers.pick(values)
        }
        let options = PresentationOptions(value: numbers.chance(0.2) ? nil : value)
        let edit = "inventory.destination.edit"
        let mixed = ["Swift.Int 1", "Swift.Int 2", "Swift.Int x", "Swift.String \"x\"", "1", ""]
        switch Int.random(in: 0..<17, using: &numbers) {
        case 0: try await test.other.present(numbers.pick(["inventory.isOpen", "inventory.destination.help"]), id: id)
        case 1, 2: try await test.other.present(edit, id: id, options)
        case 3: try await test.other.update(edit, value)
        case 4: try await test.other.select(numbers.pick(["list", "settings", "nothing"]), in: "inventory.tab")
        case 5:
          let index = Int.random(in: 0..<3, using: &numbers)
          try await test.other.push("inventory.pages[\(index)]", onto: "inventory.pages", id: id)
        case 6:
          let ids = (0..<Int.random(in: 0..<4, using: &numbers)).map { _ in numbers.pick(["1", "2", "3", "x"]) }
          try await test.other.setPath(ids.map { Coordinator.PathItem(id: $0) }, of: "inventory.pages")
        case 7: try await test.other.push("inventory.path[0]", onto: "inventory.path", id: id, options)
        case 8:
          try await test.other.dismiss(
            numbers.pick([edit, "inventory.isOpen", "inventory.pages[0]", "inventory.path[0]"]))
        case 9: _ = try await test.other.pop(from: numbers.pick(["inventory.pages", "inventory.mixed"]))
        case 10:
          let index = Int.random(in: 0..<3, using: &numbers)
          try await test.other.push("inventory.mixed[\(index)]", onto: "inventory.mixed", id: numbers.pick(mixed))
        case 11:
          let ids = (0..<Int.random(in: 0..<3, using: &numbers)).map { _ in numbers.pick(mixed) }
          try await test.other.setPath(ids.map { Coordinator.PathItem(id: $0) }, of: "inventory.mixed")
        case 12:
          let (first, last) = (numbers.pick(["list", "nothing"]), numbers.pick(["1", "x"]))
          try await test.other.apply {
            $0.present("inventory.isOpen")
            $0.select(first, in: "inventory.tab")
            $0.setPath([Coordinator.PathItem(id: "1"), Coordinator.PathItem(id: last)], of: "inventory.pages")
            $0.present(edit, id: id, options)
          }
        case 13: _ = try await test.other.toggle(numbers.pick(["inventory.isOpen", edit]), id: id, options)
        case 14: _ = try await test.other.deselect(in: "inventory.tab")
        case 15: _ = try await test.other.dismissAll(.root("inventory"))
        default:
          // The program goes on itself.
          switch Int.random(in: 0..<5, using: &numbers) {
          case 0: test.model.isOpen.toggle()
          case 1: test.model.pages.append(Int.random(in: 1..<4, using: &numbers))
          case 2: test.model.destination = numbers.pick([nil, .help])
          case 3: test.model.mixed.append(7)
          default: test.model.tab = numbers.pick([nil, "list", "settings"])
          }
        }
      } catch {
        guard case .refused(let error) = error else { throw error }
        refusal = error
      }
      try await test.fixture.navigator.settle(within: Session.limit)
      let after = test.agreed
      let held = try await test.other.state().presentations.map { "\($0.binding) \($0.id)" }.sorted()
      #expect(held == after, "seed \(seed), step \(step)")
      #expect(test.fixture.display.names.count == after.count, "seed \(seed), step \(step)")
      if let refusal {
        #expect(after == before, "seed \(seed), step \(step)")
        let codes: [CoordinatorError.Name] = [.invalidArgument, .unknownTag, .notPresented, .alreadyInStack]
        #expect(codes.contains(refusal.name), "seed \(seed), step \(step): \(refusal)")
      }
      // The first difference is the one to mend.
      if held != after || test.fixture.display.names.count != after.count { break }
    }
  }
}
