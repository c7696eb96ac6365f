import CLinux
import Glibc

/// A script that sets something up, reports it in lines on its standard output, and removes it when its standard input ends, through
/// ``end()`` or because the test process died.
final class SupervisedScript {
  private let processID: pid_t
  private let lifeline: Int32
  private let output: Int32
  private var hasEnded = false

  /// - Throws: `SystemError`, `SetupFailure`.
  init(_ arguments: [String], environment: [String]) throws {
    var input = [Int32](repeating: -1, count: 2)
    var output = [Int32](repeating: -1, count: 2)
    // Socket pairs are used instead of pipes, because they are close-on-exec from the start: no other test's child holds this end open.
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &input) == 0, socketpair(AF_UNIX, kind, 0, &output) == 0 else {
      throw SetupFailure(description: "socketpair: errno \(errno)")
    }
    lifeline = input[1]
    self.output = output[0]
    defer {
      close(input[0])
      close(output[1])
    }
    do {
      processID = try spawn(
        arguments, environment: environment, descriptors: [input[0], output[1], STDERR_FILENO])
    } catch {
      close(input[1])
      close(output[0])
      throw error
    }
  }

  /// Ends the script and waits until it has cleaned up. A script that does not end within a minute is killed, and reported
  /// on standard output.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    close(lifeline)
    close(output)
    let process = pidfd_open(processID, 0)
    defer { close(process) }
    var end = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
    if poll(&end, 1, 60_000) == 0 {
      print("a test's script did not end within a minute: process \(processID)")
      kill(processID, SIGKILL)
    }
    waitpid(processID, nil, 0)
  }

  deinit { end() }

  /// Reads the next lines of the script's output.
  /// - Throws: `SetupFailure` if they do not arrive within the limit.
  func readLines(_ count: Int, limit: Duration) throws -> [String] {
    let deadline = ContinuousClock.now + limit
    var bytes: [UInt8] = []
    var lines: [String] = []
    while lines.count < count {
      let rest = max(0, (deadline - .now) / .milliseconds(1))
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(rest.rounded(.up))) > 0 else {
        throw SetupFailure(description: "the script said nothing more for \(limit) than \(lines)")
      }
      var byte: UInt8 = 0
      guard read(output, &byte, 1) == 1 else {
        throw SetupFailure(description: "the script has ended, and said no more than \(lines)")
      }
      if byte == UInt8(ascii: "\n") {
        lines.append(String(decoding: bytes, as: UTF8.self))
        bytes = []
      } else {
        bytes.append(byte)
      }
    }
    return lines
  }
}

/// The reason why a bus, a user manager or a desktop for a test could not be set up.
public struct SetupFailure: Error, CustomStringConvertible {
  public let description: String
}
