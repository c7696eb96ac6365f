import DBusValues

/// A request of `Apply` (T1): the name of a changing method and its arguments, including options.
///
/// Not a `Structure` of two fields: a transaction may have thousands of requests, and the runtime would look up the types of the fields
/// of each.
public struct TransactionRequest: Hashable, ValueConvertible {
  public var method: String
  public var arguments: [Value]

  public init(_ method: String, _ arguments: [Value]) {
    (self.method, self.arguments) = (method, arguments)
  }

  public static var valueType: ValueType { .structure([.string, .array(.variant)]) }

  public init?(value: Value) {
    guard case .structure(let fields) = value, fields.count == 2, case .string(let method) = fields[0],
      case .array(.variant, let variants) = fields[1]
    else { return nil }
    self.method = method
    arguments = []
    arguments.reserveCapacity(variants.count)
    for variant in variants {
      guard case .variant(let argument) = variant else { return nil }
      arguments.append(argument)
    }
  }

  public var value: Value { .structure([.string(method), .array(element: .variant, arguments.map { .variant($0) })]) }
}
