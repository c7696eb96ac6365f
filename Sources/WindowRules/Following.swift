import DBusValues
import PresentationModel

/// A time since the machine has started, also while it slept: that of the start times of processes.
public struct BootTime: Comparable, Hashable, Sendable {
  public let milliseconds: UInt64
  public init(milliseconds: UInt64) { self.milliseconds = milliseconds }
  public static func < (a: BootTime, b: BootTime) -> Bool { a.milliseconds < b.milliseconds }
}

/// The settings of a destination for presentations that follow windows, besides the table `window`.
public struct FollowingSettings: Hashable, Sendable {
  /// The name of its destination; empty for a command of a request.
  public var destination: String
  /// Milliseconds between SIGTERM and SIGKILL.
  public var grace: UInt64
  /// Milliseconds in which it is to have a window. For as long its program counts as starting (N3).
  public var startTimeout: UInt64
  /// The startup id that its command gets; nil if it gets none (N1).
  public var startupID: String?

  public init(destination: String, grace: UInt64, startTimeout: UInt64, startupID: String? = nil) {
    self.destination = destination
    self.grace = grace
    self.startTimeout = startTimeout
    self.startupID = startupID
  }
}

/// The known facts of the process that shows a window.
public struct WindowProcess: Hashable, Sendable {
  /// The program that it belongs to, by the handle for which that was started.
  public var program: Handle?
  /// The program whose command it descends from, whatever scope that has.
  public var ancestor: Handle?
  public var started: BootTime

  public init(program: Handle?, ancestor: Handle?, started: BootTime) {
    (self.program, self.ancestor, self.started) = (program, ancestor, started)
  }
}

/// A presentation that follows windows.
struct Following {
  enum Program {
    /// Starts or runs.
    case running
    /// All its processes have ended, or it has handed over to a process that ran before.
    case ended(failed: Bool, Properties)
  }

  /// The one that its windows are shown for.
  enum Role {
    case presentation(Handle)
    /// Its presentation has ended, and its windows are hidden (N8). Another presentation may be about to show them again.
    case parked(claimant: Handle?)
    /// The end of its presentation is on record, and its program still ends.
    case nobody
  }

  enum Stage {
    /// It is to start once the windows are known that are there before it.
    case requested
    /// The previous navd began it, and nobody knows yet which of its windows are left.
    case recovered
    /// It has no window yet (N2).
    case awaiting
    /// It was dismissed before it had a window. A window that its command has asked for may still open, and is closed then.
    case withdrawing
    case shown
    /// Nobody can see its windows. It is on the screen while its program runs, until an adapter tells a window of it (N2).
    case unseen
    /// Its last window is gone, and another one may still open (N3).
    case lingering
    /// It was dismissed, and its windows were asked to close (N5).
    case closing(Closing)
    /// It was dismissed, and its windows are being hidden: those that are not yet (N8).
    case hiding(Set<String>)
    /// Its windows are hidden, and its program goes on (N8).
    case parked
    /// Its windows are gone. Its program may end by itself for a moment, and so give its result (N3, N5).
    case settling
    /// It was dismissed, and its program gets SIGTERM.
    case terminating
    /// Its end is reported, and its program goes on, or gets SIGTERM (N3).
    case leaving
  }

  struct Closing {
    var isForced: Bool
    /// The windows that ask the user (N6).
    var dialogs: Set<String>
    /// Windows that opened later than this may be dialogs.
    let since: UInt64
    /// The windows for which the window system has not answered the request to close.
    var unanswered: Set<String> = []
    /// Whether its user was asked.
    var hasAsked = false
    /// Whether its windows are asked once more: its program may have lost the request, since it still started.
    var asksAgain = false
  }

  var role: Role
  let rule: WindowFollowing
  let settings: FollowingSettings
  /// The application id that its command suggests, where processes are not known and it has no pattern (N1).
  var suggestedAppID: SuggestedAppID?
  /// The output on which its windows are to appear (U1).
  var output: String?
  /// Windows that opened later than this may belong to it by its pattern.
  var began: UInt64 = 0
  /// When it began.
  var beganAt = BootTime(milliseconds: 0)
  /// Windows that match its pattern and were there before it; nil if nobody knew them.
  var before: Set<String>?
  /// Whether the previous navd began it, which may have missed windows.
  var isRestored = false
  /// Its windows, in the order in which it got them.
  var windows = OrderedIDs()
  /// Whether an adapter that was started again has told its windows so that they cannot be told from others.
  var hasLost = false
  var program = Program.running
  /// Whether its program is known to have started.
  var isStarted = false
  var stage: Stage
  /// Whether its windows may not stay if they cannot be hidden (N8).
  var mustHide = false
  /// Whether it was dismissed since no window of it has opened, and it is asked whether the window system still answers.
  var isDoubtful = false
  /// Whether its program got SIGKILL.
  var isKilled = false

  init(_ stage: Stage, _ rule: WindowFollowing, _ settings: FollowingSettings, output: String?, for role: Role) {
    self.stage = stage
    self.rule = rule
    self.settings = settings
    self.output = output
    self.role = role
  }

  /// Whether its presentation has ended, and its windows are hidden (N8). They may be asked to close all the same.
  var isParked: Bool { if case .parked = role { true } else { false } }

  var isRunning: Bool { if case .running = program { true } else { false } }

  /// The result of its program; empty while that runs.
  var result: Properties { if case .ended(_, let result) = program { result } else { [:] } }

  var hasFailed: Bool { if case .ended(let failed, _) = program { failed } else { false } }

  /// Whether its command has handed over to a program that ran before, or that the bus has started for it (N2).
  var hasHandedOver: Bool {
    if case .ended(false, let result) = program { !result.hasExitedInError } else { false }
  }

  var closing: Closing? {
    get { if case .closing(let closing) = stage { closing } else { nil } }
    set { if let newValue { stage = .closing(newValue) } }
  }

  /// Whether it has begun, as far as is known.
  var hasBegun: Bool {
    switch stage {
    case .requested, .recovered: false
    default: true
    }
  }

  /// Whether new windows of its program belong to it.
  var takesOwnWindows: Bool {
    switch stage {
    case .requested, .recovered, .settling, .leaving: false
    default: true
    }
  }

  /// Whether a window may become its first one.
  var isAwaiting: Bool { if case .awaiting = stage { true } else { false } }

  /// Whether it takes windows by its pattern.
  var takesWindows: Bool {
    switch stage {
    case .awaiting, .withdrawing, .shown, .unseen, .lingering: true
    case .requested, .recovered, .closing, .hiding, .parked, .settling, .terminating, .leaving: false
    }
  }
}

/// A window of the window system.
struct TrackedWindow {
  enum Owner: Equatable {
    case none
    case presentation(Handle)
    /// It belonged to a presentation that has ended, or may have been somebody's under another id. It belongs to no other one (N1).
    case former
  }

  var properties: WindowProperties
  /// When it opened, among windows and presentations.
  let order: UInt64
  /// The known facts of its process; nil if there are none.
  let process: WindowProcess?
  var owner = Owner.none
}
