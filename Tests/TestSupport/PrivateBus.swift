// Why this file exists: tests talk over a bus of their own, which is gone when they are, however they end.
import Glibc

/// A `dbus-daemon` of its own, with a directory of its own, for as long as this object is held.
public final class PrivateBus {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// For `DBUS_SESSION_BUS_ADDRESS`.
  public let address: String
  /// Of the daemon itself, for tests that stop it (SIGSTOP) or kill it.
  public let processID: pid_t
  /// Empty but for the socket `bus`, and removed with the bus: fit for `XDG_RUNTIME_DIR`.
  public var directory: String { temporary.path }

  private let temporary = TemporaryDirectory()
  private let guardian: pid_t
  private let lifeline: Int32

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
    var input = [Int32](repeating: -1, count: 2)
    var output = [Int32](repeating: -1, count: 2)
    // Rather than pipes: they are close-on-exec from the start, so that no other test's child holds our end open.
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &input) == 0, socketpair(AF_UNIX, kind, 0, &output) == 0 else {
      throw Failure(description: "socketpair: errno \(errno)")
    }
    lifeline = input[1]
    defer {
      close(input[0])
      close(output[0])
    }
    do {
      defer { close(output[1]) }
      guardian = try spawn(
        ["/bin/sh", "-c", script, "sh", temporary.path], environment: inherited(with: environment),
        descriptors: [input[0], output[1], STDERR_FILENO])
    } catch {
      close(lifeline)
      throw error
    }
    do {
      let lines = try readLines(2, from: output[0], limit: limit)
      guard let processID = pid_t(lines[1]) else { throw Failure(description: "no process id: \(lines)") }
      address = lines[0]
      self.processID = processID
    } catch {
      close(lifeline)
      waitpid(guardian, nil, 0)
      throw error
    }
  }

  deinit {
    // One that was stopped would not hear that it is to end.
    kill(processID, SIGCONT)
    close(lifeline)
    waitpid(guardian, nil, 0)
  }
}

/// What this process has in its environment, but for what is given.
private func inherited(with environment: [String: String]) -> [String] {
  var variables: [String] = []
  var next = environ
  while let variable = next.pointee {
    let text = String(cString: variable)
    if !environment.keys.contains(where: { text.hasPrefix($0 + "=") }) { variables.append(text) }
    next += 1
  }
  return variables + environment.map { "\($0.key)=\($0.value)" }
}

private func readLines(_ count: Int, from descriptor: Int32, limit: Duration) throws -> [String] {
  let deadline = ContinuousClock.now + limit
  var bytes: [UInt8] = []
  var lines: [String] = []
  while lines.count < count {
    let rest = max(0, (deadline - .now) / .milliseconds(1))
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, Int32(rest.rounded(.up))) > 0 else {
      throw PrivateBus.Failure(description: "dbus-daemon said nothing for \(limit)")
    }
    var byte: UInt8 = 0
    guard read(descriptor, &byte, 1) == 1 else { throw PrivateBus.Failure(description: "dbus-daemon has ended") }
    if byte == UInt8(ascii: "\n") {
      lines.append(String(decoding: bytes, as: UTF8.self))
      bytes = []
    } else {
      bytes.append(byte)
    }
  }
  return lines
}
