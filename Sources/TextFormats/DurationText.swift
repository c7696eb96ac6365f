/// Durations in files and on command lines: a decimal number and `ms`, `s`, `m` (or `min`) or `h`, as in `2.5s`.
public enum DurationText {
  /// - Parameter bare: the unit of a number without one, in milliseconds; nil if a unit is required.
  /// - Returns: milliseconds, rounded to the nearest; nil if the text is not a duration, or exceeds 2⁶⁴−1 ms.
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

  /// A duration rounded down to its two largest units: `870ms`, `12s`, `2m 5s`, `3h 20m`.
  public static func text(_ milliseconds: UInt64) -> String {
    guard milliseconds >= 1000 else { return "\(milliseconds)ms" }
    let seconds = milliseconds / 1000
    if seconds < 60 { return "\(seconds)s" }
    let minutes = seconds / 60
    if minutes < 60 { return seconds % 60 == 0 ? "\(minutes)m" : "\(minutes)m \(seconds % 60)s" }
    return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes / 60)h \(minutes % 60)m"
  }
}
