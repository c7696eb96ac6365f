import EventLoops
import Glibc
import TestSupport
import Testing

@Test("The contents of a file are its bytes up to the limit")
func contents_ofAFile_endWithItOrAtTheLimit() throws {
  let directory = TemporaryDirectory()
  let file = directory.path(of: "file")
  let text = String(repeating: "0123456789", count: 300)
  try Files.write(text, to: file)
  for limit in [0, 1, 1024, 2999, 3000, 3001, .max] {
    #expect(try contents(ofFile: file, limit: limit) == Array(text.utf8.prefix(limit)), "\(limit)")
  }
  #expect(throws: SystemError(code: ENOENT, operation: "open")) { try contents(ofFile: directory.path(of: "none")) }
  #expect(throws: SystemError(code: EISDIR, operation: "read")) { try contents(ofFile: "/") }
}
