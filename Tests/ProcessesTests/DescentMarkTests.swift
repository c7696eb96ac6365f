import Glibc
import Testing

@testable import Processes

/// The mark of descent, a resource limit that every process of a command inherits.
@Suite struct DescentMarkTests {
  private static func limits(_ locks: String) -> [UInt8] {
    let lines = ["Limit  Soft Limit  Hard Limit  Units"] + (0..<10).map { "Max \($0)  1  2  bytes" }
    return Array(
      (lines + ["Max file locks            \(locks)   unlimited            locks     ", "Max x  1  2"]).joined(
        separator: "\n"
      ).utf8)
  }

  @Test(
    arguments: [
      ("4611686018427387904", 1 << 62), ("9223372036854775807", (1 << 63) - 1), ("unlimited", nil), ("1024", nil),
      ("", nil),
      ("4611686018427387903", nil), ("18446744073709551615", nil), ("46116860184273879040", nil), ("-1", nil),
    ] as [(String, UInt64?)])
  func mark_limits_areReadIfNavdSetThem(locks: String, number: UInt64?) {
    #expect(DescentMark(limits: Self.limits(locks))?.number == number)
  }

  @Test(arguments: ["", "\n\n\n\n\n\n\n\n\n\n\n\n", "Max file locks 4611686018427387904"])
  func mark_otherText_isNone(text: String) { #expect(DescentMark(limits: Array(text.utf8)) == nil) }

  @Test func mark_markers_differ() {
    let marks = Set((0..<10_000).map { DescentMark(ByteString("token-\($0)")) })
    #expect(marks.count == 10_000 && marks.allSatisfy { $0.number >> 62 == 1 })
  }

  @Test("A process inherits the mark, and this process keeps its own limit")
  func mark_process_isInherited() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("env -i sh -c 'echo $$ > '$DIR'/pid; exec sleep 1000' & wait")
    let mark = command.tree.mark
    #expect(ProcessTable.mark(of: try fixture.pid(in: "pid")) == mark)
    #expect(ProcessTable.mark(of: getpid()) != mark)
    command.tree.kill()
    _ = try fixture.end(of: command)
  }
}
