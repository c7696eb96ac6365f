public import EventLoops
import Glibc

/// A listening socket that behaves like a message bus ("D-Bus Specification", *Authentication Protocol*, *Message Bus Messages*)
/// until a test makes it misbehave. For faults that a real bus never shows; otherwise use ``PrivateBus``.
public final class FakeBus {
  /// A received message, parsed as far as a bus needs it.
  public struct Incoming {
    public let serial: UInt32
    public let member: String
    public let destination: String
    /// The first string argument; empty if there is none.
    public let argument: String
    public let isCall: Bool
  }

  private enum Stage { case authenticating, open }

  /// The address for `DBUS_SESSION_BUS_ADDRESS`.
  public var address: String { "unix:path=\(directory.path(of: "bus"))" }
  /// Returns the answer to a line of the authentication; nil to answer like a bus.
  public var authenticate: ((String) -> [UInt8]?)?
  /// The time from accepting a client to closing the connection; nil to keep it open.
  public var lifetime: Duration?
  /// Handles a message.
  public var take: (FakeBus, Incoming) -> Void = { $0.answer($1) }
  /// Whether either side has closed the connection.
  public private(set) var isGone = false
  /// The number of bytes that could not be written because the client does not read.
  public private(set) var unwritten = 0

  private let directory = TemporaryDirectory()
  private let loop: EventLoop
  private let listening: Int32
  private var client: Int32 = -1
  private var watches: [Watch] = []
  private var stage = Stage.authenticating
  private var received: [UInt8] = []
  private var serial: UInt32 = 0

  public init(_ loop: EventLoop) throws {
    self.loop = loop
    listening = try check("socket") { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    _ = try withUnixAddress(directory.path(of: "bus")) { address, size in
      try check("bind") { bind(listening, address, size) }
    }
    try check("listen") { listen(listening, 4) }
    watches.append(try loop.watch(listening, .read) { [unowned self] _ in accept() })
  }

  deinit {
    for watch in watches { watch.cancel() }
    if client >= 0 { close(client) }
    close(listening)
  }

  private func accept() {
    guard client < 0 else { return }
    client = Glibc.accept(listening, nil, nil)
    guard client >= 0 else { return }
    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
    if let watch = try? loop.watch(client, .read, { [unowned self] _ in read() }) { watches.append(watch) }
    if let lifetime { _ = loop.timer(after: lifetime) { [weak self] in self?.hangUp() } }
  }

  /// Closes this end of the connection.
  public func hangUp() {
    guard client >= 0, !isGone else { return }
    isGone = true
    watches.last?.cancel()
    shutdown(client, Int32(SHUT_RDWR))
  }

  // MARK: Reading

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(client, &buffer, buffer.count)
    guard count > 0 else {
      if count == 0 || errno != EINTR { hangUp() }
      return
    }
    received += buffer[..<count]
    while !isGone, stage == .authenticating ? takeLine() : takeMessage() {}
  }

  private func takeLine() -> Bool {
    guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return false }
    let line = String(decoding: received[..<end].filter { $0 >= 32 }, as: UTF8.self)
    received.removeSubrange(...end)
    if let answer = authenticate?(line) {
      write(answer)
    } else if line.hasPrefix("AUTH EXTERNAL") {
      write(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8))
    } else if line.hasPrefix("NEGOTIATE_UNIX_FD") {
      write(Array("AGREE_UNIX_FD\r\n".utf8))
    } else if line.hasPrefix("BEGIN") {
      stage = .open
    } else {
      write(Array("REJECTED EXTERNAL\r\n".utf8))
    }
    return true
  }

  private func takeMessage() -> Bool {
    guard received.count >= 16 else { return false }
    func number(_ offset: Int) -> Int { Marshalled.number(in: received, at: offset) }
    let (body, size) = Marshalled.extent(of: received)
    guard received.count >= size else { return false }
    var fields: [UInt8: String] = [:]
    // Only the text fields of the header matter, and a field begins at a multiple of 8.
    for offset in stride(from: 16, to: body - 8, by: 8)
    where received[offset + 1] == 1 && [UInt8(ascii: "s"), UInt8(ascii: "o")].contains(received[offset + 2]) {
      let length = number(offset + 4)
      guard received[offset + 3] == 0, offset + 8 + length < body else { continue }
      let text = String(decoding: received[offset + 8..<offset + 8 + length], as: UTF8.self)
      fields[received[offset]] = fields[received[offset]] ?? text
    }
    var argument = ""
    if size - body > 5, case let length = number(body), body + 4 + length < size {
      argument = String(decoding: received[body + 4..<body + 4 + length], as: UTF8.self)
    }
    let message = Incoming(
      serial: UInt32(number(8)), member: fields[3] ?? "", destination: fields[6] ?? "", argument: argument,
      isCall: received[1] == 1)
    received.removeFirst(size)
    take(self, message)
    return true
  }

  // MARK: Writing

  /// Writes as much as the client accepts without blocking; the rest is dropped.
  public func write(_ bytes: [UInt8]) {
    guard client >= 0, !isGone, unwritten == 0 else { return }
    let count = bytes.withUnsafeBytes {
      Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    unwritten += bytes.count - max(0, count)
  }

  /// Answers like a bus without other clients.
  public func answer(_ message: Incoming) { if let bytes = answerBytes(message) { write(bytes) } }

  /// - Returns: nil if a bus sends no answer.
  public func answerBytes(_ message: Incoming) -> [UInt8]? {
    guard message.isCall, message.destination == "org.freedesktop.DBus" else { return nil }
    var body = Marshalled()
    switch message.member {
    case "Hello":
      body.string(":1.1")
      return self.message(answering: message.serial, "s", body.bytes)
    case "ListNames":
      var names = Marshalled()
      for name in ["org.freedesktop.DBus", ":1.1"] { names.string(name) }
      body.uint32(UInt32(names.bytes.count))
      body.bytes += names.bytes
      return self.message(answering: message.serial, "as", body.bytes)
    case "GetId":
      body.string("0123456789abcdef0123456789abcdef")
      return self.message(answering: message.serial, "s", body.bytes)
    case "RequestName", "ReleaseName":
      body.uint32(1)
      return self.message(answering: message.serial, "u", body.bytes)
    case "AddMatch", "RemoveMatch": return self.message(answering: message.serial, "", [])
    default:
      body.string("there is nothing of that")
      return self.message(
        type: 3, answering: message.serial, error: "org.freedesktop.DBus.Error.NameHasNoOwner", "s", body.bytes)
    }
  }

  /// Builds a message from the bus, or from `sender`.
  public func message(
    type: UInt8 = 2, answering replySerial: UInt32? = nil, sender: String? = "org.freedesktop.DBus",
    destination: String? = ":1.1", path: String? = nil, interface: String? = nil, member: String? = nil,
    error: String? = nil, _ signature: String, _ body: [UInt8]
  ) -> [UInt8] {
    serial += 1
    var fields = Marshalled()
    func field(_ code: UInt8, _ type: Unicode.Scalar) {
      fields.align(8)
      fields.bytes += [code, 1, UInt8(ascii: type), 0]
    }
    func text(_ code: UInt8, _ type: Unicode.Scalar, _ text: String?) {
      guard let text else { return }
      field(code, type)
      fields.string(text)
    }
    text(1, "o", path)
    text(2, "s", interface)
    text(3, "s", member)
    text(4, "s", error)
    if let replySerial {
      field(5, "u")
      fields.uint32(replySerial)
    }
    text(6, "s", destination)
    text(7, "s", sender)
    if !signature.isEmpty {
      field(8, "g")
      fields.signature(signature)
    }
    return Marshalled.message(type, flags: 1, serial: serial, fields: fields, body: body)
  }
}
