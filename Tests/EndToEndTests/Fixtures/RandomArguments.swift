import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport

/// A generator of arguments of method calls from a seed: meaningful, borderline and invalid ones.
struct RandomArguments {
  var numbers: SeededNumbers
  /// The probability that an argument, or a part of one, is arbitrary; 0 for valid requests.
  var arbitrariness = 0.0
  /// Handles of current and past presentations.
  var presentations: [ObjectPath] = [.root]
  /// The latest serial received.
  var serial: UInt64 = 0
  /// navd's limits by name. Sizes and counts are often just below or above one.
  var limits: [String: Int] = [:]
  /// Whether texts are short, because thousands of them are in one value. Creating and comparing long ones took nearly all of the
  /// fuzzer's time.
  private var hasShortTexts = false

  init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

  // MARK: Meaningful arguments

  /// The bindings are few, so that requests affect each other.
  private static let bindings = [
    "a", "a.b", "a.b.c", "a.b.d", "n[0]", "n[1]", "n[1].x", "panels.left", "panels.right", "s[0]", "s[1]", "t",
  ]
  private static let groups = ["panels", "g", "a"]
  private static let tags = ["left", "right", "panels.left", "n[0]", "x y", "grouped", "a"]
  private static let stacks = ["s", "main", "a"]
  private static let ids = ["", "", "1", "2", "three"]
  private static let keys = ["badge", "weight", "list"]
  /// The names of the test's destination files, and of the presenters that the fuzzer registers.
  private static let destinations = ["sleeper", "short", "missing", "grouped", "hole", "bar", "liar"]
  private static let phases = ["presented", "gone"]
  private static let interfaces = [
    "org.navd.Coordinator1", "org.navd.Presentation1", "org.freedesktop.DBus.Properties", "",
  ]
  private static let properties = ["Serial", "Limits", "Version", "Phase", "Value", "Title", "Owner"]

  /// Arguments of the method's types, some of them arbitrary according to `arbitrariness`.
  mutating func inputs(of method: Introspected.Method) -> [Value] {
    method.inputs.map { input(input: $0, of: method.name) }
  }

  private mutating func input(input: Introspected.Argument, of method: String) -> Value {
    if numbers.chance(arbitrariness) { return anyValue(of: input.type) }
    switch (input.name, input.type) {
    case ("options", .properties), ("filter", .properties): return options(of: method).value
    case ("requests", _): return requests()
    case ("elements", _):
      return .array(
        element: .structure([.string, .string, .properties]),
        (0..<(numbers.chance(0.002) ? edge(of: "transaction") : count(4))).map { _ in
          .structure([
            .string(numbers.chance(0.5) ? "" : numbers.pick(Self.bindings)), .string(numbers.pick(Self.ids)),
            options(Options.ofItem, leavingOut: ["group", "tag", "stack", "if-busy", "from"]).value,
          ])
        })
    case (let name, .string): return .string(text(name))
    case (_, .objectPath): return .objectPath(numbers.pick(presentations))
    case (_, .properties): return dictionary().value
    case (_, .uint32): return .uint32(UInt32.random(in: 0..<4, using: &numbers))
    default: return anyValue(of: input.type)
    }
  }

  private mutating func text(_ name: String) -> String {
    switch name {
    case "binding", "from", "root": numbers.pick(Self.bindings)
    case "id", "expected-id": numbers.pick(Self.ids)
    case "group": numbers.pick(Self.groups)
    case "tag": numbers.pick(Self.tags)
    case "stack": numbers.pick(Self.stacks)
    case "destination": numbers.pick(Self.destinations)
    case "key": numbers.pick(Self.keys)
    case "phase": numbers.pick(Self.phases)
    case "kind": numbers.pick(["group", "stack", "parent", "all"])
    case "name": numbers.pick(Self.groups + Self.stacks + ["", "dnd", "locked"])
    case "interface_name": numbers.pick(Self.interfaces)
    case "property_name": numbers.pick(Self.properties)
    case "if-busy": numbers.pick(["replace", "interrupt", "queue", "refuse"])
    case "reason": numbers.pick(["dismissed", "closed", "replaced"])
    default: numbers.pick(["sheet", "popover", "Title", "push", "", "ü"])
    }
  }

  private mutating func requests() -> Value {
    let requests = (0..<count(6)).map { _ -> Value in
      let method = numbers.pick(CoordinatorInterface.changingMethods)
      let inputs = inputs(
        of: Introspected.Method(
          interface: CoordinatorInterface.name.text, name: method.name.text,
          inputs: method.inputs.map { Introspected.Argument(name: $0.name, type: $0.type) }))
      return .structure([.string(method.name.text), .array(element: .variant, inputs.map { .variant($0) })])
    }
    // One request is repeated as often as a transaction permits, or once more.
    if let first = requests.first, numbers.chance(0.005) {
      let many = [Value](repeating: first, count: edge(of: "transaction"))
      return .array(element: .structure([.string, .array(.variant)]), many)
    }
    return .array(element: .structure([.string, .array(.variant)]), requests)
  }

  private mutating func options(of method: String) -> Properties {
    let table =
      switch method {
      case "RegisterPresenter": Options.ofRegisterPresenter
      case "History": Options.ofHistory
      case "Apply": Options.ofApply
      case "Hold": Options.ofHold
      default: CoordinatorInterface.changingMethods.first { $0.name.text == method }?.options ?? Options.ofSlot
      }
    // Few bindings have a destination.
    let isState = table[Options.state.name] != nil && numbers.chance(0.9)
    return (isState ? Properties.state : [:]).merging(options(table, leavingOut: [])) { $1 }
  }

  private mutating func options(_ table: OptionTable, leavingOut: Set<String>) -> Properties {
    var options: Properties = [:]
    let rows = table.rows.filter { !leavingOut.contains($0.name) }
    guard !rows.isEmpty else { return options }
    for _ in 0..<count(4) {
      let row = numbers.pick(rows)
      options[row.name] = numbers.chance(arbitrariness) ? anyValue(of: row.types[0]) : value(of: row)
    }
    if numbers.chance(arbitrariness / 2) { options[anyText()] = anyValue() }
    return options
  }

  private mutating func value(of row: OptionTable.Row) -> Value {
    switch row.name {
    case "timeout", "start-timeout", "grace": .uint64(UInt64.random(in: 1..<200, using: &numbers))
    case "command": numbers.pick([["true"], ["sleep", "1000"], ["false"], ["missing"], ["sleep", "0.01"]]).value
    case "directory": .string(numbers.pick(["/", "/usr", "/nowhere"]))
    case "environment": ["NAVD_FUZZ": anyText().filter { $0 != "\0" }].value
    case "expected-serial": .uint64(serial)
    case "expected-presentation": .objectPath(numbers.pick(presentations))
    case "container-values":
      ([numbers.pick(Self.keys): numbers.pick([.string("3"), .int32(3), [UInt8]([1]).value])] as Properties).value
    case "remove": ["text", "n"].value
    case "value", "platform-data": dictionary().value
    case "priority": .int32(Int32.random(in: -2...2, using: &numbers))
    default:
      switch row.types[0] {
      case .string: .string(text(row.name))
      case .boolean: .boolean(numbers.chance(row.name == "all" ? 0.9 : 0.5))
      default: anyValue(of: row.types[0])
      }
    }
  }

  private mutating func dictionary() -> Properties {
    var values: Properties = [:]
    for _ in 0..<count(3) {
      values[numbers.pick(["text", "n", "level"])] =
        numbers.chance(arbitrariness) ? anyValue() : .int32(Int32(count(100)))
    }
    return values
  }

  /// A random number below a limit.
  private mutating func count(_ most: Int) -> Int { Int.random(in: 0..<most, using: &numbers) }

  // MARK: Arbitrary arguments

  /// Arguments with wrong types, or a wrong number of them.
  mutating func mismatched(for method: Introspected.Method) -> [Value] {
    var values = inputs(of: method)
    switch count(4) {
    case 0 where !values.isEmpty: values.removeLast()
    case 1 where !values.isEmpty: values[count(values.count)] = anyValue()
    case 2: values = (0..<count(5)).map { _ in anyValue() }
    default: values.insert(anyValue(), at: count(values.count + 1))
    }
    return values
  }

  /// A value of a random type.
  mutating func anyValue() -> Value { anyValue(of: type(depth: numbers.chance(0.02) ? 12 : 3)) }

  private mutating func type(depth: Int) -> ValueType {
    let basic: [ValueType] = [
      .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath, .signature,
    ]
    guard depth > 0 else { return numbers.pick(basic) }
    switch count(20) {
    case 0, 1, 2: return .variant
    case 3, 4: return .array(type(depth: depth - 1))
    case 5, 6: return .dictionary(key: numbers.pick(basic), value: type(depth: depth - 1))
    case 7: return .properties
    case 8: return .structure((0...count(3)).map { _ in type(depth: depth - 1) })
    case 9 where numbers.chance(0.1): return .descriptor
    default: return numbers.pick(basic)
    }
  }

  /// A random value of a type, often at the limits of its range.
  mutating func anyValue(of type: ValueType, depth: Int = 3) -> Value {
    switch type {
    case .byte: return .byte(integer())
    case .boolean: return .boolean(numbers.chance(0.5))
    case .int16: return .int16(integer())
    case .uint16: return .uint16(integer())
    case .int32: return .int32(integer())
    case .uint32: return .uint32(integer())
    case .int64: return .int64(integer())
    case .uint64: return .uint64(integer())
    case .double:
      let special: [Double] = [
        0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e300,
      ]
      return .double(numbers.pick(special))
    case .string: return .string(anyText())
    case .objectPath: return .objectPath(anyPath())
    case .signature: return .signature(numbers.pick(["", "s", "a{sv}", "(((y)))", "aaaaaaaay", "a(ssa{sv})"]))
    case .variant:
      // The depth is occasionally the maximum of D-Bus.
      if numbers.chance(0.01) { return (0..<30 + count(30)).reduce(Value.byte(1)) { value, _ in .variant(value) } }
      return .variant(depth > 0 ? anyValue(of: self.type(depth: depth - 1), depth: depth - 1) : .byte(7))
    case .array(.byte): return .bytes([UInt8](repeating: integer(), count: size(of: 1)))
    case .array(let element):
      let size = size(of: 300)
      return shortening(if: size > 100) { arguments in
        .array(element: element, (0..<size).map { _ in arguments.anyValue(of: element, depth: depth - 1) })
      }
    case .dictionary(let key, let value):
      let size = size(of: 300)
      return shortening(if: size > 100) { arguments in
        var entries: [Value: Value] = [:]
        for number in 0..<size {
          // Most arbitrary texts are alike.
          let name = size > 100 && key == .string ? .string("\(number)") : arguments.anyValue(of: key)
          entries[name] = arguments.anyValue(of: value, depth: depth - 1)
        }
        return .dictionary(key: key, value: value, entries)
      }
    case .structure(let types): return .structure(types.map { anyValue(of: $0, depth: depth - 1) })
    case .descriptor: return .descriptor(Descriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC)))
    }
  }

  /// Makes a value, with short texts if it is large.
  private mutating func shortening(if isLarge: Bool, _ body: (inout Self) -> Value) -> Value {
    let before = hasShortTexts
    hasShortTexts = before || isLarge
    defer { hasShortTexts = before }
    return body(&self)
  }

  /// A limit, one less, or one more.
  private mutating func edge(of limit: String) -> Int { max(0, (limits[limit] ?? 255) + numbers.pick([-1, 0, 1])) }

  /// A number of elements: usually small, rarely 100, very rarely near or above any limit.
  private mutating func size(of weight: Int) -> Int {
    if numbers.chance(0.0005) { return (2 << 20) / weight }
    if numbers.chance(0.0005) { return edge(of: numbers.pick(["value", "container-values", "request"])) / weight }
    return numbers.chance(0.01) ? 100 : count(4)
  }

  private mutating func integer<T: FixedWidthInteger>() -> T {
    let values: [T] = [0, 1, 2, .max, .min, .max - 1, T(truncatingIfNeeded: numbers.next())]
    return numbers.pick(values)
  }

  private static let texts = [
    "", " ", "/", ".", "..", "../..", "a..b", "a.", ".a", "a[", "a[01]", "a[-1]", "a[18446744073709551616]", "1", "ä",
    "\n", "\t",
    "\u{1}", "\u{7f}", "\u{feff}", "\u{202e}abc", "\u{10ffff}", "e\u{301}", "👩‍👩‍👧", "{id}", "{value.}", "{", "}}", "%s%n",
    "'", "\"", "\\", "'; --", "<b>&amp;", ":1.1", "org.freedesktop.DBus", "org.navd.Coordinator1", "null", "NaN", "0",
    "group.", "group.panels", "all", "parent", "shutdown", "org.freedesktop.systemd1", "\u{2028}", "\u{61c}",
    "\u{10fffd}",
    "\u{e000}", "\u{e0001}", "\u{9b}31m", "\u{1b}]0;x\u{7}", "İ", "ﬃ", "ß",
  ]

  private mutating func anyText() -> String {
    switch count(12) {
    case 0 where hasShortTexts, 1 where hasShortTexts: return numbers.pick(Self.texts)
    case 0:
      let unit = numbers.pick(["a", "ü", "a.", "[0]", "\u{301}", "👩‍👩‍👧"])
      let bytes =
        numbers.chance(0.2) ? numbers.pick([63, 127]) : numbers.pick([254, 255, 256])
      return String(repeating: unit, count: numbers.chance(0.5) ? bytes : bytes / unit.utf8.count)
    case 1 where numbers.chance(0.1):
      return String(repeating: "x", count: edge(of: numbers.pick(["text", "defaults"])))
    case 1 where numbers.chance(0.05):
      return String(repeating: "x", count: edge(of: numbers.pick(["value", "request"])))
    case 2...4:
      return (0..<count(20)).map { _ in
        // D-Bus strings cannot contain U+0000.
        String(Unicode.Scalar(UInt32.random(in: 1..<0x2fff, using: &numbers)) ?? "?")
      }.joined()
    case 5...7: return numbers.pick(Self.bindings + Self.tags + Self.destinations)
    default: return numbers.pick(Self.texts)
    }
  }

  private mutating func anyPath() -> ObjectPath {
    switch count(6) {
    case 0:
      numbers.pick(["/", "/org", CoordinatorNames.object, CoordinatorNames.presentations, "/bar", "/liar", "/x/_"])
    case 1: CoordinatorNames.presentation(integer())
    case 2: ObjectPath("/org/navd/Coordinator1/presentation/" + String(repeating: "9", count: 1 + count(40))) ?? .root
    case 3: ObjectPath("/a" + String(repeating: "/b", count: count(400))) ?? .root
    default: numbers.pick(presentations)
    }
  }
}
