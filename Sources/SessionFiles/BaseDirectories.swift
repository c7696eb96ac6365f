import Glibc

/// The base directories of the session (XDG Base Directory Specification), the most important first.
package enum BaseDirectories {
  /// `$XDG_CONFIG_HOME`, `$XDG_CONFIG_DIRS` and `$XDG_DATA_DIRS`, with the defaults of the XDG Base Directory Specification. As the
  /// specification demands, an empty variable counts as unset, and paths that are not absolute are ignored.
  /// - Parameter variable: looks up an environment variable.
  package static func configuration(_ variable: (String) -> [UInt8]? = Self.variable) -> [[UInt8]] {
    let all =
      [home("XDG_CONFIG_HOME", default: "/.config", variable)] + list("XDG_CONFIG_DIRS", default: "/etc/xdg", variable)
      + list("XDG_DATA_DIRS", default: dataDefault, variable)
    return all.filter { $0.first == UInt8(ascii: "/") }
  }

  /// `$XDG_DATA_HOME` and `$XDG_DATA_DIRS`, by the same rules.
  package static func data(_ variable: (String) -> [UInt8]? = Self.variable) -> [[UInt8]] {
    let all =
      [home("XDG_DATA_HOME", default: "/.local/share", variable)]
      + list("XDG_DATA_DIRS", default: dataDefault, variable)
    return all.filter { $0.first == UInt8(ascii: "/") }
  }

  /// `$XDG_STATE_HOME`, by the same rules; nil if neither it nor `$HOME` is an absolute path.
  package static func state(_ variable: (String) -> [UInt8]? = Self.variable) -> [UInt8]? {
    let path = home("XDG_STATE_HOME", default: "/.local/state", variable)
    return path.first == UInt8(ascii: "/") ? path : nil
  }

  private static let dataDefault = "/usr/local/share:/usr/share"

  /// An environment variable; nil if it is not set.
  package static func variable(_ name: String) -> [UInt8]? {
    getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
  }

  private static func list(
    _ name: String, default defaultValue: String, _ variable: (String) -> [UInt8]?
  ) -> [[UInt8]] {
    let value = variable(name) ?? []
    return (value.isEmpty ? Array(defaultValue.utf8) : value).split(separator: UInt8(ascii: ":")).map(Array.init)
  }

  /// A single path, in which a colon is an ordinary character.
  /// - Parameter path: the default, from the home directory.
  private static func home(_ name: String, default path: String, _ variable: (String) -> [UInt8]?) -> [UInt8] {
    func absolute(_ name: String) -> [UInt8]? { variable(name).flatMap { $0.first == UInt8(ascii: "/") ? $0 : nil } }
    return absolute(name) ?? absolute("HOME").map { $0 + Array(path.utf8) } ?? []
  }
}
