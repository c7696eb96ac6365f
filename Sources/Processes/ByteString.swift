/// The bytes of an argument, a variable or a file name, which the kernel does not require to be Unicode. Bytes with a NUL are
/// refused where they are used.
public struct ByteString: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let bytes: [UInt8]

  public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  public init(_ text: String) { self.init(text.utf8) }
  public init(stringLiteral text: String) { self.init(text) }

  /// The text for messages; invalid UTF-8 is replaced.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// Hashes all bytes at once; an array of bytes is hashed byte by byte.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes.count)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  var containsNul: Bool { bytes.contains(0) }

  static func + (a: Self, b: Self) -> Self { ByteString(a.bytes + b.bytes) }

  /// Calls the body with the bytes as a C string.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count + 1) { buffer in
      _ = buffer.initialize(from: bytes)
      buffer[bytes.count] = 0
      return buffer.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
    }
  }
}
