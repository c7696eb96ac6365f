import DBusValues

/// The arguments of a call, of its reply or of a signal: their descriptions, and the code that reads and writes them. `Values` is the
/// tuple of their Swift types.
package struct ArgumentList<Values>: Sendable {
  let descriptions: [ArgumentDescription]
  let signature: Signature
  let read: @Sendable (inout MessageReader) throws(DBusError) -> Values
  /// Writes the values at an address. A tuple as a parameter would make the runtime look up its type at each call.
  let write: @Sendable (UnsafePointer<Values>, inout MessageWriter) throws(DBusError) -> Void

  /// - Precondition: the types form a valid signature. Only debug builds check this, since a start of navd makes a hundred lists.
  package init<each T: ValueConvertible>(_ arguments: repeat Arg<each T>) where Values == (repeat each T) {
    var descriptions: [ArgumentDescription] = []
    repeat descriptions.append((each arguments).description)
    self.descriptions = descriptions
    let text = descriptions.reduce(into: "") { $0 += $1.type.signature }
    assert(Signature(text) != nil, "the types of the arguments \(descriptions.map(\.name)) are not a valid signature")
    signature = Signature(unchecked: text)
    read = { reader throws(DBusError) in (repeat try reader.next((each T).self)) }
    write = { (values: UnsafePointer<Values>, writer: inout MessageWriter) throws(DBusError) in
      var elements = TupleElements(UnsafeRawPointer(values))
      repeat try writer.append(elements.next((each T).self))
    }
  }

  /// Writes the values. Inlined, since a method of a generic type looks up the type at each call.
  @inline(__always)
  func write(_ values: inout Values, to writer: inout MessageWriter) throws(DBusError) {
    try withUnsafePointer(to: &values) { values throws(DBusError) in try write(values, &writer) }
  }

  /// The error for a message with the signature `found`. It names the first argument of a wrong type.
  func mismatch(_ found: Signature) -> DBusError {
    let types = found.types
    let expected = descriptions.map { "\($0.type) \($0.name)" }.joined(separator: ", ")
    let all = descriptions.isEmpty ? "" : " (\(expected))"
    for (index, (argument, type)) in zip(descriptions, types).enumerated() where argument.type != type {
      return DBusError(
        name: .invalidArgs,
        message: "argument \(index + 1), “\(argument.name)”: expected \(argument.type)\(all), found \(type)")
    }
    return DBusError(
      name: .invalidArgs, message: "expected \(descriptions.count) arguments\(all), found \(types.count)")
  }
}

/// The elements of a tuple in memory: one after the other, each at its alignment.
private struct TupleElements {
  private let start: UnsafeRawPointer
  private var offset = 0

  init(_ tuple: UnsafeRawPointer) { start = tuple }

  /// - Parameter type: the type of the next element.
  @inline(__always)
  mutating func next<Element>(_ type: Element.Type) -> Element {
    let mask = MemoryLayout<Element>.alignment - 1
    offset = (offset + mask) & ~mask
    defer { offset += MemoryLayout<Element>.size }
    return (start + offset).assumingMemoryBound(to: Element.self).pointee
  }
}
