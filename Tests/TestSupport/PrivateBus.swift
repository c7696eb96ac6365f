import Glibc

/// A message bus that only one test uses: ``PrivateBus``, ``UserManager`` or ``Desktop``.
public protocol SessionBus: AnyObject {
  /// The address for `DBUS_SESSION_BUS_ADDRESS`.
  var address: String { get }
  /// The process ID of the bus, for tests that stop (SIGSTOP) or kill it.
  var processID: pid_t { get }
  /// The directory of the socket `bus`, suitable as `XDG_RUNTIME_DIR`.
  var directory: String { get }
}

/// A private `dbus-daemon` with a private directory that exists while this object is held. For tests without navd; a test of navd
/// uses a ``Session``, which has a bus.
public final class PrivateBus: SessionBus {
  public let address: String
  /// The process ID of the daemon.
  public let processID: pid_t
  /// A directory that contains only the socket `bus`, and is deleted with the bus.
  public var directory: String { temporary.path }

  private let temporary = TemporaryDirectory()
  private let supervised: SupervisedScript
  private let configuration = TemporaryDirectory()

  /// - Parameters:
  ///   - limits: limits that replace those of an ordinary session bus, by their names in the bus's configuration.
  ///   - environment: variables for the daemon and the services that it activates, added to the environment of this
  ///     process; `XDG_DATA_HOME` or `XDG_DATA_DIRS` name the directories of the activation files (`dbus-1/services`).
  /// - Throws: `SetupFailure` if the daemon does not report its address within the limit.
  public init(
    limits: [String: Int] = [:], environment: [String: String] = [:], limit: Duration = .seconds(30)
  ) throws {
    let file = configuration.path(of: "session.conf")
    try Files.write(Self.configuration(limits), to: file)
    // The shell kills the daemon when its standard input ends, because the test closes it or the test process died. Variables that
    // select a checking libdbus are for this process only, not for the shell and the bus.
    let script = """
      unset LD_LIBRARY_PATH DBUS_FATAL_WARNINGS
      exec 3<&0 </dev/null
      dbus-daemon --config-file="$2" --nofork --nopidfile --address="unix:path=$1/bus" --print-address=1 \\
        --print-pid=1 2>/dev/null 3<&- &
      exec >/dev/null
      read -r _ <&3
      kill "$!" 2>/dev/null
      wait "$!"
      """
    supervised = try SupervisedScript(
      ["/bin/sh", "-c", script, "sh", temporary.path, file], environment: inherited(with: environment))
    let lines = try supervised.readLines(2, limit: limit)
    guard let processID = pid_t(lines[1]) else { throw SetupFailure(description: "no process id: \(lines)") }
    address = lines[0]
    self.processID = processID
  }

  /// The configuration of an ordinary session bus, with other limits.
  static func configuration(_ limits: [String: Int]) -> String {
    let lines = limits.map { "<limit name=\"\($0)\">\($1)</limit>\n" }.joined()
    return "<busconfig>\n<include>/usr/share/dbus-1/session.conf</include>\n\(lines)</busconfig>\n"
  }

  deinit {
    // A stopped process would not handle the signal that ends it.
    kill(processID, SIGCONT)
    supervised.end()
  }
}

/// The environment of this process, with some variables added or replaced.
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
