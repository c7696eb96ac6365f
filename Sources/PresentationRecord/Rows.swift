import DBusValues
import PresentationModel
import PresentationRules

/// The kind of a row; the first byte of its key.
enum RowKind: UInt8 {
  case numbers = 1, session, presentation, memory, changed, tag, ending, containerValue, registration, hold, kept,
    environment
}

extension PayloadWriter {
  /// The mark of a removed row, in place of its payload's length.
  static let removed = UInt32.max

  /// Adds a row: the lengths of its key and of its payload, each a `u32`, the key and the payload. A row has the state after a turn, so
  /// to read it twice does no harm.
  mutating func row(
    _ kind: RowKind, isRemoved: Bool = false, key: (inout PayloadWriter) -> Void, payload: (inout PayloadWriter) -> Void
  ) {
    let start = count
    put(UInt64(0), kind.rawValue)
    key(&self)
    let keyEnd = count
    payload(&self)
    set(UInt32(keyEnd - start - 8), at: start)
    set(isRemoved ? Self.removed : UInt32(count - keyEnd), at: start + 4)
  }

  /// - Parameter content: the content; nil if the row was removed.
  private mutating func row<Content>(
    _ kind: RowKind, _ key: some Recordable, _ content: Content?, _ write: (inout PayloadWriter, Content) -> Void
  ) {
    row(kind, isRemoved: content == nil) {
      $0.put(key)
    } payload: {
      if let content { write(&$0, content) }
    }
  }

  mutating func row<Content: Recordable>(_ kind: RowKind, _ key: some Recordable, _ content: Content?) {
    row(kind, key, content) { $0.put($1) }
  }

  /// Adds all rows except those of kept items, which have a file of their own.
  mutating func rows(of changes: RecordChanges) {
    if let numbers = changes.numbers { row(.numbers, Mark(), numbers) }
    for (handle, row) in changes.presentations { self.row(.presentation, handle, row) { $1.write(to: &$0) } }
    for (subject, row) in changes.changed { self.row(.changed, subject, row) }
    for (key, row) in changes.tags { self.row(.tag, key, row) }
    for (handle, row) in changes.endings { self.row(.ending, handle, row) { $1.write(to: &$0) } }
    for (key, row) in changes.containerValues { self.row(.containerValue, key, row) }
    for (name, row) in changes.registrations {
      self.row(.registration, name, row) { payload, list in for destination in list { payload.put(destination) } }
    }
    for (key, row) in changes.holders { self.row(.hold, key, row) }
    for (name, row) in changes.environment { self.row(.environment, name, row) }
  }
}

/// The bytes of a row's key, by which rows replace each other.
private struct RowKey: Hashable {
  let bytes: ArraySlice<UInt8>
  /// Hashes all bytes at once: an array hashes byte by byte, which takes most of the time of a checkpoint.
  func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension PayloadReader {
  /// - Returns: the key and the payload of a row; the payload is nil if the row was removed.
  fileprivate mutating func row() throws(Unreadable) -> (key: ArraySlice<UInt8>, payload: ArraySlice<UInt8>?) {
    let (keyLength, payloadLength): (UInt32, UInt32) = try (get(), get())
    let key = try bytes(Int(keyLength))
    return (key, payloadLength == PayloadWriter.removed ? nil : try bytes(Int(payloadLength)))
  }
}

extension PayloadWriter {
  mutating func append(_ key: ArraySlice<UInt8>, _ payload: ArraySlice<UInt8>?) {
    put(UInt32(key.count), payload.map { UInt32($0.count) } ?? Self.removed)
    append(key)
    if let payload { append(payload) }
  }

  /// Leaves out rows that later rows replace.
  mutating func keepLastRows() {
    var reader = PayloadReader(bytes[...])
    var rows: [(key: ArraySlice<UInt8>, payload: ArraySlice<UInt8>?)?] = []
    var indexes: [RowKey: Int] = [:]
    while !reader.isAtEnd, let row = try? reader.row() {
      if let former = indexes.updateValue(rows.count, forKey: RowKey(bytes: row.key)) { rows[former] = nil }
      rows.append(row)
    }
    removeAll()
    for case let row? in rows { append(row.key, row.payload) }
  }
}

/// The live rows: the last row of each key, unless it was removed.
struct LiveRows {
  private struct Row {
    var key: ArraySlice<UInt8>
    var payload: ArraySlice<UInt8>
  }

  /// The size of the row of a small presentation with its key, in bytes. It gives an estimate of the number of rows, so that the
  /// dictionary does not grow.
  private static let smallRowSize = 64
  /// The largest number of rows for which memory is reserved. A few large rows do not need it.
  private static let mostAtOnce = 1 << 17

  /// The rows, in the order in which they were written; nil in place of one that was removed or replaced. In this order, presentations
  /// that are restored one after the other are next to each other in memory.
  private var rows: [Row?] = []
  /// The index of the row of each key.
  private var places: [RowKey: Int] = [:]

  init(_ frames: [ArraySlice<UInt8>]) throws(Unreadable) {
    let count = min(frames.reduce(0) { $0 + $1.count } / Self.smallRowSize, Self.mostAtOnce)
    rows.reserveCapacity(count)
    places.reserveCapacity(count)
    for frame in frames {
      var reader = PayloadReader(frame)
      while !reader.isAtEnd {
        let (key, payload) = try reader.row()
        if let payload { put(Row(key: key, payload: payload)) } else { remove(key) }
      }
    }
    // A presenter may note a memory after the end of its presentation.
    for place in rows.indices {
      guard let key = rows[place]?.key, key.first == RowKind.memory.rawValue else { continue }
      if places[RowKey(bytes: [RowKind.presentation.rawValue] + key.dropFirst())] == nil { remove(key) }
    }
  }

  private mutating func put(_ row: Row) {
    if let former = places.updateValue(rows.count, forKey: RowKey(bytes: row.key)) { rows[former] = nil }
    rows.append(row)
  }

  private mutating func remove(_ key: ArraySlice<UInt8>) {
    if let place = places.removeValue(forKey: RowKey(bytes: key)) { rows[place] = nil }
  }

  var isEmpty: Bool { places.isEmpty }

  /// The payload of a frame with all rows.
  var snapshot: [UInt8] {
    var payload = PayloadWriter()
    for case let row? in rows { payload.append(row.key, row.payload) }
    return payload.bytes
  }

  /// Reads all rows. A row with a bad text does not keep the others from being read. A presentation with one is marked, so that it
  /// ends; any other row with one is left out.
  func content() throws(Unreadable) -> Record.Content {
    var content = Record.Content()
    // With many rows, most are of presentations.
    content.state.presentations.reserveCapacity(places.count)
    for case let row? in rows {
      do throws(Unreadable) {
        try content.read(row.key, row.payload)
      } catch {
        guard error.isOfText else { throw error }
        try content.readBad(row.key, row.payload, error)
      }
    }
    let (removed, reasons) = content.state.leaveOutBadTexts()
    content.removed = removed
    content.faults += reasons
    return content
  }
}

extension Record.Content {
  fileprivate mutating func read(
    _ key: ArraySlice<UInt8>, _ payload: ArraySlice<UInt8>, mendsTexts: Bool = false
  ) throws(Unreadable) {
    var (key, payload) = (PayloadReader(key), PayloadReader(payload, mendsTexts: mendsTexts))
    let code: UInt8 = try key.get()
    switch RowKind(rawValue: code) {
    case .numbers: state.numbers = try payload.get()
    case .session: session = try payload.get()
    case .presentation:
      let handle: Handle = try key.get()
      state.presentations[handle] = try RecordedState.PresentationRow(handle, from: &payload)
    case .memory: memories[try key.get()] = try payload.get()
    case .changed: state.changed[try key.get()] = try payload.get()
    case .tag: state.tags[try key.get()] = try payload.get()
    case .ending:
      let handle: Handle = try key.get()
      state.endings[handle] = try Ending(handle, from: &payload)
    case .containerValue: state.containerValues[try key.get()] = try payload.get()
    case .registration:
      let name: String = try key.get()
      var list: [Destination] = []
      while !payload.isAtEnd { list.append(try payload.get()) }
      state.registrations[name] = list
    case .hold: state.holders[try key.get()] = try payload.get()
    case .environment: state.environment[try key.get()] = try payload.get()
    case .kept: state.kept[try key.get()] = try payload.get()
    case nil: throw Unreadable("expected a kind of row, 1 to 12, found \(code)")
    }
    guard key.isAtEnd else { throw Unreadable("a row's key is longer than expected") }
    try payload.finish()
  }

  /// Handles a row with a bad text.
  fileprivate mutating func readBad(
    _ key: ArraySlice<UInt8>, _ payload: ArraySlice<UInt8>, _ error: Unreadable
  ) throws(Unreadable) {
    switch key.first.flatMap(RowKind.init) {
    // No other row can be used without the numbers and the session.
    case .numbers, .session, nil: throw error
    case .presentation:
      var reader = PayloadReader(key.dropFirst())
      let handle: Handle = try reader.get()
      // The slot, the parent, the group and the stack can be read, so the rules decide which others end with the presentation.
      try read(key, payload, mendsTexts: true)
      faults.append("presentation \(handle): \(error)")
      if state.presentations[handle]?.isParked == false {
        state.unreadable[handle] = error.description
      } else {
        state.presentations[handle] = nil
        unreadableKeys.append(Array(key))
      }
    case let kind?:
      faults.append("\(kind.noun): \(error)")
      unreadableKeys.append(Array(key))
    }
  }
}

extension RowKind {
  /// The name of the kind, for people.
  fileprivate var noun: String {
    switch self {
    case .numbers: "the numbers"
    case .session: "the session"
    case .presentation: "a presentation"
    case .memory: "what a presenter knows"
    case .changed: "a change"
    case .tag: "a remembered tag"
    case .ending: "an ending"
    case .containerValue: "a container value"
    case .registration: "a registered destination"
    case .hold: "a holder"
    case .kept: "an item kept for the next login"
    case .environment: "a variable"
    }
  }
}
