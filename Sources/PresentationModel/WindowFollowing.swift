/// How presentations of a destination follow windows: the table `window` of its file (N1–N6).
public struct WindowFollowing: Hashable, Sendable {
  /// Which windows belong to the presentation besides those of its own processes.
  public var pattern: WindowPattern
  /// Whether all windows of its processes belong to it, or only the first one with its dialogs (N1).
  public var takesAll: Bool
  /// Whether a window may belong to it that was there before the request.
  public var adopts: Bool
  /// Milliseconds without a window after which it counts as closed; nil for two seconds while its program is young, and none
  /// later (N3).
  public var linger: UInt64?
  /// Whether its processes get SIGTERM if they are left after its last window (N3).
  public var endsLeftover: Bool
  /// Whether SIGKILL ends its processes if its windows are still there after the grace.
  public var kills: Bool
  /// Whether it ends when its windows lose the focus (N9).
  public var endsUnfocused: Bool
  /// Whether requests bring it to where its user is (N11).
  public var comesHere: Bool
  /// Whether the presentation ends when the output of its windows is unplugged (U3).
  public var endsWithOutput: Bool
  /// Whether a dismissal hides its windows and keeps its program (N8).
  public var hides: Bool

  public init(
    _ pattern: WindowPattern = WindowPattern(), takesAll: Bool = true, adopts: Bool = false, linger: UInt64? = nil,
    endsLeftover: Bool = false, kills: Bool = false, endsUnfocused: Bool = false, comesHere: Bool = false,
    endsWithOutput: Bool = false,
    hides: Bool = false
  ) {
    self.pattern = pattern
    self.takesAll = takesAll
    self.adopts = adopts
    self.linger = linger
    self.endsLeftover = endsLeftover
    self.kills = kills
    self.endsUnfocused = endsUnfocused
    self.comesHere = comesHere
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

  /// A pattern that nothing but the text fits.
  public static func escaped(_ text: String) -> String {
    String(text.flatMap { "*?[\\".contains($0) ? ["\\", $0] : [$0] })
  }

  /// Whether there is a pattern at all. Without one, only the processes say which windows belong to a presentation.
  public var isEmpty: Bool { appID == nil && title == nil }
}
