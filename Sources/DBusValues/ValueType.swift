/// One complete D-Bus type ("D-Bus Specification", section *Type System*).
public indirect enum ValueType: Hashable, Sendable {
  case byte, boolean, int16, uint16, int32, uint32, int64, uint64, double
  case string, objectPath, signature, variant, descriptor
  case array(ValueType)
  case dictionary(key: ValueType, value: ValueType)
  case structure([ValueType])
}

extension ValueType: CustomStringConvertible {
  /// The type in the notation of signatures. It is not a valid signature if the specification forbids the type, such as an empty
  /// structure or a key that is not of a basic type. Check it with ``Signature/init(types:)``.
  public var signature: String {
    switch self {
    case .array(let element): "a" + element.signature
    case .dictionary(let key, let value): "a{" + key.signature + value.signature + "}"
    case .structure(let fields): fields.reduce(into: "(") { $0 += $1.signature } + ")"
    default: String(UnicodeScalar(code))
    }
  }

  public var description: String { signature }

  /// `a{sv}`, the type of ``Properties``.
  public static let properties = ValueType.dictionary(key: .string, value: .variant)

  /// Whether the type is not a container, so that it may be the type of a dictionary's keys.
  public var isBasic: Bool {
    switch self {
    case .array, .dictionary, .structure, .variant: false
    default: true
    }
  }

  /// The code of the type in libdbus-1. The code of a type of one letter is that letter.
  package var code: UInt8 {
    switch self {
    case .byte: UInt8(ascii: "y")
    case .boolean: UInt8(ascii: "b")
    case .int16: UInt8(ascii: "n")
    case .uint16: UInt8(ascii: "q")
    case .int32: UInt8(ascii: "i")
    case .uint32: UInt8(ascii: "u")
    case .int64: UInt8(ascii: "x")
    case .uint64: UInt8(ascii: "t")
    case .double: UInt8(ascii: "d")
    case .string: UInt8(ascii: "s")
    case .objectPath: UInt8(ascii: "o")
    case .signature: UInt8(ascii: "g")
    case .variant: UInt8(ascii: "v")
    case .descriptor: UInt8(ascii: "h")
    case .array, .dictionary: UInt8(ascii: "a")
    case .structure: UInt8(ascii: "r")
    }
  }

  /// Makes the type of one letter; nil for containers and unknown letters.
  package init?(code: UInt8) {
    guard let type = Self.ofOneLetter.first(where: { $0.code == code }) else { return nil }
    self = type
  }

  private static let ofOneLetter: [ValueType] = [
    .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath, .signature,
    .variant, .descriptor,
  ]
}
