import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// The encoded entries of the state, kept while their presentations do not change: most bytes of `GetState`'s answer are the same
/// each time.
final class EncodedEntries {
  /// The limit of all kept bytes; further entries are encoded anew each time.
  private static let maxBytes = 32 << 20
  /// The number of entries that are encoded in one turn before an answer.
  private static let entriesPerTurn = 4000
  /// The number of turns after which an answer is written although entries are missing, because they change all the time.
  private static let maxTurns = 64

  /// The encoded entries of each presentation's `a{sv}`, without the presenter's entries, which may change at any time.
  private var entries: [Handle: [UInt8]] = [:]
  private var size = 0
  /// The waiting presentations, whose entries name the holds that keep them waiting (H4), and the holds in force at that time.
  private var waiting: Set<Handle> = []
  private var holds: [String] = []
  /// The number of turns that have prepared the next answer.
  private var turns = 0

  func forget(_ presentations: some Sequence<Handle>) {
    guard !entries.isEmpty else { return }
    for presentation in presentations {
      size -= entries.removeValue(forKey: presentation)?.count ?? 0
      if !waiting.isEmpty { waiting.remove(presentation) }
    }
  }

  /// Forgets the entries that no longer match the state.
  private func forgetOutdated(_ machine: borrowing StateMachine) {
    forget(machine.unrecordedPresentations)
    let inForce = machine.holdsInForce
    guard holds != inForce else { return }
    holds = inForce
    let outdated = waiting
    waiting = []
    forget(outdated)
  }

  /// Encodes some of the entries that the next answer lacks.
  /// - Returns: whether the answer can be written.
  func prepare(_ machine: borrowing StateMachine) -> Bool {
    forgetOutdated(machine)
    turns += 1
    var rest = turns < Self.maxTurns ? Self.entriesPerTurn : 0
    for handle in machine.handles where rest > 0 && size < Self.maxBytes && entries[handle] == nil {
      guard machine.presentation(handle)?.isKept == true else { continue }
      rest -= 1
      // An entry that cannot be encoded becomes an error of the answer.
      _ = try? entry(of: handle, in: machine)
    }
    let isDone = rest > 0 || turns >= Self.maxTurns
    if isDone { turns = 0 }
    return isDone
  }

  /// Writes the answer of `GetState`: the state and its serial.
  func writeState(
    of machine: borrowing StateMachine, platform: (Handle) -> Properties, to writer: inout MessageWriter
  ) throws(DBusError) {
    forgetOutdated(machine)
    let rest = machine.snapshotWithoutPresentations
    let handles = machine.handles.sorted()
    var encoded: [([UInt8], Properties)] = []
    encoded.reserveCapacity(handles.count)
    for handle in handles { encoded.append((try entry(of: handle, in: machine), platform(handle))) }
    try writer.array(alignment: 8) { writer throws(DBusError) in
      for (name, value) in rest { try writer.property(name, value) }
      writer.align(8)
      try writer.text(StateSnapshot.keys.presentations.name)
      writer.signature("aa{sv}")
      try writer.array(alignment: 4) { writer throws(DBusError) in
        for (entry, platform) in encoded {
          try writer.array(alignment: 8) { writer throws(DBusError) in
            writer.copy(entry)
            for (name, value) in platform { try writer.property(name, value) }
          }
        }
      }
    }
    writer.integer(machine.serial.number)
  }

  private func entry(of handle: Handle, in machine: borrowing StateMachine) throws(DBusError) -> [UInt8] {
    if let kept = entries[handle] { return kept }
    guard let presentation = machine.presentation(handle) else { return [] }
    var writer = MessageWriter()
    for (name, value) in machine.entry(presentation, platform: [:]).properties { try writer.property(name, value) }
    let bytes = [UInt8](writer.bytes)
    if presentation.isKept, size + bytes.count <= Self.maxBytes {
      size += bytes.count
      entries[handle] = bytes
      if presentation.phase == .waiting, !presentation.item.holds.isEmpty { waiting.insert(handle) }
    }
    return bytes
  }
}

extension Presentation {
  /// Whether the entry stays valid until the presentation changes. The entry of a due restart follows the wall clock (K3).
  fileprivate var isKept: Bool { self.phase != .waiting || self.continuation?.due == nil }
}
