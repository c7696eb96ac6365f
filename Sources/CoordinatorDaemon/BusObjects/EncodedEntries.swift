import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// The entries of the state as they are sent, kept while their presentations do not change: the answer of `GetState` is
/// mostly the same bytes each time.
final class EncodedEntries {
  /// The limit of all kept bytes; further entries are made anew each time.
  private static let maxBytes = 8 << 20

  /// For each presentation the entries of its `a{sv}`, without what the presenter adds, which may change at any time.
  private var entries: [Handle: [UInt8]] = [:]
  private var size = 0

  func forget(_ presentations: some Sequence<Handle>) {
    guard !entries.isEmpty else { return }
    for presentation in presentations { size -= entries.removeValue(forKey: presentation)?.count ?? 0 }
  }

  /// Writes the answer of `GetState`: the state and its serial.
  func writeState(
    of machine: borrowing StateMachine, platform: (Handle) -> Properties, to writer: inout MessageWriter
  ) throws(DBusError) {
    forget(machine.unrecordedPresentations)
    let rest = machine.snapshotWithoutPresentations
    let presentations = machine.allPresentations
    var encoded: [([UInt8], Properties)] = []
    encoded.reserveCapacity(presentations.count)
    for presentation in presentations {
      encoded.append((try entry(of: presentation, in: machine), platform(presentation.handle)))
    }
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

  private func entry(of presentation: Presentation, in machine: borrowing StateMachine) throws(DBusError) -> [UInt8] {
    if let kept = entries[presentation.handle] { return kept }
    var writer = MessageWriter()
    for (name, value) in machine.entry(presentation, platform: [:]).properties { try writer.property(name, value) }
    let bytes = [UInt8](writer.bytes)
    // What one that waits is held by changes without it (H4).
    if presentation.phase != .waiting, size + bytes.count <= Self.maxBytes {
      size += bytes.count
      entries[presentation.handle] = bytes
    }
    return bytes
  }
}
