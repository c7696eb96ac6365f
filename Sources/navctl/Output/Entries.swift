import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

extension JSON {
  /// A string without quotes; JSON for every other value.
  var plainText: String { string ?? text }
}

extension TypedDictionary {
  /// The whole dictionary, including keys that this release does not know.
  var json: JSON { JSON(properties) }

  /// The value as printed in a table; empty if absent.
  func text<T>(_ key: KeyPath<Keys, DictionaryKey<T>>) -> String {
    properties[Self.keys[keyPath: key].name].map { JSON($0).plainText } ?? ""
  }

  func cell<T>(_ key: KeyPath<Keys, DictionaryKey<T>>) -> Table.Cell { Table.Cell(text(key)) }
}

extension StateSnapshot {
  init(_ state: Properties, serial: UInt64) {
    self.init(state)
    self.serial = serial
  }

  /// The line for this state among lines for events.
  var eventJSON: JSON {
    var members = properties
    members["event"] = .string("state")
    return JSON(members)
  }

  /// The same state with only the given presentations, groups and stacks.
  func keeping(_ entries: [StateEntry], groups: Set<String>, stacks: Set<String>) -> StateSnapshot {
    var state = self
    state.presentations = entries.map(\.properties)
    state.groups = (self.groups ?? [:]).filter { groups.contains($0.key) }
    state.stacks = (self.stacks ?? [:]).filter { stacks.contains($0.key) }
    state.parked = nil
    return state
  }
}

extension StateEntry {
  /// The binding and the id, for people.
  var name: String { [text(\.binding), text(\.id)].filter { !$0.isEmpty }.joined(separator: " ") }

  /// The phase as people read it.
  var shownPhase: String {
    text(\.phase) + (self.asking == true ? " (asking)" : "")
      + (self.heldBy.map { " (held by \($0.joined(separator: ", ")))" } ?? "")
      + (self.late.map { " (\($0))" } ?? "")
      + (self.restartAt == nil ? "" : " (restart \(self.restarts ?? 1))")
  }

  /// Whether a process or a unit of systemd is known to show the presentation.
  var hasProcess: Bool { self.pid != nil || self.unit != nil }
}

extension WindowProperties {
  /// The window's state in words, such as “focused floating”; empty for a window in view that has none of these states.
  var shownState: String {
    let words: [(String, Bool?)] = [
      ("focused", self.focused), ("fullscreen", self.fullscreen), ("minimized", self.minimized),
      ("hidden", self.hidden),
      ("floating", self.floating), ("urgent", self.urgent),
      ("elsewhere", self.inView.map { !$0 && self.hidden != true }),
    ]
    return words.filter { $0.1 == true }.map(\.0).joined(separator: " ")
  }

  /// The window on a line, for people.
  var shown: String {
    let name = [text(\.appID), self.title.map { quoted($0) } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    let place = text(\.output).isEmpty ? "" : "on \(text(\.output))"
    return [name, place, shownState].filter { !$0.isEmpty }.joined(separator: ", ")
  }
}

extension EndingEntry {
  /// The signal that ended the command, or the exit status; empty for success.
  var shownStatus: String { self.signal ?? self.status.flatMap { $0 == 0 ? nil : String($0) } ?? "" }

  /// The reason of the failure, for people.
  var failure: String {
    guard endedAtOnce else { return error ?? shownStatus }
    return "its program ended at once with status \(shownStatus)\(error.map { ": \($0)" } ?? "")"
  }

  /// The program and process id of the client whose request ended the item; “itself” or “navd” if no request did.
  var endedBy: String {
    guard let requester else {
      switch self.reason.flatMap(Reason.init) {
      case .failed, .closed: return "itself"
      case .expired, .held, .unfocused, .outputGone, .replaced: return "navd"
      default: return ""
      }
    }
    guard let pid = requester.pid else { return requester.text(\.client) }
    return "\(requester.program ?? requester.text(\.client))[\(pid)]"
  }
}

/// A destination with its name.
struct NamedDestination {
  /// The way in which a destination shows its items.
  enum Kind: String {
    case command, unit, bus
    /// The items are shown by clients that watch the state, and by no program that navd knows.
    case state
  }

  let name: String
  let entry: DestinationEntry

  var kind: Kind {
    entry.command != nil ? .command : entry.unit != nil ? .unit : entry.bus != nil ? .bus : .state
  }

  /// The command line, unit or bus name; empty for `state`.
  var target: String { entry.command?.joined(separator: " ") ?? entry.unit ?? entry.bus ?? "" }

  /// The bindings that it serves, and what each accepts (D18), in the order of their names.
  var served: [(binding: String, accepts: ServedEntry)] {
    (entry.serves ?? [:]).sorted { $0.key < $1.key }.compactMap { binding, value in
      Properties(value: value).map { (binding, ServedEntry($0)) }
    }
  }

  /// The settings of the destination's items beside those that show them, as in its file; empty for none.
  var behaviour: String {
    let restart: String? = entry.restart?["when"].map { JSON($0).plainText }
    let words = [
      entry.protected == true ? "protected" : nil, restart.map { "restart=\($0)" },
      entry.restore.map { "restore=\($0)" },
      entry.replacement.map { "replacement=\($0)" },
      entry.ready.map { "ready=\($0)" },
      entry.hold.map { "hold=\($0)" },
      entry.inhibit.map { "inhibit=\($0.joined(separator: ","))" },
      entry.holds.map { holds in
        "holds=" + holds.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
      },
    ]
    return words.compactMap(\.self).joined(separator: " ")
  }

  var json: JSON { JSON(entry.properties.merging(["name": .string(name)]) { _, name in name }) }
}

extension ServedEntry {
  /// The accepted ids and values, for people.
  var text: String {
    if self.own == true { return "only the program itself opens it" }
    if let types = self.types {
      return "ids: " + types.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
    if self.elements == true, self.id == nil { return "no elements now" }
    let parts = [self.id.map { "id: \($0)" }, self.value.map { "value: \($0)" }].compactMap(\.self)
    return parts.isEmpty ? "no id, no value" : parts.joined(separator: ", ")
  }
}

extension ParkedEntry {
  /// The phase for people, with what differs from a program that is shown again at once.
  var shownPhase: String {
    let notes = [self.isOutdated == true ? "outdated" : nil, self.stays == nil ? nil : "stays"].compactMap(\.self)
    return notes.isEmpty ? "parked" : "parked (\(notes.joined(separator: ", ")))"
  }
}
