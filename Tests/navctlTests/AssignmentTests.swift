import ArgumentParser
import CoordinatorAPI
import DBusValues
import Testing
import TextFormats

@testable import navctl

// Assignments on the command line: `key=text` and `key:=JSON`.

@Test(
  arguments: [
    ("a=b", "a", Value.string("b")), ("a=", "a", .string("")), ("a=b=c", "a", .string("b=c")),
    ("a=1", "a", .string("1")), ("a:=1", "a", .int64(1)), ("a:=1.5", "a", .double(1.5)),
    ("a:=\"x=y\"", "a", .string("x=y")),
    ("a:=[true]", "a", .array(element: .variant, [.variant(.boolean(true))])), ("a=:=1", "a", .string(":=1")),
  ] as [(String, String, Value)])
func assignment_word_isKeyAndValue(word: String, key: String, value: Value) throws {
  let assignment = try Assignment(word)
  #expect(assignment.key == key)
  #expect(try assignment.value() == value)
  #expect(try assignment.value().type == value.type)
}

@Test(arguments: ["a", "", "=b", ":=1", "a:=", "a:=x", "a:={"])
func assignment_invalidWord_isRefused(word: String) {
  #expect(throws: ValidationError.self) { try Assignment(word) }
}

@Test func assignment_mistakeInJSON_hasItsPosition() throws {
  let error = try #require(throws: ValidationError.self) { try Assignment("a:=[1,]") }
  #expect(error.message == "invalid JSON for “a”: line 1, column 4: expected a value, found \"]\"")
}

@Test func assignments_keyGivenTwice_isRefused() throws {
  let failure = try #require(throws: Failure.self) {
    try [Assignment("a=1"), Assignment("a:=2")].properties("present fact")
  }
  #expect(failure.line == "navctl: present fact: the key “a” is given twice; give it once")
  #expect(failure.status == .usage)
}

@Test func assignment_ofADeclaredType_acceptsTextAndJSON() throws {
  #expect(try Assignment("k=7").value(as: .uint32).type == .uint32)
  #expect(try Assignment("k:=7").value(as: .uint32).type == .uint32)
  #expect(try Assignment("k=7").value(as: .string) == .string("7"))
  #expect(throws: JSON.Mismatch.self) { try Assignment("k:=7").value(as: .string) }
}
