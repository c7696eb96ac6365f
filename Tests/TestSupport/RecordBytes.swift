/// The bytes of a record's file, parsed, and damaged where no checksum detects it. The parser follows the format's description,
/// without the code that reads records.
public struct RecordBytes {
  public struct Row {
    public var key: [UInt8]
    /// The payload; nil if the row was removed.
    public var payload: [UInt8]?
  }

  private static let headerLength = 16
  private static let prefixLength = 16
  private static let removed = UInt32.max

  private let header: [UInt8]
  public var frames: [[Row]] = []

  /// - Returns: nil if the bytes are not a record.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headerLength else { return nil }
    header = Array(bytes.prefix(Self.headerLength))
    var rest = bytes.dropFirst(Self.headerLength)
    while rest.count >= Self.prefixLength {
      let count = Int(Self.number(rest))
      guard rest.count >= Self.prefixLength + count else { return nil }
      guard let rows = Self.rows(in: rest.dropFirst(Self.prefixLength).prefix(count)) else { return nil }
      frames.append(rows)
      rest = rest.dropFirst(Self.prefixLength + count)
    }
  }

  private static func rows(in payload: ArraySlice<UInt8>) -> [Row]? {
    var (rows, rest): ([Row], ArraySlice<UInt8>) = ([], payload)
    while !rest.isEmpty {
      guard rest.count >= 8 else { return nil }
      let (keyLength, length) = (Int(number(rest)), number(rest.dropFirst(4)))
      let payloadLength = length == removed ? 0 : Int(length)
      rest = rest.dropFirst(8)
      guard rest.count >= keyLength + payloadLength else { return nil }
      let payload = Array(rest.dropFirst(keyLength).prefix(payloadLength))
      rows.append(Row(key: Array(rest.prefix(keyLength)), payload: length == removed ? nil : payload))
      rest = rest.dropFirst(keyLength + payloadLength)
    }
    return rows
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The file, with correct lengths and checksums.
  public var bytes: [UInt8] {
    frames.reduce(header) { file, rows in
      var payload: [UInt8] = []
      for row in rows {
        payload += Self.bytes(UInt32(row.key.count)) + Self.bytes(row.payload.map { UInt32($0.count) } ?? Self.removed)
        payload += row.key + (row.payload ?? [])
      }
      let count = UInt32(payload.count)
      return file + Self.bytes(count) + Self.bytes(~count) + Self.bytes(Self.checksum(payload)) + payload
    }
  }

  private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  private static func checksum(_ payload: [UInt8]) -> UInt64 {
    let whole = payload.count & ~7
    let words = stride(from: 0, to: whole, by: 8).map { index in
      payload[index..<index + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }
    return (words + payload[whole...].map(UInt64.init)).reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ $1) &* 0x100_0000_01b3 }
  }

  // MARK: Damage

  /// A file that is damaged in some places: mostly in its rows, with correct checksums.
  public func damaged(_ dice: inout SeededNumbers) -> [UInt8] {
    var copy = self
    for _ in 0..<Int.random(in: 1...3, using: &dice) { copy.strike(&dice) }
    var bytes = copy.bytes
    if dice.chance(0.1) {
      bytes[Int.random(in: bytes.indices, using: &dice)] ^= UInt8.random(in: 1...255, using: &dice)
    }
    if dice.chance(0.05) { bytes.removeLast(Int.random(in: 1...bytes.count, using: &dice)) }
    return bytes
  }

  private mutating func strike(_ dice: inout SeededNumbers) {
    guard let frame = frames.indices.randomElement(using: &dice) else { return }
    if dice.chance(0.1) { return strikeFrames(&dice) }
    guard let index = frames[frame].indices.randomElement(using: &dice) else { return }
    let others = frames.joined().filter { $0.key.first == frames[frame][index].key.first }
    let other = dice.pick(others)
    switch Int.random(in: 0..<8, using: &dice) {
    case 0: frames[frame].remove(at: index)
    case 1: frames[frame].append(Row(key: frames[frame][index].key, payload: other.payload))
    case 2: frames[frame].append(Row(key: other.key, payload: frames[frame][index].payload))
    case 3: Self.strike(&frames[frame][index].key, with: other.key, &dice)
    default:
      guard var payload = frames[frame][index].payload else { return }
      // Handles and serials of other rows are the numbers that are most likely to be accepted.
      Self.strike(&payload, with: dice.chance(0.5) ? other.key : other.payload ?? [], &dice)
      frames[frame][index].payload = payload
    }
  }

  private mutating func strikeFrames(_ dice: inout SeededNumbers) {
    let (one, two) = (Int.random(in: frames.indices, using: &dice), Int.random(in: frames.indices, using: &dice))
    switch Int.random(in: 0..<3, using: &dice) {
    case 0: frames.remove(at: one)
    case 1: frames.insert(frames[one], at: two)
    default: frames.swapAt(one, two)
    }
  }

  private static func strike(_ bytes: inout [UInt8], with other: [UInt8], _ dice: inout SeededNumbers) {
    guard !bytes.isEmpty else { return bytes.append(contentsOf: other) }
    let place = Int.random(in: bytes.indices, using: &dice)
    func put(_ some: [UInt8]) { for (index, byte) in zip(place..<bytes.count, some) { bytes[index] = byte } }
    let large = dice.pick([0, 1, 2, UInt64(Int64.max), 1 << 63, .max - 1, .max])
    switch Int.random(in: 0..<8, using: &dice) {
    case 0: put(Self.bytes(large))
    case 1: put(Self.bytes(UInt32(truncatingIfNeeded: large)))
    case 2: put(Array(other.suffix(8)))
    case 3: put([0])
    case 4: put([0xff])
    case 5: bytes.removeLast(Int.random(in: 1...bytes.count, using: &dice))
    case 6: bytes.insert(UInt8.random(in: 0...255, using: &dice), at: place)
    default: put([UInt8.random(in: 0...255, using: &dice)])
    }
  }
}
