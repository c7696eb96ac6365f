// Why this file exists: people write durations (`3s`, `500ms`) in files and on command lines, the bus has milliseconds.

/// Durations as people write them: a decimal number and `ms`, `s`, `m` (or `min`) or `h`.
public enum DurationText {
  /// - Parameter bare: how many milliseconds a number without a unit counts; nil where a unit must be given.
  /// - Returns: milliseconds, rounded to the nearest; nil where the text is no duration, or longer than the bus can say.
  public static func milliseconds(_ text: String, bare: Double? = nil) -> UInt64? {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit: Double? =
      switch text[number.endIndex...] {
      case "": bare
      case "ms": 1
      case "s": 1_000
      case "m", "min": 60_000
      case "h": 3_600_000
      default: nil
      }
    guard let unit, number.first != ".", number.last != ".", let count = Double(number) else { return nil }
    return UInt64(exactly: (count * unit).rounded())
  }

  /// About so long, in the two greatest units that say it: `870ms`, `12s`, `2m 5s`, `3h 20m`.
  public static func text(_ milliseconds: UInt64) -> String {
    guard milliseconds >= 1000 else { return "\(milliseconds)ms" }
    let seconds = milliseconds / 1000
    if seconds < 60 { return "\(seconds)s" }
    let minutes = seconds / 60
    if minutes < 60 { return seconds % 60 == 0 ? "\(minutes)m" : "\(minutes)m \(seconds % 60)s" }
    return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes / 60)h \(minutes % 60)m"
  }
}
