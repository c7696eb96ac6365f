import PresentationModel

/// A command that says whether the program of a presented item still works (D21).
public struct ProgramCheck: Hashable, Sendable {
  public static let defaultInterval: UInt64 = 30_000
  public static let defaultFailures: UInt32 = 3

  /// The program and the arguments, with placeholders.
  public var command: [[UInt8]]
  /// Milliseconds from the presentation, and from the end of each check, to the next one.
  public var interval: UInt64
  /// The number of checks that fail one after the other before the item has failed.
  public var failures: UInt32

  public init(
    _ command: [[UInt8]], every interval: UInt64 = defaultInterval, failures: UInt32 = defaultFailures
  ) {
    (self.command, self.interval, self.failures) = (command, interval, failures)
  }
}

/// The settings of a destination's file for its items, except for the way in which they are shown.
public struct ItemSettings: Hashable, Sendable {
  /// The id of items whose requests give none (D13).
  public var id: String?
  /// The id of the application whose desktop file gave the command; nil for none (D17).
  public var desktop: String?
  /// Value, title and timeout of items whose requests give none, and directory and environment of
  /// their commands (D13, D3).
  public var options = ItemOptions()
  /// The program and the arguments, with placeholders, to run when an item was presented; nil for
  /// none (D14).
  public var onPresent: [[UInt8]]?
  /// The program and the arguments to run when a presented item has ended; nil for none (D14).
  public var onDismiss: [[UInt8]]?
  /// The command that says whether the program still works; nil for none (D21).
  public var check: ProgramCheck?
  /// The effects of holds on the items (H3).
  public var holds: [String: HoldAction] = [:]
  /// The hold that is in force while an item is live; nil for none (H8).
  public var hold: String?
  /// The actions that the computer does not take while an item is presented (H7).
  public var inhibits: Set<InhibitedAction> = []
  /// The order in which an item goes and one with another id comes (G10).
  public var replacement = Replacement.sequential
  /// Whether an item is presented only once its program has said that it is on the screen (D19).
  public var awaitsReady = false
  /// The rule for presenting an item again that ended by itself; nil for never (K3).
  public var restart: RestartRule?
  /// Whether items are kept beyond the session, and presented again at the next login (K4).
  public var restoresAtLogin = false

  public init() {}
}

extension StateMachine {
  /// Checks settings as if a request gave them (B5, L1).
  /// - Throws: `Refusal`: `invalidArgument` or `limitExceeded`.
  public func check(_ settings: ItemSettings) throws(Refusal) {
    if let id = settings.id { try check(id: id) }
    try check(settings.options)
  }
}

extension Planner {
  /// The id that a request gives; if it gives none, the id of the destination (D13). An item that exists keeps the settings with which
  /// it began.
  func requestedID(_ id: String, at binding: BindingID, _ options: ItemOptions) -> String {
    guard id.isEmpty, options.command == nil else { return id }
    let current = item(at: binding)?.destination
    if let current, options.destination == nil || options.destination == current.givenName {
      return current.itemSettings?.id ?? id
    }
    return state.registry[options.destination ?? binding.text]?.itemSettings?.id ?? id
  }
}
