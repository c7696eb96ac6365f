// Why this file exists: an address is a text with rules of its own, and what others gave does not become a part of them.

import CDBus

/// Addresses of buses ("D-Bus Specification", *Server Addresses*).
public enum BusAddress {
  /// What is spoken to over its standard input and output, for example a bridge to a bus that is elsewhere. It is started
  /// for the connection, ends with it, and says what it has to say to our standard error. Descriptors do not travel so.
  /// - Parameter command: the program, looked for in `PATH`, and its arguments.
  public static func program(_ command: [String]) -> String {
    let arguments = command.enumerated().map { ($0 == 0 ? "path" : "argv\($0)") + "=" + escaped($1) }
    return "unixexec:" + arguments.joined(separator: ",")
  }

  /// A value as it stands in an address.
  private static func escaped(_ value: String) -> String { value.withCString { escaped($0) } }

  /// The same of bytes: a file name need not be UTF-8.
  static func escaped(_ value: UnsafePointer<CChar>) -> String {
    guard let text = dbus_address_escape_value(value) else { fatalError("no memory") }
    defer { dbus_free(text) }
    return String(cString: text)
  }
}
