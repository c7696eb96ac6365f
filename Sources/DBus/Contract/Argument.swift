import DBusValues

/// An argument of a method or signal: its name, type and documentation.
public struct Arg<T: ValueConvertible>: Sendable {
  public let name: String
  public let doc: String
  public let qtType: String?

  /// - Parameters:
  ///   - name: an identifier in every language, since code generators use it as one.
  ///   - qtType: the name of the argument's type in Qt, if Qt has none of its own; nil for ``ValueType/qtName``.
  public init(_ name: String, doc: String = "", qtType: String? = nil) {
    self.name = name
    self.doc = doc
    self.qtType = qtType
  }

  var description: ArgumentDescription {
    ArgumentDescription(name: name, type: T.valueType, doc: doc, qtType: qtType ?? T.valueType.qtName)
  }
}

/// An argument without its Swift type.
public struct ArgumentDescription: Hashable, Sendable {
  public let name: String
  public let type: ValueType
  public let doc: String
  /// The name of the type in Qt; nil if Qt finds it by the signature, or has none.
  public let qtType: String?
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
