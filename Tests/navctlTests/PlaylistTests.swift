import DBusValues
import EventLoops
import PresentationModel
import Testing

@testable import navctl

/// A playlist in the group `main`, and the state of navd as the test says it.
private struct PlaylistFixture {
  var list: Playlist
  private var now: Int64 = 0
  private var handles: [String: UInt64] = [:]

  init(_ bindings: String..., time: UInt64? = 10_000) {
    list = Playlist(bindings.map { Playlist.Item(binding: $0) }, in: "main", time: time)
  }

  mutating func pass(_ milliseconds: Int64) { now += milliseconds }

  private func subject(_ binding: String) -> StateEvent.Subject {
    StateEvent.Subject(binding: binding, id: "", presentation: Handle(1))
  }

  private mutating func take(_ event: StateEvent.Kind) -> Bool {
    list.take(event, at: MonotonicInstant(nanoseconds: now * 1_000_000))
  }

  mutating func begins(endOf binding: String) { #expect(!take(.phase(subject(binding), .dismissing))) }
  mutating func shows(_ binding: String) { #expect(!take(.presented(subject(binding), item: [:]))) }
  mutating func ends(_ binding: String, _ reason: Reason = .expired) {
    #expect(take(.dismissed(subject(binding), reason)))
  }

  /// What follows from a state with these members, of which the first one is selected.
  mutating func settle(_ bindings: String...) -> Playlist.Next {
    var state = StateSnapshot([:])
    state.presentations = bindings.enumerated().map { index, binding in
      var entry = StateEntry([:])
      (entry.binding, entry.group, entry.tag) = (binding, "main", binding)
      entry.phase = index == 0 ? "presented" : "waiting"
      return entry.properties
    }
    var group = GroupEntry([:])
    group.selection = bindings.first
    state.groups = ["main": .properties(group.properties)]
    return list.settle(state)
  }

  func timeout(_ binding: String) -> UInt64? { list.timeout(of: Playlist.Item(binding: binding)) }
}

private func again(_ bindings: String...) -> Playlist.Next { .again(bindings.map { Playlist.Item(binding: $0) }) }

@Suite struct PlaylistTests {
  @Test("An item that has had its turn waits again, and one that is there is not asked for twice")
  func turn_over_waitsAgain() {
    var fixture = PlaylistFixture("a", "b", "c")
    #expect(fixture.settle("a", "b", "c") == again())
    fixture.ends("a")
    #expect(fixture.settle("b", "c") == again("a"))
    #expect(fixture.settle("b", "c", "a") == again())
  }

  @Test("Items that ended while nobody looked wait again in the order of their ends")
  func ends_unseen_waitAgainInOrder() {
    var fixture = PlaylistFixture("a", "b", "c")
    fixture.ends("b", .closed)
    fixture.ends("a", .lost)
    #expect(fixture.settle("c") == again("b", "a"))
    #expect(fixture.settle("c") == again("a", "b"))
  }

  @Test("An item that somebody dismisses is left out, and the last one stays")
  func item_dismissed_isLeftOut() {
    var fixture = PlaylistFixture("a", "b")
    fixture.ends("a", .dismissed)
    #expect(fixture.settle("b") == again("b"))
    #expect(fixture.timeout("b") == 0)
    #expect(fixture.settle("b") == again())
    fixture.ends("b", .dismissed)
    #expect(fixture.settle() == .over)
  }

  @Test("Something else that replaces an item ends the list; what interrupts it, or another item of it, does not")
  func item_deselected_endsListUnlessItReturns() {
    var fixture = PlaylistFixture("a", "b")
    fixture.ends("a", .deselected)
    #expect(fixture.settle("alarm", "a", "b") == again())
    fixture.ends("a", .deselected)
    #expect(fixture.settle("b") == again("a"))
    fixture.ends("a", .deselected)
    #expect(fixture.settle("news", "b") == .over)
  }

  @Test("A list of which no item can be shown has failed")
  func items_allFail_haveFailed() {
    var fixture = PlaylistFixture("a", "b")
    fixture.ends("a", .failed)
    #expect(fixture.settle("b") == again("a"))
    fixture.shows("b")
    fixture.ends("b", .failed)
    #expect(fixture.settle("a") == again("b"))
    fixture.ends("a", .failed)
    #expect(fixture.settle("b") == .failed)
  }

  @Test("The next item is asked for earlier by as long as it took to come while the one before was still there")
  func time_ofItem_isLessTheStartOfTheNext() {
    var fixture = PlaylistFixture("a", "b", "c")
    #expect(fixture.timeout("a") == 10_000)
    fixture.begins(endOf: "a")
    fixture.pass(1500)
    fixture.shows("b")
    fixture.ends("a")
    #expect(fixture.timeout("a") == 8500)
    #expect(fixture.timeout("b") == 10_000)
    // A slow start takes no more than half of the time.
    fixture.begins(endOf: "b")
    fixture.pass(60_000)
    fixture.shows("c")
    fixture.ends("b")
    #expect(fixture.timeout("b") == 5000)
    // In sequence, the one before has gone first.
    fixture.begins(endOf: "c")
    fixture.ends("c")
    fixture.pass(2000)
    fixture.shows("a")
    #expect(fixture.timeout("c") == 10_000)
  }

  @Test("Without a time each item stays as long as its destination says")
  func time_notGiven_isLeftToDestinations() {
    #expect(PlaylistFixture("a", "b", time: nil).timeout("a") == nil)
    #expect(PlaylistFixture("a", time: nil).timeout("a") == nil)
    #expect(PlaylistFixture("a").timeout("a") == 0)
  }
}
