import DequeModule
import PresentationModel

/// The lists of work that one input has to do before it ends. Between two inputs they are empty, but for holds that follow from each
/// other in a long row, and for very many items that waited for the end of a hold. The machine keeps their memory, since every request
/// needs it.
struct Worklists: Sendable {
  /// Subjects that this input changed, for replies.
  var changed: Set<Subject> = []
  /// Presentations whose dismissals must be forced (P15).
  var mayForce: [Handle] = []
  /// Presentations that may be able to start.
  var mayStart: [Handle] = []
  /// Presentations that may be able to end.
  var mayEnd: [Handle] = []
  /// Holds of presentations that have begun, and whose consequences are not settled yet (H8).
  var begunHolds: Set<String> = []
  /// Whether a hold of a presentation has ended, and the items that waited for its end are not presented yet.
  var hasEndedHold = false
  /// Presentations that may be able to start since a hold has ended, in the order of their handles. Inputs that follow start them (L2).
  var released: Deque<Handle> = []
  /// Groups that may be able to serve their queues since a hold has ended, in the order of their names.
  var servable: Deque<BindingID> = []
  /// Presentations that are new or changed their phase in this input.
  var touched: [Handle] = []

  /// The largest number of entries for which memory is kept. It is more than most inputs need.
  private static let mostKept = 64

  mutating func finish() {
    if !changed.isEmpty { changed.removeAll(keepingCapacity: changed.count <= Self.mostKept) }
    Self.empty(&mayForce)
    Self.empty(&mayStart)
    Self.empty(&mayEnd)
    Self.empty(&touched)
  }

  private static func empty(_ list: inout [Handle]) {
    if !list.isEmpty { list.removeAll(keepingCapacity: list.count <= mostKept) }
  }
}
