// Why this file exists: one row says all about a property: its type, who may set it, and how changes are told.

import DBusValues

/// Who may do what with a property.
public enum PropertyAccess: String, Sendable {
  case read
  case readWrite = "readwrite"
}

/// How changes of a property are told (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
public enum EmitsChanged: String, Sendable {
  /// PropertiesChanged carries the value.
  case `true`
  /// PropertiesChanged carries the name.
  case invalidates
  /// It does not change while the object is there.
  case const
  /// Changes are not told.
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
  public let doc: String
  public let annotations: [Annotation]

  @usableFromInline let head: PropertyHead

  public init(
    _ interface: InterfaceName, _ name: MemberName, access: PropertyAccess = .read, emitsChanged: EmitsChanged = .true,
    doc: String = "", annotations: [Annotation] = []
  ) {
    precondition(Signature(types: [T.valueType]) != nil, "\(T.valueType) is no valid type")
    self.interface = interface
    self.name = name
    self.access = access
    self.emitsChanged = emitsChanged
    self.doc = doc
    self.annotations = annotations
    head = PropertyHead(name, T.valueType)
  }

  public var member: MemberDescription {
    .property(name, T.valueType, access, emitsChanged, doc: doc, annotations: annotations)
  }
}
