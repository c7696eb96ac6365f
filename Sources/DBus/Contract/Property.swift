import DBusValues

public enum PropertyAccess: String, Sendable {
  case read
  case readWrite = "readwrite"
}

/// The announcement of changes of a property (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
public enum EmitsChanged: String, Sendable {
  /// PropertiesChanged contains the value.
  case `true`
  /// PropertiesChanged contains only the name.
  case invalidates
  /// The property does not change while the object exists.
  case const
  /// Changes are not announced.
  case `false`
}

/// A property of an interface.
///
///     static let version = Property<UInt32>(name, "Version", emitsChanged: .const, doc: "…")
public struct Property<T: ValueConvertible>: InterfaceMember {
  public let interface: InterfaceName
  public let name: MemberName
  public let access: PropertyAccess
  public let emitsChanged: EmitsChanged
  public let doc: Documentation
  public let annotations: [Annotation]

  @usableFromInline let header: PropertyHeader

  public init(
    _ interface: InterfaceName, _ name: MemberName, access: PropertyAccess = .read, emitsChanged: EmitsChanged = .true,
    doc: @autoclosure @escaping @Sendable () -> String = "", annotations: [Annotation] = []
  ) {
    precondition(Signature(types: [T.valueType]) != nil, "\(T.valueType) is not a valid type")
    self.interface = interface
    self.name = name
    self.access = access
    self.emitsChanged = emitsChanged
    self.doc = Documentation(doc)
    self.annotations = annotations
    header = PropertyHeader(name, T.valueType)
  }

  public var member: MemberDescription {
    .property(name, T.valueType, access, emitsChanged, doc: doc, annotations: annotations)
  }
}
