import EventLoops
import PresentationModel
import TextFormats

/// The windows as reported by a script in KWin. No I/O.
struct KWinModel {
  typealias Key = WindowTable.Key
  typealias Instant = MonotonicInstant

  /// The corner of an output, which identifies it in scripts.
  struct Place: Hashable {
    let x: Int
    let y: Int
  }

  private(set) var state = WindowSystemState()
  private var keys: [String: Key] = [:]
  private var places: [Key: Place] = [:]
  private var lastKey: Key = 0
  /// The last events of windows for which the table has no room.
  private var leftOut: [Key: JSON] = [:]
  private var outputs: [Monitor] = []
  private(set) var isReady = false

  init(limits: WindowTable.Limits = WindowTable.Limits()) {
    state.windows = WindowTable(limits: limits)
    state.capabilities = [.close, .activate, .hide, .summon, .pid, .parent, .focus, .inView]
  }

  // MARK: Events

  /// - Parameter event: an event; an unknown one is ignored.
  /// - Returns: whether the event says that a request was carried out.
  mutating func take(_ event: JSON, now: Instant) -> Bool {
    if let window = event["window"] {
      see(window, now: now)
    } else if let id = event["closed"]?.string, let key = keys.removeValue(forKey: id) {
      places[key] = nil
      leftOut[key] = nil
      state.windows.close(key)
      // KWin does not report the oldest one again.
      if let window = leftOut.min(by: { $0.key < $1.key })?.value { see(window, now: now) }
    } else if event["ready"] == true {
      isReady = true
      state.windows.announceAll()
    } else if event["done"] == true {
      return true
    }
    state.inferFocusedOutput()
    return false
  }

  private mutating func see(_ window: JSON, now: Instant) {
    guard let id = window["id"]?.string, !id.isEmpty else { return }
    let key = keys[id] ?? lastKey + 1
    lastKey = max(lastKey, key)
    keys[id] = key
    func number(_ name: String) -> Int? {
      switch window[name] {
      case .integer(let number)?: Int(number)
      case .real(let number)?: Int(exactly: number.rounded())
      default: nil
      }
    }
    let isMinimized = window["minimized"] == true
    var sighting = WindowTable.Sighting()
    sighting.properties.appID = window["appID"]?.string
    sighting.properties.title = window["title"]?.string.map(PlasmaBackend.ownTitle)
    sighting.properties.pid = number("pid").flatMap { UInt32(exactly: $0) }.flatMap { $0 == 0 ? nil : $0 }
    sighting.properties.focused = window["focused"] == true
    sighting.properties.urgent = window["urgent"] == true
    sighting.properties.fullscreen = window["fullscreen"] == true
    sighting.properties.minimized = isMinimized
    sighting.properties.hidden = isMinimized
    sighting.properties.inView = !isMinimized && window["isHere"] == true
    if let x = number("x"), let y = number("y") { places[key] = Place(x: x, y: y) }
    sighting.properties.output = output(of: key, isMinimized: isMinimized)
    sighting.parent =
      window["parent"]?.string.flatMap { keys[$0] }.map { .window($0) } ?? WindowTable.Sighting.Parent.none
    state.windows.see(key, sighting, now: now, id: id)
    leftOut[key] = state.windows.contains(key) ? nil : window
  }

  /// The name of the output with a window; nil if no output is known.
  private func output(of key: Key, isMinimized: Bool) -> String? {
    guard !outputs.isEmpty else { return nil }
    guard !isMinimized, let place = places[key] else { return "" }
    return outputs.first { $0.area.x == place.x && $0.area.y == place.y }?.name ?? ""
  }

  /// Handles the outputs that the compositor reports.
  mutating func take(_ outputs: [Monitor], now: Instant) {
    self.outputs = outputs
    state.outputs = outputs.map(\.name)
    let capabilities = state.capabilities.filter { ![.move, .output].contains($0) }
    state.capabilities = WindowCapability.allCases.filter {
      capabilities.contains($0) || !outputs.isEmpty && [.move, .output].contains($0)
    }
    for key in places.keys where state.windows.contains(key) {
      var sighting = WindowTable.Sighting()
      sighting.properties.output = output(
        of: key, isMinimized: state.windows.properties(of: key)?.minimized == true)
      state.windows.see(key, sighting, now: now, id: "")
    }
    state.inferFocusedOutput()
  }

  mutating func announceDue(now: Instant) { state.windows.announceDue(now: now) }
  mutating func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }

  // MARK: Requests

  /// The output that a request needs; nil if it needs none.
  func place(for request: WindowRequest, _ key: Key) -> Place? {
    let name: String
    switch request {
    case .move(let output): name = output
    case .summon where state.windows.properties(of: key)?.output != state.focusedOutput: name = state.focusedOutput
    default: return nil
    }
    return outputs.first { $0.name == name }.map { Place(x: $0.area.x, y: $0.area.y) }
  }
}
