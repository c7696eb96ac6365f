/// The facts of a window and an item that decide whether the window is the item's (N1). docs/windows.md has their table, which is the
/// test of ``verdict``.
struct OwnershipFacts: Hashable {
  /// The process that shows the window.
  enum Process: CaseIterable {
    /// The adapter tells processes, and has not told this one yet.
    case untold
    /// No process is known: the adapter tells none, or the window's is on another machine.
    case none
    /// A process of the item's command or unit.
    case own
    /// Another process that descends from the item's command.
    case descendant
    /// A process to which the command may have handed over: it ran before the item, belongs to what an earlier item of the destination
    /// has left, or was started by the bus or a service manager for a command that has ended with status 0.
    case handedOver
    /// A process that its user has started by the same command, less than a minute before the item, and that shows its first window now.
    case twin
    /// The same, with an earlier window. Either its user or the command has asked for this one.
    case twinsNext
    /// A process that somebody else has started since the item began.
    case foreign
  }

  /// The startup id of the window.
  enum Origin: CaseIterable {
    case none
    /// The item's, made by navd: only the item's command knows it.
    case made
    /// The item's, given with the request: whatever else the launcher has started knows it, too.
    case given
    /// The one of another start.
    case another
  }

  /// The patterns of the destination, or the application id that the command suggests.
  enum Pattern: CaseIterable {
    case fits, doesNotFit, unwritten
  }

  /// The windows that the item still takes.
  enum Takes: CaseIterable {
    /// Its first window.
    case first
    /// Further windows of its own processes.
    case further
    /// A guest: its command has ended with status 0, and has opened no window.
    case guest
    /// A window that the command still opens, in place of its guest.
    case replacement
    case nothing
  }

  var isDialog: Bool
  var process: Process
  var origin: Origin
  var pattern: Pattern
  var isNewer: Bool
  var takes: Takes

  enum Verdict: Hashable {
    case item(Proof)
    /// The window is its user's, and the item may show it.
    case guest
    /// A fact that is still to come decides.
    case undecided
    case user
  }

  /// The proof that a window is an item's. If two items have one, the stronger proof counts.
  enum Proof: Int, Comparable {
    /// A further window of the item's process, which its pattern does not fit: another item may have asked the program for it.
    case further
    case pattern, dialog, process, startupID
    static func < (a: Proof, b: Proof) -> Bool { a.rawValue < b.rawValue }
  }

  /// The owner. In doubt, the window is its user's.
  var verdict: Verdict {
    if isDialog { return .item(.dialog) }
    if takes == .nothing { return .user }
    if process == .untold { return .undecided }
    if takes == .guest { return pattern == .fits ? .guest : .user }
    if process == .own, origin != .another {
      return .item(takes == .further && pattern == .doesNotFit ? .further : .process)
    }
    guard takes == .first || takes == .replacement, isNewer else { return .user }
    switch origin {
    case .made where process != .twin: return .item(.startupID)
    case .given where process == .none || process == .descendant: return .item(.startupID)
    case .another where process != .own && process != .descendant: return .user
    case .none, .made, .given, .another: break
    }
    switch (process, pattern) {
    case (.foreign, _), (.twin, _), (_, .doesNotFit): return .user
    case (.twinsNext, .fits): return .guest
    case (.handedOver, .fits) where takes == .replacement: return .guest
    // A wrapper script leaves its window to a child, so none of the patterns is needed.
    case (.descendant, .unwritten) where origin == .none: return .item(.pattern)
    case (_, .unwritten): return .user
    case (_, .fits): return .item(.pattern)
    }
  }
}
