extension Value {
  /// The number as a value of an integer type; nil if this is not a number, has a fraction or does not fit.
  ///
  /// In languages with one type for all integers or numbers, clients do not choose the type in which a number is sent.
  public func integer(as type: ValueType) -> Value? {
    switch type {
    case .byte: fitting(UInt8.self)
    case .int16: fitting(Int16.self)
    case .uint16: fitting(UInt16.self)
    case .int32: fitting(Int32.self)
    case .uint32: fitting(UInt32.self)
    case .int64: fitting(Int64.self)
    case .uint64: fitting(UInt64.self)
    default: nil
    }
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
  /// The least and the greatest number of an integer type, for error messages; nil for other types.
  public var integerRange: String? {
    func range<Number: FixedWidthInteger>(_: Number.Type) -> String { "\(Number.min) to \(Number.max)" }
    return switch self {
    case .byte: range(UInt8.self)
    case .int16: range(Int16.self)
    case .uint16: range(UInt16.self)
    case .int32: range(Int32.self)
    case .uint32: range(UInt32.self)
    case .int64: range(Int64.self)
    case .uint64: range(UInt64.self)
    default: nil
    }
  }
}
