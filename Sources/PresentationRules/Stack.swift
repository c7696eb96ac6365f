import DequeModule
import PresentationModel

struct Stack: Sendable {
  /// The bindings that should be on it, the bottom first (S1).
  var path: [BindingID] = []
  /// The number of presentations of the path that have started. They are at the bottom: each waits for the one below.
  var started = 0
  /// Presentations that were removed and have not ended, the topmost first, which ends next (S2).
  var dismissing: Deque<Handle> = []
  var changed = Serial(0)
}
