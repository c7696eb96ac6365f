import CLinux
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel

/// The adapter from its start to its end. It takes its name on the bus once it knows the windows.
package final class Adapter {
  private let loop: EventLoop
  private let connection: Connection
  private let backend: any Backend
  private let service: WindowService
  private let log: Logger
  private var status: Int32 = 0
  /// The reason why this adapter cannot serve, if another one does.
  private var otherRuns: BackendFailure?
  /// The time to end by itself after a signal, because an answer of the window system may never come.
  private static let timeout = Duration.seconds(2)
  /// The time after which the adapter's start is over.
  private static let startTime = Duration.seconds(1)

  /// - Parameters:
  ///   - backend: the backend to use; nil for the first that works.
  ///   - address: the address of the bus; nil for the session bus.
  package init(_ backend: BackendName?, address: String?, _ log: Logger) throws(BackendFailure) {
    self.log = log
    signal(SIGPIPE, SIG_IGN)
    do throws(SystemError) {
      loop = try EventLoop()
    } catch {
      throw BackendFailure(description: "\(error)")
    }
    self.backend = try BackendName.open(backend, loop, log)
    do throws(DBusError) {
      connection = try Self.connect(to: address, loop)
    } catch {
      throw BackendFailure(description: "cannot connect to the bus: \(error.message)")
    }
    self.backend.take(bus: connection)
    service = WindowService(connection, self.backend, log)
  }

  private static func connect(to address: String?, _ loop: EventLoop) throws(DBusError) -> Connection {
    if let address { try Connection.open(address: address, loop: loop) } else { try Connection.session(loop: loop) }
  }

  /// Serves until a signal, or the end of the bus or of the window system.
  /// - Returns: the status to exit with.
  package func run() throws(BackendFailure) -> Int32 {
    do throws(SystemError) {
      try loop.onEndingSignal([SIGTERM, SIGINT], timeout: Self.timeout) { [unowned self] in stop(0) }
    } catch {
      throw BackendFailure(description: "\(error)")
    }
    connection.handlers.onDisconnected = { [unowned self] in fail("the connection to the bus is lost") }
    connection.handlers.onBusSilent = { [unowned self, silence = connection.limits.longestSilence] in
      fail("the bus has read nothing for \(silence)")
    }
    connection.handlers.onNameLost = { [unowned self] name in fail("another program took the name \(name)") }
    backend.onEnd = { [unowned self] reason in fail(reason) }
    backend.start { [unowned self] in takeName() }
    loop.run()
    backend.end()
    connection.close()
    if let otherRuns { throw otherRuns }
    return status
  }

  /// The name on the bus for an adapter of this display beside that of another one.
  private static var nameOfDisplay: BusName? {
    DisplayNames(WindowService.displays).preferred.flatMap { WindowSystemInterface.bus(of: $0) }
  }

  private func takeName() {
    service.start()
    guard let name = Self.nameOfDisplay else { return takeFirstName() }
    // The first name may be free since the adapter that had it has ended, while this display has
    // one.
    connection.call(Bus.getNameOwner, on: Bus.name, at: Bus.path, name.text) { [unowned self] result in
      guard case .success = result else { return takeFirstName() }
      failNaming(name, DBusError(name: .addressInUse, message: "the name \(name) belongs to another program"))
    }
  }

  private func takeFirstName() {
    connection.requestName(WindowSystemInterface.bus) { [unowned self] result in
      switch result {
      case .success:
        DesktopVariables.give(by: connection, log)
        ready()
      case .failure(let error) where error.name == .addressInUse: takeNameOfDisplay(error)
      case .failure(let error): failNaming(WindowSystemInterface.bus, error)
      }
    }
  }

  /// Takes the name of this display beside the adapter of another one.
  /// - Parameter refusal: the reason why the first name cannot be taken.
  private func takeNameOfDisplay(_ refusal: DBusError) {
    typealias Rows = WindowSystemInterface
    connection.call(
      PropertyAccessing.get, on: Rows.bus, at: Rows.object, (Rows.name.text, Rows.displays.name.text),
      timeout: Self.timeout, autoStart: false
    ) { [unowned self] result in
      let names = (try? result.get()).flatMap { [String](value: $0) } ?? []
      let own = DisplayNames(WindowService.displays)
      guard own.isOther(than: DisplayNames(names)), let name = Self.nameOfDisplay else {
        return failNaming(Rows.bus, refusal)
      }
      connection.requestName(name) { [unowned self] result in
        if case .failure(let error) = result { return failNaming(name, error) }
        ready()
      }
    }
  }

  private func ready() {
    let capabilities = backend.state.capabilities.map(\.rawValue).joined(separator: " ")
    // The release frees pages that only the start needed.
    loop.timer(after: Self.startTime) { linux_release_program() }
    log.notice("ready", metadata: ["backend": "\(backend.name)", "capabilities": "\(capabilities)"])
  }

  private func failNaming(_ name: BusName, _ error: DBusError) {
    guard error.name == .addressInUse else {
      return fail(BackendFailure(description: "cannot own the name \(name): \(error.message)", isFinal: true))
    }
    connection.credentials(of: name) { [unowned self] credentials in
      let process = (try? credentials.get())?.processID
      let program = process.flatMap(ProcessName.of) ?? "another adapter"
      let number = process.map { " (pid \($0))" } ?? ""
      otherRuns = BackendFailure(
        description: program == "navd-windows"
          ? "navd-windows already runs\(number)" : "\(program)\(number) already tells of these windows",
        isFinal: true, isRunning: true)
      stop(0)
    }
  }

  private func fail(_ reason: String) { fail(BackendFailure(description: reason)) }

  private func fail(_ failure: BackendFailure) {
    log.error("\(failure)")
    stop(failure.status)
  }

  private func stop(_ status: Int32) {
    self.status = max(self.status, status)
    // The messages of this turn are sent first.
    loop.soon { [loop] in loop.stop() }
  }
}
