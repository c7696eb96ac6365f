/// Writes fields or reads them, so that one list of fields serves both. A field without a value is left out.
protocol FieldCoder: ~Copyable {
  associatedtype Failure: Error
  /// - Parameter code: never used again for another field; a release that adds a field adds a code.
  mutating func field<Content: Recordable>(_ code: UInt8, _ content: inout Content?) throws(Failure)
}

extension PayloadWriter: FieldCoder {
  mutating func field<Content: Recordable>(_ code: UInt8, _ content: inout Content?) {
    if let content { put(code, content) }
  }
}

extension PayloadReader: FieldCoder {
  /// Fields are read in the order in which they are written.
  mutating func field<Content: Recordable>(_ code: UInt8, _ content: inout Content?) throws(Unreadable) {
    content = isNext(code) ? try get() : nil
  }
}

extension FieldCoder where Self: ~Copyable {
  /// A field that is left out where it has its default.
  mutating func field<Content: Recordable & Equatable>(
    _ code: UInt8, _ content: inout Content, default ordinary: Content
  ) throws(Failure) {
    var field = content == ordinary ? nil : content
    try self.field(code, &field)
    content = field ?? ordinary
  }

  /// A field without content: its code alone means true.
  mutating func mark(_ code: UInt8, _ isMarked: inout Bool) throws(Failure) {
    var mark = isMarked ? Mark() : nil
    try field(code, &mark)
    isMarked = mark != nil
  }
}

/// Takes no bytes.
struct Mark: Recordable {
  init() {}
  init(from payload: inout PayloadReader) {}
  func write(to payload: inout PayloadWriter) {}
}
