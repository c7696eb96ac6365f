import DBusValues

/// A member of an interface: a ``Method``, ``Signal`` or ``Property``.
public protocol InterfaceMember: Sendable {
  var interface: InterfaceName { get }
  var name: MemberName { get }
  var member: MemberDescription { get }
}

/// A member without its Swift types.
public enum MemberDescription: Hashable, Sendable {
  case method(
    MemberName, in: [ArgumentDescription], out: [ArgumentDescription], doc: Documentation, annotations: [Annotation])
  case signal(MemberName, [ArgumentDescription], doc: Documentation, annotations: [Annotation])
  case property(
    MemberName, ValueType, PropertyAccess, EmitsChanged, doc: Documentation, annotations: [Annotation])

  public var name: MemberName {
    switch self {
    case .method(let name, _, _, _, _), .signal(let name, _, _, _), .property(let name, _, _, _, _, _): name
    }
  }
}

/// The contract of an interface. Introspection, documentation and dispatch are generated from it.
public struct Interface: Sendable {
  public let name: InterfaceName
  /// The documentation; its first sentence is the short description.
  public let doc: String
  public let annotations: [Annotation]
  private let list: @Sendable () -> [any InterfaceMember]

  /// - Parameter members: called when ``members`` are read, and not before. A program that serves them is rarely introspected, and
  ///   their types take a third of its start.
  /// - Precondition: the members belong to this interface, and their names differ.
  public init(
    _ name: InterfaceName, doc: String = "", annotations: [Annotation] = [],
    members: @autoclosure @escaping @Sendable () -> [any InterfaceMember]
  ) {
    self.name = name
    self.doc = doc
    self.annotations = annotations
    list = members
  }

  public var members: [MemberDescription] {
    let members = list()
    var seen: Set<MemberName> = []
    for member in members {
      precondition(member.interface == name, "\(member.name): expected interface \(name), found \(member.interface)")
      precondition(seen.insert(member.name).inserted, "\(name) has two members named \(member.name)")
    }
    return members.map(\.member)
  }
}
