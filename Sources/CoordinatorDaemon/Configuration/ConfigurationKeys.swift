/// The keys of a destination's file, for its reader and for the documents.
public enum DestinationKey: String, CaseIterable, Sendable {
  case command, scope, unit, bus, state, group, style
  case protected
  case startTimeout = "start-timeout"
  case grace

  /// The key's meaning, for documents; code is between backticks.
  public var doc: String {
    switch self {
    case .command: "an array: the program, and its arguments"
    case .scope:
      "which processes belong to the item: `tree`, the command and all that it starts (the default), or `process`, the "
        + "first one alone, so that what it has started lives on, as launchers, terminals and file managers need"
    case .unit: "the name of a systemd unit of the user's, with placeholders"
    case .bus: "a table with the `name` and the `path` of a presenter on the bus"
    case .state:
      "whether no program shows its items, so that they are state only, for watchers to draw; default `false`"
    case .group: "the exclusive group to which its items belong"
    case .style: "for presenters: `sheet`, `popover`, `alert`, …"
    case .protected:
      "whether its items end only by themselves, not by a request, as screen lockers need; default `false`"
    case .startTimeout: "how long showing may take before it has failed; default `10s`"
    case .grace:
      "how long a dismissal may take before SIGKILL, or before an item on the bus counts as gone; default `2s`"
    }
  }

  /// A valid value, as written in a file.
  public var example: String {
    switch self {
    case .command: "[\"foot\", \"-e\", \"top\"]"
    case .scope: "\"process\""
    case .unit: "\"pulsemixer@{id}.service\""
    case .bus: "{ name = \"org.example.Bar\", path = \"/presenter\" }"
    case .state: "true"
    case .group: "\"panels\""
    case .style: "\"popover\""
    case .protected: "true"
    case .startTimeout: "\"10s\""
    case .grace: "\"2s\""
    }
  }
}

/// The keys of `navd.toml`, for its reader and for the documents.
public enum SettingsKey: String, CaseIterable, Sendable {
  case containerValues = "container-values"
  case inlineCommands = "inline-commands"

  /// The key's meaning, for documents; code is between backticks.
  public var doc: String {
    switch self {
    case .containerValues:
      "a table of the keys that items may set for their containers; each has a type, as a D-Bus signature, and a default "
        + "for items that do not set it"
    case .inlineCommands:
      "whether requests may contain commands (`navctl present … -- COMMAND`); default `true`"
    }
  }

  /// A valid value, as written in a file.
  public var example: String {
    switch self {
    case .containerValues: "{ badge = { signature = \"x\", default = 0 } }"
    case .inlineCommands: "false"
    }
  }
}
