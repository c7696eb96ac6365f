import EventLoops
import Testing

@testable import CoordinatorDaemon

/// The limit of lines that commands write into the journal.
struct LineLimitTests {
  private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

  @Test("The last lines of a command in a minute pass, up to the limit, and one notice says that others do not")
  func manyLines_inAMinute_areCut() {
    var limit = LineLimit()
    let (first, isTold) = limit.take(Array(0..<250), of: "film", at: start)
    #expect(first == Array(150..<250) && isTold)
    let (second, isToldAgain) = limit.take([1, 2], of: "film", at: start + .seconds(59))
    #expect(second.isEmpty && !isToldAgain)
    // Another command has a limit of its own.
    #expect(limit.take([3], of: "menu", at: start).lines == [3])
    // After a minute the count begins anew.
    let (third, isToldThen) = limit.take([4], of: "film", at: start + .seconds(60))
    #expect(third == [4] && !isToldThen)
  }

  @Test("A line that a carriage return writes over is shown as a terminal shows it")
  func statusLine_isItsLastText() {
    let text = "AV: 1\rAV: 2\rAV: 3\nend\n\r\n"
    #expect(CommandErrors.lines(of: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == ["AV: 3", "end"])
  }

  @Test("The number of commands that are counted is bounded")
  func commands_areBounded() {
    var limit = LineLimit()
    for number in 0..<5000 { _ = limit.take([1], of: "\(number)", at: start) }
    #expect(limit.take(Array(0..<200), of: "last", at: start).lines.count == LineLimit.linesPerMinute)
  }
}
