import CoordinatorAPI
import DBus
import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// Prints states and events.
protocol WatchOutput: AnyObject {
  /// Called while navd is not running: before any state is known, and when it has been gone for a second.
  func absent(_ writer: LineWriter)
  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower)
  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower)
  /// Called when destinations have changed, by which groups may have other titles.
  func destinationsChanged(_ writer: LineWriter, _ follower: StateFollower)
  /// Called when the reader has taken all lines.
  func drained(_ writer: LineWriter, _ follower: StateFollower)
}

extension WatchOutput {
  func absent(_ writer: LineWriter) {}
  func destinationsChanged(_ writer: LineWriter, _ follower: StateFollower) {}
}

extension JSON {
  /// The state while navd is not running: a program that reads lines need not treat it in another way.
  static let absentState: [String: JSON] = ["running": false, "presentations": [], "groups": [:], "stacks": [:]]
}

extension DaemonClient {
  /// Passes on navd's state and events, through restarts of navd, until the reader of the output ends or the loop is stopped.
  func follow(_ output: any WatchOutput, _ writer: LineWriter) throws(Failure) {
    // A closed pipe is an error of the write, not a signal.
    signal(SIGPIPE, SIG_IGN)
    var failure: Failure?
    let follower = StateFollower(connection)
    writer.onDrained = { output.drained(writer, follower) }
    writer.onEnd = { [loop, operation] error in
      if error != EPIPE {
        failure = Failure(operation, SystemError(code: error, operation: "standard output").description)
      }
      loop.stop()
    }
    let timeout = timeLeft.map { timeLeft in
      loop.timer(after: timeLeft) { [loop, operation] in
        failure = Failure(operation, "navd is not running", status: .timedOut)
        loop.stop()
      }
    }
    let restart = DaemonRestart(self)
    var isKnown = false
    var absence: Timer?
    _ = connection.watchName(CoordinatorNames.bus) { [loop] owner in
      absence?.cancel()
      guard owner == nil else { return }
      // A navd that is updated is there again at once.
      absence = loop.timer(after: isKnown ? .seconds(1) : .zero) { output.absent(writer) }
    }
    follower.onState = { state, serial in
      timeout?.cancel()
      isKnown = true
      let state = StateSnapshot(state, serial: serial)
      restart.note(state)
      output.state(state, writer, follower)
    }
    follower.onEvent = { event in
      restart.note(event)
      output.event(event, writer, follower)
    }
    follower.onDestinationsChanged = { output.destinationsChanged(writer, follower) }
    func fail(_ error: DBusError) {
      failure = Failure(operation, error)
      loop.stop()
    }
    follower.onFailure = fail
    connection.handlers.onDisconnected = { fail(DBusError(name: .disconnected, message: Failure.disconnected)) }
    follower.start()
    loop.run()
    if let failure { throw failure }
  }
}
