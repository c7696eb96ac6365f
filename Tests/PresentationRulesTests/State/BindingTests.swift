import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Bindings, keys, tags and destinations: which texts are names, equality, and deriving (B1 to B5).
@Suite struct BindingTests {
  // MARK: B1

  @Test(
    "B1: a root name, then any number of .name or [index]",
    arguments: [
      "a", "_", "Z", "a-b_9", "counter.fact", "notes[3].body", "notes[0]", "a[10][0].b-c[2]", "a._", "_-.x",
      "a[99999999999999999999999999999999]",
    ])
  func init_wellFormed_keepsText(text: String) throws {
    #expect(try BindingID(text).text == text)
  }

  @Test(
    "B1: any other text is refused, with the character or the byte at fault",
    arguments: [
      ("", "empty"), ("1a", "begins with “1”"), ("-a", "begins with “-”"), (".a", "begins with “.”"),
      ("[0]", "begins with “[”"), ("a.", "byte 2"),
      ("a..b", "byte 2"), ("a.1", "byte 2"), ("a.-", "byte 2"), ("a[", "byte 2"), ("a[]", "byte 2"),
      ("a[x]", "byte 2"), ("a[-1]", "byte 2"), ("a[01]", "byte 2"), ("a[00]", "byte 2"), ("a[1", "byte 3"),
      ("a[1.b", "byte 3"), ("a[1]b", "byte 4"), ("a b", "contains a blank;"), ("a/b", "contains “/”;"),
      ("a\n", "contains U+A;"),
      ("é", "begins with “é”"), ("aé", "contains “é”;"), ("a\u{301}", "contains U+301;"), ("a]", "contains “]”;"),
      ("a[+1]", "byte 2"),
      ("a[ 1]", "byte 2"), ("a[١]", "byte 2"), ("a\0", "contains U+0;"),
    ])
  func init_malformed_refusedWithPlace(text: String, place: String) {
    do throws(Refusal) {
      let binding = try BindingID(text)
      Issue.record("“\(binding)” was taken")
    } catch {
      #expect(error.code == .invalidBinding)
      #expect(error.message.contains(place), "\(error.message)")
    }
  }

  @Test("B1: at most 255 bytes")
  func init_tooLong_refused() throws {
    let longest = "a" + String(repeating: ".b", count: 127)
    #expect(longest.utf8.count == 255)
    _ = try BindingID(longest)
    for text in [longest + "c", String(repeating: "a", count: 1 << 20)] {
      do throws(Refusal) {
        _ = try BindingID(text)
        Issue.record("\(text.utf8.count) bytes were taken")
      } catch {
        #expect(error.code == .invalidBinding)
        #expect(error.message.contains("255") && error.message.utf8.count < 1024)
      }
    }
  }

  // MARK: B2

  @Test("B2: two bindings are equal if and only if their roots and all their projections are equal")
  func equality_byRoute() throws {
    let binding: BindingID = "a.b[1]"
    let same = try BindingID(["a", ".b", "[1]"].joined())
    #expect(binding == same && binding.hashValue == same.hashValue)
    let different: [BindingID] = ["a.b[1]", "a.b[10]", "a.b.c", "a", "A", "a[1].b", "a.b", "b.a"]
    #expect(Set(different).count == different.count)
  }

  @Test("B2: bindings that differ only in the route are different slots")
  func present_sameItemAtOtherRoute_otherSlot() throws {
    let fixture = RulesFixture()
    try fixture.present("a", "1")
    try fixture.present("b", "1")
    #expect(fixture.taken() == ["presented a 1", "presented b 1"])
    #expect(fixture.handle("a") == 1 && fixture.handle("b") == 2)
    try fixture.clearAway()
  }

  @Test("B2: finding a slot takes no longer among many slots")
  func present_manySlots_foundByHash() throws {
    var limits = Limits()
    limits.items = 10_000
    var machine = StateMachine(limits: limits)
    let now = Instant(nanoseconds: 0)
    for index in 0..<10_000 {
      let binding = try BindingID("notes[\(index)]")
      _ = try machine.perform(Request(.present(binding, id: "", .with())), by: nil, at: now)
    }
    // A search through the slots would take 10⁸ comparisons, which is a minute in a debug build.
    for index in 0..<10_000 {
      let binding = try BindingID("notes[\(index)]")
      #expect(machine.current(at: binding)?.handle.number == UInt64(index + 1))
    }
  }

  // MARK: B3, B4

  @Test("B3: a.b derives from a; a.bc does not derive from a.b, nor notes[10] from notes[1]")
  func deriving_byProjection() {
    func ancestors(_ binding: BindingID) -> [String] {
      var found: [String] = []
      var next = binding.deriving
      while let ancestor = next {
        found.append(ancestor.text)
        next = ancestor.deriving
      }
      return found
    }
    #expect(ancestors("a") == [])
    #expect(ancestors("a.b") == ["a"])
    #expect(ancestors("a.bc") == ["a"])
    #expect(ancestors("notes[1]") == ["notes"])
    #expect(ancestors("notes[10]") == ["notes"])
    #expect(ancestors("notes[3].body") == ["notes[3]", "notes"])
    #expect(ancestors("a.b[0][1].c-d") == ["a.b[0][1]", "a.b[0]", "a.b", "a"])
  }

  @Test("B3: dismissing a root keeps roots whose names only start the same")
  func dismissAll_root_otherRootStays() throws {
    let fixture = RulesFixture()
    for binding: BindingID in ["a", "a.b", "a[0]", "ab", "ab.c"] { try fixture.present(binding) }
    #expect(try fixture.ask(.dismissAll(.root("a"))) == .count(3))
    #expect(fixture.shown == ["ab", "ab.c"])
    try fixture.clearAway()
  }

  @Test("B4: appending .name or [index] gives a binding, whose root is the root")
  func appending_givesBinding() {
    let binding: BindingID = "notes"
    #expect(binding.appending(index: 3)?.text == "notes[3]")
    #expect(binding.appending(index: 3)?.appending(name: "body")?.text == "notes[3].body")
    #expect(binding.appending(index: 3)?.appending(name: "body")?.root == "notes")
    #expect(binding.appending(index: 3)?.deriving == binding)
    #expect(binding.appending(name: "body")?.deriving == binding)
    #expect(binding.root == "notes")
  }

  @Test("B4: appending an invalid name or index, or exceeding the length, gives no binding")
  func appending_malformed_nil() throws {
    let binding: BindingID = "a"
    #expect(binding.appending(name: "") == nil)
    #expect(binding.appending(name: "1") == nil)
    #expect(binding.appending(name: "x y") == nil)
    #expect(binding.appending(index: -1) == nil)
    let longest = try BindingID("a" + String(repeating: ".b", count: 127))
    #expect(longest.appending(name: "c") == nil)
    #expect(longest.appending(index: 0) == nil)
  }

  // MARK: B5

  @Test("B5: keys are names as in B1", arguments: ["a", "_x", "level-2", String(repeating: "k", count: 255)])
  func key_name_taken(key: String) throws {
    let fixture = RulesFixture()
    try fixture.present("a", "", .with(value: [key: .boolean(true)]))
    #expect(fixture.item("a")?.value[key] == .boolean(true))
    try fixture.machine.declareContainerValue(key, defaultValue: .byte(1))
  }

  @Test("B5: keys that are no names are refused", arguments: ["", "1", "a b", "a.b", "é", "-a", "a\0"])
  func key_noName_refused(key: String) throws {
    let fixture = RulesFixture()
    #expect(fixture.refusal(.present("a", id: "", .with(value: [key: .boolean(true)]))) == .invalidArgument)
    #expect(fixture.refusal(.present("a", id: "", .with(platformData: [key: .boolean(true)]))) == .invalidArgument)
    try fixture.present("a")
    #expect(
      fixture.refusal(.update("a", value: [key: .byte(0)], remove: [], containerValues: nil, timeout: nil))
        == .invalidArgument)
    #expect(throws: Refusal.self) { try fixture.machine.declareContainerValue(key, defaultValue: .byte(1)) }
  }

  @Test("B5: tags are any text of 1 to 255 bytes", arguments: ["x", " ", "Wi-Fi “5”", "日本", "a/b", "1"])
  func tag_text_taken(tag: String) throws {
    let fixture = RulesFixture()
    try fixture.present("a", "", .with(group: "g", tag: tag))
    #expect(fixture.machine.selection(of: "g") == tag)
    try fixture.present("b", "", .with(group: "g", tag: String(repeating: "é", count: 127) + "x"))
    try fixture.clearAway()
  }

  @Test(
    "B5: tags with control characters, and an empty one, are refused",
    arguments: ["", "a\n", "\0", "\u{7f}", "\u{9b}1m"])
  func tag_controlCharacter_refused(tag: String) {
    let fixture = RulesFixture()
    #expect(fixture.refusal(.present("a", id: "", .with(group: "g", tag: tag))) == .invalidArgument)
    #expect(fixture.refusal(.select("g", tag: tag, binding: "a", id: nil, .with())) == .invalidArgument)
    #expect(fixture.refusal(.toggleSelection("g", tag: tag, binding: "a", id: nil, .with())) == .invalidArgument)
    #expect(fixture.refusal(.forget("g", tag: tag)) == .invalidArgument)
  }

  @Test("B5: a tag of more than 255 bytes is refused")
  func tag_tooLong_refused() {
    let fixture = RulesFixture()
    let tag = String(repeating: "é", count: 128)
    #expect(fixture.refusal(.present("a", id: "", .with(group: "g", tag: tag))) == .invalidArgument)
    #expect(fixture.refusal(.select("g", tag: tag, binding: "a", id: nil, .with())) == .invalidArgument)
  }

  @Test("B5: destinations are file names without a slash or a leading dot", arguments: ["a", "a b", "x.y", "é", "-"])
  func destination_fileName_taken(name: String) throws {
    let fixture = RulesFixture()
    try fixture.register(RulesFixture.bus(name, source: .client("bar")), by: "bar")
    try fixture.present("a", "", .with(to: name))
    #expect(fixture.item("a")?.destination?.name == name)
  }

  @Test(
    "B5: destinations that could be no file's name are refused",
    arguments: ["", "a/b", "/", ".", "..", ".a", "a\0", String(repeating: "a", count: 256)])
  func destination_noFileName_refused(name: String) {
    let fixture = RulesFixture()
    #expect(fixture.refusal(.present("a", id: "", .with(to: name))) == .invalidArgument)
    #expect(throws: Refusal.self) { try fixture.register(RulesFixture.bus(name, source: .client("bar")), by: "bar") }
  }
}
