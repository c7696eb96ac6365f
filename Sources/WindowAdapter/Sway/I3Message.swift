import TextFormats

/// A message of the protocol of i3 and sway (i3-ipc): `i3-ipc`, the length, the type, and JSON.
package struct I3Message: Hashable {
  /// The types of requests; a reply has the type of its request.
  package enum Kind: UInt32 {
    case command = 0
    case subscribe = 2
    case outputs = 3
    case tree = 4
    case version = 7
  }

  /// The types of events, without the highest bit, which marks an event.
  package enum Event: UInt32 {
    case workspace = 0
    case output = 1
    case window = 3
    /// The user has pressed a key that the configuration binds, perhaps for another layout.
    case binding = 5
  }

  let type: UInt32
  /// The payload; nil if it was larger than the limit.
  let payload: [UInt8]?

  static let magic = Array("i3-ipc".utf8)
  static let headerSize = 14
  private static let eventBit: UInt32 = 1 << 31

  var isEvent: Bool { type & Self.eventBit != 0 }
  var event: Event? { isEvent ? Event(rawValue: type & ~Self.eventBit) : nil }

  static func bytes(_ kind: Kind, _ payload: String) -> [UInt8] {
    var bytes = magic
    for number in [UInt32(payload.utf8.count), kind.rawValue] { withUnsafeBytes(of: number) { bytes += $0 } }
    return bytes + payload.utf8
  }
}

extension I3Message {
  /// The content of the payload; nil if the payload is not JSON, or was too large.
  var content: JSON? { payload.flatMap { JSON.repaired($0, depth: Self.maximumDepth) } }

  /// The limit of nested arrays and objects: two for each container. In some layouts, each new window splits the previous window's
  /// container.
  private static let maximumDepth = 512
}

/// Reads messages from bytes as they arrive.
struct I3Reader {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// The limit in bytes of a message; the content of a larger one is skipped.
  private let limit: Int
  private var buffer: [UInt8] = []
  private var start = 0
  /// The type of a message that is too large, and the number of its bytes still to come.
  private var passing: (type: UInt32, left: Int)?

  init(limit: Int = 32 << 20) { self.limit = limit }

  mutating func take(_ bytes: some Sequence<UInt8>) {
    buffer.removeFirst(start)
    start = 0
    buffer += bytes
  }

  /// The next whole message; nil if there is none yet.
  /// - Throws: ``Fault`` if the bytes do not follow the protocol.
  mutating func next() throws(Fault) -> I3Message? {
    if let (type, left) = passing {
      let count = min(left, buffer.count - start)
      start += count
      passing = left == count ? nil : (type, left - count)
      return left == count ? I3Message(type: type, payload: nil) : nil
    }
    guard buffer.count - start >= I3Message.headerSize else { return nil }
    guard buffer[start..<(start + 6)].elementsEqual(I3Message.magic) else {
      throw Fault(description: "expected a message that begins with i3-ipc, found other bytes")
    }
    let length = Int(number(at: start + 6))
    let type = number(at: start + 10)
    if length > limit {
      start += I3Message.headerSize
      passing = (type, length)
      return try next()
    }
    let end = start + I3Message.headerSize + length
    guard buffer.count >= end else { return nil }
    defer { start = end }
    return I3Message(type: type, payload: Array(buffer[(start + I3Message.headerSize)..<end]))
  }

  /// Reads a number in the byte order of the machine, as the protocol requires.
  private func number(at index: Int) -> UInt32 {
    buffer[index..<(index + 4)].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
  }
}
