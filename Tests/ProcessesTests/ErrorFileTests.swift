import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Error files of one test, into which commands write their standard error, and the lines that were handed on.
private final class ErrorFileFixture {
  let loop: EventLoop
  private let directory = TemporaryDirectory()
  private(set) var files: ErrorFiles!
  private(set) var lines: [String] = []
  /// The numbers of lines that were left out, by the names of files.
  private(set) var leftOut: [String: Int] = [:]
  /// The names of commands of which no more lines will come.
  private(set) var ended: [String] = []

  init() throws {
    loop = try EventLoop()
    restart()
  }

  /// Replaces the reader, as another process that reads on.
  func restart() {
    files = ErrorFiles(directory: ByteString(directory.path), loop: loop) { [unowned self] name, line in
      lines.append("\(name) \(String(decoding: line, as: UTF8.self))")
    } onLeftOut: { [unowned self] name, count in
      leftOut["\(name)", default: 0] += count
    } onEnd: { [unowned self] name in
      ended.append("\(name)")
    }
  }

  var names: [String] {
    ((try? Files.names(in: directory.path)) ?? []).filter { $0.hasSuffix(".errors") }.map { String($0.dropLast(7)) }
  }

  /// The number of bytes that a file takes on the disk.
  func size(_ name: String) -> Int {
    var status = stat()
    return stat(directory.path(of: "\(name).errors"), &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  func write(_ text: String, to file: Int32) {
    #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
  }

  func wait(_ condition: () -> Bool) throws {
    let isMet = loop.turn(until: condition, lookingEvery: .milliseconds(50))
    try #require(isMet, "\(lines), \(names)")
  }
}

/// Error files: lines are handed on as they are written, in portions, and go on after a restart.
@Suite struct ErrorFileTests {
  @Test("Each line is handed on when it is written, and the last one that is not empty is known at the end")
  func lines_areHandedOn_lastOneIsKnown() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let other = try fixture.files.create("b")
    fixture.write("one\ntwo\rthr", to: file)
    fixture.write("other\n", to: other)
    try fixture.wait { fixture.lines.count == 3 }
    #expect(Set(fixture.lines) == ["a one", "a two", "b other"])
    fixture.write("ee\n\n", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("three".utf8))
    try fixture.wait { fixture.names == ["b"] }
    #expect(fixture.lines.last == "a three")
    fixture.write("no end", to: other)
    close(other)
    #expect(fixture.files.finish("b") == Array("no end".utf8))
    try fixture.wait { fixture.names == [] }
    #expect(fixture.lines.last == "b no end")
  }

  @Test("Reading a file does not cause another reading of it")
  func reading_comesToRest() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    fixture.write("one\n", to: file)
    try fixture.wait { fixture.lines == ["a one"] }
    var turns = 0
    while turns < 100, fixture.loop.turn(wait: .milliseconds(20)) { turns += 1 }
    #expect(turns < 8, "\(turns)")
    close(file)
    #expect(fixture.files.finish("a") == Array("one".utf8))
  }

  @Test("Text that was read takes no memory, and a line has a greatest length")
  func megabytes_areFreedWhenRead() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let part = String(repeating: "x", count: 1 << 16)
    var most = 0
    for _ in 1...100 {
      fixture.write(part, to: file)
      try fixture.wait { fixture.size("a") < part.utf8.count }
      most = max(most, fixture.size("a"))
    }
    #expect(most < 4 * part.utf8.count, "\(most)")
    #expect(fixture.lines.allSatisfy { $0.utf8.count == 4096 + 2 })
    // The commands write more than may wait, and the latest bytes count.
    for _ in 1...40 { fixture.write(part, to: file) }
    fixture.write("\nthe end", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("the end".utf8))
  }

  @Test("A file is followed until nobody can write into it, even after the end of its command")
  func leftover_isFollowedUntilItEnds() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let inherited = dup(file)
    close(file)
    #expect(fixture.files.finish("a") == [])
    #expect(fixture.names == ["a"])
    fixture.write("later\n", to: inherited)
    try fixture.wait { fixture.lines == ["a later"] }
    #expect(fixture.ended == [])
    close(inherited)
    try fixture.wait { fixture.names == [] }
    #expect(fixture.ended == ["a"])
    #expect(fixture.files.finish("without a file") == [])
    #expect(fixture.ended == ["a", "without a file"])
  }

  @Test("The next reader goes on where the one before has ended, and removes files into which nobody writes any more")
  func restart_readsOn() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let left = try fixture.files.create("b")
    fixture.write("one\n", to: file)
    try fixture.wait { fixture.lines == ["a one"] }
    fixture.restart()
    fixture.write("two\n", to: file)
    fixture.write("last words\n", to: left)
    close(left)
    fixture.files.resume { $0 == "a" }
    #expect(Set(fixture.lines) == ["a one", "a two", "b last words"])
    #expect(fixture.lines.count == 3)
    #expect(fixture.names == ["a"])
    fixture.write("three\n", to: file)
    try fixture.wait { fixture.lines.last == "a three" }
    close(file)
    #expect(fixture.files.finish("a") == Array("three".utf8))
    try fixture.wait { fixture.names == [] }
  }

  @Test(
    "A turn and a second each hand on a limited number of lines, however many a command writes; the rest is counted")
  func manyLines_areCounted() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let most = ErrorFiles.maxLinesPerSecond
    let count = 200_000
    fixture.write(String(repeating: "y\n", count: count), to: file)
    fixture.write("\n\nthe reason\n\n\n", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("the reason".utf8))
    var (before, second) = (0, 0)
    try fixture.wait {
      second = max(second, fixture.lines.count - before)
      before = fixture.lines.count
      return fixture.names == []
    }
    // A second may begin in the middle of the file.
    let all = fixture.lines.count + (fixture.leftOut["a"] ?? 0)
    #expect(all == count + 1 && second <= most, "\(fixture.lines.count), \(fixture.leftOut), \(second)")
    #expect((fixture.leftOut["a"] ?? 0) > 0)
  }

  @Test("Of several commands that write without end, each has its turn, and a quiet one, too")
  func manyFiles_takeTurns() throws {
    let fixture = try ErrorFileFixture()
    let names = (0..<40).map { "f\($0)" }
    let files = try names.map { try fixture.files.create(ByteString($0)) }
    let quiet = try fixture.files.create("quiet")
    let flood = String(repeating: String(repeating: "x", count: 79) + "\n", count: 3 << 10)
    for file in files { fixture.write(flood, to: file) }
    fixture.write("here\n", to: quiet)
    func seen(_ name: String) -> Bool { fixture.lines.contains { $0.hasPrefix(name + " ") } }
    var most = 0
    try fixture.wait {
      most = max(most, fixture.lines.count)
      return (names + ["quiet"]).allSatisfy(seen)
    }
    let counts = names.map { name in fixture.lines.count { $0.hasPrefix(name + " ") } }
    // The last file had its first share before the first file had its third.
    #expect(counts.max()! <= 3 * counts.min()!, "\(counts)")
    for file in files + [quiet] { close(file) }
  }

  @Test("The last line is found behind any number of empty ones; the last part of a long one counts")
  func lastLine_isFoundInWhatWaits() throws {
    let fixture = try ErrorFileFixture()
    for (text, last) in [
      ("", ""), ("\n\r\0", ""), ("one", "one"), ("one\ntwo" + String(repeating: "\n", count: 100_000), "two"),
      (String(repeating: "a", count: 4097), "a"),
      (String(repeating: "b", count: 8192), String(repeating: "b", count: 4096)),
      ("x\n" + String(repeating: "c", count: 20_000) + "\n", String(repeating: "c", count: 20_000 - 4 * 4096)),
    ] {
      let file = try fixture.files.create("a")
      fixture.write(text, to: file)
      close(file)
      #expect(fixture.files.finish("a") == Array(last.utf8))
      try fixture.wait { fixture.names == [] }
    }
    // The part that was read before is the beginning of the last line.
    let file = try fixture.files.create("a")
    fixture.write("before\nbegin", to: file)
    try fixture.wait { fixture.lines.last == "a before" }
    fixture.write("ning\n", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("beginning".utf8))
  }

  @Test("A program may empty its file, as by “>/dev/stderr”")
  func emptied_isReadFromTheStart() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    fixture.write("a long line before\n", to: file)
    try fixture.wait { fixture.lines.count == 1 }
    #expect(ftruncate(file, 0) == 0)
    fixture.write("no\n", to: file)
    try fixture.wait { fixture.lines.last == "a no" }
    close(file)
    #expect(fixture.files.finish("a") == Array("no".utf8))
  }
}
