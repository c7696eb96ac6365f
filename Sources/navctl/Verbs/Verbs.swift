import ArgumentParser

/// All verbs of navctl.
enum Verbs {
  /// A verb whose type is computed on demand: initializing all types takes a tenth of a millisecond.
  typealias Verb = (name: String, type: @Sendable () -> ParsableCommand.Type)

  /// The verbs in the order of the help text.
  static let groups: [(title: String, verbs: [Verb])] = [
    (
      "OPEN AND CLOSE",
      [
        ("open", { Open.self }), ("close", { Close.self }), ("toggle", { Toggle.self }), ("present", { Present.self }),
        ("update", { Update.self }), ("dismiss", { Dismiss.self }),
      ]
    ),
    (
      "GROUP AND STACK",
      [
        ("select", { Select.self }), ("deselect", { Deselect.self }), ("toggle-selection", { ToggleSelection.self }),
        ("selection", { Selection.self }), ("forget", { Forget.self }), ("play", { Play.self }),
        ("push", { Push.self }), ("pop", { Pop.self }),
        ("pop-to", { PopTo.self }), ("set-path", { SetPath.self }), ("path", { Path.self }),
      ]
    ),
    ("HOLD", [("hold", { Hold.self }), ("release", { ReleaseHold.self }), ("holds", { Holds.self })]),
    (
      "QUERY",
      [
        ("status", { Status.self }), ("list", { List.self }), ("show", { Show.self }),
        ("is-presented", { IsPresented.self }),
        ("members", { Members.self }), ("history", { History.self }), ("wait", { WaitVerb.self }),
        ("watch", { WatchVerb.self }), ("graph", { Graph.self }), ("windows", { Windows.self }),
        ("rofi", { Rofi.self }),
      ]
    ),
    (
      presenters,
      [
        ("act", { Act.self }), ("closed", { Closed.self }), ("ready", { Ready.self }),
        ("presenter", { PresenterVerb.self }),
        ("value", { ContainerValue.self }),
      ]
    ),
    (
      "DAEMON",
      [
        ("apply", { Apply.self }), ("destinations", { Destinations.self }), ("reload", { Reload.self }),
        ("check-config", { CheckConfiguration.self }), ("import-environment", { ImportEnvironment.self }),
        ("doctor", { Doctor.self }), ("introspect", { Introspect.self }), ("quit", { Quit.self }),
      ]
    ),
  ]

  /// The title of the verbs that presenters call.
  static let presenters = "PRESENTER"

  /// The verbs with an id among their arguments.
  static let takingIDs = ["open", "present", "toggle", "push", "is-presented"]

  /// The verb on the command line, for messages: some verbs have two names.
  static var called: String { word(in: CommandLine.arguments.dropFirst()) ?? "" }

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
