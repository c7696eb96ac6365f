import PresentationModel
import PresentationRules

/// A time as the clock on the wall shows it, without its date.
struct LocalTime: Hashable, Sendable {
  /// The day of the week: 0 is Sunday.
  var weekday: Int
  /// The minute of the day.
  var minute: Int
  /// The second of the minute.
  var second = 0
}

/// Hours that come again every week, such as those of a menu (K7).
struct WeeklyHours: Hashable, Sendable {
  /// The days on which the hours begin: 0 is Sunday.
  var days: Set<Int>
  /// The first minute of the day.
  var from: Int
  /// The first minute after the hours, on the next day unless it is after `from`.
  var to: Int

  func contain(_ time: LocalTime) -> Bool {
    if from < to { return days.contains(time.weekday) && (from..<to).contains(time.minute) }
    return time.minute >= from && days.contains(time.weekday)
      || time.minute < to && days.contains((time.weekday + 6) % 7)
  }
}

/// A fallback that is one at some times, or always.
struct TimedFallback: Hashable, Sendable {
  var destination: String
  /// The times at which it is the fallback; nil for always.
  var hours: WeeklyHours?
}

/// The settings of a group as its file says them, with a fallback that the clock chooses (K7).
struct TimedGroup: Hashable, Sendable {
  /// The fallbacks in the order of the file. The first one whose time it is counts.
  var fallbacks: [TimedFallback]
  var replacement: Replacement

  /// The destination that is the fallback at a time; nil for none.
  func fallback(at time: LocalTime) -> String? {
    fallbacks.first { $0.hours?.contain(time) ?? true }?.destination
  }

  func settings(at time: LocalTime) -> GroupSettings {
    let fallback = fallback(at: time)
    return GroupSettings(
      fallback: fallback, otherFallbacks: Set(fallbacks.map(\.destination)).subtracting([fallback].compactMap(\.self)),
      replacement: replacement)
  }

  /// The time at which another destination becomes the fallback; nil if none does within eight days. Each minute is looked at, since
  /// the changes to and from summer time move hours, or leave them out.
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - local: the local time of an instant in seconds since 1970.
  func nextChange(after now: Int64, _ local: (Int64) -> LocalTime) -> Int64? {
    guard fallbacks.contains(where: { $0.hours != nil }) else { return nil }
    let current = fallback(at: local(now))
    var instant = now
    while instant < now + Self.horizon {
      instant += Int64(60 - local(instant).second)
      if fallback(at: local(instant)) != current { return instant }
    }
    return nil
  }

  /// Longer than a week and a change of the clock, in seconds.
  private static let horizon: Int64 = 8 * 24 * 60 * 60
}
