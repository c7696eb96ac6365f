// Why this file exists: the verbs are listed once, for the help, for finding them fast, and for messages.

import ArgumentParser

enum Verbs {
  /// The type is asked for only when it is needed: touching all of them takes a tenth of a millisecond.
  typealias Verb = (name: String, type: @Sendable () -> ParsableCommand.Type)

  /// Every verb, by what it does.
  static let groups: [(title: String, verbs: [Verb])] = [
    (
      "PRESENTING",
      [
        ("present", { Present.self }), ("toggle", { Toggle.self }), ("update", { Update.self }),
        ("dismiss", { Dismiss.self }),
      ]
    ),
    (
      "GROUPS AND STACKS",
      [
        ("select", { Select.self }), ("deselect", { Deselect.self }), ("toggle-selection", { ToggleSelection.self }),
        ("selection", { Selection.self }), ("push", { Push.self }), ("pop", { Pop.self }), ("pop-to", { PopTo.self }),
        ("set-path", { SetPath.self }), ("path", { Path.self }),
      ]
    ),
    (
      "ASKING",
      [
        ("list", { List.self }), ("show", { Show.self }), ("is-presented", { IsPresented.self }),
        ("members", { Members.self }),
        ("history", { History.self }), ("wait", { WaitVerb.self }), ("watch", { WatchVerb.self }),
        ("graph", { Graph.self }), ("rofi", { Rofi.self }),
      ]
    ),
    ("PRESENTERS", [("act", { Act.self }), ("closed", { Closed.self }), ("value", { ContainerValue.self })]),
    (
      "THE DAEMON",
      [
        ("apply", { Apply.self }), ("destinations", { Destinations.self }), ("reload", { Reload.self }),
        ("check-config", { CheckConfiguration.self }), ("introspect", { Introspect.self }), ("quit", { Quit.self }),
      ]
    ),
  ]

  /// Those with an id among their arguments.
  static let takingIDs = ["present", "toggle", "push", "is-presented"]

  /// The argument that should be a verb: the first that is no option and no option's value.
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
  /// Of a verb of navctl.
  init(verb: String, _ abstract: String, _ discussion: String = "", verbs: [ParsableCommand.Type] = []) {
    self.init(commandName: verb, abstract: abstract, discussion: discussion, subcommands: verbs)
    // Says that the verb is a part of navctl where it is parsed alone; completion scripts are then navctl's affair.
    _superCommandName = "navctl"
  }
}
