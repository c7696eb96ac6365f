import ArgumentParser
import CoordinatorAPI
import PresentationModel
import SessionFiles
import TextFormats

extension CompletionKind {
  /// The names under which an item is open.
  static var bindings: CompletionKind { candidates { $0.bindings } }
  /// The names under which an item is open, or which a program serves.
  static var shown: CompletionKind { candidates { $0.bindings + $0.servedBindings } }
  /// The names under which an item is open, and the names of destinations that can be opened.
  static var presentable: CompletionKind { candidates { $0.presentable } }
  static var roots: CompletionKind { candidates { $0.bindings.map { String($0.prefix { $0 != "." && $0 != "[" }) } } }
  static var groups: CompletionKind {
    // A group of one output has a name only while it has members.
    candidates {
      $0.groups.keys + $0.served.compactMap(\.accepts.group)
        + $0.destinations.compactMap(\.entry.group).filter { !$0.contains("{") }
    }
  }
  /// The tags of the groups earlier on the command line, otherwise of all groups.
  static var tags: CompletionKind {
    candidates { candidates in
      let named = candidates.groups.filter { candidates.words.contains($0.key) }
      return (named.isEmpty ? candidates.groups : named).flatMap(\.value)
    }
  }
  static var stacks: CompletionKind {
    candidates { candidates in
      candidates.state.paths.keys
        + candidates.served.compactMap { $0.accepts.elements == true ? $0.binding : $0.accepts.stack }
    }
  }
  static var holds: CompletionKind {
    candidates { ($0.state.holds ?? []) + ["dnd"] + SessionFact.allCases.map(\.rawValue) }
  }
  static var destinations: CompletionKind { candidates { $0.destinations.map(\.name) } }
  static var presentations: CompletionKind { candidates { $0.state.entries.map { $0.text(\.presentation) } } }

  /// The app-ids of the open windows.
  static var appIDs: CompletionKind {
    candidates { candidates in candidates.windows.compactMap(\.properties.appID).filter { !$0.isEmpty } }
  }

  /// The ids of the installed applications. navd is not asked.
  static var applications: CompletionKind { .custom { _, _, _ in Application.ids().map(literal) } }

  /// The names to complete; empty if navd is not running, because completion does not start it.
  private static func candidates(_ names: @Sendable @escaping (CompletionCandidates) -> [String]) -> CompletionKind {
    .custom { words, index, _ in
      let before = Array(words.prefix(index))
      guard let global = GlobalOptions.forNames(in: before),
        let candidates = try? CompletionCandidates(words: before, global)
      else { return [] }
      return Set(names(candidates)).sorted().map(literal)
    }
  }

  /// The text for the calling shell. bash expands it, so a tag could otherwise run a command; zsh takes the part after a colon as a
  /// description.
  private static func literal(_ name: String) -> String {
    switch CompletionShell.requesting {
    case .bash?: "'" + name.replacingAll("'", with: #"'\''"#) + "'"
    case .zsh?: name.replacingAll(#"\"#, with: #"\\"#).replacingAll(":", with: #"\:"#)
    default: name
    }
  }
}

/// The names that the daemon knows now. A shell asks navctl for them, and navctl asks the daemon.
private struct CompletionCandidates {
  /// The command line before the word that is being completed.
  let words: [String]
  let destinations: [NamedDestination]
  let state: StateSnapshot
  private let daemon: DaemonClient

  init(words: [String], _ global: GlobalOptions) throws {
    self.words = words
    daemon = try DaemonClient(global, "completion")
    state = try daemon.state()
    destinations = try daemon.destinations()
  }

  /// The windows; none without an adapter for the window system.
  var windows: [Window] { (try? daemon.windows())?.displays.flatMap(\.windows) ?? [] }
  var bindings: [String] { state.entries.compactMap(\.binding) }
  /// The bindings that programs serve.
  var served: [(binding: String, accepts: ServedEntry)] { destinations.flatMap(\.served) }
  /// The served bindings that can be presented: of a path, the next element.
  var servedBindings: [String] {
    served.map { binding, accepts in
      accepts.elements == true ? "\(binding)[\(state.paths[binding]?.count ?? 0)]" : binding
    }
  }
  var presentable: [String] { bindings + destinations.map(\.name) + servedBindings }
  /// The tags of each group.
  var groups: [String: [String]] {
    served.reduce(into: state.groupEntries.mapValues { $0.tags ?? [] }) { groups, served in
      if let group = served.accepts.group, let tag = served.accepts.tagInGroup(at: served.binding) {
        groups[group, default: []].append(tag)
      }
    }
  }
}
