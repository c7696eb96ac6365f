extension Value {
  /// The number as a value of an integer type; nil if this is not a number, has a fraction or does not fit.
  ///
  /// Clients in languages with one type for all integers or numbers do not choose the type in which
  /// a number is sent.
  public func integer(as type: ValueType) -> Value? {
    type.integerType.flatMap { fitting($0) }
  }

  private func fitting<Number: FixedWidthInteger & ValueConvertible>(_: Number.Type) -> Value? {
    if case .double(let number) = self { return Number(exactly: number)?.value }
    return integer.flatMap { Number(exactly: $0) }?.value
  }

  /// The number as text; nil if this is not a number.
  public var numberText: String? {
    if case .double(let number) = self { "\(number)" } else { integer?.description }
  }
}

extension ValueType {
  /// The Swift type of an integer type; nil for other types.
  public var integerType: (any (FixedWidthInteger & ValueConvertible).Type)? {
    switch self {
    case .byte: UInt8.self
    case .int16: Int16.self
    case .uint16: UInt16.self
    case .int32: Int32.self
    case .uint32: UInt32.self
    case .int64: Int64.self
    case .uint64: UInt64.self
    default: nil
    }
  }

  /// The least and the greatest number of an integer type, for error messages; nil for other types.
  public var integerRange: String? { integerType.map { "\($0.min) to \($0.max)" } }
}
