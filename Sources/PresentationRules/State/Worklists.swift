import PresentationModel

/// The lists of work that one input has to do before it ends. Between two inputs they are empty, and their memory stays, since every
/// request needs it.
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
  /// Holds of presentations that have ended. The items that waited for these ends are not presented yet.
  var endedHolds: Set<String> = []
  /// Presentations on whose items holds have other effects than before this input (H3).
  var otherHolds: Set<Handle> = []
  /// Whether presentations that may be able to start wait until the consequences of a restart are settled (R2).
  var startsLater = false
  /// Presentations that are new or changed their phase in this input.
  var touched: [Handle] = []

  /// The largest number of entries for which memory is kept. It is more than most inputs need.
  private static let largestReused = 64

  mutating func finish() {
    if !changed.isEmpty { changed.removeAll(keepingCapacity: changed.count <= Self.largestReused) }
    Self.empty(&mayForce)
    Self.empty(&mayStart)
    Self.empty(&mayEnd)
    Self.empty(&touched)
  }

  private static func empty(_ list: inout [Handle]) {
    if !list.isEmpty { list.removeAll(keepingCapacity: list.count <= largestReused) }
  }
}
