// Why this file exists: an argument is named and explained once, where its type stands.

import DBusValues

/// An argument of a method or signal, in a contract row.
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

/// A machine-readable remark on an interface or a member, such as `org.freedesktop.DBus.Deprecated`.
public struct Annotation: Hashable, Sendable {
  public let name: String
  public let value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension [ArgumentDescription] {
  /// - Precondition: the types are valid together.
  var signature: Signature {
    guard let signature = Signature(types: map(\.type)) else {
      preconditionFailure("the arguments \(map(\.name)) make no valid signature")
    }
    return signature
  }

  /// Says which argument of a message does not fit, what it was, and what would do.
  func mismatch(_ given: Signature) -> DBusError {
    let types = given.types
    let wanted = isEmpty ? "none" : map { "\($0.type) \($0.name)" }.joined(separator: ", ")
    for (index, (argument, type)) in zip(self, types).enumerated() where argument.type != type {
      return DBusError(
        name: .invalidArgs,
        message:
          "argument \(index + 1), “\(argument.name)”, was \(type) and has to be \(argument.type) (wanted: \(wanted))")
    }
    return DBusError(
      name: .invalidArgs, message: "\(types.count) arguments were given, not \(count) (wanted: \(wanted))")
  }
}
