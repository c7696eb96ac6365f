// Why this file exists: what can stand in a command line is what is there just now, and the daemon knows it; so a shell
// that completes one asks navctl, and navctl the daemon.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import TextFormats

extension CompletionKind {
  /// The bindings that hold something.
  static var bindings: CompletionKind { known { $0.bindings } }
  /// Those, and what destinations can be presented at.
  static var presentable: CompletionKind { known { $0.bindings + $0.destinations.map(\.name) } }
  static var roots: CompletionKind { known { $0.bindings.map { String($0.prefix { $0 != "." && $0 != "[" }) } } }
  static var groups: CompletionKind { known { $0.groups.keys + $0.destinations.compactMap(\.group) } }
  /// Of the groups that are named in the command line before; of all where none is.
  static var tags: CompletionKind {
    known { known in
      let named = known.groups.filter { known.words.contains($0.key) }
      return (named.isEmpty ? known.groups : named).flatMap(\.value)
    }
  }
  static var stacks: CompletionKind { known { $0.stacks } }
  static var destinations: CompletionKind { known { $0.destinations.map(\.name) } }
  static var presentations: CompletionKind { known { $0.numbers } }

  /// Says nothing where navd does not run: completing starts nothing, and waits for nobody.
  private static func known(_ names: @Sendable @escaping (Known) -> [String]) -> CompletionKind {
    .custom { words, index, _ in
      let before = Array(words.prefix(index))
      // A tab does not wait for another machine.
      guard !before.contains(where: { $0.hasPrefix("-H") || $0.hasPrefix("--host") }) else { return [] }
      guard let known = try? Known(words: before) else { return [] }
      return Set(names(known)).sorted()
    }
  }
}

/// What the daemon knows by name.
private struct Known {
  private static let patience: UInt64 = 1000

  /// The command line before what is being completed.
  let words: [String]
  let destinations: [(name: String, group: String?)]
  private let state: StateView

  init(words: [String]) throws {
    self.words = words
    var global = GlobalOptions.notGiven
    global.within = Self.patience
    if let index = words.firstIndex(of: "--address"), words.indices.contains(index + 1) {
      global.address = words[index + 1]
    }
    let daemon = try Daemon(global, "completion")
    state = try daemon.state()
    destinations = try daemon.ask(CoordinatorInterface.destinations, ()).map { destination in
      (destination.fields.0, destination.fields.1["group"].flatMap { String(value: $0) })
    }
  }

  var bindings: [String] { state.presentations.compactMap { $0["binding"]?.string } }
  var numbers: [String] { state.presentations.compactMap { $0["presentation"]?.text } }
  var stacks: [String] { Array((state.json["stacks"]?.object ?? [:]).keys) }
  /// The tags of each.
  var groups: [String: [String]] {
    (state.json["groups"]?.object ?? [:]).mapValues { $0["tags"]?.array?.compactMap(\.string) ?? [] }
  }
}
