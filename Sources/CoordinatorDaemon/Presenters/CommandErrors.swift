import DBusValues
import EventLoops
import Processes
import TextFormats

/// The standard error of commands. The last line is part of the result of a command that fails (D7); the end of what was written
/// goes to the journal of the command's unit, or to navd's own standard error.
final class CommandErrors {
  /// The lines that were written, and the commands to which files belong.
  private final class Lines {
    var limit = LineLimit()
    /// The names under which commands are counted, by their markers.
    var commands: [ByteString: String] = [:]
  }

  private let files: ErrorFiles
  private let lines: Lines

  /// - Parameter manager: the service manager that owns the journal.
  init(_ loop: EventLoop, _ runtime: RuntimeDirectory, _ manager: SystemdManager) {
    let (journal, lines) = (UnitJournal(of: manager), Lines())
    self.lines = lines
    files = ErrorFiles(directory: ByteString(runtime.name), loop: loop) { marker, unit, text in
      let command = lines.commands.removeValue(forKey: marker) ?? ""
      var (passing, isToTell) = lines.limit.take(CommandErrors.lines(of: text), of: command, at: loop.now)
      if isToTell {
        let rest = command.isEmpty ? "" : " of \(quoted(command))"
        let notice = "navd: more than \(LineLimit.linesPerMinute) lines\(rest) in a minute; those before are left out"
        passing.insert(Array(notice.utf8)[...], at: 0)
      }
      guard !passing.isEmpty else { return }
      if let unit, journal.write(Array(passing.joined(separator: [UInt8(ascii: "\n")])), of: unit) { return }
      for line in passing { StandardError.write(String(decoding: line, as: UTF8.self).escapingControls().utf8) }
    }
  }

  /// The lines of a text, as a terminal shows them: of what a carriage return writes over, the last one.
  static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
    text.split { $0 == UInt8(ascii: "\n") || $0 == 0 }.compactMap { line in
      line.split(separator: UInt8(ascii: "\r")).last
    }
  }

  /// The number of files.
  var count: Int { files.count }

  /// Creates the file for the errors of a command.
  /// - Parameters:
  ///   - unit: the command's unit, if the service manager runs it.
  ///   - command: the name under which its lines are counted.
  /// - Returns: the descriptor for the command's standard error; nil if there is no room for a file, so that the command gets navd's.
  func begin(_ marker: ByteString, unit: UnitName?, of command: String) -> Descriptor? {
    guard let file = try? files.create(marker, unit: unit.map { ByteString($0.text) }) else { return nil }
    lines.commands[marker] = command
    return Descriptor(owning: file)
  }

  /// Takes over the files of the previous navd.
  /// - Parameter running: the commands that may still run, with their units.
  func resume(_ running: [ByteString: UnitName?]) {
    files.resume(running.mapValues { unit in unit.map { ByteString($0.text) } })
  }

  /// Notes that a command has ended.
  /// - Returns: the command's last line, as people read it; nil if there was none.
  func finish(_ marker: ByteString) -> String? {
    ErrorText(files.finish(marker) { !ErrorText.isNotice($0) })?.text
  }
}
