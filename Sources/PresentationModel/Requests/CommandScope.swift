/// The processes that belong to a command: the value of `scope` in a destination's file.
public enum CommandScope: String, Hashable, Sendable, CaseIterable {
  /// The first process and everything that descends from it.
  case tree
  /// The first process alone. Its children live on after its end.
  case process
}
