import CoordinatorAPI

extension ProgramHelp.Argument {
  /// The term for a list in troff: all names, and the value.
  fileprivate var term: String {
    let term = names.map { ManualPage.bold($0) }.joined(separator: ", ")
    return term + (value.map { (term.isEmpty ? "" : " ") + ManualPage.italic($0) } ?? "")
  }

  /// The usage for a synopsis in troff: the longest name and the value, in brackets if optional.
  fileprivate var usage: String {
    let name = names.last.map { ManualPage.bold($0) } ?? (isAfterTerminator ? ManualPage.bold("--") : nil)
    let ellipsis = isRepeating && isAfterTerminator ? "…" : nil
    let text = [name, value.map { ManualPage.italic($0) }, ellipsis].compactMap { $0 }.joined(separator: " ")
    return (isOptional ? "[\(text)]" : text) + (isRepeating && ellipsis == nil ? " …" : "")
  }
}

extension ManualPage {
  /// The last section of each page.
  fileprivate mutating func end(seeAlso pages: [String]) {
    heading("See also")
    paragraph(pages.map { "`\($0.prefix { $0 != "(" })`\($0.drop { $0 != "(" })" }.joined(separator: ", "))
  }

  fileprivate mutating func variables(_ variables: [(name: String, doc: String)]) {
    heading("Environment")
    for (name, doc) in variables { item(Self.bold(name), doc) }
  }
}

/// The page navctl(1), made from its help text and additional sections.
struct NavctlPage {
  private(set) var text = ""
  /// The options that every verb takes.
  private let common: [ProgramHelp.Argument]
  private let help: ProgramHelp

  init(_ help: ProgramHelp) {
    self.help = help
    common = help.arguments
    var page = ManualPage(
      "navctl", section: 1, release: Release.version, manual: "User Commands",
      summary: ManualPage.summary(help.abstract))
    page.heading("Synopsis")
    page.synopsis([
      "\(ManualPage.bold("navctl")) [\(ManualPage.italic("option"))] … \(ManualPage.italic("verb")) "
        + "[\(ManualPage.italic("argument"))] …"
    ])
    page.heading("Description")
    for paragraph in help.discussion.split(separator: "\n\n") where !paragraph.hasPrefix("Exit status") {
      page.paragraph(String(paragraph))
    }
    page.paragraph(
      "If `navd`(8) is not running, the bus starts it for verbs that change something, and not for verbs that only ask."
    )
    page.heading("Verbs")
    for verb in help.verbs { describe(verb, "", &page) }
    page.heading("Options")
    page.paragraph("All verbs take these options, before or after the verb:")
    for option in common { page.item(option.term, option.explanation) }
    page.paragraph("Some verbs take these:")
    for (option, verbs) in options {
      page.item(option.term, "\(option.explanation) (\(verbs.joined(separator: ", ")))")
    }
    page.heading("Exit status")
    for status in CommandStatus.allCases {
      page.item(ManualPage.bold("\(status.rawValue)"), ManualPage.sentence(status.doc))
    }
    page.variables([
      ("DBUS_SESSION_BUS_ADDRESS", "The bus, unless `--address` or `--host` is given."),
      ("XDG_RUNTIME_DIR", "The directory of the bus socket `bus`, if the variable above is not set."),
      ("NO_COLOR", "If set and not empty, tables have no colours."),
      (
        "DISPLAY, WAYLAND_DISPLAY, …",
        "navctl passes the variables of the display, the session and the compositor to the presented program, unless that "
          + "is on another machine."
      ),
    ])
    page.heading("Examples")
    page.paragraph("Open a panel, and close it with the same key.")
    page.code("navctl toggle mixer")
    page.paragraph("Ask a question and store the answer.")
    page.code("answer=$(navctl present ask --wait -- zenity --entry --text 'Name?')")
    page.paragraph("Write the open panel for a status bar, at each change.")
    page.code("navctl watch --group panels --format '{tag}'")
    page.paragraph("Open a panel on another machine.")
    page.code("navctl -H ann@kiosk select panels clock")
    page.end(seeAlso: ["navd(8)", "navd.destination(5)", "ssh(1)", "systemd-stdio-bridge(1)"])
    text = page.text
  }

  /// Describes a verb and its subcommands.
  /// - Parameter before: the words before the verb's name.
  private func describe(_ verb: ProgramHelp, _ before: String, _ page: inout ManualPage) {
    let name = before + verb.name
    if verb.verbs.isEmpty {
      // The synopsis of a verb contains its arguments only, because it has too many options.
      let positional = own(verb).filter { $0.names.isEmpty }
      let hasOptions = own(verb).contains { !$0.names.isEmpty }
      let words =
        [ManualPage.bold(name)] + (hasOptions ? ["[\(ManualPage.italic("option"))] …"] : [])
        + positional.filter { !$0.isAfterTerminator }.map(\.usage) + positional.filter(\.isAfterTerminator).map(\.usage)
      page.item(words.joined(separator: " "), verb.abstract)
      for paragraph in verb.discussion.split(separator: "\n\n") { page.more(String(paragraph)) }
      let names = own(verb).compactMap(\.names.last).map { "`\($0)`" }
      if !names.isEmpty { page.more("Options: \(names.joined(separator: ", ")).") }
    }
    for inner in verb.verbs { describe(inner, name + " ", &page) }
  }

  private func own(_ verb: ProgramHelp) -> [ProgramHelp.Argument] {
    verb.arguments.filter { argument in
      argument.names.isEmpty || !common.contains { !Set($0.names).isDisjoint(with: argument.names) }
    }
  }

  /// Each option with the verbs that accept it; an option with two meanings is listed twice.
  private var options: [(option: ProgramHelp.Argument, verbs: [String])] {
    var order: [ProgramHelp.Argument] = []
    var verbs: [ProgramHelp.Argument: [String]] = [:]
    func add(_ verb: ProgramHelp, _ name: String) {
      for option in own(verb) where !option.names.isEmpty {
        if verbs[option] == nil { order.append(option) }
        verbs[option, default: []].append(name)
      }
      for inner in verb.verbs { add(inner, "\(name) \(inner.name)") }
    }
    for verb in help.verbs { add(verb, verb.name) }
    return order.sorted { $0.name < $1.name }.map { ($0, verbs[$0] ?? []) }
  }
}

extension ManualPage {
  /// Begins the page of a service, up to its description.
  fileprivate init(service name: String, _ help: ProgramHelp) {
    self.init(
      name, section: 8, release: Release.version, manual: "System Administration", summary: Self.summary(help.abstract))
    heading("Synopsis")
    synopsis([([Self.bold(name)] + help.arguments.map(\.usage)).joined(separator: " ")])
    heading("Description")
  }

  /// Adds the discussion and the options of a program.
  fileprivate mutating func describe(_ help: ProgramHelp) {
    for text in help.discussion.split(separator: "\n\n") {
      paragraph(text.split(separator: "\n").joined(separator: " "))
    }
    heading("Options")
    for argument in help.arguments { item(argument.term, argument.explanation) }
  }
}

/// The page navd(8).
struct NavdPage {
  private(set) var text = ""

  init(_ help: ProgramHelp) {
    var page = ManualPage(service: "navd", help)
    page.paragraph(
      """
      navd coordinates the panels, popups, dialogs and windows of a desktop session. Each has a slot, which is nil or holds \
      an item. Setting an item starts its program, setting another id replaces it, and setting nil ends it. When the \
      program ends by itself, the slot becomes nil. Clients use `navctl`(1), or D-Bus: see `navctl introspect`.
      """)
    page.describe(help)
    page.heading("Signals")
    page.item(
      ManualPage.bold("SIGTERM, SIGINT"),
      "navd ends; presented programs stay, and the next navd adopts them. `navctl quit` ends them, too.")
    page.heading("Exit status")
    page.paragraph(
      "0 after a signal or `navctl quit`; 1 if navd cannot start, or `--check-config` finds a mistake; 64 after wrong usage."
    )
    page.heading("Files")
    for (file, doc) in DestinationPage.files { page.item(ManualPage.italic(file), doc) }
    page.item(
      ManualPage.italic("$XDG_RUNTIME_DIR/navd/"), "The record of the state; see also `--state-directory`.")
    page.item(ManualPage.italic("navd.service"), "The unit of the user's systemd; it need not be enabled.")
    page.variables([
      ("DBUS_SESSION_BUS_ADDRESS", "The bus, unless `--address` is given."),
      ("XDG_RUNTIME_DIR", "The directory of the record."),
      ("XDG_CONFIG_HOME, XDG_CONFIG_DIRS, XDG_DATA_DIRS", "The directories of configuration files."),
      (
        "PATH",
        "The directories in which navd looks for the program of a command, if neither its file nor its request has a `PATH`."
      ),
    ])
    page.end(seeAlso: ["navctl(1)", "navd.destination(5)", "systemd.unit(5)"])
    text = page.text
  }
}

/// The page navd-windows(8).
struct WindowsPage {
  private(set) var text = ""

  init(_ help: ProgramHelp) {
    var page = ManualPage(service: "navd-windows", help)
    page.describe(help)
    page.heading("Exit status")
    page.item(ManualPage.bold("0"), "After SIGTERM or SIGINT.")
    page.item(
      ManualPage.bold("1"),
      "The compositor, the X server or the bus is gone or cannot be reached; started again, it may work.")
    page.item(
      ManualPage.bold("3"),
      "It cannot work here: there is no compositor that it knows, or another program owns the name on the bus.")
    page.heading("Files")
    page.item(
      ManualPage.italic("navd-windows.service"), "The unit of the user's systemd, part of the graphical session.")
    page.variables([
      ("SWAYSOCK, I3SOCK", "The socket of sway or i3."),
      ("WAYLAND_DISPLAY, XDG_RUNTIME_DIR", "The Wayland compositor."),
      ("DISPLAY, XAUTHORITY", "The X server."),
      ("DBUS_SESSION_BUS_ADDRESS", "The bus, unless `--address` is given."),
    ])
    page.end(seeAlso: ["navd(8)", "navctl(1)"])
    text = page.text
  }
}
