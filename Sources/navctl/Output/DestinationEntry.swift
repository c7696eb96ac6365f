import CoordinatorAPI
import DBusValues
import TextFormats

/// A destination, as `Destinations` returns it.
struct DestinationEntry: JSONEntry {
  /// How a destination shows its items.
  enum Kind: String, CaseIterable {
    case command, unit, bus
    /// No program that navd knows: clients that watch the state show them.
    case state
  }

  enum Member: String {
    case name, command, unit, bus, group, style
  }

  var members: [String: JSON]

  init(_ name: String, _ properties: Properties) {
    members = JSON(properties).object ?? [:]
    self[.name] = .string(name)
  }

  var name: String { text(.name) }
  var group: String? { self[.group]?.string }
  var kind: Kind { Kind.allCases.first { members[$0.rawValue] != nil } ?? .state }

  /// The command line, unit or bus name; empty for `state`.
  var target: String {
    let target = members[kind.rawValue]
    return target?.array?.compactMap(\.string).joined(separator: " ") ?? target?.string ?? ""
  }
}
