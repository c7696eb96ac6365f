import TextFormats

/// A JSON object of the contract whose members are read by an enumeration of their names.
protocol JSONEntry {
  associatedtype Member: RawRepresentable where Member.RawValue == String
  var members: [String: JSON] { get set }
}

extension JSONEntry {
  /// The whole object, with members that this release does not know.
  var json: JSON { .object(members) }

  subscript(member: Member) -> JSON? {
    get { members[member.rawValue] }
    set { members[member.rawValue] = newValue }
  }

  /// The member as it is printed in a table; empty if absent.
  func text(_ member: Member) -> String { self[member].map { $0.string ?? $0.text } ?? "" }
}
