import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// K4: items that are kept beyond the session, and presented again at the next login.
@Suite struct KeepingTests {
  /// A machine with its record. Its commands are on the screen at once, and end at once when they are dismissed.
  private struct Login: ~Copyable {
    var machine = StateMachine()
    var disk = RecordedState()
    var now = Instant(nanoseconds: 1_000_000_000)

    // Swift 6.2 begins nothing in an initializer whose constants are set.
    private var limits: Limits

    init(_ fallbacks: [BindingID: String] = [:], limits: Limits = Limits()) throws {
      self.limits = limits
      try begin(fallbacks)
    }

    /// Begins a session with only the kept items. Returns the reasons for which items are refused.
    @discardableResult
    mutating func begin(
      _ fallbacks: [BindingID: String] = [:], without missing: String? = nil, isQuiet: Bool = false
    ) throws -> [String] {
      var record = RecordedState()
      record.loginItems = disk.loginItems
      if isQuiet {
        var holder = Holder()
        holder.client = "anna"
        record.holders[Holder.Key(name: "quiet", cookie: 1)] = holder
      }
      disk = record
      machine = try StateMachine(
        limits: limits, restoring: record, destinations: Self.destinations.filter { $0.name != missing })
      var refusals: [String] = []
      for (binding, item) in machine.loginItems {
        guard let request = machine.request(presentingAgain: item, at: binding) else { continue }
        do throws(Refusal) {
          take(try machine.perform([request], by: nil, isRestoring: true, at: now).outcome)
        } catch {
          refusals.append(error.message)
        }
      }
      machine.forgetOtherLoginItems()
      machine.load(groups: fallbacks.mapValues { GroupSettings(fallback: $0) })
      take(machine.expire(at: now))
      return refusals
    }

    private static let destinations: [Destination] = {
      func destination(_ name: String, _ command: String?, restores: Bool, _ restart: RestartRule? = nil) -> Destination
      {
        var settings = ItemSettings()
        settings.restoresAtLogin = restores
        settings.restart = restart
        settings.holds = ["quiet": .refuse]
        return Destination(
          name: name, presenter: command.map { .command([Array($0.utf8)]) } ?? .none, source: RulesFixture.file(name),
          itemSettings: Shared(settings))
      }
      return [
        destination("kept", nil, restores: true), destination("mixer", "foot", restores: true),
        destination("board", "foot", restores: true, RestartRule(.always)), destination("gone", nil, restores: false),
      ]
    }()

    mutating func take(_ outcome: Outcome) {
      for command in outcome.commands {
        switch command {
        case .present(let handle): take(machine.report(.presentAnswered(handle, error: nil), at: now))
        case .dismiss(let handle, _, _, _): take(machine.report(.dismissAnswered(handle, result: [:]), at: now))
        default: break
        }
      }
      disk.apply(machine.takeUnrecorded())
      let faults = machine.keptFaults(disk.loginItems)
      #expect(faults == [])
    }

    mutating func present(_ text: String, _ id: String = "", _ change: (inout ItemOptions) -> Void = { _ in }) throws {
      var options = ItemOptions()
      options.destination = "kept"
      change(&options)
      try perform(.present(binding(text), id: id, options))
    }

    mutating func perform(_ operations: Request.Operation..., by client: Client = "anna") throws {
      take(try machine.perform(operations.map { Request($0) }, by: client, at: now).outcome)
    }

    mutating func closes(_ text: String) {
      guard let handle = machine.current(at: binding(text))?.handle else { return }
      take(machine.report(.ended(handle, failed: false, result: ["status": .int32(1)]), at: now))
    }

    mutating func pass(_ milliseconds: UInt64) {
      now = now.after(milliseconds: milliseconds)
      take(machine.expire(at: now))
    }

    func phase(_ text: String) -> Lifecycle? { machine.current(at: binding(text))?.phase }
    /// The bindings and ids of the items that are kept.
    var kept: [String] { disk.loginItems.map { "\($0.key) \($0.value.id)" }.sorted() }
    /// The bindings and ids of all presentations, in the order of their handles.
    var shown: [String] { machine.allPresentations.map { "\($0.binding) \($0.item.id)" } }
  }

  @Test("K4: an item is kept as it is, without the parts that belong to its session, and presented again as it was")
  func item_nextLogin_isPresentedAgain() throws {
    var login = try Login()
    try login.present("a", "1") {
      $0.value = ["page": .int32(3)]
      $0.title = "A"
      $0.style = "sheet"
      $0.timeout = 60_000
      $0.directory = "/tmp"
      $0.environment = ["WAYLAND_DISPLAY": "wayland-7"]
      $0.platformData = ["activation-token": .string("x")]
    }
    try login.present("b", "2") { $0.destination = "gone" }
    try login.present("c", "3") { $0.owned = true }
    try login.present("d", "4") {
      $0.destination = nil
      $0.command = InlineCommand(arguments: [Array("foot".utf8)])
    }
    #expect(login.kept == ["a 1"])
    try login.machine.declareContainerValue("badge", defaultValue: .int32(0))
    try login.perform(
      .update(
        binding("a"), value: ["page": .int32(4)], remove: [], containerValues: ["badge": .int32(1)], timeout: nil))
    #expect(login.disk.loginItems["a"]?.options.containerValues == ["badge": .int32(1)])
    try login.perform(
      .present(binding("a"), id: "1", .with(containerValues: [:])))
    login.pass(50_000)
    try login.begin()
    #expect(login.shown == ["a 1"])
    let found = login.machine.current(at: binding("a"))
    let presentation = try #require(found)
    let item = presentation.item
    #expect(item.value == ["page": .int32(4)] && item.title == "A" && item.style == "sheet")
    #expect(item.directory == nil && item.environment == [:] && item.platformData == [:])
    #expect(presentation.creator == nil)
    // The timeout of the item starts again.
    login.pass(59_999)
    #expect(login.shown == ["a 1"])
    login.pass(1)
    #expect(login.shown == [] && login.kept == [])
  }

  @Test("K4: while its program still ends, an item is forgotten if a request ends it, and kept if it ends by itself")
  func end_underWay_countsByItsReason() throws {
    var settings = ItemSettings()
    settings.restoresAtLogin = true
    let destination = Destination(
      name: "mixer", presenter: .command([[1]]), source: RulesFixture.file("mixer"), itemSettings: Shared(settings))
    var machine = try StateMachine(restoring: RecordedState(), destinations: [destination])
    var (record, now) = (RecordedState(), Instant(nanoseconds: 0))
    _ = try machine.perform(Request(.present("late", id: "", .with(to: "mixer"))), by: nil, at: now)
    now = now.after(milliseconds: Destination.defaultStartTimeout)
    _ = machine.expire(at: now)
    _ = try machine.perform(Request(.present("closed", id: "", .with(to: "mixer"))), by: nil, at: now)
    record.apply(machine.takeUnrecorded())
    #expect(Set(record.loginItems.keys) == ["late", "closed"])
    _ = try machine.perform(Request(.dismiss("closed")), by: nil, at: now)
    record.apply(machine.takeUnrecorded())
    #expect(Set(record.loginItems.keys) == ["late"])
    let phases = machine.allPresentations.map(\.phase.name)
    #expect(phases == [.dismissing, .dismissing])
  }

  @Test("K4: an item that ends by itself while its slot waits for the next one is not kept beyond that one")
  func end_whileNextWaits_isForgotten() throws {
    var settings = ItemSettings()
    settings.restoresAtLogin = true
    let destination = Destination(
      name: "mixer", presenter: .command([[1]]), source: RulesFixture.file("mixer"), itemSettings: Shared(settings))
    var machine = try StateMachine(restoring: RecordedState(), destinations: [destination])
    var record = RecordedState()
    let now = Instant(nanoseconds: 0)
    _ = try machine.perform(Request(.present("a", id: "1", .with(to: "mixer"))), by: nil, at: now)
    _ = machine.report(.presentAnswered(1, error: nil), at: now)
    _ = try machine.perform(Request(.present("a.b", id: "", .with(command: ["x"]))), by: nil, at: now)
    _ = machine.report(.presentAnswered(2, error: nil), at: now)
    _ = machine.report(.ended(1, failed: false, result: [:]), at: now)
    _ = try machine.perform(Request(.present("a", id: "2", .with())), by: nil, at: now)
    _ = machine.report(.dismissAnswered(2, result: [:]), at: now)
    _ = try machine.perform(Request(.dismiss("a")), by: nil, at: now)
    record.apply(machine.takeUnrecorded())
    let isEmpty = machine.isEmpty
    #expect(isEmpty && record.loginItems.isEmpty)
  }

  @Test("K4: an item is kept only if its destination says so")
  func item_ofOtherSettings_isNotKept() throws {
    var settings = ItemSettings()
    settings.id = "1"
    let destination = Destination(
      name: "mixer", presenter: .none, source: RulesFixture.file("mixer"), itemSettings: Shared(settings))
    var machine = try StateMachine(restoring: RecordedState(), destinations: [destination])
    let request = Request(.present("mixer", id: "", .with()))
    _ = try machine.perform(request, by: nil, at: Instant(nanoseconds: 0))
    let kept = machine.takeUnrecorded().loginItems
    #expect(kept.isEmpty)
  }

  @Test("K4: parents, stacks, selections and queues are as they were, whatever the order of the requests")
  func order_nextLogin_isAsBefore() throws {
    var login = try Login()
    try login.present("late", "q1") { $0.group = binding("g") }
    try login.present("next", "q2") {
      ($0.group, $0.ifBusy) = (binding("g"), .queue)
    }
    // The selected member is the newest one.
    try login.present("first", "sel") { ($0.group, $0.ifBusy) = (binding("g"), .interrupt) }
    try login.present("s.a", "bottom") { $0.stack = binding("s") }
    try login.present("s.b", "top") { $0.stack = binding("s") }
    try login.present("parent")
    try login.present("child") { $0.from = binding("parent") }
    try login.present("parent.child")
    func picture(_ machine: borrowing StateMachine) -> String {
      let children = machine.parent(of: machine.current(at: binding("child"))!.handle)?.binding.text ?? "none"
      let derived = machine.parent(of: machine.current(at: binding("parent.child"))!.handle)?.binding.text ?? "none"
      let group = "\(machine.selection(of: binding("g")) ?? "-") \(machine.queuedTags(of: binding("g")))"
      return "\(group) \(machine.path(of: binding("s")).map(\.binding)) \(children) \(derived)"
    }
    let before = picture(login.machine)
    var after = ""
    #expect(before == "first [\"late\", \"next\"] [\"s.a\", \"s.b\"] parent parent")
    try login.begin()
    after = picture(login.machine)
    #expect(after == before)
    try login.begin()
    after = picture(login.machine)
    #expect(after == before)
  }

  @Test("K4, K2: members that gave way are first in their queue again, the latest of them first")
  func interrupted_nextLogin_isFirstInItsQueue() throws {
    var login = try Login()
    try login.present("old", "1") { $0.group = binding("g") }
    try login.present("late", "2") { ($0.group, $0.ifBusy) = (binding("g"), .interrupt) }
    try login.present("high", "3") { ($0.group, $0.ifBusy, $0.priority) = (binding("g"), .queue, 5) }
    try login.present("alarm", "4") { ($0.group, $0.ifBusy) = (binding("g"), .interrupt) }
    for _ in 0..<3 {
      let (selection, queue) = (login.machine.selection(of: binding("g")), login.machine.queuedTags(of: binding("g")))
      #expect(selection == "alarm" && queue == ["late", "old", "high"])
      try login.begin()
    }
  }

  @Test("K4, L1: a member that gave way does so again beside a full queue")
  func interrupted_nextLoginWithFullQueue_isKept() throws {
    var limits = Limits()
    limits.queue = 1
    var login = try Login(limits: limits)
    try login.present("old", "1") { $0.group = binding("g") }
    try login.present("waits", "2") { ($0.group, $0.ifBusy) = (binding("g"), .queue) }
    try login.present("alarm", "3") { ($0.group, $0.ifBusy) = (binding("g"), .interrupt) }
    let refusals = try login.begin()
    let queue = login.machine.queuedTags(of: binding("g"))
    #expect(refusals == [] && queue == ["old", "waits"])
  }

  @Test("K4: an item comes after what is below it in its stack, even if a request has presented that later")
  func order_belowPresentedLater_comesFirst() throws {
    var login = try Login()
    let kept = ItemOptions.with(to: "kept")
    // The last request presents the lower element, so that one has the greater handle.
    try login.perform(
      .push("s", "low", id: "", kept), .push("s", "high", id: "", kept), .present("low", id: "", kept))
    #expect(login.shown == ["high ", "low "])
    try login.begin()
    let path = login.machine.path(of: "s").map(\.binding)
    #expect(path == ["low", "high"])
  }

  @Test("K4: an item comes after its parent, even if a request has presented that later")
  func order_parentPresentedLater_comesFirst() throws {
    var login = try Login()
    let kept = ItemOptions.with(to: "kept")
    try login.perform(
      .present("p.child", id: "", kept), .present("other", id: "", kept.overridden(by: .with(from: "p"))),
      .present("p", id: "", kept))
    #expect(login.shown == ["p.child ", "other ", "p "])
    try login.begin()
    let parents = ["p.child", "other"].map { login.machine.current(at: $0)?.parent }
    let handle = login.machine.current(at: "p")?.handle
    #expect(handle != nil && parents == [handle, handle])
  }

  @Test("K4: an item whose slot is taken is left out")
  func slot_taken_itemIsLeftOut() throws {
    var login = try Login()
    try login.present("a", "1")
    let item = try #require(login.disk.loginItems["a"])
    let whileTaken = login.machine.request(presentingAgain: item, at: "a")
    try login.perform(.dismiss("a"))
    let whileEmpty = login.machine.request(presentingAgain: item, at: "a")
    #expect(whileTaken == nil && whileEmpty != nil)
    #expect(item.options.timeout == 0, "it does not get that of its destination")
    let other = LoginItem(id: "", options: .with(to: "gone"), handle: 1)
    let ofOther = login.machine.request(presentingAgain: other, at: "a")
    #expect(ofOther == nil, "its destination keeps no items any more")
  }

  @Test("K4: members of a queue keep their priorities")
  func queue_nextLogin_keepsPriorities() throws {
    var login = try Login()
    try login.present("first", "sel") { $0.group = binding("g") }
    try login.present("low", "q1") { ($0.group, $0.ifBusy) = (binding("g"), .queue) }
    try login.present("high", "q2") { ($0.group, $0.ifBusy, $0.priority) = (binding("g"), .queue, 5) }
    for _ in 0..<3 {
      let tags = login.machine.queuedTags(of: binding("g"))
      #expect(tags == ["high", "low"])
      try login.begin()
    }
  }

  @Test(
    "K4: an item that a request ends is forgotten; one that ends by itself is kept for five seconds, unless its slot is used"
  )
  func end_ofItem_isForgotten() throws {
    var login = try Login()
    for text in ["a", "b", "c", "d"] { try login.present(text) { $0.destination = "mixer" } }
    try login.perform(.dismiss(binding("a")))
    #expect(login.kept == ["b ", "c ", "d "])
    login.closes("b")
    login.closes("c")
    #expect(login.kept == ["b ", "c ", "d "])
    try login.present("c", "other") { $0.destination = "gone" }
    #expect(login.kept == ["b ", "d "])
    try login.perform(.dismiss(binding("c")))
    login.pass(4999)
    #expect(login.kept == ["b ", "d "])
    login.pass(1)
    #expect(login.kept == ["d "])
    login.closes("d")
    // The session ends with the item.
    try login.begin()
    #expect(login.shown == ["d "])
    // Quit ends all items.
    login.take(login.machine.shutDown(at: login.now))
    #expect(login.kept == [])
  }

  @Test("K4, R5: what ends by itself while navd quits is not waited for")
  func end_duringQuit_isNotKept() throws {
    var login = try Login()
    try login.present("a") { $0.destination = "mixer" }
    _ = login.machine.beginShutDown()
    login.closes("a")
    let due = login.machine.nextDeadline
    #expect(login.kept == [] && due == nil)
  }

  @Test("K4, R5: Quit forgets what has just ended by itself, too")
  func quit_afterEndByItself_forgetsTheItem() throws {
    var login = try Login()
    try login.present("a") { $0.destination = "mixer" }
    login.closes("a")
    #expect(login.kept == ["a "])
    login.take(login.machine.shutDown(at: login.now))
    #expect(login.kept == [])
  }

  @Test("K4, N3: an item whose windows are gone is kept from then on, for five seconds")
  func end_ofWindows_isKeptForAWhile() throws {
    var settings = ItemSettings()
    settings.restoresAtLogin = true
    let viewer = Destination(
      name: "viewer", presenter: .command([[1]]), source: RulesFixture.file("viewer"), itemSettings: Shared(settings),
      window: WindowFollowing())
    var machine = try StateMachine(restoring: RecordedState(), destinations: [viewer])
    var (record, now) = (RecordedState(), Instant(nanoseconds: 0))
    _ = try machine.perform(Request(.present("viewer", id: "", .with())), by: nil, at: now)
    _ = machine.report(.presentAnswered(1, error: nil), at: now)
    _ = machine.report(.windowsGone(1, isFinal: true), at: now)
    record.apply(machine.takeUnrecorded())
    #expect(Array(record.loginItems.keys) == ["viewer"])
    _ = machine.report(.ended(1, failed: false, result: [:]), at: now)
    record.apply(machine.takeUnrecorded())
    #expect(Array(record.loginItems.keys) == ["viewer"])
    now = now.after(milliseconds: 5000)
    _ = machine.expire(at: now)
    record.apply(machine.takeUnrecorded())
    #expect(record.loginItems.isEmpty)
  }

  @Test("K4, L1: as many items that have ended by themselves are kept as endings are remembered")
  func end_ofMoreThanTheLimit_isForgotten() throws {
    var settings = ItemSettings()
    settings.restoresAtLogin = true
    var limits = Limits()
    limits.remembered = 1
    var machine = StateMachine(limits: limits)
    _ = machine.load([
      Destination(name: "kept", presenter: .none, source: RulesFixture.file("kept"), itemSettings: Shared(settings))
    ])
    let now = Instant(nanoseconds: 0)
    for binding: BindingID in ["a", "b"] {
      _ = try machine.perform(Request(.present(binding, id: "", .with(to: "kept"))), by: nil, at: now)
      _ = machine.report(.ended(machine.lastHandle, failed: false, result: [:]), at: now)
    }
    let departed = Array(machine.state.departed.keys)
    #expect(departed == ["a"])
  }

  @Test(
    "K4, L2: the ends of very many kept items, and timeouts after them, take no longer for each item than those of few")
  func ends_ofManyKept_takeProportionateTime() throws {
    var settings = ItemSettings()
    settings.restoresAtLogin = true
    // A machine stands here in place of a fixture, which checks every item against every other one.
    var machine = StateMachine()
    _ = machine.load([
      Destination(name: "kept", presenter: .none, source: RulesFixture.file("kept"), itemSettings: Shared(settings))
    ])
    let count = machine.limits.remembered
    let now = Instant(nanoseconds: 1_000_000_000)
    let start = ContinuousClock.now
    for number in 0..<count {
      let request = Request(.present(binding("a[\(number)]"), id: "", .with(to: "kept")))
      _ = try machine.perform(request, by: "anna", at: now)
      _ = machine.report(.ended(machine.lastHandle, failed: false, result: [:]), at: now)
    }
    try #require(machine.state.departed.count == count)
    for number in 0..<count {
      let request = Request(.present(binding("b"), id: "", .with(timeout: UInt64(number) + 1)))
      _ = try machine.perform(request, by: "anna", at: now)
    }
    #expect(ContinuousClock.now - start < .seconds(5))
    while let due = machine.nextDeadline { _ = machine.expire(at: due) }
    let left = machine.state.departed.count
    #expect(left == 0)
  }

  @Test(
    "K4, L2: ordering very many kept items of one stack and one queue takes no longer for each item than ordering few")
  func order_ofMany_takesProportionateTime() throws {
    var machine = StateMachine()
    let count = machine.limits.queue
    for number in 0..<count {
      var options = ItemOptions()
      options.stack = binding("s")
      // The upper elements are the older ones.
      var element = LoginItem(id: "", options: options, handle: Handle(UInt64(2 * (count - number))))
      element.index = UInt32(number)
      machine.state.loginItemsOnRecord[binding("s[\(number)]")] = element
      options.stack = nil
      options.group = binding("g")
      var member = LoginItem(id: "", options: options, handle: Handle(UInt64(2 * (count - number) + 1)))
      member.queueAge = UInt64(number)
      machine.state.loginItemsOnRecord[binding("g[\(number)]")] = member
    }
    let start = ContinuousClock.now
    let ordered = machine.loginItems.map(\.binding.text)
    #expect(ContinuousClock.now - start < .seconds(2))
    for name in ["s", "g"] {
      #expect(ordered.filter { $0.hasPrefix(name) } == (0..<count).map { "\(name)[\($0)]" })
    }
  }

  @Test("K4, K3: an item that waits to be presented again is kept, and waits no longer at the next login")
  func restart_delayed_isKept() throws {
    var login = try Login()
    try login.present("wall", "1") { $0.destination = "board" }
    login.closes("wall")
    #expect(login.phase("wall") == .waiting)
    #expect(login.kept == ["wall 1"])
    try login.begin()
    #expect(login.phase("wall") == .presented)
  }

  @Test("K4: a fallback is not kept, and neither is an item that waits with a time limit")
  func fallbackAndWithin_nextLogin_areNotKept() throws {
    let group: BindingID = "main"
    var login = try Login([group: "board"])
    #expect(login.shown == ["board "] && login.kept == [])
    try login.present("film") { $0.group = group }
    try login.present("note") { ($0.group, $0.ifBusy, $0.within) = (group, .queue, 1000) }
    try login.present("memo") { ($0.group, $0.ifBusy) = (group, .queue) }
    #expect(login.kept == ["film ", "memo "])
    try login.begin([group: "board"])
    let (selection, queue) = (login.machine.selection(of: group), login.machine.queuedTags(of: group))
    #expect(selection == "film" && queue == ["memo"])
  }

  @Test("K4, K1: an item that becomes a fallback is not kept any more, and is kept again when it is none any more")
  func item_becomesFallback_isForgotten() throws {
    var login = try Login()
    try login.present("board") { ($0.destination, $0.group) = ("board", "main") }
    #expect(login.kept == ["board "])
    login.machine.load(groups: ["main": GroupSettings(fallback: "board")])
    login.pass(0)
    #expect(login.kept == [])
    login.machine.load(groups: [:])
    login.pass(0)
    #expect(login.kept == ["board "])
  }

  @Test("K4, H3: an item that cannot be presented again is forgotten; a hold refuses no kept item, but postpones it")
  func refusal_nextLogin_forgetsTheItem() throws {
    var login = try Login()
    try login.present("a", "1") { $0.destination = "mixer" }
    try login.present("b", "2")
    try login.present("b.child", "3") { $0.from = binding("b") }
    try login.begin(without: "mixer")
    #expect(login.shown == ["b 2", "b.child 3"] && login.kept == ["b 2", "b.child 3"])
    // A hold that would refuse a request postpones items that were accepted before.
    let refusals = try login.begin(isQuiet: true)
    #expect(refusals == [])
    #expect(login.phase("b") == .waiting)
    #expect(login.shown == ["b 2", "b.child 3"] && login.kept == ["b 2", "b.child 3"])
  }

  @Test("K4: the items that are kept survive a navd that is killed before it has presented all of them")
  func kill_whileRestoring_losesNothing() throws {
    var login = try Login()
    try login.present("a")
    try login.present("b")
    var record = RecordedState()
    record.loginItems = login.disk.loginItems
    login.disk = record
    login.machine = try StateMachine(restoring: record)
    // Neither the next navd, nor a request of another client, forgets an item that has not been presented yet.
    try login.perform(.present(binding("other"), id: "", ItemOptions()))
    #expect(login.kept == ["a ", "b "])
    try login.begin()
    #expect(login.shown == ["a ", "b "])
  }
}
