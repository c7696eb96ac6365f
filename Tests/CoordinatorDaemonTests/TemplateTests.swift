import DBusValues
import PresentationModel
import PresentationRules
import Testing

@testable import CoordinatorDaemon

private func expand(_ text: String, id: String = "7", _ value: Properties = [:]) throws -> String {
  let bytes = try Template(text.utf8).expanded(binding: BindingID("notes[3].body"), id: id, value: value)
  return String(decoding: bytes, as: UTF8.self)
}

@Test("D3: placeholders in a command's arguments") func template_placeholders_areExpanded() throws {
  #expect(try expand("--title={binding}/{id}:{value.level}%", ["level": .uint32(40)]) == "--title=notes[3].body/7:40%")
  #expect(try expand("{{id}} {{{id}}} }}{{") == "{id} {7} }{")
  #expect(try expand("") == "")
}

@Test func template_expansionWithBraces_isNotExpandedAgain() throws {
  #expect(try expand("{id}", id: "{binding} {{ }") == "{binding} {{ }")
}

@Test(
  arguments: [
    (Value.string("a b;$(c)"), "a b;$(c)"), (.int64(-3), "-3"), (.boolean(true), "true"), (.double(0.5), "0.5"),
    (.objectPath("/a"), "/a"), (.bytes([0x2f, 0x61, 0, 0x62]), "/a"), (.variant(.string("v")), "v"),
    (.array(element: .variant, [.variant(.string("a")), .variant(.int32(1))]), "[\"a\",1]"),
    (.dictionary(key: .string, value: .variant, [.string("k"): .variant(.string("x"))]), "{\"k\":\"x\"}"),
  ] as [(Value, String)])
func template_valuesOfEveryType_areTextOrCompactJSON(_ value: Value, _ text: String) throws {
  #expect(try expand("{value.key}", ["key": value]) == text)
}

@Test func template_missingKey_expandsToNothingAndKeepsTheArgument() throws {
  var destination = Destination(
    name: "a", presenter: .command(["p", "{value.none}", "x{value.none}"].map { Array($0.utf8) }),
    source: .file(path: ""))
  let binding = try BindingID("b")
  #expect(
    destination.arguments(binding: binding, id: "", value: [:])?.map { String(decoding: $0, as: UTF8.self) } == [
      "p", "", "x",
    ])
  destination.source = .request
  #expect(destination.arguments(binding: binding, id: "", value: [:])?[1] == Array("{value.none}".utf8))
  destination.presenter = .none
  #expect(destination.arguments(binding: binding, id: "", value: [:]) == nil)
}
