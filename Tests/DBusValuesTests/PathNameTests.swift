import DBusValues
import Testing

// Names of any text as elements of object paths, and back.

@Test(
  arguments: [
    ("main", "main"), ("notes[3].body", "notes_5b3_5d_2ebody"), ("", "_"), ("_", "_5f"), ("3d", "_33d"),
    ("é", "_c3_a9"),
    ("A9", "A9"),
  ])
func pathName_ofAnyText_isReadBack(name: String, element: String) {
  let path = ("/a" as ObjectPath).appending(encoding: name)
  #expect(path.text == "/a/\(element)")
  #expect(path.decodedName(below: "/a") == name)
  #expect(("/" as ObjectPath).appending(encoding: name).text == "/\(element)")
}

@Test(
  arguments: [
    "/a", "/b/main", "/a/b/c", "/a/_5F", "/a/_6dain", "/a/3d", "/a/_c3", "/a/__", "/a/x_", "/a/x_5", "/a/_33_64",
  ])
func pathName_inAnotherSpelling_isNone(text: String) throws {
  #expect(try #require(ObjectPath(text)).decodedName(below: "/a") == nil)
}
