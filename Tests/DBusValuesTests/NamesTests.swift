import DBusValues
import Testing

// Names and object paths: which texts are valid.

@Test(arguments: ["/", "/a", "/a/b_1", "/_", "/0", "/" + String(repeating: "x", count: 5000)])
func objectPath_valid_isAccepted(text: String) { #expect(ObjectPath(text)?.text == text) }

@Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/a b", "/é", "/a\0", "/a.b", " /a"])
func objectPath_invalid_isRefused(text: String) { #expect(ObjectPath(text) == nil) }

@Test(arguments: [":1.42", "org.navd.Coordinator1", "a.b", "a-b._c", ":1.2-x", "_a.b"])
func busName_valid_isAccepted(text: String) { #expect(BusName(text)?.text == text) }

@Test(arguments: ["", "a", ":1", ":", ".", "a.", ".a", "a..b", "1a.b", "a.1b", ":1..2", "a.b\0", "a.é", "a b.c"])
func busName_invalid_isRefused(text: String) { #expect(BusName(text) == nil) }

@Test(arguments: ["a.b", "org.navd.Coordinator1", "_a._1"])
func interfaceName_valid_isAccepted(text: String) {
  #expect(InterfaceName(text)?.text == text)
  #expect(ErrorName(text)?.text == text)
}

@Test(arguments: ["", "a", ":1.2", "a-b.c", "a.1", "a..b", "a.b.", "a.b\n"])
func interfaceName_invalid_isRefused(text: String) {
  #expect(InterfaceName(text) == nil)
  #expect(ErrorName(text) == nil)
}

@Test(arguments: ["a", "_", "Present", "a1"])
func memberName_valid_isAccepted(text: String) { #expect(MemberName(text)?.text == text) }

@Test(arguments: ["", "1a", "a.b", "a-b", "a b", "ä", "a\0"])
func memberName_invalid_isRefused(text: String) { #expect(MemberName(text) == nil) }

@Test func names_longerThan255Bytes_areRefused() {
  let longest = String(repeating: "x", count: 255)
  #expect(MemberName(longest) != nil)
  #expect(MemberName(longest + "x") == nil)
  #expect(InterfaceName("a." + longest.dropLast(2)) != nil)
  #expect(InterfaceName("a." + longest.dropLast(1)) == nil)
  #expect(BusName(":1." + longest.dropLast(3)) != nil)
  #expect(BusName(":1." + longest.dropLast(2)) == nil)
}

@Test func objectPath_appended_isSplitAgainByBelow() {
  let base: ObjectPath = "/org/navd"
  #expect(base.appending("x") == "/org/navd/x")
  #expect(ObjectPath.root.appending("x") == "/x")
  #expect(base.appending(17) == "/org/navd/17")
  #expect(ObjectPath.root.appending(0) == "/0")
  #expect(base.appending("") == nil)
  #expect(base.appending("a/b") == nil)
  #expect(ObjectPath("/org/navd/a/b").below(base) == "a/b")
  #expect(ObjectPath("/a").below(.root) == "a")
  #expect(ObjectPath.root.below(.root) == nil)
  #expect(base.below(base) == nil)
  #expect(ObjectPath("/org/navdx/a").below(base) == nil)
  #expect(ObjectPath("/org").below(base) == nil)
}

@Test func objectPath_numberInAnotherSpelling_isNotRead() {
  let base: ObjectPath = "/p"
  #expect(base.appending(UInt64.max).number(below: base) == .max)
  #expect(base.appending(0).number(below: base) == 0)
  for text in ["/p/01", "/p/00", "/p/x", "/p/1/2", "/p/18446744073709551616", "/p", "/q/1", "/p/_1"] {
    #expect(ObjectPath(text)!.number(below: base) == nil, "\(text)")
  }
}
