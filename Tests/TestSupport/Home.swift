import Glibc

/// A home directory, deleted with its contents when the last reference is released.
final class Home {
  let path: String
  private let temporary = TemporaryDirectory()
  /// The owner of the files; nil for the user who runs the tests.
  private let owner: Desktop.User?

  init(of owner: Desktop.User?) {
    self.owner = owner
    path = temporary.path
    give(path)
  }

  func path(of name: String) -> String { temporary.path(of: name) }

  /// Creates or overwrites a file, and creates its parent directories. A script becomes executable.
  /// - Parameter name: the path relative to this directory.
  /// - Throws: `SystemError`.
  func write(_ text: String, to name: String) throws {
    if let end = name.lastIndex(of: "/") { makeDirectory(String(name[..<end])) }
    try Files.write(text, to: path(of: name))
    if text.hasPrefix("#!") { chmod(path(of: name), 0o755) }
    give(path(of: name))
  }

  /// Creates a directory and its parents.
  func makeDirectory(_ name: String) {
    for end in name.indices.filter({ name[$0] == "/" }) + [name.endIndex] {
      let directory = path(of: String(name[..<end]))
      if mkdir(directory, 0o700) == 0 { give(directory) }
    }
  }

  /// Gives a file to the owner of the home directory.
  func give(_ path: String) { if let owner { chown(path, owner.id, owner.group) } }
}
