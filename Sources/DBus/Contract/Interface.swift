// Why this file exists: the rows of an interface, in one list that introspection, docs and dispatch go through.

import DBusValues

/// A row of an interface: a ``Method``, ``Signal`` or ``Property``.
public protocol InterfaceMember: Sendable {
  var interface: InterfaceName { get }
  var name: MemberName { get }
  var member: MemberDescription { get }
}

/// A row without its Swift types.
public enum MemberDescription: Hashable, Sendable {
  case method(
    MemberName, in: [ArgumentDescription], out: [ArgumentDescription], doc: String, annotations: [Annotation])
  case signal(MemberName, [ArgumentDescription], doc: String, annotations: [Annotation])
  case property(
    MemberName, ValueType, PropertyAccess, EmitsChanged, doc: String, annotations: [Annotation])

  public var name: MemberName {
    switch self {
    case .method(let name, _, _, _, _), .signal(let name, _, _, _), .property(let name, _, _, _, _, _): name
    }
  }
}

/// An interface: what one end implements and the other calls.
public struct Interface: Sendable {
  public let name: InterfaceName
  /// For the docs; the first sentence is the short description.
  public let doc: String
  public let annotations: [Annotation]
  public let members: [MemberDescription]

  /// - Precondition: the members are of this interface, and no two of a kind have one name.
  public init(
    _ name: InterfaceName, doc: String = "", annotations: [Annotation] = [], members: [any InterfaceMember]
  ) {
    var seen: Set<MemberName> = []
    for member in members {
      precondition(member.interface == name, "\(member.name) is of \(member.interface), not of \(name)")
      precondition(seen.insert(member.name).inserted, "\(name) has two members \(member.name)")
    }
    self.name = name
    self.doc = doc
    self.annotations = annotations
    self.members = members.map(\.member)
  }
}
