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
    let number: Number? =
      switch self {
      case .byte(let number): Number(exactly: number)
      case .int16(let number): Number(exactly: number)
      case .uint16(let number): Number(exactly: number)
      case .int32(let number): Number(exactly: number)
      case .uint32(let number): Number(exactly: number)
      case .int64(let number): Number(exactly: number)
      case .uint64(let number): Number(exactly: number)
      case .double(let number): Number(exactly: number)
      default: nil
      }
    return number.map(\.value)
  }

  /// The number as text; nil if this is not a number.
  public var numberText: String? {
    switch self {
    case .byte(let number): "\(number)"
    case .int16(let number): "\(number)"
    case .uint16(let number): "\(number)"
    case .int32(let number): "\(number)"
    case .uint32(let number): "\(number)"
    case .int64(let number): "\(number)"
    case .uint64(let number): "\(number)"
    case .double(let number): "\(number)"
    default: nil
    }
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
