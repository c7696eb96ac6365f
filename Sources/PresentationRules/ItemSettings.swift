import PresentationModel

/// What a destination's file says about its items, beside how they are shown.
public struct ItemSettings: Hashable, Sendable {
  /// The id of items whose requests give none (D13).
  public var id: String?
  /// The id of the application whose desktop file gave the command (D17); nil for none.
  public var desktop: String?
  /// Value, title and timeout of items whose requests give none (D13); directory and environment of their commands (D3).
  public var options = ItemOptions()
  /// The program and the arguments, with placeholders, to run when an item was presented (D14); nil for none.
  public var onPresent: [[UInt8]]?
  /// The same for when a presented item has ended.
  public var onDismiss: [[UInt8]]?
  /// What holds do with its items (H3).
  public var holds: [String: HoldAction] = [:]
  /// The hold that is in force while one of its items is live (H8); nil for none.
  public var hold: String?
  /// What its items keep the computer from doing while they are presented (H7).
  public var inhibits: Set<InhibitedAction> = []
  /// When and how often an item is presented again that ended by itself (K3); nil for never.
  public var restart: RestartRule?
  /// Whether its items are kept beyond the session, and presented again at the next login (K4).
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

extension Transaction {
  /// The id that a request gives, or that of the destination if it gives none (D13). The item that is there keeps the settings that
  /// it began with.
  func requestedID(_ id: String, at binding: BindingID, _ options: ItemOptions) -> String {
    guard id.isEmpty, options.command == nil else { return id }
    let current = item(at: binding)?.destination
    if let current, options.destination == nil || options.destination == current.givenName {
      return current.itemSettings?.id ?? id
    }
    return state.registry[options.destination ?? binding.text]?.itemSettings?.id ?? id
  }
}
