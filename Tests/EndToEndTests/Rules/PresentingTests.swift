import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Unknown names, updates and dismissals on the bus (D2, D8).

private typealias Rows = CoordinatorInterface

@Test("D2, G7: a name that nothing shows is refused, unless the request asks for state alone")
func present_unknownNameOverBus_isRefused() throws {
  let session = try Session(destinations: ["mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n"])
  let watcher = try session.watch()
  func refusals(_ options: Properties) throws -> [CoordinatorError?] {
    let present = TransactionRequest("Present", [.string("mixr"), .string(""), options.value])
    return [
      try session.refusal(Rows.present, ("mixr", "", options)), try session.refusal(Rows.toggle, ("mixr", "", options)),
      try session.refusal(Rows.push, ("main", "mixr", "", options)),
      try session.refusal(Rows.setPath, ("main", [Structure("mixr", "", [:])], options)),
      try session.refusal(Rows.apply, ([present], [:])), try session.refusal(Rows.select, ("panels", "mixr", options)),
      try session.refusal(Rows.toggleSelection, ("panels", "mixr", options)),
    ]
  }
  let names: [CoordinatorError.Name?] =
    Array(repeating: .unknownDestination, count: 5) + Array(repeating: .unknownTag, count: 2)
  for options in [[:], ["state": .boolean(false)]] as [Properties] {
    let found = try refusals(options)
    #expect(found.map { $0?.name } == names)
    #expect(found.allSatisfy { $0?.message.contains("did you mean “mixer”?") == true }, "\(found)")
  }
  #expect(watcher.lines == [])
  #expect(try refusals(.state).allSatisfy { $0 == nil })
  // An open item is updated without the option, and an item that a destination shows is presented without it.
  #expect(try session.refusal(Rows.present, ("mixr", "", ["title": .string("Mixer")])) == nil)
  #expect(try session.refusal(Rows.select, ("panels", "mixer", [:])) == nil)
  #expect(try session.call(Rows.get, "mixer").1["destination"] == .string("mixer"))
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
  try session.call(Rows.push, ("s", "x", "", .state))
  try session.call(Rows.push, ("s", "y", "", .state))
  #expect(try session.call(Rows.dismissAll, ["root": .string("a")]).0 == 3)
  #expect(try session.call(Rows.dismissAll, ["root": .string("a")]).0 == 0)
  #expect(try session.call(Rows.dismissAll, ["group": .string("g")]).0 == 1)
  #expect(try session.call(Rows.dismissAll, ["stack": .string("s")]).0 == 2)
  #expect(try session.call(Rows.dismissAll, ["all": .boolean(true)]).0 == 2)
  #expect(try session.state()["presentations"]?.array == [])
}
