import CLinux
import CoordinatorAPI
import DBus
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
    return status
  }

  private func takeName() {
    service.start()
    connection.requestName(WindowSystemInterface.bus) { [unowned self] result in
      switch result {
      case .success:
        let capabilities = backend.state.capabilities.map(\.rawValue).joined(separator: " ")
        DesktopVariables.give(by: connection, log)
        // The release frees pages that only the start needed.
        loop.timer(after: Self.startTime) { linux_release_program() }
        log.notice("ready", metadata: ["backend": "\(backend.name)", "capabilities": "\(capabilities)"])
      case .failure(let error):
        let reason = "cannot own the name \(WindowSystemInterface.bus): \(error.message)"
        fail(BackendFailure(description: reason, isFinal: true))
      }
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
