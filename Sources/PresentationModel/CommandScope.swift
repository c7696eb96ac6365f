/// Which of its processes a command is: the value of `scope` in a destination's file.
public enum CommandScope: String, Hashable, Sendable, CaseIterable {
  /// The first process and everything that descends from it.
  case tree
  /// The first process alone. What it has started lives on after its end.
  case process
}
