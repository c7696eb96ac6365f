import DBusValues
import EventLoops
import PresentationModel

/// The windows as the backend sees them, and the events to be sent to clients. The table does no
/// I/O and has no clock.
///
/// A window is announced with its first title, or after ``patience`` without a title: compositors report a new window before its title.
package struct WindowTable {
  typealias Instant = MonotonicInstant
  /// The backend's number of a window, which may be used for another window later.
  package typealias Key = UInt64

  /// The facts that the backend has seen of a window; an absent one is unknown or unchanged.
  struct Sighting {
    var properties = WindowProperties()
    /// The window whose dialog this window is; nil if that is not known.
    var parent: Parent?

    enum Parent: Hashable {
      case none
      /// A window that the table may not have.
      case window(Key)
    }
  }

  struct Limits {
    /// The limit of windows; further ones are left out.
    var windows = 4096
    /// The limit in bytes of a window's text; the rest is cut off.
    var text = 4096
  }

  /// The time for which a window without a title is not announced.
  static let patience = Duration.milliseconds(50)

  private struct Entry {
    let id: String
    let number: UInt64
    var properties = WindowProperties()
    var parent: Sighting.Parent?
    /// The time at which the window is announced without a title; nil if it was announced.
    var waitsUntil: Instant?
  }

  let limits: Limits
  private var entries: [Key: Entry] = [:]
  private var keys: [String: Key] = [:]
  /// The windows that wait for their title, in the order of the times at which their waiting ends.
  private var waiting: [(key: Key, number: UInt64, until: Instant)] = []
  private var lastNumber: UInt64 = 0
  /// The events in their order; their serials follow ``serial``.
  private var log: [WindowEvent.Kind] = []
  /// The serial of the last event that was taken.
  private(set) var serial: UInt64 = 0
  private(set) var focused: Key?
  /// The number of windows that were left out because there were too many.
  private(set) var leftOut = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  // MARK: Reading

  /// The announced windows, in the order in which they opened.
  var windows: [Window] {
    entries.values.filter { $0.waitsUntil == nil }.sorted { $0.number < $1.number }
      .map { Window(id: $0.id, $0.properties) }
  }

  /// The key of an announced window.
  func key(of id: String) -> Key? { keys[id] }

  func id(of key: Key) -> String? { entries[key]?.id }

  func properties(of key: Key) -> WindowProperties? { entries[key]?.properties }

  func contains(_ key: Key) -> Bool { entries[key] != nil }

  var allKeys: some Collection<Key> { entries.keys }

  /// The time of the next announcement without a title; nil if no window waits.
  var nextDeadline: Instant? { waiting.first?.until }

  /// The events since the last call, with gapless serials.
  mutating func takeEvents() -> [WindowEvent] {
    defer { log = [] }
    return log.map { kind in
      serial += 1
      return WindowEvent(kind, serial: serial)
    }
  }

  // MARK: Changing

  /// Opens a window, or changes one.
  /// - Parameter id: makes the id of a new window, which must never have belonged to another window.
  mutating func see(_ key: Key, _ sighting: Sighting, now: Instant, id: @autoclosure () -> String) {
    let isNew = entries[key] == nil
    if isNew {
      guard entries.count < limits.windows else {
        leftOut += 1
        return
      }
      lastNumber += 1
      let entry = Entry(id: id(), number: lastNumber, waitsUntil: now + Self.patience)
      entries[key] = entry
      keys[entry.id] = key
      waiting.append((key, entry.number, now + Self.patience))
    }
    change(key, sighting)
    if isNew {
      // Dialogs may be seen before the windows that they belong to.
      for (other, entry) in entries where entry.parent == .window(key) && other != key { change(other, Sighting()) }
    }
    if entries[key]?.properties.title?.isEmpty == false { announce(key) }
  }

  private mutating func change(_ key: Key, _ sighting: Sighting) {
    guard var entry = entries[key] else { return }
    var later = WindowProperties(sighting.properties.properties.mapValues { limited($0) })
    if let parent = sighting.parent { entry.parent = parent }
    switch entry.parent {
    case .none?: later.parent = ""
    // A parent that is not a known window, such as the root, counts as none.
    case .window(let parent)?: later.parent = parent == key ? "" : entries[parent]?.id ?? ""
    case nil: break
    }
    // The focus is changed elsewhere, in its own order.
    let focus = later.focused
    later.focused = nil
    let changes = entry.properties.changes(to: later)
    entry.properties.merge(changes)
    entries[key] = entry
    note(changes, of: entry)
    switch focus {
    case true?: setFocus(key)
    case false? where focused == key: setFocus(nil)
    case false? where entry.properties.focused == nil: set(focused: false, key)
    default: break
    }
  }

  private mutating func set(focused: Bool, _ key: Key) {
    guard var entry = entries[key], entry.properties.focused != focused else { return }
    var changes = WindowProperties()
    changes.focused = focused
    entry.properties.merge(changes)
    entries[key] = entry
    note(changes, of: entry)
  }

  /// Sets the focused window; nil if no window has the focus. The event of the window that loses it comes first.
  mutating func setFocus(_ key: Key?) {
    guard focused != key else { return }
    if let focused { set(focused: false, focused) }
    focused = key
    if let key { set(focused: true, key) }
  }

  /// Whether a window that is placed gives the focus back. Its user may have gone on to a third window.
  /// - Parameter former: the window that had the focus before; nil if none had.
  func returnsFocus(of key: Key, to former: Key?, _ placement: WindowPlacement) -> Bool {
    placement.takesFocus == false && (focused == key || focused == former)
  }

  /// The window that gets the focus back from one that is placed; nil if it stays where it is.
  /// - Parameter former: the window that had the focus before; nil if none had, or if that is not known.
  func focusReturned(by key: Key, to former: Key?, _ placement: WindowPlacement) -> Key? {
    former.flatMap { contains($0) && returnsFocus(of: key, to: $0, placement) ? $0 : nil }
  }

  mutating func close(_ key: Key) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    if focused == key { focused = nil }
    keys[entry.id] = nil
    if entry.waitsUntil == nil { log.append(.closed(id: entry.id)) } else { forgetWaiting(entry.number) }
    for (other, child) in entries where child.parent == .window(key) {
      // Another window may get the same key.
      entries[other]?.parent = Sighting.Parent.none
      change(other, Sighting())
    }
  }

  /// Announces the windows that have waited long enough for a title.
  mutating func announceDue(now: Instant) {
    while let first = waiting.first, first.until <= now { announce(first.key) }
  }

  /// Announces all windows, which existed before the adapter.
  mutating func announceAll() {
    let all = waiting
    waiting = []
    for (key, _, _) in all { announce(key) }
  }

  private mutating func announce(_ key: Key) {
    guard var entry = entries[key], entry.waitsUntil != nil else { return }
    entry.waitsUntil = nil
    entries[key] = entry
    forgetWaiting(entry.number)
    log.append(.opened(Window(id: entry.id, entry.properties)))
  }

  private mutating func forgetWaiting(_ number: UInt64) { waiting.removeAll { $0.number == number } }

  /// Adds changes to the last event if it is about the same window: a program may change its title all the time.
  private mutating func note(_ changes: WindowProperties, of entry: Entry) {
    guard entry.waitsUntil == nil, !changes.properties.isEmpty else { return }
    switch log.last {
    case .opened(var window)? where window.id == entry.id:
      window.properties.merge(changes)
      log[log.count - 1] = .opened(window)
    case .changed(entry.id, var earlier)?:
      earlier.merge(changes)
      log[log.count - 1] = .changed(id: entry.id, earlier)
    default: log.append(.changed(id: entry.id, changes))
    }
  }

  /// A text that the bus can carry, cut to the limit.
  private func limited(_ value: Value) -> Value {
    guard case .string(let text) = value, text.utf8.count > limits.text || text.utf8.contains(0) else { return value }
    // The bus's strings end at a zero byte.
    let bytes = text.utf8.filter { $0 != 0 }
    return .string(String(decoding: bytes.prefix(limits.text), as: UTF8.self))
  }
}
