// Why this file exists: a drill-down is a path that grows and shrinks at its top, and what was cut off goes from the top.

import DequeModule

/// The state of one stack.
struct Stack: Sendable {
  /// What should be on it, the bottom first (S1).
  var path: [BindingID] = []
  /// How many of the path, from the bottom, have started; they are the first ones, since each waits for the one below.
  var started = 0
  /// What was cut off and is not gone, the topmost first: the next to go (S2). All of it stood above what has started.
  var dismissing: Deque<Handle> = []
  var changed = Serial(0)
}
