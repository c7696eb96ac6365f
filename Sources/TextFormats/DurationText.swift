/// Durations in files and on command lines: decimal numbers, each with `ms`, `s`, `m` (or `min`) or `h`, the largest unit first,
/// as in `2.5s` or `1m30s`.
public enum DurationText {
  /// A text that is not a duration, or one of more than 2⁶⁴−1 ms.
  public enum Mistake: Error {
    case notADuration, tooLong

    /// The expectation, in words.
    /// - Parameter duration: the words for any duration.
    public func expected(_ duration: String) -> String {
      switch self {
      case .notADuration: duration
      case .tooLong: "at most \(UInt64.max / 3_600_000) hours"
      }
    }
  }

  /// - Parameter bare: the unit of a number without one, in milliseconds; nil if a unit is required.
  /// - Returns: milliseconds, rounded to the nearest.
  public static func milliseconds(_ text: String, bare: Double? = nil) throws(Mistake) -> UInt64 {
    var (rest, sum, largest) = (text[...], 0.0, Double.infinity)
    repeat {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      let name = rest[number.endIndex...].prefix { !($0.isASCII && $0.isNumber) }
      let unit: Double? =
        switch name {
        case "": rest == text ? bare : nil
        case "ms": 1
        case "s": 1_000
        case "m", "min": 60_000
        case "h": 3_600_000
        default: nil
        }
      guard let unit, unit < largest, number.first != ".", number.last != ".", let count = Double(number) else {
        throw .notADuration
      }
      (rest, sum, largest) = (rest[name.endIndex...], sum + count * unit, unit)
    } while !rest.isEmpty
    guard let milliseconds = UInt64(exactly: sum.rounded()) else { throw .tooLong }
    return milliseconds
  }

  /// A duration with all of its units, exact to the millisecond, as in `1.5s` or `1h 30m 0.25s`.
  public static func exactText(_ milliseconds: UInt64) -> String {
    guard milliseconds >= 1000 else { return "\(milliseconds)ms" }
    let (hours, minutes) = (milliseconds / 3_600_000, milliseconds / 60_000 % 60)
    let seconds = Double(milliseconds % 60_000) / 1000
    let shortest = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    return [hours > 0 ? "\(hours)h" : nil, minutes > 0 ? "\(minutes)m" : nil, seconds > 0 ? "\(shortest)s" : nil]
      .compactMap { $0 }.joined(separator: " ")
  }

  /// A duration rounded down to its two largest units: `870ms`, `12s`, `2m 5s`, `3h 20m`.
  public static func text(_ milliseconds: UInt64) -> String {
    exactText(milliseconds - milliseconds % (milliseconds < 1000 ? 1 : milliseconds < 3_600_000 ? 1000 : 60_000))
  }
}
