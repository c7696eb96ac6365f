// Why this file exists: tests talk over a bus of their own, which is gone when they are, however they end.

import Glibc

/// A message bus that a test has for itself.
public protocol SessionBus: AnyObject {
  /// For `DBUS_SESSION_BUS_ADDRESS`.
  var address: String { get }
  /// Of who provides it, for tests that stop it (SIGSTOP) or kill it.
  var processID: pid_t { get }
  /// Where the socket `bus` is: fit for `XDG_RUNTIME_DIR`.
  var directory: String { get }
}

/// A `dbus-daemon` of its own, with a directory of its own, for as long as this object is held.
public final class PrivateBus: SessionBus {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public let address: String
  /// Of the daemon itself.
  public let processID: pid_t
  /// Empty but for the socket `bus`, and removed with the bus.
  public var directory: String { temporary.path }

  private let temporary = TemporaryDirectory()
  private let guardian: Guardian

  /// - Parameters:
  ///   - environment: for the daemon and what it starts by activation, next to what this process has; `XDG_DATA_HOME` or
  ///     `XDG_DATA_DIRS` say where the activation files are (`dbus-1/services`).
  /// - Throws: if the daemon has not said its address within the limit.
  public init(environment: [String: String] = [:], limit: Duration = .seconds(30)) throws {
    // The shell kills the daemon when its standard input ends: by our closing it, or by our death, whatever that be.
    // Libraries to be checked are for this process, not for the shell and the bus.
    let script = """
      unset LD_LIBRARY_PATH DBUS_FATAL_WARNINGS
      exec 3<&0 </dev/null
      dbus-daemon --session --nofork --nopidfile --address="unix:path=$1/bus" --print-address=1 \\
        --print-pid=1 2>/dev/null 3<&- &
      exec >/dev/null
      read -r _ <&3
      kill "$!" 2>/dev/null
      wait "$!"
      """
    guardian = try Guardian(
      ["/bin/sh", "-c", script, "sh", temporary.path], environment: inherited(with: environment))
    let lines = try guardian.readLines(2, limit: limit)
    guard let processID = pid_t(lines[1]) else { throw Failure(description: "no process id: \(lines)") }
    address = lines[0]
    self.processID = processID
  }

  deinit {
    // One that was stopped would not hear that it is to end.
    kill(processID, SIGCONT)
    guardian.end()
  }
}

/// What this process has in its environment, but for what is given.
func inherited(with environment: [String: String]) -> [String] {
  var variables: [String] = []
  var next = environ
  while let variable = next.pointee {
    let text = String(cString: variable)
    if !environment.keys.contains(where: { text.hasPrefix($0 + "=") }) { variables.append(text) }
    next += 1
  }
  return variables + environment.map { "\($0.key)=\($0.value)" }
}
