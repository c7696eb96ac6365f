import PresentationModel

/// What one input has to look at before it ends. All is empty between two inputs; the machine keeps the memory, since every request
/// needs it.
struct Worklists: Sendable {
  /// Subjects that this input changed, for replies and for expected serials.
  var changed: Set<Subject> = []
  /// Presentations whose dismissals are to be forced (P15).
  var mayForce: [Handle] = []
  /// Presentations that may be able to start.
  var mayStart: [Handle] = []
  /// Presentations that may be able to end.
  var mayEnd: [Handle] = []
  /// Holds of presentations that have begun, and whose consequences have yet to follow (H8).
  var begunHolds: Set<String> = []
  /// Whether a hold of a presentation has ended, and what waited for that has yet to be presented.
  var hasEndedHold = false
  /// Presentations that are new or changed their phase in this input.
  var touched: [Handle] = []

  /// Memory is kept for as many entries, more than most inputs need.
  private static let mostKept = 64

  mutating func finish() {
    if !begunHolds.isEmpty { begunHolds.removeAll() }
    hasEndedHold = false
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
