import DBusValues
import PresentationModel
import PresentationRules
import Processes
import Testing

@testable import CoordinatorDaemon

// Placeholders in the arguments of commands, and paths below the home directory (D3).

private func expand(_ text: String, id: String = "7", title: String? = nil, _ value: Properties = [:]) throws -> String
{
  var item = Item(id: id)
  (item.title, item.value) = (title, value)
  let bytes = try CommandTemplate(text.utf8).expanded(for: item, at: BindingID("notes[3].body"))
  return String(decoding: bytes, as: UTF8.self)
}

@Test("D3: placeholders in a command's arguments") func template_placeholders_areExpanded() throws {
  #expect(try expand("--title={binding}/{id}:{value.level}%", ["level": .uint32(40)]) == "--title=notes[3].body/7:40%")
  #expect(try expand("{{id}} {{{id}}} }}{{") == "{id} {7} }{")
  #expect(try expand("") == "")
  #expect(try expand("--title={title}", title: "Volume {id}") == "--title=Volume {id}")
  #expect(try expand("--title={title}") == "--title=")
  var item = Item(id: "")
  #expect(try CommandTemplate("-{output}-".utf8).expanded(for: item, at: BindingID("a")) == Array("--".utf8))
  item.output = "DP-1"
  #expect(try CommandTemplate("-{output}-".utf8).expanded(for: item, at: BindingID("a")) == Array("-DP-1-".utf8))
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
  let (item, binding) = (Item(id: ""), try BindingID("b"))
  #expect(
    destination.arguments(for: item, at: binding, home: "/h")?.map { String(decoding: $0, as: UTF8.self) } == [
      "p", "", "x",
    ])
  destination.source = .request
  #expect(destination.arguments(for: item, at: binding, home: "/h")?[1] == Array("{value.none}".utf8))
  destination.presenter = .none
  #expect(destination.arguments(for: item, at: binding, home: "/h") == nil)
}

@Test(arguments: [
  ("~/bin/x", "/h/bin/x"), ("$HOME/x", "/h/x"), ("${HOME}/x", "/h/x"), ("~", "/h"), ("/~/$HOME", "/~/$HOME"),
  ("~ann/x", "~ann/x"), ("$HOMES/x", "$HOMES/x"), ("~/{{x}}", "/h/{x}"),
])
func destination_programBelowHome_isExpanded(_ program: String, _ path: String) throws {
  var destination = Destination(
    name: "a", presenter: .command([Array(program.utf8), Array("~/y".utf8)]), source: .file(path: ""))
  let arguments = try destination.arguments(for: Item(id: ""), at: BindingID("b"), home: "/h")
  #expect(arguments == [path, "~/y"].map { Array($0.utf8) })
  // The shell in which a request was written has expanded its paths already.
  destination.source = .request
  #expect(try destination.arguments(for: Item(id: ""), at: BindingID("b"), home: "/h")?.first == Array(program.utf8))
}
