/// Writes or reads fields, so that one list of fields serves both. A field without a value is left out.
protocol FieldCoder: ~Copyable {
  associatedtype Failure: Error
  /// - Parameter code: the code of the field. It is never used for another field; a release that adds a field adds a code.
  mutating func field<Content: Recordable>(_ code: UInt8, _ content: inout Content?) throws(Failure)
}

extension PayloadWriter: FieldCoder {
  mutating func field<Content: Recordable>(_ code: UInt8, _ content: inout Content?) {
    if let content { put(code, content) }
  }
}

extension PayloadReader: FieldCoder {
  /// Reads a field. Fields are read in the order in which they are written.
  mutating func field<Content: Recordable>(_ code: UInt8, _ content: inout Content?) throws(Unreadable) {
    content = isNext(code) ? try get() : nil
  }
}

extension FieldCoder where Self: ~Copyable {
  /// Codes a field that is left out if it has its default.
  mutating func field<Content: Recordable & Equatable>(
    _ code: UInt8, _ content: inout Content, default ordinary: Content
  ) throws(Failure) {
    var field = content == ordinary ? nil : content
    try self.field(code, &field)
    content = field ?? ordinary
  }

  /// Codes a field without content: its code alone means true.
  mutating func mark(_ code: UInt8, _ isMarked: inout Bool) throws(Failure) {
    var mark = isMarked ? Mark() : nil
    try field(code, &mark)
    isMarked = mark != nil
  }
}

/// A content that takes no bytes.
struct Mark: Recordable {
  init() {}
  init(from payload: inout PayloadReader) {}
  func write(to payload: inout PayloadWriter) {}
}
