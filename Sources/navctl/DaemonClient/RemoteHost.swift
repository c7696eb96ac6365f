// Why this file exists: another machine's session is reached as systemctl reaches another machine, by ssh and
// systemd-stdio-bridge; and no name of a machine becomes an option of ssh, or a word of its shell.

import ArgumentParser
import CoordinatorAPI
import DBus

/// A user's session on a machine, as `-H` names it.
struct RemoteHost: Equatable, CustomStringConvertible {
  /// As ssh is told; it knows aliases that nobody else knows.
  private let destination: String
  /// nil: ssh's own.
  private let port: UInt16?

  /// What runs there. The user's shell there may be any, so it is `sh` that finds the bus: ssh's own sessions have no
  /// address of it.
  private static let bridge = """
    exec systemd-stdio-bridge \
    -p "${DBUS_SESSION_BUS_ADDRESS:-unix:path=${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/bus}"
    """

  /// - Parameter argument: `[USER@]HOST[:PORT]`; an address of IPv6 with a port stands in brackets.
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    func refuse(_ why: String) -> ValidationError {
      ValidationError("“\(argument)” is no host: \(why); [user@]host or [user@]host:port would do")
    }
    let at = argument.lastIndex(of: "@")
    let user = at.map { argument[..<$0] }
    var host = argument[(at.map { argument.index(after: $0) } ?? argument.startIndex)...]
    var portText: Substring?
    if host.hasPrefix("["), let end = host.lastIndex(of: "]") {
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { throw refuse("after “]” stands “\(rest)”") }
      portText = rest.isEmpty ? nil : rest.dropFirst()
      host = host[host.index(after: host.startIndex)..<end]
    } else if host.count(where: { $0 == ":" }) == 1, let colon = host.firstIndex(of: ":") {
      portText = host[host.index(after: colon)...]
      host = host[..<colon]
    }
    for part in [user, host].compactMap({ $0 }) {
      guard let first = part.utf8.first else { throw refuse("a name is empty") }
      guard first != UInt8(ascii: "-") else { throw refuse("a name begins with “-”") }
      if let odd = part.unicodeScalars.first(where: { !Self.isUsual($0) }) {
        throw refuse("“\(String(odd).printable)” is in no name")
      }
    }
    port = try portText.map { text in
      guard let port = UInt16(text), port > 0 else { throw refuse("“\(text)” is no port") }
      return port
    }
    destination = (user.map { "\($0)@" } ?? "") + host
  }

  /// Letters of all languages, since a name may be one that ssh's configuration knows.
  private static func isUsual(_ scalar: Unicode.Scalar) -> Bool {
    let isWord = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    return isWord || "._-:%+".unicodeScalars.contains(scalar)
  }

  /// - Parameter within: milliseconds that connecting may take; nil: as long as ssh takes it.
  func address(within: UInt64?) -> String {
    var command = ["ssh", "-xT"]
    if let port { command += ["-p", "\(port)"] }
    if let within { command += ["-o", "ConnectTimeout=\(max(1, (within + 999) / 1000))"] }
    return BusAddress.program(command + ["--", destination, "sh -c '\(Self.bridge)'"])
  }

  var description: String { destination }

  /// A command line that people can try.
  func ssh(_ command: String) -> String { "ssh \(port.map { "-p \($0) " } ?? "")\(destination) \(command)" }
}

extension Failure {
  /// Another machine could not be reached; ssh, or the bridge, has said why to standard error.
  init(_ what: String, _ host: RemoteHost, _ error: DBusError) {
    // That there is no answer says nothing; what does has been said.
    let why = [.noReply, .disconnected].contains(error.name) ? "" : ": \(error.message)"
    self.init(
      what, "the session bus of \(host) cannot be reached by ssh\(why)",
      next: "“\(host.ssh("systemd-stdio-bridge --version"))” has to work, and a session of that user has to run there",
      status: .unreachable)
  }
}
