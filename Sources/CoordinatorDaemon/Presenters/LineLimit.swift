import EventLoops

/// The lines that commands have written in the last minute, so that none fills the journal: a player writes its status many times in a
/// second, and one that crashes is started again and again.
struct LineLimit {
  /// The limit of lines in a minute for each command.
  static let linesPerMinute = 100
  private static let minute = Duration.seconds(60)
  /// The limit of commands that are counted at a time.
  private static let maxCommands = 256

  private struct Minute {
    let start: MonotonicInstant
    var count = 0
    var isTold = false
  }

  private var minutes: [String: Minute] = [:]

  /// Takes lines of a command, of which the last ones pass.
  /// - Parameter command: the name under which the command is counted.
  /// - Returns: the lines that pass, and whether it is to be told that others do not, which is so once in a minute.
  mutating func take<Line>(_ lines: [Line], of command: String, at now: MonotonicInstant) -> (
    lines: [Line], isToTell: Bool
  ) {
    if minutes.count >= Self.maxCommands { minutes = minutes.filter { $0.value.start + Self.minute > now } }
    if minutes.count >= Self.maxCommands { minutes.removeAll() }
    var minute = minutes[command] ?? Minute(start: now)
    if minute.start + Self.minute <= now { minute = Minute(start: now) }
    let passing = lines.suffix(Self.linesPerMinute - minute.count)
    minute.count += passing.count
    let isToTell = passing.count < lines.count && !minute.isTold
    if isToTell { minute.isTold = true }
    minutes[command] = minute
    return (Array(passing), isToTell)
  }
}
