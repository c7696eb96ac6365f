/// Visits nodes and all that they depend on, each once and after its dependencies.
/// - Returns: a node that depends on itself; nil if none does.
func visit<Node: Hashable>(
  _ nodes: some Sequence<Node>, dependencies: (Node) -> [Node], _ body: (Node) -> Void = { _ in }
) -> Node? {
  /// Whether a node was visited, of those that were met.
  var isDone: [Node: Bool] = [:]
  for start in nodes where isDone[start] == nil {
    isDone[start] = false
    var path = [(node: start, unvisited: dependencies(start))]
    while !path.isEmpty {
      guard let next = path[path.count - 1].unvisited.popLast() else {
        let node = path.removeLast().node
        isDone[node] = true
        body(node)
        continue
      }
      if isDone[next] == true { continue }
      guard isDone[next] == nil else { return next }
      isDone[next] = false
      path.append((next, dependencies(next)))
    }
  }
  return nil
}
