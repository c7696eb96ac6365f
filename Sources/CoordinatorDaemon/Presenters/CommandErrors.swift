import DBusValues
import EventLoops
import Processes
import TextFormats

/// The standard error of commands. The last line is part of the result of a command that fails (D7); the end of what was written
/// goes to the journal of the command's unit, or to navd's own standard error.
final class CommandErrors {
  private let files: ErrorFiles

  /// - Parameter manager: the service manager that owns the journal.
  init(_ loop: EventLoop, _ runtime: RuntimeDirectory, _ manager: SystemdManager) {
    let journal = UnitJournal(of: manager)
    files = ErrorFiles(directory: ByteString(runtime.name), loop: loop) { unit, text in
      if let unit, journal.write(text, of: unit) { return }
      for line in text.split(whereSeparator: ErrorFiles.isEnd) {
        StandardError.write(String(decoding: line, as: UTF8.self).escapingControls().utf8)
      }
    }
  }

  /// The number of files.
  var count: Int { files.count }

  /// Creates the file for the errors of a command.
  /// - Parameter unit: the command's unit, if the service manager runs it.
  /// - Returns: the descriptor for the command's standard error; nil if there is no room for a file, so that the command gets navd's.
  func begin(_ marker: ByteString, unit: UnitName?) -> Descriptor? {
    guard let file = try? files.create(marker, unit: unit.map { ByteString($0.text) }) else { return nil }
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
