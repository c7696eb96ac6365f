import ArgumentParser

/// All verbs of navctl.
enum Verbs {
  /// A verb whose type is computed on demand: initializing all types takes a tenth of a millisecond.
  typealias Verb = (name: String, type: @Sendable () -> ParsableCommand.Type)

  /// The verbs in the order of the help text.
  static let groups: [(title: String, verbs: [Verb])] = lists.map { ($0.title, Array($0.verbs.joined())) }

  private static let lists: [(title: String, verbs: [[Verb]])] = [
    ("OPEN AND CLOSE", [presenting, [("update", { Update.self }), ("dismiss", { Dismiss.self })]]),
    ("GROUP AND STACK", [ofGroups, ofStacks]),
    ("HOLD", [ofHolds]),
    (
      "QUERY",
      [
        [("list", { List.self }), ("show", { Show.self })], querying,
        [
          ("history", { History.self }), ("wait", { WaitVerb.self }), ("watch", { WatchVerb.self }),
          ("graph", { Graph.self }), ("windows", { Windows.self }), ("rofi", { Rofi.self }),
        ],
      ]
    ),
    ("PRESENTER", [ofPresenters, [("value", { ContainerValue.self })]]),
    ("DAEMON", [[("apply", { Apply.self })], ofDaemon]),
  ]

  /// The verbs with an id among their arguments.
  static let takingIDs = ["present", "toggle", "push", "is-presented"]

  /// The argument in the position of the verb: the first one that is neither an option nor an option's value.
  static func word(in arguments: some Collection<String>) -> String? {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" { return nil }
      if GlobalOptions.takingValues.contains(argument) {
        rest = rest.dropFirst()
      } else if !argument.hasPrefix("-") {
        return argument
      }
    }
    return nil
  }

  static func named(_ name: String) -> ParsableCommand.Type? {
    groups.lazy.flatMap(\.verbs).first { $0.name == name }?.type()
  }
}

extension CommandConfiguration {
  /// Creates the configuration of a verb.
  init(verb: String, _ abstract: String, _ discussion: String = "", verbs: [ParsableCommand.Type] = []) {
    self.init(commandName: verb, abstract: abstract, discussion: discussion, subcommands: verbs)
    // Usage lines begin with “navctl” even if only the verb is parsed, and completion scripts cover all of navctl.
    _superCommandName = "navctl"
  }
}
