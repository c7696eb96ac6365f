/// The way in which presentations of a destination follow windows: the table `window` of its file (N1–N6).
public struct WindowFollowing: Hashable, Sendable {
  /// The pattern for windows that belong to the presentation besides those of its own processes.
  public var pattern: WindowPattern
  /// Whether all windows of the processes belong to the presentation, or only the first one with its dialogs (N1).
  public var takesAll: Bool
  /// Whether a window that was there before the request may belong to the presentation.
  public var adopts: Bool
  /// Milliseconds from the first frame of the first window until the presentation counts as presented (N2).
  public var settle: UInt64
  /// Milliseconds without a window after which the presentation counts as closed (N3). If nil, two seconds while its program is young,
  /// and none later.
  public var linger: UInt64?
  /// Whether processes that are left after the last window get SIGTERM (N3).
  public var endsLeftover: Bool
  /// Whether SIGKILL ends the processes if their windows are still there after the grace period.
  public var kills: Bool
  /// Whether the presentation ends when its windows lose the focus (N9).
  public var endsUnfocused: Bool
  /// Whether requests bring the presentation to where its user is (N11).
  public var comesHere: Bool
  /// Whether the presentation ends when the output of its windows is unplugged (U3).
  public var endsWithOutput: Bool
  /// Whether a dismissal hides the windows and keeps the program (N8).
  public var hides: Bool
  /// The place, the size and the appearance of the windows (N15).
  public var placement: WindowPlacement

  public init(
    _ pattern: WindowPattern = WindowPattern(), takesAll: Bool = true, adopts: Bool = false, settle: UInt64 = 0,
    linger: UInt64? = nil, endsLeftover: Bool = false, kills: Bool = false, endsUnfocused: Bool = false,
    comesHere: Bool = false,
    endsWithOutput: Bool = false,
    hides: Bool = false, placement: WindowPlacement = WindowPlacement()
  ) {
    self.pattern = pattern
    self.takesAll = takesAll
    self.adopts = adopts
    self.settle = settle
    self.linger = linger
    self.endsLeftover = endsLeftover
    self.kills = kills
    self.endsUnfocused = endsUnfocused
    self.comesHere = comesHere
    self.endsWithOutput = endsWithOutput
    self.hides = hides
    self.placement = placement
  }
}

/// Shell patterns (`glob(7)`) for windows. A property without a pattern may have any value.
public struct WindowPattern: Hashable, Sendable {
  /// The pattern for the app-id; on X11 for the class.
  public var appID: String?
  public var title: String?

  /// Makes patterns. Without any, no window matches.
  public init(appID: String? = nil, title: String? = nil) {
    self.appID = appID
    self.title = title
  }

  /// A pattern that matches only this text.
  public static func escaped(_ text: String) -> String {
    String(text.flatMap { "*?[\\".contains($0) ? ["\\", $0] : [$0] })
  }

  /// Whether there is no pattern. Then only the processes decide which windows belong to a presentation.
  public var isEmpty: Bool { appID == nil && title == nil }
}
