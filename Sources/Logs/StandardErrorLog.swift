import Glibc
import Logging
import TextFormats

/// Writes each log message to standard error, as one line without control characters. For the journal (`JOURNAL_STREAM`), a syslog
/// priority precedes it (sd-daemon(3)).
public struct StandardErrorLog: LogHandler {
  public var logLevel = Logger.Level.notice
  public var metadata: Logger.Metadata = [:]
  private let program: String
  private let isJournal = getenv("JOURNAL_STREAM") != nil

  /// - Parameter program: the program's name, which precedes each line that is not for the journal.
  public init(program: String) { self.program = program }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let details = all.sorted { $0.key < $1.key }.reduce(into: "") { $0 += " \($1.key)=\($1.value)" }
    let start = isJournal ? "<\(event.level.priority)>" : "\(program): \(event.level): "
    let text = "\(event.message)\(details)".replacingAll("\n", with: "; ")
    // The journal is UTF-8 in every locale.
    StandardError.write((start + (isJournal ? text : Typography.inLocale(text)).escapingControls()).utf8)
  }
}

extension Logger.Level {
  fileprivate var priority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}
