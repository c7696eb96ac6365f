// Why this file exists: arguments, environments and file names are bytes to the kernel, and need not be Unicode.

/// Bytes as the kernel takes them for a string. What contains a NUL is refused where it would be used.
public struct ByteString: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let bytes: [UInt8]

  public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  public init(_ text: String) { self.init(text.utf8) }
  public init(stringLiteral text: String) { self.init(text) }

  /// For people: what is not UTF-8 is replaced.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  var containsNul: Bool { bytes.contains(0) }

  static func + (a: Self, b: Self) -> Self { ByteString(a.bytes + b.bytes) }

  /// Calls the body with the bytes and a NUL after them.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count + 1) { buffer in
      _ = buffer.initialize(from: bytes)
      buffer[bytes.count] = 0
      return buffer.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
    }
  }
}
