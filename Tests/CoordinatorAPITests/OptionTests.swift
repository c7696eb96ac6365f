import CoordinatorAPI
import DBusValues
import PresentationModel
import Testing
import TextFormats

// Options of requests: their types, how they are read from the bus and from JSON, and how a mistake is reported.

@Test func options_ofTheContract_areAccepted() throws {
  var options: Properties = [:]
  options[Options.destination] = "sleeper"
  options[Options.value] = ["level": .int64(40)]
  options[Options.timeout] = 3000
  options[Options.owned] = true
  options[Options.priority] = -1
  options[Options.command] = ["sleep", "1"]
  options[Options.environment] = ["DISPLAY": ":0"]
  options[Options.animated] = false
  options[Options.expectedPresentation] = CoordinatorNames.presentation(17)
  try Options.ofPresent.check(options)
  #expect(options[Options.timeout] == 3000)
  #expect(options[Options.title] == nil)
  #expect(options[Options.value]?["level"] == .int64(40))
  #expect(options.command == [Array("sleep".utf8), Array("1".utf8)])
}

@Test func options_command_isReadFromStringsAndBytesAlike() throws {
  let bytes: [[UInt8]] = [[0x2F, 0xFF], []]
  let options: Properties = ["command": bytes.value]
  try Options.ofPresent.check(options)
  #expect(options.command == bytes)
  #expect((["command": ["é"].value] as Properties).command == [[0xC3, 0xA9]])
  #expect(([:] as Properties).command == nil)
}

@Test(
  arguments: [
    (["tittle": Value.string("x")] as Properties, "unknown option “tittle”; known: destination, value, "),
    (["timeout": .string("3")], "option “timeout”: expected the type t, found s"),
    (["timeout": .int32(-3)], "option “timeout”: expected an integer from 0 to 18446744073709551615, found -3"),
    (["timeout": .double(0.5)], "option “timeout”: expected an integer from 0 to 18446744073709551615, found 0.5"),
    (
      ["priority": .uint32(1 << 31)],
      "option “priority”: expected an integer from -2147483648 to 2147483647, found 2147483648"
    ),
    (["animated": .int32(1)], "option “animated”: expected the type b, found i"),
    (["command": .string("sleep 1")], "option “command”: expected the type as or aay, found s"),
    (["b": .byte(1), "a": .byte(1)], "unknown option “a”"),
  ] as [(Properties, String)])
func options_mistake_isReportedByName(options: Properties, message: String) throws {
  let error = try #require(throws: Refusal.self) { try Options.ofPresent.check(options) }
  #expect(error.code == .invalidArgument)
  #expect(error.message.hasPrefix(message), "\(error.message)")
}

@Test func options_integer_mayBeOfEveryTypeThatFits() throws {
  for number in [
    Value.byte(9), .int16(9), .uint16(9), .int32(9), .uint32(9), .int64(9), .uint64(9), .double(9),
  ] {
    let options: Properties = ["timeout": number, "priority": number, "within": number]
    try Options.ofPresent.check(options)
    #expect(options[Options.timeout] == 9 && options[Options.priority] == 9 && options[Options.within] == 9)
  }
  let greatest: Properties = ["timeout": .double(9_007_199_254_740_992)]
  try Options.ofPresent.check(greatest)
  #expect(greatest[Options.timeout] == 1 << 53)
}

@Test func options_ofMethods_differAsTheContractSays() {
  for (table, known, unknown) in [
    (Options.ofItem, ["destination", "platform-data"], ["animated", "expected-id", "any-id", "binding"]),
    (Options.ofPresent, ["expected-id", "expected-presentation", "animated"], ["any-id", "id", "expected-serial"]),
    (Options.ofToggle, ["any-id", "expected-id"], ["binding"]),
    (Options.ofUpdate, ["container-values", "remove", "timeout", "expected-id", "animated"], ["title", "owned"]),
    (Options.ofDismiss, ["animated", "expected-presentation"], ["timeout"]),
    (Options.ofDismissAll, ["root", "group", "stack", "all", "parked"], ["expected-id", "expected-serial"]),
    (Options.ofSelect, ["binding", "id", "title"], ["expected-id", "any-id"]),
    (Options.ofPop, ["animated"], ["expected-id"]),
    (Options.ofApply, ["animated", "force", "expected-serial"], ["expected-id"]),
    (Options.ofRegisterPresenter, ["group", "style", "start-timeout", "grace"], ["animated"]),
  ] {
    for name in known { #expect(table[name] != nil, "\(name)") }
    for name in unknown { #expect(table[name] == nil, "\(name)") }
    #expect(Set(table.rows.map(\.name)).count == table.rows.count)
  }
}

@Test func options_fromJSON_areOfTheirDeclaredTypes() throws {
  let json = try JSON.parse(#"{"timeout":3000,"priority":2,"command":["sleep","1"],"value":{"level":1},"owned":true}"#)
  let options = try Options.ofPresent.options(json)
  try Options.ofPresent.check(options)
  #expect(options[Options.timeout] == 3000)
  #expect(options[Options.priority] == 2)
  #expect(options[Options.value]?["level"]?.type == .int64)
}

@Test(arguments: [
  (#"{"timeout":-1}"#, "timeout", "found -1"), (#"{"tittle":"x"}"#, "tittle", "unknown option “tittle”"),
  (#"{"command":"sleep"}"#, "command", "expected a list (as)"),
])
func options_fromJSONOfAnotherType_areNamed(text: String, name: String, why: String) throws {
  let mismatch = try #require(throws: JSON.Mismatch.self) { try Options.ofPresent.options(JSON.parse(text)) }
  #expect(mismatch.path == [.member(name)])
  #expect(mismatch.why.contains(why), "\(mismatch)")
}

@Test func options_documentation_namesEachWithItsType() {
  #expect(Options.ofDismiss.doc.hasPrefix("animated (b): "))
  #expect(Options.ofItem.doc.contains("\ncommand (as or aay): "))
}
