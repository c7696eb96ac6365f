import EventLoops
import Glibc
import TestSupport
import Testing

@testable import navctl

// The writer of lines, for slow readers, files, full disks and terminals.

private func pipe() throws -> (read: Int32, write: Int32) {
  var ends: [Int32] = [0, 0]
  try #require(Glibc.pipe(&ends) == 0)
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}

@Test func lineWriter_slowReader_getsAllWithoutBlocking() throws {
  let (reader, descriptor) = try pipe()
  defer { close(reader); close(descriptor) }
  let loop = try EventLoop()
  let writer = LineWriter(descriptor, loop)
  var isDrained = false
  writer.onDrained = { isDrained = true }
  let line = String(repeating: "x", count: 1 << 20)
  writer.write(line)
  // A pipe takes 64 KiB; the rest is kept, and the loop is not blocked.
  #expect(loop.turn { writer.pendingCount <= (1 << 20) - 60_000 })
  #expect(!isDrained)
  var got: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while got.count < line.utf8.count + 1 {
    _ = loop.turn(wait: .zero)
    let count = read(reader, &buffer, buffer.count)
    try #require(count > 0)
    got.append(contentsOf: buffer[..<count])
  }
  #expect(got == Array((line + "\n").utf8))
  #expect(loop.turn { isDrained })
  #expect(writer.pendingCount == 0)
}

@Test("L2: waiting text is written in a time proportionate to its length")
func lineWriter_muchThatWaits_isWrittenInItsTime() throws {
  let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
  try #require(descriptor >= 0)
  defer { close(descriptor) }
  let writer = LineWriter(descriptor, try EventLoop())
  // The text is written in parts of PIPE_BUF bytes. Moving the rest after each part would move 256 GiB.
  let clock = ContinuousClock()
  let time = clock.measure { writer.write(raw: String(repeating: "x", count: 48 << 20)) }
  #expect(writer.pendingCount == 0)
  #expect(time < .seconds(10))
}

@Test func lineWriter_readerEndsWhileNothingIsWritten_endsWithEPIPE() throws {
  let (reader, descriptor) = try pipe()
  defer { close(descriptor) }
  let loop = try EventLoop()
  let writer = LineWriter(descriptor, loop)
  var end: Int32?
  writer.onEnd = {
    end = $0
    loop.stop()
  }
  close(reader)
  #expect(loop.turn { end != nil })
  #expect(end == EPIPE)
}

@Test func lineWriter_file_isWrittenAtOnce() throws {
  let file = try #require(tmpfile())
  defer { fclose(file) }
  let descriptor = fileno(file)
  let writer = LineWriter(descriptor, try EventLoop())
  var isDrained = false
  writer.onDrained = { isDrained = true }
  writer.write("a")
  writer.write("b")
  #expect(isDrained)
  var buffer = [UInt8](repeating: 0, count: 16)
  #expect(pread(descriptor, &buffer, 16, 0) == 4)
  #expect(buffer.prefix(4) == [97, 10, 98, 10])
}

@Test func lineWriter_fullDisk_endsWithENOSPC() throws {
  let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
  try #require(descriptor >= 0)
  defer { close(descriptor) }
  let loop = try EventLoop()
  let writer = LineWriter(descriptor, loop)
  var end: Int32?
  writer.onEnd = { end = $0 }
  writer.write("a")
  #expect(loop.turn { end != nil })
  #expect(end == ENOSPC)
}

@Test("On a terminal, a line has no control characters; its meaning as JSON stays")
func lineWriter_terminal_getsNoControls() throws {
  let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
  try #require(terminal >= 0)
  defer { close(terminal) }
  // The two calls unlock the other end and give its number: TIOCSPTLCK, TIOCGPTN.
  var (unlocked, number) = (Int32(0), UInt32(0))
  try #require(ioctl(terminal, 0x4004_5431, &unlocked) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
  let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
  try #require(descriptor >= 0)
  defer { close(descriptor) }
  let loop = try EventLoop()
  let writer = LineWriter(descriptor, loop)
  var isDrained = false
  writer.onDrained = { isDrained = true }
  writer.write("{\"title\":\"a\u{202e}\u{200f}\u{61c}b\"}")
  #expect(loop.turn { isDrained })
  var buffer = [UInt8](repeating: 0, count: 256)
  let count = read(terminal, &buffer, buffer.count)
  #expect(
    String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == #"{"title":"a\u202e\u200f\u061cb"}"# + "\r\n")
}
