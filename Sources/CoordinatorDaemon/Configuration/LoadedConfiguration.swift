import EventLoops
import Logging
import PresentationRules
import TextFormats

/// The configuration files as last read, and their mistakes.
final class LoadedConfiguration: Feature {
  private(set) var files: Configuration
  private(set) var faults: [FileFault] = []
  private var warnings = ConfigurationWarnings() { didSet { warningsOfTurn = nil } }
  /// The first warnings, as found in this turn: a client may ask many times, and looking for a hundred programs takes milliseconds.
  private var warningsOfTurn: [FileFault]?
  private var watch: ConfigurationWatch?
  private let loop: EventLoop
  private let log: Logger
  /// The mistakes and the warnings about names that were logged.
  private var logged: (faults: Set<FileFault>, names: Set<FileFault>) = ([], [])
  /// Gets the changes of files.
  private let inbox: Inbox

  init(_ files: Configuration, loop: EventLoop, _ inbox: Inbox, log: Logger) {
    self.files = files
    self.inbox = inbox
    self.loop = loop
    self.log = log
  }

  /// Reads the files, and logs the mistakes and warnings that are new.
  /// - Parameters:
  ///   - isSettled: as for ``Configuration/reload(isSettled:)``. If false, nothing is logged: a mistake may be mended in a moment.
  ///   - declare: declares the container values of the files, and returns the mistakes in them.
  func reload(
    isSettled: Bool, declaring declare: ([DeclaredContainerValue]) -> [FileFault]
  ) -> Configuration.Content {
    follow()
    let (startup, desktopFiles) = (files.startupPath, files.desktopFiles)
    let content = files.reload(isSettled: isSettled)
    // The paths of these files come from the other files.
    if files.startupPath != startup || files.desktopFiles != desktopFiles { follow() }
    faults = content.faults + declare(content.containerValues)
    warnings = ConfigurationWarnings(of: content.destinations, groups: files.groups, in: files.searched)
    if isSettled { logNew() }
    log.info(
      "destinations loaded", metadata: ["count": "\(content.destinations.count)", "faults": "\(faults.count)"])
    return content
  }

  private func logNew() {
    for fault in faults where !logged.faults.contains(fault) { log.error("\(fault)") }
    for warning in warnings.ofNames where !logged.names.contains(warning) { log.warning("\(warning)") }
    logged = (Set(faults), Set(warnings.ofNames))
  }

  private func follow() {
    do throws(SystemError) {
      if watch == nil { watch = try ConfigurationWatch(loop) { [inbox] in inbox.take(.files(isSettled: $0)) } }
      try watch?.follow(files)
    } catch {
      log.notice("changes of the configuration files are not noticed, only by “navctl reload”: \(error)")
    }
  }

  /// Reads the files again if they have changed unnoticed.
  func noticeChanges() { watch?.reportPending() }

  /// Adds a mistake that was found when the file was used, and was logged then.
  func note(_ fault: FileFault) {
    faults.append(fault)
    logged.faults.insert(fault)
  }

  /// The first warnings about the files.
  func warnings(most: Int) -> [FileFault] {
    let found = warningsOfTurn ?? warnings.first(most)
    warningsOfTurn = found
    return found
  }

  /// Discards the first warnings of the turn: the next request looks for the programs again.
  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    if case .turnEnded = happening { warningsOfTurn = nil }
  }
}
