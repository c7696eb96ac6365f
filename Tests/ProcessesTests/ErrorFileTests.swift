import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Error files of one test, into which commands write their standard error, and the texts that were handed on.
private final class ErrorFileFixture {
  let loop: EventLoop
  private let directory = TemporaryDirectory()
  private(set) lazy var files = makeFiles()
  /// The unit and the text of each file that has ended.
  private(set) var ended: [String] = []

  init() throws { loop = try EventLoop() }

  private func makeFiles() -> ErrorFiles {
    ErrorFiles(directory: ByteString(directory.path), loop: loop) { [weak self] _, unit, text in
      guard text.contains(where: { !ErrorFiles.isEnd($0) }) else { return }
      self?.ended.append("\(unit?.description ?? "none"): \(String(decoding: text, as: UTF8.self))")
    }
  }

  /// Replaces the reader, as another process that takes over the files.
  func restart() { files = makeFiles() }

  var names: [String] {
    ((try? Files.names(in: directory.path)) ?? []).filter { $0.hasSuffix(".errors") }.map { String($0.dropLast(7)) }
  }

  /// The number of bytes that a file takes in memory.
  func size(_ name: String) -> Int {
    var status = stat()
    return stat(directory.path(of: "\(name).errors"), &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  func write(_ text: String, to file: Int32) {
    #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
  }

  func wait(_ condition: () -> Bool) throws {
    let isMet = loop.turn(until: condition, lookingEvery: .milliseconds(50))
    try #require(isMet, "\(ended), \(names)")
  }
}

/// Error files: the last line is known at the end, the text is handed on when nobody can write any more, and memory is bounded.
@Suite struct ErrorFileTests {
  @Test("The last line that is not empty is known at the end, and the text is handed on with the command's unit")
  func ended_hasALastLineAndHandsItsTextOn() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a", unit: "a.service")
    let other = try fixture.files.create("b")
    fixture.write("one\ntwo\rthree\n\n", to: file)
    fixture.write("no end", to: other)
    close(file)
    #expect(fixture.files.finish("a") == Array("three".utf8))
    #expect(fixture.ended == ["a.service: one\ntwo\rthree\n\n"])
    #expect(fixture.names == ["b"])
    close(other)
    #expect(fixture.files.finish("b") == Array("no end".utf8))
    #expect(fixture.ended.last == "none: no end")
    #expect(fixture.names == [] && fixture.files.count == 0)
    #expect(fixture.files.finish("without a file") == [])
  }

  @Test("A command that wrote nothing hands nothing on")
  func ended_withoutText_handsNothingOn() throws {
    let fixture = try ErrorFileFixture()
    for text in ["", "\n\r\0"] {
      let file = try fixture.files.create("a")
      fixture.write(text, to: file)
      close(file)
      #expect(fixture.files.finish("a") == [])
      #expect(fixture.names == [])
    }
    #expect(fixture.ended == [])
  }

  @Test("L2: a file takes no more memory than its end and what is written between two looks, and looking comes to rest")
  func megabytes_areFreed() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let megabyte = String(repeating: "x", count: 1 << 20)
    for _ in 1...20 {
      fixture.write(megabyte, to: file)
      try fixture.wait { fixture.size("a") <= 1 << 20 }
    }
    var turns = 0
    while turns < 100, fixture.loop.turn(wait: .milliseconds(20)) { turns += 1 }
    #expect(turns < 8, "\(turns)")
    fixture.write("\nthe end", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("the end".utf8))
    // A program that another test starts has a copy of the descriptor until it is executed.
    try fixture.wait { !fixture.ended.isEmpty }
    #expect(fixture.ended.first?.utf8.count == ErrorFiles.kept + "none: ".utf8.count)
  }

  @Test("A file stays until nobody can write into it, even after the end of its command")
  func leftover_keepsItsFileUntilItEnds() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    let inherited = dup(file)
    close(file)
    #expect(fixture.files.finish("a") == [])
    #expect(fixture.names == ["a"])
    fixture.write("later\n", to: inherited)
    close(inherited)
    try fixture.wait { fixture.names == [] }
    #expect(fixture.ended == ["none: later\n"])
  }

  @Test("The next reader takes over the files, and removes those into which nobody writes any more")
  func restart_takesFilesOver() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a", unit: "a.service")
    let left = try fixture.files.create("b")
    fixture.write("one\n", to: file)
    fixture.write("last words\n", to: left)
    fixture.restart()
    close(left)
    fixture.files.resume(["a": "a.service"])
    #expect(fixture.ended == ["none: last words\n"])
    #expect(fixture.names == ["a"])
    fixture.write("two\n", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("two".utf8))
    #expect(fixture.ended.last == "a.service: one\ntwo\n")
    #expect(fixture.names == [])
  }

  @Test("Of a line that is longer than 4 KiB, the end counts; the last line is looked for there")
  func lastLine_isFoundInTheLastBytes() throws {
    let fixture = try ErrorFileFixture()
    for (text, last) in [
      ("one\ntwo" + String(repeating: "\n", count: 4000), "two"),
      ("x\n" + String(repeating: "c", count: 20_000) + "\n", String(repeating: "c", count: 4095)),
    ] {
      let file = try fixture.files.create("a")
      fixture.write(text, to: file)
      close(file)
      #expect(fixture.files.finish("a") == Array(last.utf8))
      #expect(fixture.names == [])
    }
  }

  @Test("A program may empty its file, as by “>/dev/stderr”")
  func emptied_isReadFromTheStart() throws {
    let fixture = try ErrorFileFixture()
    let file = try fixture.files.create("a")
    fixture.write("a long line before\n", to: file)
    #expect(ftruncate(file, 0) == 0)
    fixture.write("no\n", to: file)
    close(file)
    #expect(fixture.files.finish("a") == Array("no".utf8))
  }
}
