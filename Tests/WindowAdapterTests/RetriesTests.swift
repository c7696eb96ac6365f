import Testing

@testable import WindowAdapter

// The times at which navd-windows tries again to reach its compositor.

@Test("Tries become rarer, and end when the time is over")
func retries_next_isLaterEachTime() {
  var retries = Retries(for: .seconds(60))
  var delays: [Duration] = []
  while let delay = retries.next() { delays.append(delay) }
  #expect(
    delays == [
      .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(15), .seconds(15),
      .seconds(14.5),
    ])
  var none = Retries(for: .zero)
  #expect(none.next() == nil)
}
