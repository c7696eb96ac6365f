import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Inputs that commands read on their standard input (D16).
struct InputTests {
  private static let again = RestartRule(.always, delay: 100, maxDelay: 100, limit: 5)
  private let fixture = RulesFixture(destinations: [
    Self.destination("menu", .command([Array("menu".utf8)])),
    Self.destination("board", .command([Array("board".utf8)]), restart: again),
    Self.destination("editor", .command([Array("editor".utf8)]), window: WindowFollowing(hides: true)),
  ])
  private let input = Array("a\nb\n".utf8)

  private static func destination(
    _ name: String, _ presenter: Destination.Presenter, restart: RestartRule? = nil, window: WindowFollowing? = nil
  ) -> Destination {
    var settings = ItemSettings()
    settings.restart = restart
    return Destination(
      name: name, presenter: presenter, source: RulesFixture.file(name),
      itemSettings: Shared(settings), window: window)
  }

  @Test("D16: an item keeps the input that it began with; another input is refused, even while the item waits")
  func present_sameID_keepsTheInput() throws {
    for command in [nil, ["fuzzel", "--dmenu"]] {
      let id = command == nil ? "1" : "2"
      try fixture.present("menu", id, .with(command: command, input: input))
      #expect(fixture.item("menu")?.input == input)
      let unchanged = Reply.presentation(fixture.handle("menu"), changed: false)
      #expect(try fixture.present("menu", id, .with(command: command, input: input)) == unchanged)
      #expect(try fixture.present("menu", id, .with(command: command)) == unchanged)
      let refusal = fixture.refusal(
        of: .present("menu", id: id, .with(title: "T", command: command, input: [1])))
      #expect(refusal?.code == .invalidArgument && refusal?.message.contains("input is not the same") == true)
      #expect(fixture.item("menu")?.input == input && fixture.item("menu")?.title == nil)
    }
    try fixture.present("menu", "3", .with(input: []))
    #expect(fixture.item("menu")?.input == [])
    // Nobody knows which input the command has read.
    try fixture.present("menu", "4")
    #expect(fixture.item("menu")?.input == nil)
    #expect(fixture.refusal(.present("menu", id: "4", .with(input: []))) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test(
    "D16: an input that no command reads is refused, and so is one for a program that a dismissal keeps",
    arguments: [
      ("unit", "a systemd unit"), ("bus", "a program on the bus"), ("bare", "state only"), ("nothing", "state only"),
      ("editor", "kept when it is dismissed"),
    ])
  func present_withoutACommand_isRefused(name: String, why: String) throws {
    let binding = try BindingID(name)
    let refusal = fixture.refusal(of: .present(binding, id: "", .with(input: input)))
    #expect(refusal?.code == .invalidArgument)
    #expect(refusal?.message.contains("input is given, but “\(name)”") == true)
    #expect(refusal?.message.contains(why) == true)
    #expect(fixture.item(binding) == nil)
  }

  @Test("D16: an input has at most as many bytes as a value")
  func present_largeInput_isRefused() throws {
    let most = [UInt8](repeating: 10, count: fixture.machine.limits.value)
    let refusal = fixture.refusal(of: .present("menu", id: "", .with(input: most + [10])))
    #expect(refusal?.code == .limitExceeded)
    #expect(
      refusal?.message.contains("bytes of input: found \(most.count + 1), expected at most \(most.count)") == true)
    try fixture.present("menu", "", .with(input: most))
    #expect(fixture.item("menu")?.input == most)
    try fixture.clearAway()
  }

  @Test("D16, G7: a group does not remember an input; D16, K3: an item that is presented again has it")
  func input_ofAnItemThatReturns_isKept() throws {
    try fixture.show("board", "", .with(group: "g", tag: "t", input: input))
    fixture.ends(fixture.handle("board")!)
    fixture.pass(100)
    #expect(fixture.item("board")?.input == input)
    fixture.shows(fixture.handle("board")!)
    // A member that gives way returns (K2).
    try fixture.ask(.select("g", tag: "u", binding: "alarm", id: "", .with(ifBusy: .interrupt)))
    #expect(fixture.item("board")?.isQueued == true && fixture.item("board")?.input == input)
    try fixture.clearAway()
    try fixture.ask(.select("g", tag: "t", binding: nil, id: nil, .with()))
    #expect(fixture.item("board") != nil && fixture.item("board")?.input == nil)
    try fixture.clearAway()
    try fixture.ask(.select("g", tag: "t", binding: nil, id: nil, .with(input: input)))
    #expect(fixture.item("board")?.input == input)
    try fixture.clearAway()
  }

  @Test("L3: a sandboxed client does not change an item whose command reads an input of another client")
  func update_bySandboxed_isRefused() throws {
    try fixture.show("menu", "", .with(input: input))
    let requests: [Request.Operation] = [
      .present("menu", id: "", .with(value: ["x": .byte(1)])),
      .update("menu", value: ["x": .byte(1)], remove: [], containerValues: nil, timeout: nil),
    ]
    for request in requests {
      let refusal = #expect(throws: Refusal.self) {
        try fixture.apply([Request(request)], by: "mallory", trust: .confined)
      }
      #expect(refusal?.needsTrust == true && refusal?.code == .accessDenied)
    }
    try fixture.apply([Request(.present("menu", id: "", .with(timeout: 1000)))], by: "mallory", trust: .confined)
    #expect(fixture.item("menu")?.input == input)
    try fixture.clearAway()
  }
}
