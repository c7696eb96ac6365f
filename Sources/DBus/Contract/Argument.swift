import DBusValues

/// An argument of a method or signal: its name, type and documentation.
public struct Arg<T: ValueConvertible>: Sendable {
  public let name: String
  public let doc: String

  public init(_ name: String, doc: String = "") {
    self.name = name
    self.doc = doc
  }

  var description: ArgumentDescription { ArgumentDescription(name: name, type: T.valueType, doc: doc) }
}

/// An argument without its Swift type.
public struct ArgumentDescription: Hashable, Sendable {
  public let name: String
  public let type: ValueType
  public let doc: String
}

/// A machine-readable annotation of an interface or a member, such as `org.freedesktop.DBus.Deprecated`.
public struct Annotation: Hashable, Sendable {
  public let name: String
  public let value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension [ArgumentDescription] {
  /// - Precondition: the types form a valid signature.
  var signature: Signature {
    guard let signature = Signature(types: map(\.type)) else {
      preconditionFailure("the types of the arguments \(map(\.name)) are not a valid signature")
    }
    return signature
  }

  /// The error for a message with the signature `found`: names the first argument of the wrong type.
  func mismatch(_ found: Signature) -> DBusError {
    let types = found.types
    let all = isEmpty ? "" : " (\(map { "\($0.type) \($0.name)" }.joined(separator: ", ")))"
    for (index, (argument, type)) in zip(self, types).enumerated() where argument.type != type {
      return DBusError(
        name: .invalidArgs,
        message: "argument \(index + 1), “\(argument.name)”: expected \(argument.type)\(all), found \(type)")
    }
    return DBusError(name: .invalidArgs, message: "expected \(count) arguments\(all), found \(types.count)")
  }
}
