// Why this file exists: what is presented from something stands under it, which a list in the order of acceptance does
// not say.

import CoordinatorAPI
import TextFormats

/// Presentations as trees: each below what it is presented from, siblings in the order of acceptance.
enum Outline {
  typealias Line = (presentation: JSON, branch: String)

  /// Levels; those below it are drawn like it.
  private static let deepest = 20

  /// - Parameter most: no more lines than these.
  /// - Returns: each presentation once, with what is drawn before its name. What is presented from something that is not
  ///   among them stands as if it were presented from nothing.
  static func lines(_ presentations: [JSON], most: Int = .max) -> [Line] {
    let known = Set(presentations.compactMap { $0["presentation"]?.unsigned })
    var children: [UInt64: [JSON]] = [:]
    var roots: [JSON] = []
    for presentation in presentations {
      if let parent = presentation["parent"]?.unsigned, known.contains(parent) {
        children[parent, default: []].append(presentation)
      } else {
        roots.append(presentation)
      }
    }
    var lines: [Line] = []
    // What is still to come, the next one last; not by recursion, since a tree may be as deep as there are items.
    var rest = roots.reversed().map { (presentation: $0, branch: "", below: "", depth: 0) }
    while lines.count < most, let (presentation, branch, below, depth) = rest.popLast() {
      lines.append((presentation, branch))
      let inner = presentation["presentation"]?.unsigned.flatMap { children[$0] } ?? []
      for (index, child) in inner.enumerated().reversed() {
        let isLast = index == inner.count - 1
        // Further to the right nobody could read it.
        let further = depth < deepest ? below + (isLast ? "  " : "│ ") : below
        rest.append((child, below + (isLast ? "└ " : "├ "), further, depth + 1))
      }
    }
    return lines
  }
}
