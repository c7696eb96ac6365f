import PresentationModel
import PresentationRules
import Testing
import TextFormats

@testable import CoordinatorDaemon

/// The fallbacks of groups by the clock (K7).
struct TimedGroupTests {
  private static let sunday: Int64 = 1_774_742_400  // 2026-03-29 00:00:00 UTC
  private static let minute: Int64 = 60
  private static let hour: Int64 = 3600
  private static let day: Int64 = 86_400

  private static func time(_ seconds: Int64) -> LocalTime {
    LocalTime(
      weekday: Int((seconds / day + 4) % 7), minute: Int(seconds % day / minute), second: Int(seconds % minute))
  }

  /// UTC.
  private static func utc(_ seconds: Int64) -> LocalTime { time(seconds) }
  /// A zone that goes from one hour to two hours before UTC on that Sunday at 01:00 UTC, and back a day later.
  private static func summer(_ seconds: Int64) -> LocalTime {
    time(seconds + (seconds >= sunday + hour && seconds < sunday + day + hour ? 2 : 1) * hour)
  }

  private func group(_ text: String) throws -> TimedGroup {
    let content = SettingsFile.read(Array("[groups.main]\nfallback = \(text)\n".utf8), path: "/navd.toml")
    try #require(content.faults.isEmpty, "\(content.faults)")
    return try #require(content.groups[BindingID("main")])
  }

  private let menu = """
    [{ show = "menu", days = "Mon-Fri", from = "11:30", to = "14:00" }, "dashboard"]
    """

  @Test("K7: the first element whose time it is counts, on its days and from its first minute to before its last one")
  func fallback_byTheClock_isTheFirstThatFits() throws {
    let group = try group(menu)
    func shown(_ weekday: Int, _ hour: Int, _ minute: Int) -> String? {
      group.fallback(at: LocalTime(weekday: weekday, minute: hour * 60 + minute))
    }
    #expect(shown(1, 11, 29) == "dashboard" && shown(1, 11, 30) == "menu")
    #expect(shown(5, 13, 59) == "menu" && shown(5, 14, 0) == "dashboard")
    #expect(shown(0, 12, 0) == "dashboard" && shown(6, 12, 0) == "dashboard")
  }

  @Test("K7: hours that end before they begin go on after midnight, on the day after their day")
  func hours_acrossMidnight_belongToTheDayBefore() throws {
    let group = try group("[{ show = \"night\", days = \"Fri,Sat\", from = \"22:00\", to = \"06:00\" }]")
    func shown(_ weekday: Int, _ hour: Int) -> String? {
      group.fallback(at: LocalTime(weekday: weekday, minute: hour * 60))
    }
    #expect(shown(5, 22) == "night" && shown(6, 5) == "night" && shown(0, 5) == "night")
    #expect(shown(5, 5) == nil && shown(6, 6) == nil && shown(0, 22) == nil)
    let always = try allDay()
    #expect(always.fallback(at: LocalTime(weekday: 3, minute: 0)) == "a")
  }

  private func allDay() throws -> TimedGroup { try group("[{ show = \"a\", from = \"08:00\", to = \"08:00\" }]") }

  @Test("K7: the next change is the first minute in which another destination is the fallback")
  func nextChange_isTheEndOfTheHours() throws {
    let group = try group(menu)
    let monday = Self.sunday + Self.day
    #expect(group.nextChange(after: Self.sunday + 5, Self.utc) == monday + 11 * Self.hour + 30 * Self.minute)
    #expect(
      group.nextChange(after: monday + 12 * Self.hour + 17, Self.utc) == monday + 14 * Self.hour)
    #expect(
      group.nextChange(after: monday + 4 * Self.day + 15 * Self.hour, Self.utc)
        == monday + 7 * Self.day + 11 * Self.hour + 30 * Self.minute)
    #expect(try self.group("\"dashboard\"").nextChange(after: monday, Self.utc) == nil)
  }

  @Test(
    "K7: hours that summer time leaves out begin when the clock has passed them, and hours that come twice are shown twice"
  )
  func summerTime_movesHours() throws {
    let group = try group("[{ show = \"night\", from = \"02:30\", to = \"04:00\" }]")
    // 02:00 is 03:00 at once: the hours begin there.
    #expect(group.nextChange(after: Self.sunday, Self.summer) == Self.sunday + Self.hour)
    #expect(group.nextChange(after: Self.sunday + Self.hour, Self.summer) == Self.sunday + 2 * Self.hour)
    // A day later 03:00 is 02:00 once more: from 02:30 on, then not from 02:00, and again from 02:30.
    let next = Self.sunday + Self.day
    #expect(group.nextChange(after: next, Self.summer) == next + 30 * Self.minute)
    #expect(group.nextChange(after: next + 30 * Self.minute, Self.summer) == next + Self.hour)
    #expect(group.nextChange(after: next + Self.hour, Self.summer) == next + Self.hour + 30 * Self.minute)
  }

  @Test(
    "A mistake in the list of fallbacks has its position, and says what was expected",
    arguments: [
      ("[{ show = \"menu\", days = \"Mo-Fr\" }]", "“days”: expected days such as Mon-Fri or Sat,Sun, found “Mo-Fr”"),
      ("[{ show = \"menu\", from = \"25:00\" }]", "“from”: expected a time from 00:00 to 24:00, found “25:00”"),
      ("[{ show = \"menu\", to = \"9:00\" }]", "“to”: expected a time from 00:00 to 24:00, found “9:00”"),
      ("[{ from = \"09:00\" }]", "“an element of “fallback”” has no “show”"),
      ("[]", "“fallback”: expected 1 to 64 elements, found 0"),
      ("[\"a\", \"b\"]", "“fallback”: element 1 never comes, since “a” before it has no “days”"),
      ("[{ show = \"a\", until = \"09:00\" }]", "“until” is not a key of an element of “fallback”"),
      ("7", "“fallback”: expected a string such as fallback = \"dashboard\", or a list"),
    ])
  func mistake_isReported(text: String, message: String) {
    let content = SettingsFile.read(Array("[groups.main]\nfallback = \(text)\n".utf8), path: "/navd.toml")
    #expect(content.faults.first?.description.hasPrefix("/navd.toml:2:") == true, "\(content.faults)")
    #expect(content.faults.contains { $0.description.contains(message) }, "\(content.faults)")
  }
}
