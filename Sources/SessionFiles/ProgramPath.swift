import Glibc

/// The programs that a shell finds in this process's environment.
package enum ProgramPath {
  /// Whether a word is the name of a program in `PATH`, or the path of one.
  package static func has(_ word: String) -> Bool {
    if word.contains("/") { return isProgram(word) }
    let directories = getenv("PATH").map { String(cString: $0) } ?? ""
    return !word.isEmpty && directories.split(separator: ":").contains { isProgram("\($0)/\(word)") }
  }

  private static func isProgram(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}
