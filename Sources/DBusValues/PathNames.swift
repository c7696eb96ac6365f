extension ObjectPath {
  /// The path of a child of any name, encoded as by sd_bus_path_encode(3): each byte that is no letter or digit, and a digit at the
  /// beginning, becomes `_` with two hexadecimal digits. An empty name becomes `_`.
  public func appending(encoding name: String) -> ObjectPath {
    var element: [UInt8] = []
    for byte in name.utf8 {
      if isLetter(byte) || isDigit(byte) && !element.isEmpty {
        element.append(byte)
      } else {
        element += [UInt8(ascii: "_"), hexadecimal(byte >> 4), hexadecimal(byte & 15)]
      }
    }
    let text = element.isEmpty ? "_" : String(decoding: element, as: UTF8.self)
    return ObjectPath(unchecked: self == .root ? "/" + text : self.text + "/" + text)
  }

  /// The name that ``appending(encoding:)`` gave to the child of `ancestor`; nil for any other path, and for another spelling of the
  /// name.
  public func decodedName(below ancestor: ObjectPath) -> String? {
    guard let element = below(ancestor) else { return nil }
    var bytes: [UInt8] = []
    var rest = element.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        bytes.append(byte)
        continue
      }
      if element.utf8.count == 1 { break }
      guard let code = UInt8(Substring(rest.prefix(2)), radix: 16), rest.count >= 2 else { return nil }
      bytes.append(code)
      rest.removeFirst(2)
    }
    guard let name = String(validating: bytes, as: UTF8.self), ancestor.appending(encoding: name) == self else {
      return nil
    }
    return name
  }
}

private func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

private func hexadecimal(_ digit: UInt8) -> UInt8 {
  digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
}
