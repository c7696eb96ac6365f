import Glibc

/// A desktop described by a program outside of the tests, whose path is in `NAVD_TEST_DESKTOP`. docs/conformance.md documents such
/// programs.
public enum DescribedDesktop {
  /// The description; nil if the tests use their own desktops.
  public static var path: String? {
    getenv("NAVD_TEST_DESKTOP").map { String(cString: $0) }.flatMap { $0.contains("/") ? $0 : nil }
  }

  /// The description, relative to the session's home. The files beside it are copied, too.
  public static var program: String { "desktop/\(path?.split(separator: "/").last ?? "")" }

  /// Copies the description, because the desktop's user may have no access to it.
  static func install(in home: Home) throws {
    guard let path, let end = path.lastIndex(of: "/") else {
      throw SetupFailure(description: "expected a path in NAVD_TEST_DESKTOP, found none")
    }
    home.makeDirectory("desktop")
    let directory = path.hasPrefix("/") ? String(path[..<end]) : "\(Files.package)/\(path[..<end])"
    let copying = try spawn(
      ["/bin/sh", "-c", "cp -RL \"$0/.\" \"$1\" && chmod -R a+rX \"$1\"", directory, home.path(of: "desktop")],
      environment: ["PATH=/usr/bin:/bin"], descriptors: [STDERR_FILENO, STDERR_FILENO, STDERR_FILENO])
    var status: Int32 = 0
    guard waitpid(copying, &status, 0) == copying, status == 0 else {
      throw SetupFailure(description: "\(directory) cannot be copied: \(status)")
    }
  }

  /// The script that starts the described desktop.
  static func script() throws -> String {
    """
    export NAVD_TEST_READY="$XDG_RUNTIME_DIR/displays"
    exec "$HOME/\(program)" start
    """
  }

  /// The variables of programs on the described desktop, from the line that it wrote: `NAME=VALUE` for each.
  static func variables(_ line: String) throws -> [String: String] {
    var variables: [String: String] = [:]
    for word in line.split(separator: " ") {
      guard let sign = word.firstIndex(of: "=") else {
        throw SetupFailure(description: "expected NAME=VALUE in NAVD_TEST_READY, found: \(line)")
      }
      variables[String(word[..<sign])] = String(word[word.index(after: sign)...])
    }
    return variables
  }
}
