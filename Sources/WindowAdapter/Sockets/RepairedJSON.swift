import TextFormats

extension JSON {
  /// The JSON message of a compositor; nil if the bytes are not JSON. Text that is not UTF-8 is repaired: compositors pass on titles
  /// as clients set them, and one title must not hide all windows.
  static func repaired(_ bytes: [UInt8], depth: Int = maximumDepth) -> JSON? {
    (try? parse(bytes, depth: depth))
      ?? (try? parse(Array(String(decoding: bytes, as: UTF8.self).utf8), depth: depth))
  }
}
