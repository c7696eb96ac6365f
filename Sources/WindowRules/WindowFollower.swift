import DBusValues
import PresentationModel

/// A time since the machine has started, including the time that it slept. The start times of processes use the same clock.
public struct BootTime: Comparable, Hashable, Sendable {
  public let milliseconds: UInt64
  public init(milliseconds: UInt64) { self.milliseconds = milliseconds }
  public static func < (a: BootTime, b: BootTime) -> Bool { a.milliseconds < b.milliseconds }
}

/// The settings of a destination for presentations that follow windows, besides the table `window`.
public struct FollowingSettings: Hashable, Sendable {
  /// The name of the destination; empty for a command of a request.
  public var destination: String
  /// Milliseconds between SIGTERM and SIGKILL.
  public var grace: UInt64
  /// Milliseconds within which the presentation is expected to have a window. Its program counts as
  /// starting for the same time (N3).
  public var startTimeout: UInt64
  /// Whether the rules end the presentation by the start timeout (N2).
  public var isStartLimited: Bool
  /// Whether the program says when it is on the screen (D19).
  public var awaitsReady: Bool
  /// The startup id that the command gets; nil if it gets none (N1).
  public var startupID: StartupID?
  /// The display on which the command shows its windows; nil if it is not known (N14).
  public var display: DisplayNames?

  public init(
    destination: String, grace: UInt64, startTimeout: UInt64, isStartLimited: Bool = true,
    awaitsReady: Bool = false, startupID: StartupID? = nil, display: DisplayNames? = nil
  ) {
    self.destination = destination
    self.grace = grace
    self.startTimeout = startTimeout
    self.isStartLimited = isStartLimited
    self.awaitsReady = awaitsReady
    self.startupID = startupID
    self.display = display
  }
}

/// The startup id with which a command is started.
public enum StartupID: Hashable, Sendable {
  /// An id that navd has made for the item.
  case made(String)
  /// An id that the request brought, from a launcher or a window manager.
  case given(String)

  public var text: String {
    switch self {
    case .made(let text), .given(let text): text
    }
  }
}

/// The known facts of the process that shows a window.
public struct WindowProcess: Hashable, Sendable {
  /// The program that the process belongs to, by the handle for which the program was started.
  public var program: Handle?
  /// The program whose command the process descends from, whatever the scope of the command.
  public var ancestor: Handle?
  public var started: BootTime
  /// The start time of the nearest process, this one or an ancestor, that the bus or a service manager has started since the oldest of
  /// ``WindowTracker/awaiting`` began; nil if there is none.
  public var activated: BootTime?
  /// The programs of ``WindowTracker/awaiting`` by whose command it was started, too.
  public var twins: Set<Handle>

  public init(
    program: Handle?, ancestor: Handle?, started: BootTime, activated: BootTime? = nil, twins: Set<Handle> = []
  ) {
    (self.program, self.ancestor, self.started) = (program, ancestor, started)
    (self.activated, self.twins) = (activated, twins)
  }

  /// The program that the process belongs to, and the one whose command it descends from.
  var programs: [Handle] { [program, ancestor].compactMap(\.self) }
}

/// A presentation that follows windows.
struct WindowFollower {
  enum Program {
    /// The program starts or runs.
    case running
    /// All processes of the program have ended, or it has handed over to a process that ran before.
    case ended(failed: Bool, Properties)
  }

  /// The role of the windows: the presentation that they are shown for, if any.
  enum Role {
    case presentation(Handle)
    /// The presentation has ended, and the windows are hidden (N8). Another presentation may be about to show them again.
    case parked(claimant: Handle?)
    /// The end of the presentation is on record, and the program is still ending.
    case nobody
  }

  enum Stage {
    /// The presentation starts as soon as the earlier windows are known.
    case requested
    /// The previous navd began the presentation. It is not known yet which of its windows are left.
    case recovered
    /// The presentation has no window yet (N2).
    case awaiting
    /// The presentation was dismissed before it had a window. If its command still opens one, that window is closed.
    case withdrawing
    case shown
    /// The windows are invisible to navd. The presentation is on the screen while its program runs,
    /// until an adapter reports a window of it (N2).
    case unseen
    /// The last window is gone, and another one may still open (N3).
    case lingering
    /// The presentation was dismissed, and its windows were asked to close (N5).
    case closing(Closing)
    /// The presentation was dismissed. These windows are not hidden yet (N8).
    case hiding(Set<String>)
    /// The windows are hidden, and the program goes on (N8).
    case parked
    /// The windows are gone. The program has a moment to end by itself, and so to give its result (N3, N5).
    case settling
    /// The presentation was dismissed, and its program gets SIGTERM.
    case terminating
    /// The end is reported, and the program goes on or gets SIGTERM (N3).
    case leaving
  }

  /// The beginning of the presentation, which distinguishes its windows from earlier ones.
  struct Beginning {
    /// The order after which windows must open to belong to the presentation by its pattern.
    var order: UInt64 = 0
    var time = BootTime(milliseconds: 0)
    /// The windows that were there before the presentation; nil if they are not known.
    var earlierWindows: Set<String>?
    /// Whether the previous navd began the presentation, and windows may have been missed.
    var isRestored = false

    /// Whether the earlier windows are unknown. Then only windows that open from now on count as new.
    var isUnknown: Bool { isRestored && earlierWindows == nil }
  }

  struct Closing {
    var isForced: Bool
    /// Whether the program goes on, since it shows a window of its user's, who has not asked for force.
    var sparesUser = false
    /// The windows that ask the user (N6).
    var dialogs: Set<String>
    /// The order after which windows must open to count as dialogs.
    let since: UInt64
    /// The windows for which the window system has not answered the request to close.
    var unanswered: Set<String> = []
    /// Whether the user was asked.
    var hasAsked = false
    /// Whether the windows are asked once more, since the program was still starting and may have lost the request.
    var asksAgain = false
  }

  /// A window that its user had before, and that the presentation shows (N12).
  struct Guest {
    /// Whether a window that the command still opens takes the place of the guest.
    var isReplaceable: Bool
  }

  var role: Role
  var rule: WindowFollowing
  let settings: FollowingSettings
  /// The application id that the command suggests, for use if processes are not known and there is
  /// no pattern (N1).
  var suggestedAppID: SuggestedAppID?
  /// The output on which the windows are to appear (U1).
  var output: String?
  var beginning = Beginning()
  /// The windows, in the order in which the presentation got them.
  var windows: [String] = []
  /// Whether there has been a window.
  var hasHadWindow = false
  /// Whether the program showed a window of its user's when a window system last told of its windows.
  var showedWindowOfUser = false
  /// Whether an adapter that was started again has reported windows that cannot be told from others, so that some were lost.
  var hasLost = false
  var program = Program.running
  /// The guest that the windows are; nil if they are the presentation's own.
  var guest: Guest?
  /// The time in which a window of a program that has just been started waits for one of the command's own (N1).
  enum HoldingBack { case notBegun, running, over }
  var holdingBack = HoldingBack.notBegun
  /// Whether the first window is one of another program that ran before, while the command still ran. The command may open its own
  /// instead (N1).
  var isGuessed = false
  /// Whether the windows that were open when the command had ended have been searched for a guest.
  var hasSoughtGuest = false
  /// Whether several of them fit. Then a later one may be its user's, too (N12).
  var haveSeveralFit = false
  /// Whether an adapter is expected that is not there yet. The end of a program that may have handed over waits for it (N13).
  var awaitsAdapter = false
  /// Whether the windows are on a display that the adapter does not see (N14).
  var isOnOtherDisplay = false
  /// Whether the start timeout is over, and the program runs without a window (N2).
  var isLate = false
  /// Whether the program is known to have started.
  var isStarted = false
  /// Whether its unit is restarted, so that its next window is the first one of another process
  /// (N3).
  var isRestarting = false
  var stage: Stage
  /// The windows that were asked to be shown again, and may still be hidden (N8).
  var showing: Set<String> = []
  /// Whether a key has asked for the presentation, and it is not known yet whether its first window is in view (N7).
  var mustBeSeen = false
  /// Whether its first window is still to come out from behind that of the presentation before (G10), once it has settled.
  var takesOver = false
  var hasSettled = false
  /// Whether its first window stays behind the fullscreen one of the presentation before while it settles, and is made fullscreen
  /// then (G10).
  var staysBehind = false
  /// The windows that were asked to be hidden before the program was ended by force.
  var mayBeHidden: Set<String> = []
  /// Whether the window system knows how to show the first window, and waits for it to open (N15).
  var isExpected = false
  /// The outputs on which windows were placed, empty if not known (N15).
  var placedOn: [String: String] = [:]
  /// The windows that were hidden, and are placed again if they come to another output (N15).
  var isReplacing: Set<String> = []
  /// Whether the windows must not stay if they cannot be hidden (N8).
  var mustHide = false
  /// Whether the presentation was dismissed because no window of it has opened, and the window system is being asked for an answer.
  var isDoubtful = false
  /// Whether what is left of the program is to end now (N3).
  var isLeftoverEnding = false
  /// Whether the program got SIGKILL.
  var isKilled = false

  init(_ stage: Stage, _ rule: WindowFollowing, _ settings: FollowingSettings, output: String?, for role: Role) {
    self.stage = stage
    self.rule = rule
    self.settings = settings
    self.output = output
    self.role = role
  }

  /// Whether the presentation has ended, and the windows are hidden (N8). They may still be asked to close.
  var isParked: Bool { if case .parked = role { true } else { false } }

  /// Whether the windows are hidden, or were asked to be.
  var isHiding: Bool { if case .hiding = stage { true } else { isParked } }

  var isRunning: Bool { if case .running = program { true } else { false } }

  /// The result of the program; empty while the program runs.
  var result: Properties { if case .ended(_, let result) = program { result } else { [:] } }

  var hasFailed: Bool { if case .ended(let failed, _) = program { failed } else { false } }

  /// Whether the command has handed over to a program that ran before, or that the bus has started for it (N2).
  var hasHandedOver: Bool {
    if case .ended(false, let result) = program { !result.hasExitedInError } else { false }
  }

  var closing: Closing? {
    get { if case .closing(let closing) = stage { closing } else { nil } }
    set { if let newValue { stage = .closing(newValue) } }
  }

  /// Whether the presentation has begun, as far as is known.
  var hasBegun: Bool {
    switch stage {
    case .requested, .recovered: false
    default: true
    }
  }

  /// Whether the first window is to paint before its user sees it, if it takes over from another fullscreen one (G10).
  var paintsBehind: Bool { rule.placement.isFullscreen == true && (rule.settle > 0 || settings.awaitsReady) }

  /// Whether new windows of the program belong to the presentation.
  var takesOwnWindows: Bool {
    switch stage {
    case .requested, .recovered, .settling, .leaving: false
    default: true
    }
  }

  /// The windows that the presentation takes now (N1).
  var takes: OwnershipFacts.Takes {
    guard hasBegun, !isOnOtherDisplay else { return .nothing }
    if let guest { return guest.isReplaceable && takesWindows ? .replacement : .nothing }
    let mayHaveAnother = rule.takesAll || !hasHadWindow || rule.linger != nil || isRestarting
    if takesWindows, windows.isEmpty, !hasLost, mayHaveAnother { return haveSeveralFit ? .replacement : .first }
    return takesOwnWindows && rule.takesAll ? .further : .nothing
  }

  /// Whether a window may become the first one.
  var isAwaiting: Bool { if case .awaiting = stage { true } else { false } }

  /// Whether the command still runs, though the presentation was dismissed before it had a window, has lost its last one, or the start
  /// timeout is over. It has handed over only once it has ended with status 0: until then, a window of another program is more likely its
  /// user's.
  var isUnlikelyToHandOver: Bool {
    switch stage {
    case .withdrawing: isRunning
    case .awaiting: isLate && isRunning
    case .lingering: isRunning && rule.linger == nil
    default: false
    }
  }

  /// Whether the presentation takes windows by its pattern.
  var takesWindows: Bool {
    switch stage {
    case .awaiting, .withdrawing, .shown, .unseen, .lingering: true
    case .requested, .recovered, .closing, .hiding, .parked, .settling, .terminating, .leaving: false
    }
  }
}
