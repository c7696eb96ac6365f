import EventLoops
import Logging
import TextFormats

/// The configuration files as they were read last, and what is wrong with them.
final class LoadedConfiguration {
  private(set) var files: Configuration
  /// The mistakes in the files.
  private(set) var faults: [FileFault] = []
  private var warnings = ConfigurationWarnings() { didSet { warningsOfTurn = nil } }
  /// The first warnings, as found in this turn: a client may ask many times, and looking for a hundred programs takes milliseconds.
  private var warningsOfTurn: [FileFault]?
  private var watch: ConfigurationWatch?
  private let loop: EventLoop
  private let log: Logger
  /// The mistakes, and the warnings about names, that the log has.
  private var logged: (faults: Set<FileFault>, names: Set<FileFault>) = ([], [])
  /// Called when files have changed.
  var onChange: ((_ isSettled: Bool) -> Void)?

  init(_ files: Configuration, loop: EventLoop, log: Logger) {
    self.files = files
    self.loop = loop
    self.log = log
  }

  /// Reads the files, and logs the mistakes and warnings that are new.
  /// - Parameters:
  ///   - isSettled: as for ``Configuration/reload(isSettled:)``. If not, nothing is logged: it may be mended in a moment.
  ///   - declare: declares the container values of the files, and returns the mistakes in them.
  func reload(
    isSettled: Bool, declaring declare: ([DeclaredContainerValue]) -> [FileFault]
  ) -> Configuration.Content {
    follow()
    let (startup, desktopFiles) = (files.startupPath, files.desktopFiles)
    let content = files.reload(isSettled: isSettled)
    // Only the files say where these are.
    if files.startupPath != startup || files.desktopFiles != desktopFiles { follow() }
    faults = content.faults + declare(content.containerValues)
    warnings = ConfigurationWarnings(of: content.destinations, fallbacks: files.fallbacks)
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
      if watch == nil { watch = try ConfigurationWatch(loop) { [unowned self] in onChange?($0) } }
      try watch?.follow(files)
    } catch {
      log.notice("changes of the configuration files are not noticed, only by “navctl reload”: \(error)")
    }
  }

  /// Has the files read again if they have changed, and that was not noticed yet.
  func noticeChanges() { watch?.reportPending() }

  /// Adds a mistake that was found when the file was used, and that is in the log.
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

  /// Has the programs looked for again at the next question.
  func endTurn() { warningsOfTurn = nil }
}
