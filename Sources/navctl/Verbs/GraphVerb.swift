import ArgumentParser
import CoordinatorAPI
import PresentationModel
import TextFormats

/// The state in the language of Graphviz (graphviz.org/doc/info/lang.html).
enum GraphText {
  /// The state as a graph. Presentations are boxes, coloured by phase. Members of a group are in a frame, together with the tags that
  /// show nothing. Arrows lead from a parent to its children, bold ones from the bottom of a stack to its top.
  static func dot(_ state: StateSnapshot) -> String {
    var lines = [
      "digraph navd {",
      "  graph [rankdir=LR, fontname=\"sans-serif\"];",
      "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];",
      "  edge [fontname=\"sans-serif\"];",
    ]
    let entries = state.entries
    let members = Dictionary(grouping: entries, by: \.group)
    lines += (members[nil] ?? []).map { "  " + box($0) }
    let groups = state.groupEntries
    for (index, name) in Set(groups.keys).union(members.keys.compactMap { $0 }).sorted().enumerated() {
      lines += frame(name, groups[name], members[name] ?? [], "group\(index)").map { "  " + $0 }
    }
    let known = Set(entries.compactMap(\.presentation))
    for entry in entries {
      guard let number = entry.presentation, let parent = entry.parent, known.contains(parent) else { continue }
      lines.append("  p\(parent) -> p\(number);")
    }
    // A binding may occur twice: the closing entry comes first, and the later one replaces it.
    var numbers: [String: [String: UInt64]] = [:]
    for entry in entries {
      if let stack = entry.stack { numbers[stack, default: [:]][entry.text(\.binding)] = entry.presentation }
    }
    for (index, (name, path)) in state.paths.sorted(by: { $0.key < $1.key }).enumerated() {
      let screens = path.compactMap { numbers[name]?[$0.binding] }
      lines += stack(name, screens, "stack\(index)").map { "  " + $0 }
    }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  private static func box(_ entry: StateEntry, isSelected: Bool = false) -> String {
    // A phase or destination is printed only where it adds information.
    let details = [
      entry.knownPhase == .presented ? nil : entry.shownPhase,
      entry.destination == entry.binding ? nil : entry.destination,
    ].compactMap { $0 }.joined(separator: " · ")
    let label = [entry.name, entry.text(\.title), details].filter { !$0.isEmpty }.map(\.escapedForGraphviz)
      .joined(separator: "\\n")
    let look =
      switch entry.knownPhase {
      case .presented: "fillcolor=palegreen"
      case .waiting: "style=\"rounded,dashed\", color=gray40, fontcolor=gray40"
      case .dismissing: "fillcolor=lightpink, color=gray40, fontcolor=gray40"
      case .presenting, nil: "fillcolor=lightyellow"
      }
    return "p\(entry.text(\.presentation)) [label=\"\(label)\", \(look)\(isSelected ? ", penwidth=2" : "")];"
  }

  private static func frame(
    _ name: String, _ group: GroupEntry?, _ members: [StateEntry], _ frame: String
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

  /// - Parameter screens: the numbers of the stack's presentations, from bottom to top.
  private static func stack(_ name: String, _ screens: [UInt64], _ node: String) -> [String] {
    let nodes = [node] + screens.map { "p\($0)" }
    return ["\(node) [label=\"\(name.escapedForGraphviz)\", shape=cds, style=\"\"];"]
      + zip(nodes, nodes.dropFirst()).map { "\($0) -> \($1) [style=bold, color=steelblue];" }
  }
}

struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "graph", "Draw what is open as a graph, for Graphviz.",
    """
    Boxes are what is open, coloured by phase. Arrows lead from parents to children, bold ones up a stack. A frame is a \
    group. To make a picture: navctl graph | dot -Tsvg >state.svg
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "Draw only members of this group.", completion: .groups) var group: String?
  @Option(help: "Draw only members of this stack.", completion: .stacks) var stack: String?

  func validate() throws {
    if global.json { throw ValidationError("--json is not supported; use “navctl list --json”") }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "graph")
    let state = try daemon.state()
    if let group, state.groupEntries[group] == nil {
      throw Failure("graph", "there is no group “\(group)”", hint: Failure.listed, status: .unknownName)
    }
    if let stack, state.paths[stack] == nil {
      throw Failure("graph", "there is no stack “\(stack)”", hint: Failure.listed, status: .unknownName)
    }
    global.write(json: .null, plain: GraphText.dot(StateFilter(group: group, stack: stack).apply(state)))
  }
}
