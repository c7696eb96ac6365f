// Why this file exists: a session's files are its user's, who is not always who runs the tests.

import Glibc

/// A home directory, removed with all that is in it when the last reference goes.
final class Home {
  let path: String
  private let temporary = TemporaryDirectory()
  /// nil: who runs the tests.
  private let owner: Desktop.User?

  init(of owner: Desktop.User?) {
    self.owner = owner
    path = temporary.path
    give(path)
  }

  func path(of name: String) -> String { temporary.path(of: name) }

  /// Makes a file of a text, or puts another one there, and the directories that lead to it. A script can be run.
  /// - Parameter name: its path from here.
  /// - Throws: `SystemError`.
  func write(_ text: String, to name: String) throws {
    if let end = name.lastIndex(of: "/") { makeDirectory(String(name[..<end])) }
    try TestSupport.write(text, toFile: path(of: name))
    if text.hasPrefix("#!") { chmod(path(of: name), 0o755) }
    give(path(of: name))
  }

  /// Makes a directory, and those that lead to it.
  func makeDirectory(_ name: String) {
    for end in name.indices.filter({ name[$0] == "/" }) + [name.endIndex] {
      let directory = path(of: String(name[..<end]))
      if mkdir(directory, 0o700) == 0 { give(directory) }
    }
  }

  /// Makes it the owner's.
  func give(_ path: String) { if let owner { chown(path, owner.id, owner.group) } }
}
