// Why this file exists: what a test has started beside it has to go when the test does, even if the test is killed.

import Glibc

/// A script that sets something up, says so in lines on its standard output, and takes it down again when its standard
/// input ends: by ``end()``, or by our death, whatever that be.
final class Guardian {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let processID: pid_t
  private let lifeline: Int32
  private let output: Int32
  private var hasEnded = false

  /// - Throws: `SystemError`, `Failure`.
  init(_ arguments: [String], environment: [String]) throws {
    var input = [Int32](repeating: -1, count: 2)
    var output = [Int32](repeating: -1, count: 2)
    // Rather than pipes: they are close-on-exec from the start, so that no other test's child holds our end open.
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &input) == 0, socketpair(AF_UNIX, kind, 0, &output) == 0 else {
      throw Failure(description: "socketpair: errno \(errno)")
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

  /// Ends it, and waits until all is taken down.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    close(lifeline)
    close(output)
    waitpid(processID, nil, 0)
  }

  deinit { end() }

  /// Reads the next lines that it says.
  /// - Throws: `Failure`, if they have not come within the limit.
  func readLines(_ count: Int, limit: Duration) throws -> [String] {
    let deadline = ContinuousClock.now + limit
    var bytes: [UInt8] = []
    var lines: [String] = []
    while lines.count < count {
      let rest = max(0, (deadline - .now) / .milliseconds(1))
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(rest.rounded(.up))) > 0 else {
        throw Failure(description: "the script said nothing more for \(limit) than \(lines)")
      }
      var byte: UInt8 = 0
      guard read(output, &byte, 1) == 1 else {
        throw Failure(description: "the script has ended, and said no more than \(lines)")
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
