import CDBus
import EventLoops
import Glibc

/// Addresses of buses ("D-Bus Specification", *Server Addresses*).
public enum BusAddress {
  /// The address of a program that speaks D-Bus over its standard input and output, such as a bridge to a remote bus. The program is
  /// started for the connection, ends with it, and inherits our standard error. It cannot pass descriptors.
  /// - Parameter command: the program, searched for in `PATH`, and its arguments.
  public static func program(_ command: [String]) -> String {
    let arguments = command.enumerated().map { ($0 == 0 ? "path" : "argv\($0)") + "=" + escaped($1) }
    return "unixexec:" + arguments.joined(separator: ",")
  }

  /// The address of the bus in `$XDG_RUNTIME_DIR`, which the user's service manager provides; nil without that variable. A relative
  /// path is ignored, as the XDG Base Directory Specification demands.
  static var inRuntimeDirectory: String? {
    guard let directory = getenv("XDG_RUNTIME_DIR"), directory.pointee == UInt8(ascii: "/") else { return nil }
    return "unix:path=\(escaped(directory))/bus"
  }

  /// Whether an address is that of the bus in `$XDG_RUNTIME_DIR`.
  public static func isOfSession(_ address: String) -> Bool {
    // The address may also have the bus's guid, and may be one of several.
    guard let path = inRuntimeDirectory else { return false }
    return address.split(separator: ";").contains { $0 == path || $0.hasPrefix(path + ",") }
  }

  /// The user to whom the socket of an address belongs; nil if the address has no socket in the file system.
  static func owner(of address: String) -> uid_t? {
    let prefix = "unix:path="
    guard address.hasPrefix(prefix) else { return nil }
    var status = stat()
    // An address with escaped bytes is none that a session has.
    let path = String(address.dropFirst(prefix.utf8.count).prefix { $0 != "," && $0 != ";" })
    return stat(path, &status) == 0 ? status.st_uid : nil
  }

  /// The name of a user in /etc/passwd, otherwise the number. The C library's own function needs shared libraries.
  static func nameOfUser(_ user: uid_t) -> String {
    let lines = String(decoding: (try? contents(ofFile: "/etc/passwd")) ?? [], as: UTF8.self).split(separator: "\n")
    let fields = lines.lazy.map { $0.split(separator: ":", omittingEmptySubsequences: false) }
    return fields.first { $0.count > 2 && uid_t($0[2]) == user }.map { String($0[0]) } ?? "the user \(user)"
  }

  private static func escaped(_ value: String) -> String { value.withCString { escaped($0) } }

  /// - Parameter value: the bytes, since a file name need not be UTF-8.
  static func escaped(_ value: UnsafePointer<CChar>) -> String {
    guard let text = dbus_address_escape_value(value) else { fatalError("out of memory") }
    defer { dbus_free(text) }
    return String(cString: text)
  }
}
