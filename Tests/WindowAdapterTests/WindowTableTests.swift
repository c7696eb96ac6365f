import DBusValues
import EventLoops
import PresentationModel
import Testing

@testable import WindowAdapter

// The table of windows in the adapter: its events, their order, and its limits.

private func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

extension WindowTable {
  /// Takes in a window with a title.
  fileprivate mutating func see(
    _ key: Key, _ title: String? = nil, focused: Bool? = nil, parent: Sighting.Parent? = nil
  ) {
    var sighting = Sighting(parent: parent)
    sighting.properties.title = title
    sighting.properties.focused = focused
    see(key, sighting, now: at(0), id: "w\(key)")
  }

  /// The events since the last call, as text.
  fileprivate mutating func lines() -> [String] {
    takeEvents().map { event in
      func list(_ properties: WindowProperties) -> String {
        properties.properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      }
      return switch event.kind {
      case .opened(let window): "\(event.serial) opened \(window.id) \(list(window.properties))"
      case .changed(let id, let changed): "\(event.serial) changed \(id) \(list(changed))"
      case .closed(let id): "\(event.serial) closed \(id)"
      }
    }
  }
}

private func text(_ value: String) -> String { "\(Value.string(value))" }
private let yes = "\(Value.boolean(true))"
private let no = "\(Value.boolean(false))"

@Test func table_window_isAnnouncedWithItsFirstTitle() {
  var table = WindowTable()
  table.see(1, "")
  #expect(table.lines() == [])
  #expect(table.windows == [])
  #expect(table.key(of: "w1") == 1)
  table.see(1, "one")
  table.see(1, focused: true)
  #expect(table.lines() == ["1 opened w1 focused=\(yes) title=\(text("one"))"])
  #expect(table.nextDeadline == nil)
  #expect(table.windows.map(\.id) == ["w1"])
}

@Test func table_windowWithoutATitle_isAnnouncedWhenTheTimeIsOver() {
  var table = WindowTable()
  table.see(1)
  #expect(table.nextDeadline == at(50))
  table.announceDue(now: at(49))
  #expect(table.lines() == [])
  table.announceDue(now: at(50))
  #expect(table.lines() == ["1 opened w1 "])
  #expect(table.nextDeadline == nil)
}

@Test func table_windowThatClosesUnannounced_isNeverTold() {
  var table = WindowTable()
  table.see(1)
  table.close(1)
  table.announceDue(now: at(100))
  #expect(table.lines() == [])
  #expect(table.nextDeadline == nil)
}

@Test func table_changesInARow_areOneEvent() {
  var table = WindowTable()
  table.see(1, "one")
  _ = table.takeEvents()
  for title in ["two", "three", "four"] { table.see(1, title) }
  table.see(1, "four")
  #expect(table.lines() == ["2 changed w1 title=\(text("four"))"])
  #expect(table.lines() == [])
}

@Test func table_focus_isTakenBeforeItIsGiven() {
  var table = WindowTable()
  table.see(1, "one", focused: true)
  table.see(2, "two", focused: false)
  _ = table.takeEvents()
  table.setFocus(2)
  #expect(table.lines() == ["3 changed w1 focused=\(no)", "4 changed w2 focused=\(yes)"])
  table.setFocus(nil)
  #expect(table.lines() == ["5 changed w2 focused=\(no)"])
  table.setFocus(1)
  table.close(1)
  #expect(table.focused == nil)
  #expect(table.lines() == ["6 changed w1 focused=\(yes)", "7 closed w1"])
}

@Test func table_parent_isTheIDOfItsWindow() {
  var table = WindowTable()
  table.see(2, "dialog", parent: .window(1))
  #expect(table.lines() == ["1 opened w2 parent=\(text("")) title=\(text("dialog"))"])
  table.see(1, "main", parent: WindowTable.Sighting.Parent.none)
  #expect(
    table.lines() == ["2 changed w2 parent=\(text("w1"))", "3 opened w1 parent=\(text("")) title=\(text("main"))"])
  table.close(1)
  #expect(table.lines() == ["4 closed w1", "5 changed w2 parent=\(text(""))"])
  // A window that gets the key of the parent later is not the parent.
  table.see(1, "another")
  #expect(table.lines() == ["6 opened w1 title=\(text("another"))"])
}

@Test func table_openedAndClosed_keepTheirOrder() {
  var table = WindowTable()
  table.see(1, "splash")
  table.see(2, "main")
  table.close(1)
  table.see(2, "ready")
  #expect(
    table.lines() == [
      "1 opened w1 title=\(text("splash"))", "2 opened w2 title=\(text("main"))", "3 closed w1",
      "4 changed w2 title=\(text("ready"))",
    ])
}

@Test func table_limits_boundTextsAndWindows() {
  var table = WindowTable(limits: WindowTable.Limits(windows: 2, text: 8))
  table.see(1, "a\0b")
  table.see(2, "ééééé")
  table.see(3, "three")
  #expect(table.windows.map(\.properties.title) == ["ab", "éééé"])
  #expect(table.leftOut == 1)
  table.close(3)
  table.setFocus(3)
  #expect(table.windows.count == 2)
}
