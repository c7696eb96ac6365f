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
