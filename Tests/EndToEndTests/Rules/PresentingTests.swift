import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Presenting on the bus: options, destinations, toggle, update, dismissals and expectations (P1 to P11, D2, D8).

private typealias Rows = CoordinatorInterface

@Test("P1, D2: an item without a destination has no presenter, and the state contains all of its options")
func presenting_options_areInTheState() throws {
  let session = try Session()
  let (path, changed, serial) = try session.call(
    Rows.present,
    (
      "counter.fact", "7",
      [
        "title": .string("T"), "style": .string("sheet"), "value": ["n": Value.int32(7)].value,
        "timeout": .uint64(60_000),
        "priority": .int32(3), "owned": .boolean(true), "platform-data": ["output": Value.string("DP-1")].value,
        "animated": .boolean(false),
      ]
    ))
  #expect(changed)
  let (same, item, sameSerial) = try session.call(Rows.get, "counter.fact")
  #expect(same == path)
  #expect(sameSerial == serial)
  #expect(item["id"] == .string("7"))
  #expect(item["title"] == .string("T"))
  #expect(item["style"] == .string("sheet"))
  #expect(item["phase"] == .string("presented"))
  #expect(item["owner"] == .string(session.client.uniqueName.text))
  #expect(item["value"].flatMap { Properties(value: $0) } == ["n": .int32(7)])
  #expect(item["destination"] == nil)
  #expect(item["pid"] == nil)
  #expect(try session.call(Rows.get, "counter").0 == .root)
}

@Test(
  "D2: without the option `destination` the destination named like the binding is used; an unknown destination is refused"
)
func presenting_destination_isFoundByName() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  let before = try session.state()
  let refusal = try session.refusal(Rows.present, ("note", "", ["destination": .string("fcat")]))
  #expect(refusal?.name == .unknownDestination)
  #expect(refusal?.message.contains("fcat") == true)
  #expect(try session.state() == before)
  try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  let item = try session.call(Rows.get, "fact").1
  #expect(item["destination"] == .string("fact"))
  #expect(item["pid"]?.integer == Int128(session.processes().first?.pid ?? 0))
  try session.present("note", "2", ["destination": .string("fact")])
  try session.wait(for: "start 2", of: "note")
}

@Test("D8: update sets and removes keys of the value")
func presenting_update_editsTheValue() throws {
  let session = try Session()
  #expect(try session.refusal(Rows.update, ("fact", ["a": .int32(1)], [:]))?.name == .notPresented)
  let path = try session.present("fact", "", ["value": ["a": Value.int32(1), "b": .int32(2)].value])
  func value() throws -> Properties? { try session.call(Rows.get, "fact").1["value"].flatMap { Properties(value: $0) } }
  let (changed, serial) = try session.call(
    Rows.update, ("fact", ["b": .int32(3), "c": .string("x")], ["remove": ["a"].value]))
  #expect(changed)
  #expect(try value() == ["b": .int32(3), "c": .string("x")])
  let (same, sameSerial) = try session.call(Rows.update, ("fact", ["b": .uint64(3)], ["remove": ["zz"].value]))
  #expect(!same)
  #expect(sameSerial == serial)
  #expect(try session.refusal(Rows.update, ("fact", ["no name": .int32(1)], [:]))?.name == .invalidArgument)
  #expect(try session.call(PresentationInterface.update, (["d": .boolean(true)], [:]), at: path).0)
  #expect(try value() == ["b": .int32(3), "c": .string("x"), "d": .boolean(true)])
  #expect(try session.call(Rows.get, "fact").0 == path)
}

@Test("DismissAll takes exactly one of root, group, stack and all")
func presenting_dismissAll_takesOneScope() throws {
  let session = try Session()
  for options in [
    [:], ["all": .boolean(false)], ["all": .boolean(true), "root": .string("a")], ["root": .string("a.b")],
    ["root": .string("")], ["group": .string("")], ["root": .string("a"), "group": .string("g")],
  ] as [Properties] {
    let refusal = try session.refusal(Rows.dismissAll, options)
    #expect([.invalidArgument, .invalidBinding].contains(refusal?.name), "\(options)")
  }
  for binding in ["a", "a.b", "a[3]", "ab", "b"] { try session.present(binding) }
  try session.present("p", "", ["group": .string("g")])
  try session.call(Rows.push, ("s", "x", "", [:]))
  try session.call(Rows.push, ("s", "y", "", [:]))
  #expect(try session.call(Rows.dismissAll, ["root": .string("a")]).0 == 3)
  #expect(try session.call(Rows.dismissAll, ["root": .string("a")]).0 == 0)
  #expect(try session.call(Rows.dismissAll, ["group": .string("g")]).0 == 1)
  #expect(try session.call(Rows.dismissAll, ["stack": .string("s")]).0 == 2)
  #expect(try session.call(Rows.dismissAll, ["all": .boolean(true)]).0 == 2)
  #expect(try session.state()["presentations"]?.array == [])
}

@Test("P10: a request with an outdated expectation is refused and changes nothing")
func presenting_expectations_areChecked() throws {
  let session = try Session()
  let (first, _, serial) = try session.call(Rows.present, ("fact", "a", [:]))
  try session.dismiss("fact")
  let (second, _, _) = try session.call(Rows.present, ("fact", "b", [:]))
  for options in [
    ["expected-id": .string("a")], ["expected-presentation": .objectPath(first)],
    ["expected-presentation": .objectPath(.root)],
  ] as [Properties] {
    #expect(try session.refusal(Rows.dismiss, ("fact", options))?.name == .stale, "\(options)")
    #expect(try session.refusal(Rows.present, ("fact", "c", options))?.name == .stale, "\(options)")
    #expect(try session.refusal(Rows.toggle, ("fact", "b", options))?.name == .stale, "\(options)")
    #expect(try session.refusal(Rows.update, ("fact", ["n": .int32(1)], options))?.name == .stale, "\(options)")
  }
  #expect(try session.call(Rows.get, "fact").0 == second)
  // An outdated dismissal does not close the replacement.
  #expect(try session.error(PresentationInterface.dismiss, [:], at: first)?.name == .unknownObject)
  #expect(try session.call(PresentationInterface.dismiss, ["expected-id": .string("b")], at: second).0)
  // The expected serial of a transaction is compared with that of the whole state.
  let dismissal = TransactionRequest("Dismiss", [.string("note"), ([:] as Properties).value])
  #expect(try session.refusal(Rows.apply, ([dismissal], ["expected-serial": .uint64(serial)]))?.name == .stale)
  let current = try session.call(Rows.present, ("note", "x", [:])).2
  #expect(try session.call(Rows.apply, ([dismissal], ["expected-serial": .uint64(current)])).0.count == 1)
}
