// Why this file exists: what is presented from what, selected among what and stacked upon what is a graph, and a picture
// of it says more than a table.

import CoordinatorAPI
import TextFormats

/// The state in the language of Graphviz (graphviz.org/doc/info/lang.html).
enum GraphText {
  /// Presentations are boxes, by phase; those of a group stand in its frame, with the tags that show nothing at the moment;
  /// arrows lead from a parent to what is presented from it, and bold ones from the bottom of a stack to its top.
  static func dot(_ state: StateView) -> String {
    var lines = [
      "digraph navd {",
      "  graph [rankdir=LR, fontname=\"sans-serif\"];",
      "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];",
      "  edge [fontname=\"sans-serif\"];",
    ]
    var members: [String: [JSON]] = [:]
    for presentation in state.presentations {
      if let group = presentation["group"]?.string {
        members[group, default: []].append(presentation)
      } else {
        lines.append("  " + box(presentation))
      }
    }
    let groups = state.json["groups"]?.object ?? [:]
    for (index, name) in Set(groups.keys).union(members.keys).sorted().enumerated() {
      lines += frame(name, groups[name] ?? [:], members[name] ?? [], "group\(index)").map { "  " + $0 }
    }
    let known = Set(state.presentations.compactMap { $0["presentation"]?.unsigned })
    for presentation in state.presentations {
      guard let number = presentation["presentation"]?.unsigned, let parent = presentation["parent"]?.unsigned,
        known.contains(parent)
      else { continue }
      lines.append("  p\(parent) -> p\(number);")
    }
    // What stands where in each stack: of what was there before, which is going, nothing is left.
    var standing: [String: [String: UInt64]] = [:]
    for presentation in state.presentations {
      guard let stack = presentation["stack"]?.string, let binding = presentation["binding"]?.string else { continue }
      standing[stack, default: [:]][binding] = presentation["presentation"]?.unsigned
    }
    for (index, (name, path)) in (state.json["stacks"]?.object ?? [:]).sorted(by: { $0.key < $1.key }).enumerated() {
      lines += stack(name, path.array ?? [], standing[name] ?? [:], "stack\(index)").map { "  " + $0 }
    }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  private static func box(_ presentation: JSON, isSelected: Bool = false) -> String {
    func text(_ name: String) -> String? { presentation[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    let phase = text("phase") ?? ""
    let called = [text("binding"), text("id")].compactMap { $0 }.joined(separator: " ")
    // What says nothing new is left out.
    let how = [phase == "presented" ? nil : phase, text("destination") == text("binding") ? nil : text("destination")]
      .compactMap { $0 }.joined(separator: " · ")
    let label = [called, text("title"), how.isEmpty ? nil : how].compactMap { $0 }.map(escaped)
      .joined(separator: "\\n")
    let look =
      switch phase {
      case "presented": "fillcolor=palegreen"
      case "waiting": "style=\"rounded,dashed\", color=gray40, fontcolor=gray40"
      case "dismissing": "fillcolor=lightpink, color=gray40, fontcolor=gray40"
      default: "fillcolor=lightyellow"
      }
    let number = presentation["presentation"]?.text ?? ""
    return "p\(number) [label=\"\(label)\", \(look)\(isSelected ? ", penwidth=2" : "")];"
  }

  private static func frame(_ name: String, _ group: JSON, _ members: [JSON], _ frame: String) -> [String] {
    let selection = group["selection"]?.string
    let queue = (group["queue"]?.array ?? []).compactMap(\.string)
    var lines = ["subgraph cluster_\(frame) {", "  label=\"\(escaped(name))\"; style=rounded; color=gray60;"]
    for member in members {
      let tag = member["tag"]?.string
      lines.append("  " + box(member, isSelected: tag != nil && tag == selection))
    }
    let shown = members.compactMap { $0["tag"]?.string }
    let others = (group["tags"]?.array ?? []).compactMap(\.string).filter { !shown.contains($0) }
    for (index, tag) in others.enumerated() {
      lines.append("  \(frame)_\(index) [label=\"\(escaped(tag))\", shape=plaintext, style=\"\", fontcolor=gray60];")
    }
    // Whose turn it is when: the order of the queue, below the frame's name.
    if !queue.isEmpty {
      let label = escaped("next: \(queue.joined(separator: ", "))")
      lines.append("  \(frame)_queue [label=\"\(label)\", shape=note, style=\"\"];")
    }
    return lines + ["}"]
  }

  private static func stack(_ name: String, _ path: [JSON], _ standing: [String: UInt64], _ node: String) -> [String] {
    var lines = ["\(node) [label=\"\(escaped(name))\", shape=cds, style=\"\"];"]
    var below = node
    for element in path {
      guard let number = element["binding"]?.string.flatMap({ standing[$0] }) else { continue }
      lines.append("\(below) -> p\(number) [style=bold, color=steelblue];")
      below = "p\(number)"
    }
    return lines
  }

  /// A text inside the quotes of a label, where a backslash begins an escape, and `&` an entity as in HTML.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.printable.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "&": result += "&amp;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
