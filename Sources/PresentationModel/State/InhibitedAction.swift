/// An action that the computer does not take while an item is presented, in the words of logind's
/// `Inhibit` (H7).
public enum InhibitedAction: String, Hashable, Sendable, CaseIterable {
  case idle, sleep, shutdown
  case powerKey = "handle-power-key"
  case suspendKey = "handle-suspend-key"
  case hibernateKey = "handle-hibernate-key"
  case lidSwitch = "handle-lid-switch"
}
