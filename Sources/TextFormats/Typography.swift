import Glibc

/// Messages are written with typographic quotes. In the locale “C”, a reader may have a display without them.
package enum Typography {
  /// Whether the locale of this process, by its variables, is the one that promises only ASCII.
  private static let isASCII: Bool = {
    let values = ["LC_ALL", "LC_CTYPE", "LANG"].map { (name: String) in getenv(name).map { String(cString: $0) } ?? "" }
    return ["C", "POSIX"].contains(values.first { !$0.isEmpty } ?? "C")
  }()

  /// A message as its reader can display it. Not for what programs read: names of other programs may have such characters, too.
  package static func inLocale(_ message: String) -> String { isASCII ? inASCII(message) : message }

  /// The message with ASCII quotes, dots and dashes. Other characters stay, since they are not navd's.
  package static func inASCII(_ message: String) -> String {
    message.replacingScalars { scalar in
      switch scalar {
      case "“", "”": "\""
      case "‘", "’": "'"
      case "…": "..."
      case "–": "-"
      default: nil
      }
    }
  }
}
