import PresentationModel

/// Draws presentations as trees: each one below its parent, siblings in the order of their requests.
enum PresentationTree {
  typealias Line = (entry: StateEntry, branch: String)

  /// The greatest depth that is indented further, so that deeper levels stay readable.
  private static let maxIndentedDepth = 20

  /// - Parameter limit: the maximum number of lines.
  /// - Returns: each presentation once, with the branch to print before its name. A presentation whose parent is not in
  ///   the list is a root.
  static func lines(_ entries: [StateEntry], limit: Int = .max) -> [Line] {
    let known = Set(entries.compactMap(\.presentation))
    // The key nil has the presentations without a parent in the list, which are the roots.
    let children = Dictionary(grouping: entries) { $0.parent.flatMap { known.contains($0) ? $0 : nil } }
    var lines: [Line] = []
    // The next entry is the last one. A loop, unlike recursion, bears a tree as deep as there are
    // presentations.
    var pending = (children[nil] ?? []).reversed().map { (entry: $0, branch: "", below: "", depth: 0) }
    while lines.count < limit, let (entry, branch, below, depth) = pending.popLast() {
      lines.append((entry, branch))
      let inner = entry.presentation.flatMap { children[$0] } ?? []
      for (index, child) in inner.enumerated().reversed() {
        let isLast = index == inner.count - 1
        let indented = depth < maxIndentedDepth ? below + (isLast ? "  " : "│ ") : below
        pending.append((child, below + (isLast ? "└ " : "├ "), indented, depth + 1))
      }
    }
    return lines
  }
}
