import ArgumentParser
import CoordinatorAPI
import DBus

/// A user's session on another machine, given by `-H` and reached in the way of systemctl: by ssh and systemd-stdio-bridge. Names are
/// checked, so that no name becomes an option of ssh or a word of the remote shell.
struct RemoteHost: Equatable, CustomStringConvertible {
  /// The destination as given to ssh, which may know it as an alias.
  private let destination: String
  /// The port; nil for ssh's default.
  private let port: UInt16?

  /// The script to run on the other machine. `sh` runs it, because the user's shell may be any other. Sessions of ssh have no address
  /// of the bus in their environment.
  private static let bridge = """
    exec systemd-stdio-bridge \
    -p "${DBUS_SESSION_BUS_ADDRESS:-unix:path=${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/bus}"
    """

  /// - Parameter argument: `[USER@]HOST[:PORT]`; an IPv6 address with a port is in brackets.
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    func refuse(_ why: String) -> ValidationError {
      ValidationError("expected [user@]host or [user@]host:port, found “\(argument)”: \(why)")
    }
    let at = argument.lastIndex(of: "@")
    let user = at.map { argument[..<$0] }
    var host = argument[(at.map { argument.index(after: $0) } ?? argument.startIndex)...]
    var portText: Substring?
    if host.hasPrefix("["), let end = host.lastIndex(of: "]") {
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { throw refuse("“\(rest)” follows “]”") }
      portText = rest.isEmpty ? nil : rest.dropFirst()
      host = host[host.index(after: host.startIndex)..<end]
    } else if host.count(where: { $0 == ":" }) == 1, let colon = host.firstIndex(of: ":") {
      portText = host[host.index(after: colon)...]
      host = host[..<colon]
    }
    for part in [user, host].compactMap({ $0 }) {
      guard let first = part.utf8.first else { throw refuse("a name is empty") }
      guard first != UInt8(ascii: "-") else { throw refuse("a name begins with “-”") }
      if let odd = part.unicodeScalars.first(where: { !Self.isAllowed($0) }) {
        throw refuse("“\(String(odd).printable)” is not allowed in a name")
      }
    }
    port = try portText.map { text in
      guard let port = UInt16(text), port > 0 else { throw refuse("“\(text)” is not a port") }
      return port
    }
    destination = (user.map { "\($0)@" } ?? "") + host
  }

  /// Whether a character is allowed. Letters of all languages are: the name may be an alias in ssh's configuration.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    let isWord = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    return isWord || "._-:%+".unicodeScalars.contains(scalar)
  }

  /// - Parameter within: the limit for connecting, in milliseconds; nil for ssh's default.
  func address(within: UInt64?) -> String {
    var command = ["ssh", "-xT"]
    if let port { command += ["-p", "\(port)"] }
    if let within { command += ["-o", "ConnectTimeout=\(max(1, (within + 999) / 1000))"] }
    return BusAddress.program(command + ["--", destination, "sh -c '\(Self.bridge)'"])
  }

  var description: String { destination }

  /// A command line for users to try, for messages.
  func ssh(_ command: String) -> String { "ssh \(port.map { "-p \($0) " } ?? "")\(destination) \(command)" }
}

extension Failure {
  /// Creates a failure to reach the other machine. ssh or the bridge has written the cause to standard error.
  init(_ operation: String, _ host: RemoteHost, _ error: DBusError) {
    // These errors add nothing to that text.
    let why = [.noReply, .disconnected].contains(error.name) ? "" : ": \(error.message)"
    self.init(
      operation, "cannot reach the session bus of \(host) by ssh\(why)",
      hint: "check that “\(host.ssh("systemd-stdio-bridge --version"))” works and that the user is logged in there",
      status: .unreachable)
  }
}
