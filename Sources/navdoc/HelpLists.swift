import TextFormats

extension ProgramHelp {
  /// The lists in the manual page of a program.
  var lists: [String: String] {
    [
      "summary": (abstract.prefix(1).lowercased() + abstract.dropFirst()).prefix { $0 != "." }.description,
      "usage": (["`\(name)`"] + arguments.map(\.usage)).joined(separator: " "),
      // navctl(1) has a list of its own.
      "discussion": paragraphs.filter { !$0.hasPrefix("Exit status") }.joined(separator: "\n"),
      "options": arguments.map(\.item).joined(), "verbs": leaves.map(item).joined(), "options of verbs": optionsOfVerbs,
    ]
  }

  /// The verbs without subcommands, each with its words.
  private var leaves: [(words: String, verb: ProgramHelp)] {
    verbs.flatMap { verb in
      verb.verbs.isEmpty ? [(verb.name, verb)] : verb.leaves.map { ("\(verb.name) \($0.words)", $0.verb) }
    }
  }

  /// The arguments of a verb that not all verbs take.
  private func own(_ verb: ProgramHelp) -> [Argument] {
    verb.arguments.filter { argument in
      argument.names.isEmpty || !arguments.contains { !Set($0.names).isDisjoint(with: argument.names) }
    }
  }

  /// The item of a verb. Its usage has no options, since there are too many.
  private func item(_ words: String, _ verb: ProgramHelp) -> String {
    let own = own(verb)
    let options = own.filter { !$0.names.isEmpty }
    let only = options.filter { verbsTaking[$0]?.count == 1 }.compactMap(\.names.last).map { "`\($0)`" }
    let positional = own.filter { $0.names.isEmpty }
    let usages = positional.filter { !$0.isAfterTerminator } + positional.filter(\.isAfterTerminator)
    let usage = ["`\(words)`"] + (options.isEmpty ? [] : ["[*option*] …"]) + usages.map(\.usage)
    return "* \(usage.joined(separator: " ")): \(verb.abstract)\n" + verb.paragraphs.map { "  \($0)\n" }.joined()
      + (only.isEmpty ? "" : "  Options: \(only.joined(separator: ", ")).\n")
  }

  /// The verbs that take each option, in the order of the verbs. An option with two meanings counts as two.
  private var verbsTaking: [Argument: [String]] {
    var verbs: [Argument: [String]] = [:]
    for (words, verb) in leaves {
      for option in own(verb) where !option.names.isEmpty { verbs[option, default: []].append(words) }
    }
    return verbs
  }

  /// The options below the verbs that take them, so that those which verbs share are written once: first what most verbs share.
  private var optionsOfVerbs: String {
    let options = Dictionary(grouping: verbsTaking.keys) { verbsTaking[$0] ?? [] }
    let order = leaves.map(\.words)
    let groups = options.sorted { one, other in
      one.key.count != other.key.count
        ? one.key.count > other.key.count
        : one.key.compactMap { order.firstIndex(of: $0) }.lexicographicallyPrecedes(
          other.key.compactMap { order.firstIndex(of: $0) })
    }
    return groups.map { verbs, options in
      "## \(verbs.joined(separator: ", "))\n" + options.sorted { $0.name < $1.name }.map(\.item).joined()
    }.joined()
  }
}

extension ProgramHelp.Argument {
  /// All names, and the value.
  fileprivate var term: String {
    [names.map { "`\($0)`" }.joined(separator: ", "), value.map { "*\($0)*" } ?? ""].filter { !$0.isEmpty }
      .joined(separator: " ")
  }

  fileprivate var item: String { "* \(term): \(explanation)\n" }

  /// The longest name and the value, in brackets if optional.
  fileprivate var usage: String {
    let name = names.last.map { "`\($0)`" } ?? (isAfterTerminator ? "`--`" : nil)
    let ellipsis = isRepeating && isAfterTerminator ? "…" : nil
    let text = [name, value.map { "*\($0)*" }, ellipsis].compactMap(\.self).joined(separator: " ")
    return (isOptional ? "[\(text)]" : text) + (isRepeating && ellipsis == nil ? " …" : "")
  }
}
