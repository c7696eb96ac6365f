import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Files for what commands write on standard error.
private final class ErrorFileFixture {
  let loop: EventLoop
  private let directory = TemporaryDirectory()
  private(set) var files: ErrorFiles!
  private(set) var lines: [String] = []

  init() throws {
    loop = try EventLoop()
    restart()
  }

  /// Another process reads on.
  func restart() {
    files = ErrorFiles(directory: ByteString(directory.path), loop: loop) { [unowned self] name, line in
      lines.append("\(name) \(String(decoding: line, as: UTF8.self))")
    }
  }

  var names: [String] {
    ((try? Files.names(in: directory.path)) ?? []).filter { $0.hasSuffix(".errors") }.map { String($0.dropLast(7)) }
  }

  /// Bytes that a file takes.
  func size(_ name: String) -> Int {
    var status = stat()
    return stat(directory.path(of: "\(name).errors"), &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  func write(_ text: String, to file: Int32) {
    #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
  }

  func wait(_ condition: () -> Bool) throws {
    let isMet = loop.turn(until: condition)
    try #require(isMet, "\(lines), \(names)")
  }
}

extension EventLoop {
  fileprivate func turn(until condition: () -> Bool) -> Bool {
    let limit = now + .seconds(30)
    while !condition(), now < limit { _ = turn(wait: .milliseconds(50)) }
    return condition()
  }
}

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
    #expect(fixture.lines.last == "a three")
    #expect(fixture.names == ["b"])
    fixture.write("no end", to: other)
    close(other)
    #expect(fixture.files.finish("b") == Array("no end".utf8))
    #expect(fixture.lines.last == "b no end")
    #expect(fixture.names == [])
  }

  @Test("Reading is no reason to read again")
  func reading_comesToRest() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    fixture.write("one\n", to: file)
    try fixture.wait { fixture.lines == ["a one"] }
    var turns = 0
    while turns < 100, fixture.loop.turn(wait: .milliseconds(20)) { turns += 1 }
    #expect(turns < 5, "\(turns)")
    close(file)
    #expect(fixture.files.finish("a") == Array("one".utf8))
  }

  @Test("What was read takes no memory, and a line has a greatest length")
  func megabytes_areFreedWhenRead() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let part = String(repeating: "x", count: 1 << 16)
    var most = 0
    for _ in 1...200 {
      fixture.write(part, to: file)
      while fixture.loop.turn(wait: .zero) {}
      most = max(most, fixture.size("a"))
    }
    #expect(most < 4 * part.utf8.count, "\(most)")
    #expect(fixture.lines.allSatisfy { $0.utf8.count == 4096 + 2 })
    // More than may wait: the latest count.
    for _ in 1...40 { fixture.write(part, to: file) }
    fixture.write("\nthe end", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("the end".utf8))
  }

  @Test("A file is followed until nobody can write into it, also after the end of its command")
  func leftover_isFollowedUntilItEnds() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let inherited = dup(file)
    close(file)
    #expect(fixture.files.finish("a") == [])
    #expect(fixture.names == ["a"])
    fixture.write("later\n", to: inherited)
    try fixture.wait { fixture.lines == ["a later"] }
    close(inherited)
    try fixture.wait { fixture.names == [] }
  }

  @Test("The next reader goes on where the one before has ended, and removes what nobody writes any more")
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
    #expect(fixture.names == [])
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
