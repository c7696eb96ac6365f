/// The keys of a destination's file, for its reader and for the documents.
public enum DestinationKey: String, CaseIterable, Sendable {
  case command, desktop
  case desktopAction = "desktop-action"
  case scope, unit, bus, state, group, style
  case protected
  case id, title, value, timeout, directory, environment
  case onPresent = "on-present"
  case onDismiss = "on-dismiss"
  case check
  case restart
  case restartDelay = "restart-delay"
  case restartDelayMax = "restart-delay-max"
  case restartLimit = "restart-limit"
  case restore
  case replacement, ready
  case window, unfocus, here
  case outputGone = "output-gone"
  case dismissal, holds, hold, inhibit
  case startTimeout = "start-timeout"
  case grace

  /// A part of the list of keys in the documents. A reader who needs few keys finds them in one part.
  public enum Topic: String, CaseIterable, Sendable { case basics, windows, timing, kiosk, expert }

  public var topic: Topic {
    switch self {
    case .command, .desktop, .desktopAction, .scope, .group, .id, .title, .value, .directory, .environment: .basics
    case .window, .unfocus, .here, .outputGone, .dismissal: .windows
    case .timeout, .startTimeout, .grace, .ready, .replacement: .timing
    case .protected, .check, .restart, .restartDelay, .restartDelayMax, .restartLimit, .restore, .holds, .hold,
      .inhibit:
      .kiosk
    case .unit, .bus, .state, .style, .onPresent, .onDismiss: .expert
    }
  }

  /// The keys that are about something, in the order of the list.
  public static func keys(of topic: Topic) -> [DestinationKey] { allCases.filter { $0.topic == topic } }

  /// The key's meaning, for documents; code is between backticks.
  public var doc: String {
    switch self {
    case .command: "an array: the program, and its arguments"
    case .desktop:
      "the id of an installed application, whose desktop file says the command, the title, the directory and the application id of its windows"
    case .desktopAction: "the name of one of its actions, which is started instead"
    case .scope:
      "which processes belong to the item: `tree`, the command and all that it starts (the default), or `process`, the "
        + "first one alone. Then what it has started lives on, as launchers, terminals and file managers need"
    case .unit: "the name of a systemd unit of the user's, with placeholders behind the @"
    case .bus: "a table with the `name` and the `path` of a presenter on the bus"
    case .state:
      "whether no program shows its items, so that they are state only, for watchers to draw; default `false`"
    case .group: "the exclusive group to which its items belong; with `{output}` in its name, one for each output"
    case .style: "for presenters: `sheet`, `popover`, `alert`, …"
    case .protected:
      "whether its items end only by themselves, not by a request, as screen lockers need; default `false`"
    case .id: "the id of items whose requests give none"
    case .title: "their title, for lists and status bars, if the request gives none"
    case .value: "their value, a table, if the request gives none"
    case .timeout:
      "how long they stay, if the request does not say; each request for the same item starts it again; default `0s`: until "
        + "something else ends them"
    case .directory: "the working directory of the command; default: that of the request"
    case .environment: "a table of variables for the command, which take precedence over all others"
    case .onPresent: "an array: a program to run when an item was presented, and its arguments"
    case .onDismiss: "the same for when a presented item has ended"
    case .check:
      "a table: the exit status of its `command` says whether the program of a presented item still works. `every` is the time between "
        + "two checks (default `30s`). After `failures` failed checks in a row (default `3`), the item ends as failed"
    case .restart:
      "whether an item that ended by itself is presented again: `no` (the default), `on-failure` or `always`"
    case .restartDelay: "the delay before the first restart; each further one is twice as long; default `1s`"
    case .restartDelayMax:
      "the longest delay; when an item was presented for that long, or for ten seconds, the delay is reset to the first one; default `1m`"
    case .restartLimit: "how many times it is presented again before it is given up; default `10`"
    case .restore:
      "whether its items are kept beyond the session, and presented again at the next login: `no` (the default) or `login`"
    case .replacement:
      "when the item goes if another id is requested: before the next item comes (`sequential`, the default), or when the next one is "
        + "on the screen (`overlap`). For a group, `navd.toml` says it"
    case .ready:
      "with `notify` an item is on the screen once its program has said so, by `navctl ready`, or as a unit by `READY=1`. With `shown` "
        + "(the default) it is there once its program runs, or its window is there"
    case .window:
      "whether the item follows the windows of its command or unit, and is on the screen while one of them is: `true`, or a "
        + "table; default `false`. The table may have `app-id` and `title` (shell patterns), `windows`, `adopt`, `settle`, `linger`, "
        + "`leftover` and `kill`. It also says where and how the windows are shown: `place`, `size`, `margin`, `float`, `focus`, `sticky`, "
        + "`above` and `fullscreen`"
    case .unfocus:
      "with `dismiss` the item ends when its windows lose the focus to others, as popups need; default `keep`"
    case .here:
      "whether what is shown on another workspace or output comes to the one in use when it is asked for, as `--here` does; default "
        + "`false`"
    case .outputGone:
      "with `dismiss` the item ends when the output (screen) of its windows is unplugged, instead of being moved to another "
        + "one; default `keep`"
    case .dismissal:
      "with `hide` a dismissal hides its windows and keeps its program, so that it is there at once when it is presented "
        + "again; default `close`"
    case .holds:
      "a table: what holds do with its items, by the name of the hold, `show`, `postpone`, `refuse` or `dismiss`; default: that of "
        + "`navd.toml`"
    case .hold:
      "the name of a hold that is in force while one of its items is live, such as `locked` for a screen locker; default: none"
    case .inhibit:
      "an array: what logind is kept from while an item is presented, such as `idle` and `sleep`"
    case .startTimeout:
      "how long showing may take before it has failed; default `10s`, after which an item with `window` goes on while its program runs"
    case .grace:
      "how long a dismissal may take before SIGKILL, or before an item on the bus counts as gone; default `2s`"
    }
  }

  /// A valid value, as written in a file.
  public var example: String {
    switch self {
    case .command: "[\"foot\", \"-e\", \"top\"]"
    case .desktop: "\"org.gnome.Calculator\""
    case .desktopAction: "\"new-window\""
    case .scope: "\"process\""
    case .unit: "\"pulsemixer@{id}.service\""
    case .bus: "{ name = \"org.example.Bar\", path = \"/presenter\" }"
    case .state: "true"
    case .group: "\"panels\""
    case .style: "\"popover\""
    case .protected: "true"
    case .id: "\"main\""
    case .title: "\"Volume\""
    case .value: "{ level = 40 }"
    case .timeout: "\"3s\""
    case .directory: "\"~/src\""
    case .environment: "{ GTK_THEME = \"Adwaita:dark\" }"
    case .onPresent: "[\"makoctl\", \"mode\", \"-a\", \"away\"]"
    case .onDismiss: "[\"makoctl\", \"mode\", \"-r\", \"away\"]"
    case .check: "{ command = [\"curl\", \"--fail\", \"http://localhost:8080/health\"], every = \"30s\", failures = 3 }"
    case .restart: "\"on-failure\""
    case .restartDelay: "\"1s\""
    case .restartDelayMax: "\"1m\""
    case .restartLimit: "10"
    case .restore: "\"login\""
    case .replacement: "\"overlap\""
    case .ready: "\"notify\""
    case .window: "{ app-id = \"org.gnome.Nautilus\" }"
    case .unfocus: "\"dismiss\""
    case .here: "true"
    case .outputGone: "\"dismiss\""
    case .dismissal: "\"hide\""
    case .holds: "{ dnd = \"postpone\", locked = \"dismiss\" }"
    case .hold: "\"locked\""
    case .inhibit: "[\"idle\", \"sleep\"]"
    case .startTimeout: "\"10s\""
    case .grace: "\"2s\""
    }
  }
}

/// The keys of `navd.toml`, for its reader and for the documents.
public enum SettingsKey: String, CaseIterable, Sendable {
  case containerValues = "container-values"
  case inlineCommands = "inline-commands"
  case holds, groups, startup

  /// The key's meaning, for documents; code is between backticks.
  public var doc: String {
    switch self {
    case .containerValues:
      "a table of the keys that items may set for their containers; each has a type, as a D-Bus signature, and a default "
        + "for items that do not set it"
    case .inlineCommands:
      "whether requests may contain commands (`navctl open … -- COMMAND`); default `true`"
    case .holds:
      "a table: what holds do with items whose destinations do not say it, by the name of the hold, `show` (the default), "
        + "`postpone`, `refuse` or `dismiss`"
    case .groups:
      "a table of groups, each with its `fallback`, the destination that is shown while nothing else is selected, or a list of "
        + "destinations with times, or its "
        + "`replacement`: whether a member goes before the next one comes, `sequential` (the default), or when the next one is on "
        + "the screen, `overlap`"
    case .startup:
      "the path of a file with the requests that navd carries out when it starts with nothing on record, as one: a JSON list "
        + "as for `navctl apply`; relative to the directory of `navd.toml`"
    }
  }

  /// A valid value, as written in a file.
  public var example: String {
    switch self {
    case .containerValues: "{ badge = { signature = \"x\", default = 0 } }"
    case .inlineCommands: "false"
    case .holds: "{ dnd = \"postpone\", locked = \"postpone\" }"
    case .groups: "{ main = { fallback = \"dashboard\", replacement = \"overlap\" } }"
    case .startup: "\"startup.json\""
    }
  }
}
