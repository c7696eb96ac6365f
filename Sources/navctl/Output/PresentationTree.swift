/// Draws presentations as trees: each below its parent, siblings in the order in which they were requested.
enum PresentationTree {
  typealias Line = (presentation: PresentationEntry, branch: String)

  /// Deeper levels are indented no further, so that they stay readable.
  private static let maxIndentedDepth = 20

  /// - Parameter limit: maximum number of lines.
  /// - Returns: each presentation once, with the branch to print before its name. A presentation whose parent is not in
  ///   the list is a root.
  static func lines(_ presentations: [PresentationEntry], limit: Int = .max) -> [Line] {
    let known = Set(presentations.compactMap(\.number))
    var children: [UInt64: [PresentationEntry]] = [:]
    var roots: [PresentationEntry] = []
    for presentation in presentations {
      if let parent = presentation.parent, known.contains(parent) {
        children[parent, default: []].append(presentation)
      } else {
        roots.append(presentation)
      }
    }
    var lines: [Line] = []
    // The next one is last. Not recursive: a tree may be as deep as there are presentations.
    var pending = roots.reversed().map { (presentation: $0, branch: "", below: "", depth: 0) }
    while lines.count < limit, let (presentation, branch, below, depth) = pending.popLast() {
      lines.append((presentation, branch))
      let inner = presentation.number.flatMap { children[$0] } ?? []
      for (index, child) in inner.enumerated().reversed() {
        let isLast = index == inner.count - 1
        let indented = depth < maxIndentedDepth ? below + (isLast ? "  " : "│ ") : below
        pending.append((child, below + (isLast ? "└ " : "├ "), indented, depth + 1))
      }
    }
    return lines
  }
}
