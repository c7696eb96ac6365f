import DBusValues
import Testing

// Signatures: which texts are valid.

@Test(arguments: ["", "s", "a{sv}", "ssa{sv}", "a(ssa{sv})", "aav", "(y(bn)q)", "aaaay", "a{oh}", "ybnqiuxtdsogvh"])
func signature_valid_isAcceptedWithTheSameText(text: String) throws {
  let signature = try #require(Signature(text))
  #expect(signature.types.map(\.signature).joined() == text)
  #expect(Signature(types: signature.types) == signature)
}

@Test(
  arguments: [
    "a", "(", ")", "()", "(s", "s)", "{sv}", "a{s}", "a{svs}", "a{vs}", "a{ass}", "a{(s)s}", "a{sv", "z", "r", "e",
    "m", "*", "s s", "é", "a\0", "(a)", "a{}",
  ])
func signature_invalid_isRefused(text: String) { #expect(Signature(text) == nil) }

@Test func signature_depthAndLength_areLimitedAsSpecified() {
  func nested(_ open: String, _ count: Int, _ close: String = "") -> String {
    String(repeating: open, count: count) + "y" + String(repeating: close, count: count)
  }
  #expect(Signature(nested("a", 32)) != nil)
  #expect(Signature(nested("a", 33)) == nil)
  #expect(Signature(nested("(", 32, ")")) != nil)
  #expect(Signature(nested("(", 33, ")")) == nil)
  #expect(Signature(nested("a{s", 32, "}")) != nil)
  #expect(Signature(nested("a{s", 33, "}")) == nil)
  #expect(Signature(String(repeating: "y", count: 255)) != nil)
  #expect(Signature(String(repeating: "y", count: 256)) == nil)
  #expect(Signature(nested("(", 100_000, ")")) == nil)
}

@Test func signatureOfTypes_forbiddenType_isRefused() {
  #expect(Signature(types: [.structure([])]) == nil)
  #expect(Signature(types: [.dictionary(key: .variant, value: .string)]) == nil)
  #expect(Signature(types: [.array(.structure([]))]) == nil)
  #expect(Signature(types: Array(repeating: .byte, count: 256)) == nil)
}
