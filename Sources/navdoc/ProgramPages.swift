// Why this file exists: navctl(1) and navd(8), of the help texts and of what these cannot know.

import CoordinatorAPI

extension ProgramHelp.Argument {
  /// In troff's words, as it stands in a list.
  fileprivate var term: String {
    let known = names.map { ManualPage.bold($0) }.joined(separator: ", ")
    return known + (value.map { (known.isEmpty ? "" : " ") + ManualPage.italic($0) } ?? "")
  }

  /// In troff's words, as it stands in a synopsis.
  fileprivate var usage: String {
    let known = names.last.map { ManualPage.bold($0) } ?? (isAfterTerminator ? ManualPage.bold("--") : nil)
    let more = isRepeating && isAfterTerminator ? "…" : nil
    let text = [known, value.map { ManualPage.italic($0) }, more].compactMap { $0 }.joined(separator: " ")
    return (isOptional ? "[\(text)]" : text) + (isRepeating && more == nil ? " …" : "")
  }
}

extension ManualPage {
  /// What the programs have in common at their end.
  fileprivate mutating func end(seeAlso pages: [String]) {
    heading("See also")
    paragraph(pages.map { "`\($0.prefix { $0 != "(" })`\($0.drop { $0 != "(" })" }.joined(separator: ", "))
  }

  fileprivate mutating func variables(_ variables: [(name: String, doc: String)]) {
    heading("Environment")
    for (name, doc) in variables { item(Self.bold(name), doc) }
  }
}

/// navctl(1).
struct NavctlPage {
  private(set) var text = ""
  /// What every verb takes.
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
      "Verbs that change something have `navd`(8) started by the bus where it is not running; verbs that only ask do not."
    )
    page.heading("Verbs")
    for verb in help.verbs { describe(verb, "", &page) }
    page.heading("Options")
    page.paragraph("Before or after every verb:")
    for option in common { page.item(option.term, option.explanation) }
    page.paragraph("Of single verbs:")
    for (option, verbs) in options {
      page.item(option.term, "\(option.explanation) (\(verbs.joined(separator: ", ")))")
    }
    page.heading("Exit status")
    for status in CommandStatus.allCases {
      page.item(ManualPage.bold("\(status.rawValue)"), ManualPage.sentence(status.doc))
    }
    page.variables([
      ("DBUS_SESSION_BUS_ADDRESS", "The bus, where neither `--address` nor `--host` is given."),
      ("XDG_RUNTIME_DIR", "Where the bus is, by the name `bus`, if that is not set."),
      ("NO_COLOR", "If it is set and not empty, tables have no colours."),
      (
        "DISPLAY, WAYLAND_DISPLAY, …",
        "What says where the display, the session and the compositor are, is handed to what is presented, unless that is "
          + "on another machine."
      ),
    ])
    page.heading("Examples")
    page.paragraph("A panel on a key: opened, and closed by the same.")
    page.code("navctl toggle mixer")
    page.paragraph("A question, and its answer.")
    page.code("answer=$(navctl present ask --wait -- zenity --entry --text 'Name?')")
    page.paragraph("What is shown, for a status bar.")
    page.code("navctl watch --group panels --format '{tag}'")
    page.paragraph("The panel of another machine.")
    page.code("navctl -H ann@kiosk select panels clock")
    page.end(seeAlso: [
      "navd(8)", "navd.destination(5)", "org.navd.Coordinator1(5)", "ssh(1)", "systemd-stdio-bridge(1)",
    ])
    text = page.text
  }

  /// A verb, and below it what it has for verbs.
  /// - Parameter before: the words before its name.
  private func describe(_ verb: ProgramHelp, _ before: String, _ page: inout ManualPage) {
    let name = before + verb.name
    if verb.verbs.isEmpty {
      // Options whose values have to be given stand in a synopsis; there are too many of the others.
      let places = own(verb).filter { $0.names.isEmpty }
      let hasOptions = own(verb).contains { !$0.names.isEmpty }
      let words =
        [ManualPage.bold(name)] + (hasOptions ? ["[\(ManualPage.italic("option"))] …"] : [])
        + places.filter { !$0.isAfterTerminator }.map(\.usage) + places.filter(\.isAfterTerminator).map(\.usage)
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

  /// Each option, and the verbs that take it; twice if it means something else for some.
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

/// navd(8).
struct NavdPage {
  private(set) var text = ""

  init(_ help: ProgramHelp) {
    var page = ManualPage(
      "navd", section: 8, release: Release.version, manual: "System Administration",
      summary: ManualPage.summary(help.abstract))
    page.heading("Synopsis")
    page.synopsis([([ManualPage.bold("navd")] + help.arguments.map(\.usage)).joined(separator: " ")])
    page.heading("Description")
    page.paragraph(
      """
      navd keeps what a desktop session shows: panels, popups, dialogs, windows of any program. Whether something is shown \
      is a slot, which is nil or holds an item; setting an item starts its program, another id replaces it, nil ends it, and \
      when the program goes by itself, nil is written back. It is asked by `navctl`(1), or over D-Bus as \
      `org.navd.Coordinator1`(5).
      """)
    for paragraph in help.discussion.split(separator: "\n\n") {
      page.paragraph(paragraph.split(separator: "\n").joined(separator: " "))
    }
    page.heading("Options")
    for argument in help.arguments { page.item(argument.term, argument.explanation) }
    page.heading("Signals")
    page.item(
      ManualPage.bold("SIGTERM, SIGINT"),
      "navd ends, and what is shown stays; the next navd takes it over. `navctl quit` ends what is shown, too.")
    page.heading("Exit status")
    page.paragraph(
      "0 after it was told to end; 1 where it could not start, or a configuration file has a mistake (`--check-config`)."
    )
    page.heading("Files")
    for (file, doc) in DestinationPage.files { page.item(ManualPage.italic(file), doc) }
    page.item(
      ManualPage.italic("$XDG_RUNTIME_DIR/navd/"), "What is presented, on record; see also `--state-directory`.")
    page.item(ManualPage.italic("navd.service"), "The unit of the user's systemd; it need not be enabled.")
    page.variables([
      ("DBUS_SESSION_BUS_ADDRESS", "The bus to be found on, where `--address` is not given."),
      ("XDG_RUNTIME_DIR", "Where the record is."),
      ("XDG_CONFIG_HOME, XDG_CONFIG_DIRS, XDG_DATA_DIRS", "Where configuration files are."),
      ("PATH", "Where the programs of commands are looked for."),
    ])
    page.end(seeAlso: ["navctl(1)", "navd.destination(5)", "org.navd.Coordinator1(5)", "systemd.unit(5)"])
    text = page.text
  }
}
