/// How presentations of a destination follow windows: the table `window` of its file (N1–N6).
public struct WindowFollowing: Hashable, Sendable {
  /// Which windows belong to the presentation besides those of its own processes.
  public var pattern: WindowPattern
  /// Whether a window may belong to it that was there before the request.
  public var adopts: Bool
  /// Milliseconds without a window after which it counts as closed.
  public var linger: UInt64
  /// Whether SIGKILL ends its processes if its windows are still there after the grace.
  public var kills: Bool
  /// Whether it ends when its windows lose the focus (N9).
  public var endsUnfocused: Bool
  /// Whether the presentation ends when the output of its windows is unplugged (U3).
  public var endsWithOutput: Bool
  /// Whether a dismissal hides its windows and keeps its program (N8).
  public var hides: Bool

  public init(
    _ pattern: WindowPattern = WindowPattern(), adopts: Bool = false, linger: UInt64 = 0, kills: Bool = false,
    endsUnfocused: Bool = false, endsWithOutput: Bool = false, hides: Bool = false
  ) {
    self.pattern = pattern
    self.adopts = adopts
    self.linger = linger
    self.kills = kills
    self.endsUnfocused = endsUnfocused
    self.endsWithOutput = endsWithOutput
    self.hides = hides
  }
}

/// Shell patterns (`glob(7)`) for windows. A pattern that is nil matches every window.
public struct WindowPattern: Hashable, Sendable {
  /// For the app-id; on X11 the class.
  public var appID: String?
  public var title: String?

  /// Without a pattern, it matches no window by itself.
  public init(appID: String? = nil, title: String? = nil) {
    self.appID = appID
    self.title = title
  }

  /// Whether there is a pattern at all. Without one, only the processes say which windows belong to a presentation.
  public var isEmpty: Bool { appID == nil && title == nil }
}
