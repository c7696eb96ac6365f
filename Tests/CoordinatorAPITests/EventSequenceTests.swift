import Testing

@testable import CoordinatorAPI

/// The order of events at a client: each event counts once, and the client notices a missing one (W1, W2).
struct EventSequenceTests {
  private func begun(at serial: UInt64) -> EventSequence<String> {
    var events = EventSequence<String>(maxEarly: 2)
    #expect(events.begin(at: serial) == [])
    return events
  }

  @Test("W1: events count in their order, each once")
  func event_nextSerial_isNextOnce() {
    var events = begun(at: 7)
    #expect(events.place("a", 8) == .next)
    #expect(events.place("b", 9) == .next)
    #expect(events.place("b", 9) == .past)
    #expect(events.place("a", 7) == .past)
  }

  @Test("W1: an event after a missing one, or of a new count of serials, is noticed and does not count")
  func event_afterAMissingOne_isAfterAGap() {
    var events = begun(at: 7)
    #expect(events.place("b", 9) == .afterGap)
    #expect(events.place("new", 0) == .afterGap)
    #expect(events.place("a", 8) == .next)
  }

  @Test("W2: events before the state are kept, and placed after it")
  func event_beforeTheState_isKept() {
    var events = EventSequence<String>(maxEarly: 2)
    #expect(!events.isBegun)
    for (event, serial) in [("contained", 5), ("first", 6), ("too many", 7)] as [(String, UInt64)] {
      #expect(events.place(event, serial) == .early)
    }
    #expect(events.begin(at: 5) == ["contained", "first"])
    #expect(events.isBegun)
    #expect(events.place("contained", 5) == .past)
    #expect(events.place("first", 6) == .next)
    // An event that was not kept leaves a gap.
    #expect(events.place("next", 8) == .afterGap)
    events.forget()
    #expect(!events.isBegun && events.begin(at: 9) == [])
  }
}
