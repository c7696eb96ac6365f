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
}
