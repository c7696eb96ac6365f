import Glibc

/// Adapts the typographic quotes of messages, which the reader's display may lack in the locale
/// “C”.
package enum Typography {
  /// Whether the variables of this process select the locale that promises only ASCII.
  private static let isASCII: Bool = {
    let values = ["LC_ALL", "LC_CTYPE", "LANG"].map { (name: String) in getenv(name).map { String(cString: $0) } ?? "" }
    return ["C", "POSIX"].contains(values.first { !$0.isEmpty } ?? "C")
  }()

  /// A message that its reader can display. Do not use it for text that programs read: names of other programs may have such
  /// characters, too.
  package static func inLocale(_ message: String) -> String { isASCII ? inASCII(message) : message }

  /// The message with ASCII quotes, dots and dashes. Other characters stay, since they are not from navd.
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
