// Why this file exists: what may stand in configuration files is listed once, for who reads them and for the documents.

/// The keys of a destination's file.
public enum DestinationKey: String, CaseIterable, Sendable {
  case command, unit, bus, group, style
  case startTimeout = "start-timeout"
  case grace

  /// What it says, for documents; code stands between backticks.
  public var doc: String {
    switch self {
    case .command: "an array: the program, and its arguments"
    case .unit: "the name of a systemd unit of the user's, with placeholders"
    case .bus: "a table with the `name` and the `path` of a presenter on the bus"
    case .group: "the exclusive group to which its items belong"
    case .style: "for presenters: `sheet`, `popover`, `alert`, …"
    case .startTimeout: "how long showing may take before it has failed; `10s` if not given"
    case .grace:
      "how long a dismissal may take before SIGKILL, or on the bus before it counts as gone; `2s` if not given"
    }
  }

  /// A value that would do, as it stands in a file.
  public var example: String {
    switch self {
    case .command: "[\"foot\", \"-e\", \"top\"]"
    case .unit: "\"pulsemixer@{id}.service\""
    case .bus: "{ name = \"org.example.Bar\", path = \"/presenter\" }"
    case .group: "\"panels\""
    case .style: "\"popover\""
    case .startTimeout: "\"10s\""
    case .grace: "\"2s\""
    }
  }
}

/// The keys of `navd.toml`.
public enum SettingsKey: String, CaseIterable, Sendable {
  case containerValues = "container-values"
  case inlineCommands = "inline-commands"

  /// What it says, for documents; code stands between backticks.
  public var doc: String {
    switch self {
    case .containerValues:
      "a table of the keys that items may set for whoever contains them, each with its type, as a D-Bus signature, and the "
        + "default of those that set none"
    case .inlineCommands:
      "whether requests may bring commands of their own (`navctl present … -- COMMAND`); `true` if not given"
    }
  }

  /// A value that would do, as it stands in a file.
  public var example: String {
    switch self {
    case .containerValues: "{ badge = { signature = \"x\", default = 0 } }"
    case .inlineCommands: "false"
    }
  }
}
