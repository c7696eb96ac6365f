func ascii(_ scalar: Unicode.Scalar) -> UInt8 { UInt8(ascii: scalar) }

func isDigit(_ byte: UInt8) -> Bool { (ascii("0")...ascii("9")).contains(byte) }

func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (ascii("a")...ascii("f")).contains(byte | 0x20) }

/// The character that begins at `index`, for messages; nil at the end.
func character(at index: Int, of bytes: [UInt8]) -> String? {
  // A scalar has at most four bytes.
  String(decoding: bytes[index...].prefix(4), as: UTF8.self).unicodeScalars.first.map(String.init)
}
