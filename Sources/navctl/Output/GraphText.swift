import PresentationModel
import CoordinatorAPI

/// The state in the language of Graphviz (graphviz.org/doc/info/lang.html).
enum GraphText {
  /// Presentations are boxes, coloured by phase. Members of a group are in a frame, together with the tags that show
  /// nothing. Arrows lead from a parent to its children, bold ones from the bottom of a stack to its top.
  static func dot(_ state: StateView) -> String {
    var lines = [
      "digraph navd {",
      "  graph [rankdir=LR, fontname=\"sans-serif\"];",
      "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];",
      "  edge [fontname=\"sans-serif\"];",
    ]
    var members: [String: [PresentationEntry]] = [:]
    for presentation in state.presentations {
      if let group = presentation.group {
        members[group, default: []].append(presentation)
      } else {
        lines.append("  " + box(presentation))
      }
    }
    let groups = state.groups
    for (index, name) in Set(groups.keys).union(members.keys).sorted().enumerated() {
      lines += frame(name, groups[name], members[name] ?? [], "group\(index)").map { "  " + $0 }
    }
    let known = Set(state.presentations.compactMap(\.number))
    for presentation in state.presentations {
      guard let number = presentation.number, let parent = presentation.parent, known.contains(parent) else { continue }
      lines.append("  p\(parent) -> p\(number);")
    }
    // A binding may occur twice: the entry that is closing comes first, and the later one replaces it.
    var numbers: [String: [String: UInt64]] = [:]
    for presentation in state.presentations {
      guard let stack = presentation.stack else { continue }
      numbers[stack, default: [:]][presentation.binding] = presentation.number
    }
    for (index, (name, path)) in state.stacks.sorted(by: { $0.key < $1.key }).enumerated() {
      let screens = path.compactMap { numbers[name]?[$0.binding] }
      lines += stack(name, screens, "stack\(index)").map { "  " + $0 }
    }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  private static func box(_ presentation: PresentationEntry, isSelected: Bool = false) -> String {
    // A phase or destination is printed only where it adds something.
    let details = [
      presentation.phase == .presented ? nil : presentation.text(.phase),
      presentation.destination == presentation.binding ? nil : presentation.destination,
    ].compactMap { $0 }.joined(separator: " · ")
    let label = [presentation.name, presentation.title, details].filter { !$0.isEmpty }.map(\.escapedForGraphviz)
      .joined(separator: "\\n")
    let look =
      switch presentation.phase {
      case .presented: "fillcolor=palegreen"
      case .waiting: "style=\"rounded,dashed\", color=gray40, fontcolor=gray40"
      case .dismissing: "fillcolor=lightpink, color=gray40, fontcolor=gray40"
      case .presenting, nil: "fillcolor=lightyellow"
      }
    let number = presentation.text(.presentation)
    return "p\(number) [label=\"\(label)\", \(look)\(isSelected ? ", penwidth=2" : "")];"
  }

  private static func frame(
    _ name: String, _ group: GroupEntry?, _ members: [PresentationEntry], _ frame: String
  ) -> [String] {
    var lines = [
      "subgraph cluster_\(frame) {", "  label=\"\(name.escapedForGraphviz)\"; style=rounded; color=gray60;",
    ]
    for member in members {
      lines.append("  " + box(member, isSelected: member.tag != nil && member.tag == group?.selection))
    }
    let shown = Set(members.compactMap(\.tag))
    for (index, tag) in (group?.tags ?? []).filter({ !shown.contains($0) }).enumerated() {
      let label = tag.escapedForGraphviz
      lines.append("  \(frame)_\(index) [label=\"\(label)\", shape=plaintext, style=\"\", fontcolor=gray60];")
    }
    if let queue = group?.queue, !queue.isEmpty {
      let label = "next: \(queue.joined(separator: ", "))".escapedForGraphviz
      lines.append("  \(frame)_queue [label=\"\(label)\", shape=note, style=\"\"];")
    }
    return lines + ["}"]
  }

  /// - Parameter screens: numbers of its presentations, from bottom to top.
  private static func stack(_ name: String, _ screens: [UInt64], _ node: String) -> [String] {
    let nodes = [node] + screens.map { "p\($0)" }
    return ["\(node) [label=\"\(name.escapedForGraphviz)\", shape=cds, style=\"\"];"]
      + zip(nodes, nodes.dropFirst()).map { "\($0) -> \($1) [style=bold, color=steelblue];" }
  }
}
