import DequeModule
import PresentationModel

struct Stack: Sendable {
  /// The bindings that should be on the stack, the bottom first (S1).
  var path: [BindingID] = []
  /// The number of presentations of the path that have started. They are at the bottom, since each one waits for the one below.
  var started = 0
  /// The presentations that were removed and have not ended. The topmost is first, and ends next (S2).
  var dismissing: Deque<Handle> = []
}
