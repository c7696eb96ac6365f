import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

/// Points in time, in milliseconds since 1970.
enum Timestamp {
  static var now: UInt64 { EventLoops.WallClock.microseconds / 1000 }

  /// The time since `moment`, in whole seconds; `0s` if the clock was set back.
  static func elapsed(since moment: UInt64, at now: UInt64) -> String {
    let seconds = (now - min(now, moment)) / 1000
    return seconds == 0 ? "0s" : DurationText.text(seconds * 1000)
  }

  /// The date and time in the local time zone.
  static func local(_ moment: UInt64) -> String {
    var time = time_t(clamping: moment / 1000)
    var parts = tm()
    guard localtime_r(&time, &parts) != nil else { return "" }
    var text = [CChar](repeating: 0, count: 64)
    strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
    return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }
}
