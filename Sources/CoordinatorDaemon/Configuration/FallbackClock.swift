import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules

/// Chooses the fallbacks of groups by the wall clock (K7): at the start, when the clock reaches the end of their times, and when it is set.
final class FallbackClock {
  /// The groups as their file says them.
  var groups: [BindingID: TimedGroup] = [:] { didSet { current = nil } }
  /// The settings by the last look at the clock; nil before the first look at these groups.
  private(set) var current: [BindingID: GroupSettings]?
  /// The seconds since 1970 at which the fallback of a group will be another one.
  private var changes: [BindingID: Int64] = [:]
  private var alarm: WallClockAlarm?

  /// The longest time between two looks, in seconds: the time zone may have changed.
  private static let longest: Int64 = 3600

  /// Looks at the clock.
  /// - Returns: the settings; nil if they are those of the last look.
  func look() -> [BindingID: GroupSettings]? {
    // The time zone of the system may have changed.
    tzset()
    let now = Int64(WallClock.microseconds / 1_000_000)
    let settings = groups.mapValues { $0.settings(at: Self.local(now)) }
    changes = groups.compactMapValues { $0.nextChange(after: now, Self.local) }
    if groups.values.contains(where: { $0.fallbacks.contains { $0.hours != nil } }) {
      alarm?.set(at: min(changes.values.min() ?? .max, now + Self.longest))
    }
    defer { current = settings }
    return settings == current ? nil : settings
  }

  /// Calls the handler whenever it may be time for other fallbacks.
  func start(_ loop: EventLoop, log: Logger, _ handler: @escaping () -> Void) {
    do throws(SystemError) { alarm = try WallClockAlarm(loop, handler) } catch {
      log.error("fallbacks do not change with the clock: \(error)")
    }
  }

  /// The fallbacks of groups, for people: `destination`, and `until` in milliseconds since 1970.
  var entries: [BindingID: FallbackEntry] {
    (current ?? [:]).filter { $0.value.hasFallbacks }.reduce(into: [:]) { entries, group in
      var entry = FallbackEntry([:])
      entry.destination = group.value.fallback
      entry.until = changes[group.key].map { UInt64(clamping: $0) * 1000 }
      entries[group.key] = entry
    }
  }

  private static func local(_ seconds: Int64) -> LocalTime {
    var (time, parts) = (time_t(seconds), tm())
    localtime_r(&time, &parts)
    // A leap second belongs to the minute before.
    return LocalTime(
      weekday: Int(parts.tm_wday), minute: Int(parts.tm_hour) * 60 + Int(parts.tm_min),
      second: min(59, Int(parts.tm_sec)))
  }
}
