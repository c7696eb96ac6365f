import EventLoops
import PresentationModel

/// The placements that are under way. The place of a window follows from its size, which its program decides after it was asked for one.
struct PendingPlacements<Key: Hashable> {
  /// A request to the window manager.
  struct Step: Equatable {
    var isFirst = false
    /// The size to ask for, frame included; nil to leave it.
    var size: ScreenSize?
    /// The upper left corner, frame included; nil to leave it.
    var origin: ScreenPoint?
  }

  /// The time in which a program adopts a size that it was asked for.
  static var timeToResize: Duration { .seconds(1) }

  private struct Pending {
    let placement: WindowPlacement
    let end: MonotonicInstant
    /// The size from which the last place was computed; nil before the first step.
    var size: ScreenSize?
    /// The size before the first step.
    var formerSize: ScreenSize?
    /// The number of times that the size may be asked for again. sway gives a window its former size back if its program draws in that
    /// size once more.
    var attempts = 5
  }

  private var pending: [Key: Pending] = [:]

  var isEmpty: Bool { pending.isEmpty }
  var keys: [Key] { Array(pending.keys) }

  mutating func begin(_ key: Key, _ placement: WindowPlacement, now: MonotonicInstant) {
    pending[key] = Pending(placement: placement, end: now + Self.timeToResize)
  }

  mutating func forget(_ key: Key) { pending[key] = nil }

  /// Forgets the placement of a window whose area was not told in time. Otherwise it would be asked for without end.
  mutating func forgetIfOverdue(_ key: Key, now: MonotonicInstant) {
    if let pending = pending[key], now >= pending.end { forget(key) }
  }

  func placement(of key: Key) -> WindowPlacement? { pending[key]?.placement }

  /// The next step for a window; nil if there is none for now.
  /// - Parameters:
  ///   - frame: its area, frame included.
  ///   - area: the usable area of its output.
  mutating func next(
    _ key: Key, _ frame: ScreenArea, in area: ScreenArea, pointer: ScreenPoint? = nil, now: MonotonicInstant
  ) -> Step? {
    guard let current = pending[key] else { return nil }
    let placement = current.placement
    guard let placed = current.size else {
      let size = placement.size(in: area)
      (pending[key]!.size, pending[key]!.formerSize) = (size ?? frame.size, frame.size)
      return Step(isFirst: true, size: size, origin: placement.origin(size ?? frame.size, in: area, pointer: pointer))
    }
    guard now < current.end else {
      pending[key] = nil
      return nil
    }
    guard frame.size != placed else { return nil }
    if frame.size == current.formerSize, current.attempts > 0, let size = placement.size(in: area) {
      pending[key]?.attempts -= 1
      return Step(size: size, origin: placement.origin(size, in: area, pointer: pointer))
    }
    pending[key]?.size = frame.size
    return placement.origin(frame.size, in: area, pointer: pointer).map { Step(origin: $0) }
  }
}
