// Why this file exists: the life of the daemon: it serves first, takes its name after, and leaves when it is told to.

import CLinux
import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationRecord
import PresentationRules
import Processes

/// The daemon, from its start to its end.
public final class Daemon {
  /// Why it could not start, in words for whoever started it.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  private let loop: EventLoop
  private let connection: Connection
  private let runtime: RuntimeDirectory
  private let record: Record
  private let coordinator: Coordinator
  private let recovered: RecoveredSession
  private let service: OwnService
  private let log: Logger
  private var status: Int32 = 0
  private var signals: [SignalWatch] = []

  /// Connects and gets everything ready.
  /// - Parameters:
  ///   - address: of the bus; nil is the session's.
  ///   - stateDirectory: nil is `$XDG_RUNTIME_DIR/navd`.
  /// - Throws: `Failure`, where there is no bus or a system call fails.
  public init(address: String?, stateDirectory: String?, log: Logger) throws(Failure) {
    self.log = log
    signal(SIGPIPE, SIG_IGN)
    // A file that may not grow is an error like others.
    signal(SIGXFSZ, SIG_IGN)
    // Whatever is large is given back as soon as it is free. Else glibc would keep as much as the largest that any client
    // has ever made us take in, twice, and in pieces.
    _ = mallopt(M_MMAP_THRESHOLD, 128 << 10)
    let loop: EventLoop
    do throws(SystemError) { loop = try EventLoop() } catch { throw Failure(description: "\(error)") }
    var limits = Connection.Limits()
    limits.requestTooLarge = DBusError(
      Refusal(
        .limitExceeded,
        "the request is larger than the limit “request”, \(limits.requestBytes) bytes; less at a time would do"))
    do throws(DBusError) {
      connection =
        if let address {
          try Connection.open(address: address, loop: loop, limits: limits)
        } else {
          try Connection.session(loop: loop, limits: limits)
        }
    } catch {
      throw Failure(
        description: "no bus: \(error.message); start navd inside a session, or with --address or dbus-run-session")
    }
    self.loop = loop
    service = OwnService(loop)
    do throws(SystemError) {
      runtime = try RuntimeDirectory(stateDirectory)
    } catch {
      throw Failure(description: "no place for files: \(error); --state-directory names another")
    }
    if runtime.isTemporary {
      log.warning(
        "the record is in \(runtime.name), where no later navd finds it; XDG_RUNTIME_DIR or --state-directory would help"
      )
    }
    let context: StartupContext
    do throws(DBusError) {
      context = try StartupContext(connection)
    } catch {
      throw Failure(description: "the bus does not answer: \(error.message)")
    }
    // Who has the name has the record, too.
    guard !context.names.contains(CoordinatorNames.bus.text) else {
      throw Self.nameTaken("the name \(CoordinatorNames.bus) belongs to another program")
    }
    let machine: StateMachine
    do throws(Record.Failure) {
      (record, (machine, recovered)) = try Record.open(in: runtime.name) { content in
        (try StateMachine(content, in: context, limits: Limits()), RecoveredSession(content, in: context))
      }
    } catch {
      throw Failure(description: "\(error); --state-directory names another place for it")
    }
    coordinator = Coordinator(
      loop: loop, connection: connection,
      configuration: Configuration(baseDirectories: Configuration.baseDirectories()), runtime: runtime, record: record,
      machine: machine, recovered: recovered, log: log)
  }

  /// Serves until it is told to end.
  /// - Returns: the status to exit with.
  public func run() throws(Failure) -> Int32 {
    do {
      signals = [
        try loop.onSignal([SIGTERM, SIGINT]) { [unowned self] _ in leave() },
        try loop.onSignal([SIGHUP]) { [unowned self] _ in coordinator.loadConfiguration() },
      ]
    } catch {
      throw Failure(description: "\(error)")
    }
    coordinator.onQuit = { [unowned self] in stop(0) }
    connection.onDisconnected = { [unowned self] in
      log.error("the bus is gone; what is shown stays")
      coordinator.leave()
      stop(1)
    }
    connection.onNameLost = { [unowned self] name in
      log.error("another program took the name \(name)")
      stop(1)
    }
    connection.onSignalsDropped = { [log] count in
      log.warning("the bus does not read; signals were dropped", metadata: ["count": "\(count)"])
    }
    if let (path, reason) = recovered.setAside {
      log.critical("the record could not be read, so navd starts with nothing; it is kept as \(path): \(reason)")
    }
    coordinator.loadConfiguration(isStart: true)
    coordinator.resume(recovered) { [unowned self] in takeName() }
    loop.run()
    connection.close()
    // Once more, if the record is behind.
    try? record.commit()
    runtime.remove()
    return status
  }

  private func takeName() {
    connection.requestName(CoordinatorNames.bus) { [unowned self] result in
      switch result {
      case .success:
        service.tell("READY=1")
        service.keepTelling { [coordinator] in coordinator.summary }
        // Most of what is in memory of the program was for starting only, a quarter of what navd has.
        linux_release_program()
        log.notice("ready", metadata: ["name": "\(CoordinatorNames.bus)", "unique": "\(connection.uniqueName)"])
      case .failure(let error):
        log.critical("\(Self.nameTaken(error.message))")
        stop(1)
      }
    }
  }

  private static func nameTaken(_ why: String) -> Failure {
    Failure(
      description:
        "the name cannot be had: \(why); “navctl quit” ends the navd that runs already, and with it all that it presents"
    )
  }

  /// Told to stop: nothing that is shown ends, nobody is left waiting (R5).
  private func leave() {
    log.notice("stopping; what is shown stays")
    coordinator.leave()
    stop(0)
  }

  private func stop(_ status: Int32) {
    self.status = max(self.status, status)
    service.tell("STOPPING=1")
    // What this turn has made still goes out.
    loop.soon { [loop] in loop.stop() }
  }
}
