import EventLoops
import PresentationModel

/// The placements that are under way, and the windows that were placed. The place of a window follows from its size, which its program
/// decides after it was asked for one.
struct Placements<Key: Hashable> {
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
  /// The least and the greatest time between two readings of the areas while windows adopt their sizes, of which no event tells.
  private static var leastPause: Duration { .milliseconds(5) }
  private static var greatestPause: Duration { .milliseconds(40) }

  private struct Pending {
    let placement: WindowPlacement
    let end: MonotonicInstant
    /// The usable area of the output where the placement began: a window that turns out to be larger may come to another one.
    var area: ScreenArea?
    /// The size that the window is to have; nil if its program decides.
    var wish: ScreenSize?
    /// The size from which the last place was computed; nil before the first step.
    var size: ScreenSize?
    /// The area before the first step.
    var former: ScreenArea?
    /// The other size that was seen last, and the number of times that the wish was repeated because of it.
    var refusal: (size: ScreenSize, count: Int)?
    /// The upper left corner that was asked for last; nil for none.
    var origin: ScreenPoint?
    /// Whether the window was seen there.
    var hasArrived = false
    /// The number of times that the size may be asked for again.
    var attempts: Int
    /// The width and the height of the frame around the window, together; nil if not known.
    var border: ScreenSize?
  }

  /// The number of times that the size of a window may be asked for again.
  private let attempts: Int
  /// The number of those times after which another size counts as the program's decision, unless it is the former one.
  private let patience: Int
  /// Whether the window manager may move a new window to a place of its own, which is no move by its user.
  private let hasManagersPlace: Bool
  private var pending: [Key: Pending] = [:]
  /// The placements that begin once the areas are read again: an earlier request may have moved their windows to another output.
  private var awaitingReading: [Key: (placement: WindowPlacement, now: MonotonicInstant)] = [:]

  /// The windows that were placed, also those whose placement is over.
  private var placed: [Key: PlacedWindow] = [:]

  /// - Parameters:
  ///   - attempts: the number of times that the size of a window may be asked for again, since it has got its former one back. Where
  ///     programs have the last word, it is 0.
  ///   - patience: the number of those times for another size. sway gives a window each size in which its program draws, also that of a
  ///     tile that it was before, maybe on another output.
  ///   - hasManagersPlace: whether the window manager may move a new window to a place of its own.
  init(attempts: Int = 12, patience: Int = 0, hasManagersPlace: Bool = false) {
    (self.attempts, self.patience, self.hasManagersPlace) = (attempts, patience, hasManagersPlace)
  }

  var isEmpty: Bool { pending.isEmpty && awaitingReading.isEmpty }
  var keys: [Key] { Array(pending.keys) }

  /// The time until the areas are to be read again. Most programs adopt a size within milliseconds, so it is short at first.
  func pause(now: MonotonicInstant) -> Duration {
    let ages = pending.values.map { Self.timeToResize - ($0.end - now) }
    return min(Self.greatestPause, max(Self.leastPause, (ages.min() ?? .zero) / 2))
  }

  mutating func begin(_ key: Key, _ placement: WindowPlacement, now: MonotonicInstant) {
    guard !placement.isAboutFocusAlone else { return }
    // A window that is placed once more, right after it has opened, may still get the size back that it had before.
    pending[key] = Pending(
      placement: placement, end: now + Self.timeToResize, former: pending[key]?.former, attempts: attempts)
    placed[key] = PlacedWindow(placement, at: placed[key]?.spot)
  }

  /// Begins a placement with the next reading of the areas; ``beginWithReading()`` says when that is asked for.
  mutating func beginLater(_ key: Key, _ placement: WindowPlacement, now: MonotonicInstant) {
    if !placement.isAboutFocusAlone { awaitingReading[key] = (placement, now) }
  }

  /// Begins the placements that have waited for a reading, which is asked for now.
  mutating func beginWithReading() {
    for (key, waiting) in awaitingReading { begin(key, waiting.placement, now: waiting.now) }
    awaitingReading = [:]
  }

  mutating func forget(_ key: Key) { (pending[key], awaitingReading[key], placed[key]) = (nil, nil, nil) }

  /// Places windows again that are no longer wholly in view, since their output was unplugged or its usable area has changed (N15).
  /// - Parameters:
  ///   - outputs: the names of the outputs.
  ///   - spot: where a window is now; nil if that is not known, or if it does not float there.
  mutating func keepInView(among outputs: [String], now: MonotonicInstant, _ spot: (Key) -> PlacedWindow.Spot?) {
    for key in Array(placed.keys) {
      guard let spot = spot(key), let again = placed[key]?.move(to: spot, among: outputs) else { continue }
      begin(key, again, now: now)
    }
  }

  /// Forgets the placement of a window whose area was not told in time. Otherwise it would be asked for without end.
  mutating func forgetIfOverdue(_ key: Key, now: MonotonicInstant) {
    if let placement = pending[key], now >= placement.end { pending[key] = nil }
  }

  func placement(of key: Key) -> WindowPlacement? { pending[key]?.placement }
  func hasBegun(_ key: Key) -> Bool { pending[key]?.size != nil }

  /// Has the size of a window asked for once more if the window manager has given it another frame since.
  mutating func noteBorder(_ key: Key, _ border: ScreenSize) {
    guard let current = pending[key], current.border != border else { return }
    pending[key]!.border = border
    if current.border != nil { pending[key]!.size = nil }
  }

  /// The next step for a window; nil if there is none for now.
  /// - Parameters:
  ///   - frame: its area, frame included.
  ///   - area: the usable area of its output.
  ///   - natural: the size that a window of its program has when it floats, frame included, if it does not float yet.
  mutating func next(
    _ key: Key, _ frame: ScreenArea, in area: ScreenArea, natural: ScreenSize? = nil, pointer: ScreenPoint? = nil,
    now: MonotonicInstant
  ) -> Step? {
    guard let current = pending[key] else { return nil }
    let (placement, area) = (current.placement, current.area ?? area)
    guard let placed = current.size else {
      let size = placement.size(in: area) ?? natural.map { $0.limited(to: area) }
      let origin = placement.origin(size ?? frame.size, in: area, pointer: pointer)
      pending[key] = Pending(
        placement: placement, end: current.end, area: area, wish: size, size: size ?? frame.size,
        former: current.former ?? frame, origin: origin, attempts: attempts, border: current.border)
      return Step(isFirst: true, size: size, origin: origin)
    }
    guard now < current.end else {
      pending[key] = nil
      return nil
    }
    if frame.origin == current.origin { pending[key]?.hasArrived = true }
    // The window manager has not done yet what it was asked for.
    if attempts == 0, frame == current.former, current.origin != nil, frame.origin != current.origin { return nil }
    guard frame.size != placed else { return nil }
    // Its user has moved it meanwhile, and it stays there.
    let isMoved =
      current.origin != nil && frame.origin != current.origin && frame.origin != current.former?.origin
      && (current.hasArrived || !hasManagersPlace)
    if let wish = current.wish, !isMoved || frame.size == current.former?.size, asksAgain(key, frame.size) {
      // sway resizes a window around its center, so the corner is always asked for.
      let origin = isMoved ? frame.origin : placement.origin(wish, in: area, pointer: pointer)
      pending[key]!.size = wish
      if !isMoved { pending[key]!.origin = origin }
      return Step(size: wish, origin: origin ?? frame.origin)
    }
    guard !isMoved else {
      pending[key] = nil
      return nil
    }
    let origin = placement.origin(frame.size, in: area, pointer: pointer)
    (pending[key]!.size, pending[key]!.origin) = (frame.size, origin)
    pending[key]!.hasArrived = frame.origin == origin
    return origin.map { Step(origin: $0) }
  }

  /// Whether the size of a window is asked for again, and not yet taken for its program's decision.
  private mutating func asksAgain(_ key: Key, _ size: ScreenSize) -> Bool {
    guard let current = pending[key], current.attempts > 0, current.wish != size else { return false }
    let count = current.refusal?.size == size ? current.refusal!.count + 1 : 1
    // A tile of that size may be drawn once more, however often it was.
    guard count <= patience || size == current.former?.size else { return false }
    pending[key]!.refusal = (size, count)
    pending[key]!.attempts -= 1
    return true
  }
}

extension ScreenSize {
  fileprivate func limited(to area: ScreenArea) -> ScreenSize {
    ScreenSize(width: min(width, area.width), height: min(height, area.height))
  }
}

extension WindowPlacement {
  fileprivate var isAboutFocusAlone: Bool { self == WindowPlacement(takesFocus: takesFocus) }
}
