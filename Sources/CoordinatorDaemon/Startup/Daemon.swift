import CLinux
import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRecord
import PresentationRules
import Processes
import SessionFiles

/// The daemon, from its start to its end. It takes its name on the bus only when it is ready to serve.
public final class Daemon {
  /// The reason why the daemon could not start, for the user who started it.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
    /// Whether another navd serves the bus already.
    public var isRunning = false
  }

  private let loop: EventLoop
  private let connection: Connection
  private let runtime: RuntimeDirectory
  private let record: RecordWriter
  private let coordinator: CoordinatorRoot
  private let recovered: RecoveredSession
  private let service: OwnService
  private let log: Logger
  private var status: Int32 = 0
  /// The reason why this navd cannot serve, if another one was faster.
  private var failure: Failure?
  private var hasBusEnded = false
  private var signals: [SignalWatch] = []

  /// Connects to the bus and restores the last session.
  /// - Parameters:
  ///   - address: the bus's D-Bus address; nil for the session bus.
  ///   - stateDirectory: the directory of the record; nil for `$XDG_RUNTIME_DIR/navd`.
  /// - Throws: `Failure` if there is no bus or a system call fails.
  public init(address: String?, stateDirectory: String?, log: Logger) throws(Failure) {
    self.log = log
    signal(SIGPIPE, SIG_IGN)
    // While this signal is ignored, a write past the file size limit is an ordinary error.
    signal(SIGXFSZ, SIG_IGN)
    // This setting returns large blocks to the system as soon as they are free. Otherwise glibc keeps up to twice the size of the
    // largest message that any client has ever sent.
    _ = mallopt(M_MMAP_THRESHOLD, 128 << 10)
    let loop: EventLoop
    do throws(SystemError) { loop = try EventLoop() } catch { throw Failure(description: "\(error)") }
    var limits = Connection.Limits()
    limits.requestTooLarge = DBusError(
      Refusal(
        .limitExceeded,
        "expected at most \(limits.requestBytes) bytes (the limit “request”), found more; split the request"))
    limits.tooManyCalls = DBusError(
      Refusal(
        .limitExceeded,
        "expected the calls that wait to have at most half of the \(limits.waitingBytes) bytes that other clients leave, found "
          + "more; wait for the answers, then call again"))
    do throws(DBusError) {
      connection = try Self.connect(to: address, loop, limits)
    } catch {
      guard error.name != .authFailed else { throw Failure(description: error.message) }
      throw Failure(
        description:
          "cannot connect to the bus: \(error.message); start navd in a session, or with --address or dbus-run-session")
    }
    // Calls are refused until the state is restored. No client has a reason to call before navd owns its name.
    connection.callers = .refused(
      DBusError(name: .serviceUnknown, message: "navd is starting; call it by its name, \(CoordinatorNames.bus)"))
    self.loop = loop
    service = OwnService(loop)
    let context: StartupContext
    let busAddress: String
    do throws(DBusError) {
      context = try Self.contextWithoutOther(connection, log)
      if let address { busAddress = address } else { busAddress = try Connection.sessionAddress() }
    } catch {
      guard error.name != .addressInUse else {
        let credentials = try? connection.callAndWait(
          Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, CoordinatorNames.bus.text)
        throw Self.nameTaken(credentials.flatMap { Credentials($0).processID })
      }
      throw Failure(description: "the bus does not answer: \(error.message)")
    }
    do throws(SystemError) {
      runtime = try RuntimeDirectory(stateDirectory, bus: (busAddress, context.bus))
    } catch {
      throw Failure(description: "no directory for navd's files: \(error); name another with --state-directory")
    }
    if runtime.lifetime == .process {
      log.warning(
        "the record is in \(runtime.name), where the next navd cannot find it; set XDG_RUNTIME_DIR or --state-directory"
      )
    }
    let lifetime = runtime.lifetime
    let login = LoginRecord(in: runtime.loginDirectory, log: log)
    var machine: StateMachine?
    do throws(Record.Failure) {
      let record: Record
      (record, recovered) = try Record.open(in: runtime.name) { content in
        var content = content
        content.state.loginItems = login.items
        machine = try StateMachine(content, in: context, limits: Limits())
        return RecoveredSession(content, in: context, lifetime)
      }
      self.record = RecordWriter(record, login: login, log: log)
    } catch {
      throw Failure(description: "\(error); name another directory with --state-directory")
    }
    coordinator = CoordinatorRoot(
      connection: connection,
      configuration: Configuration(baseDirectories: BaseDirectories.configuration()), runtime: runtime, record: record,
      machine: machine.take()!, recovered: recovered, log: log)
  }

  /// The time in which the bus notices that an earlier navd was killed.
  private static let timeToLeave = Duration.seconds(5)

  /// Reads what the start depends on, after an earlier navd has left: the owner of the name also
  /// uses the record.
  /// - Throws: the error `AddressInUse` if another navd runs.
  private static func contextWithoutOther(
    _ connection: Connection, _ log: Logger
  ) throws(DBusError) -> StartupContext {
    let name = CoordinatorNames.bus
    let context = try StartupContext(connection)
    guard context.names.contains(name.text) else { return context }
    log.info("another program has the name; waiting for its end", metadata: ["name": "\(name)"])
    guard connection.waitUntilFree(name, within: timeToLeave) else {
      throw DBusError(name: .addressInUse, message: "the name \(name) belongs to another program")
    }
    return try StartupContext(connection)
  }

  private static func connect(
    to address: String?, _ loop: EventLoop, _ limits: Connection.Limits
  ) throws(DBusError) -> Connection {
    if let address { return try Connection.open(address: address, loop: loop, limits: limits) }
    return try Connection.session(loop: loop, limits: limits)
  }

  /// Serves until a signal, `Quit` or the end of the bus.
  /// - Returns: the status to exit with.
  public func run() throws(Failure) -> Int32 {
    do {
      signals = [
        try loop.onSignal([SIGTERM, SIGINT]) { [unowned self] _ in leave() },
        try loop.onSignal([SIGHUP]) { [unowned self] _ in coordinator.inbox.take(.files(isSettled: true)) },
      ]
    } catch {
      throw Failure(description: "\(error)")
    }
    coordinator.turns.onQuit = { [unowned self] in stop(0) }
    connection.handlers.onDisconnected = { [unowned self] in
      log.error("the connection to the bus is lost; presented items stay")
      hasBusEnded = true
      stop(1)
    }
    // The record and the programs stay for the next navd, which the service manager or the bus starts.
    connection.handlers.onBusSilent = { [unowned self] in
      log.error(
        "the bus has read nothing for \(connection.limits.longestSilence), since a client does not read; navd starts anew"
      )
      stop(1)
    }
    connection.handlers.onNameLost = { [unowned self] name in
      log.error("another program took the name \(name)")
      stop(1)
    }
    connection.handlers.onSignalsDropped = { [log] count in
      log.warning("the bus does not read fast enough; signals were dropped", metadata: ["count": "\(count)"])
    }
    if let (path, reason) = recovered.setAside {
      log.critical("the record cannot be read, and is kept as \(path); navd starts empty: \(reason)")
    }
    coordinator.askSession()
    coordinator.loadConfiguration(isStart: true)
    coordinator.resume(recovered) { [unowned self] in takeName() }
    loop.run()
    // The calls that arrived in the last turn are answered, too (R5).
    coordinator.leave()
    connection.close()
    record.finish()
    runtime.remove(hasBusEnded: hasBusEnded)
    if let failure { throw failure }
    return status
  }

  /// The time in which the clients that started navd make their first requests.
  private static let startTime = Duration.seconds(1)

  private func takeName() {
    connection.requestName(CoordinatorNames.bus) { [unowned self] result in
      switch result {
      case .success:
        service.notify("READY=1")
        service.startWatchdog { [coordinator] in coordinator.summary }
        // The release frees the pages of code that only the start and the first requests used, a
        // third of navd's memory: Swift searches all conformances of the program for each one that
        // it meets for the first time.
        loop.timer(after: Self.startTime) { linux_release_program() }
        log.notice("ready", metadata: ["name": "\(CoordinatorNames.bus)", "unique": "\(connection.uniqueName)"])
      case .failure(let error) where error.name == .addressInUse:
        connection.credentials(of: CoordinatorNames.bus) { [unowned self] credentials in
          failure = Self.nameTaken((try? credentials.get())?.processID)
          stop(1)
        }
      case .failure(let error):
        failure = Failure(description: "cannot own the name \(CoordinatorNames.bus): \(error.message)")
        stop(1)
      }
    }
  }

  /// - Parameter process: the one that has the name of navd on the bus; nil if the bus does not know it.
  private static func nameTaken(_ process: UInt32?) -> Failure {
    Failure(
      description:
        "navd already runs\(process.map { " (pid \($0))" } ?? ""); “navctl quit” ends it and all that it presents",
      isRunning: true)
  }

  /// Stops on a signal: presented items stay (R5).
  private func leave() {
    log.notice("stopping; presented items stay")
    stop(0)
  }

  private func stop(_ status: Int32) {
    self.status = max(self.status, status)
    service.notify("STOPPING=1")
    // The messages of this turn are sent first.
    loop.soon { [loop] in loop.stop() }
  }
}
