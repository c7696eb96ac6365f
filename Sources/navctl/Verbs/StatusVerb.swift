import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "status", "Say on one page what something is, and why it is open or not.",
    """
    With NAME: its state, its file, its windows, the last failure with its cause, and what closed there last. It may be \
    the name of a destination, of something open, of a group, a stack or a hold. Without NAME: what is open, what failed \
    since, what is held up, and whether windows are followed. Exit status 4 if nothing has that name.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Name of a destination, group, stack or hold, or of what is open.", completion: .presentable)
  var name: String?

  func run() throws {
    let daemon = try DaemonClient(global, name.map { "status \($0)" } ?? "status")
    let page = try name.map { try StatusPage(of: $0, daemon) } ?? StatusPage(daemon)
    global.write(json: page.json, styled: page.table.text(global.tableStyle.unlimited))
  }
}

/// The answer of `status`: rows for people, and the same facts as JSON.
private struct StatusPage {
  private(set) var table = Table("SUBJECT", "FINDING")
  private var members: [String: JSON] = [:]
  private let now = Timestamp.now

  var json: JSON { .object(members) }

  private mutating func add(_ subject: String, _ finding: String, _ colour: Colour? = nil) {
    table.add(Table.Cell(subject), Table.Cell(Typography.inLocale(finding), colour))
  }

  // MARK: Everything

  /// - Throws: `Failure` if navd does not answer.
  init(_ daemon: DaemonClient) throws(Failure) {
    let state = try daemon.state()
    for entry in state.entries { add("open", "\(entry.name): \(described(entry, state))", Colour(entry.knownPhase)) }
    if state.entries.isEmpty { add("open", "nothing") }
    for hold in state.holds ?? [] {
      let held = state.entries.filter { $0.heldBy?.contains(hold) == true }.map(\.name)
      add("held", hold + (held.isEmpty ? "" : ", for which \(held.joined(separator: ", ")) waits"), .pending)
    }
    let failures = try daemon.lastFailures(except: state)
    for failure in failures.prefix(Self.maxEndings) {
      add("failed", "\(failure.text(\.binding)) \(Self.time(of: failure)): \(failure.failure)", .bad)
    }
    if failures.isEmpty { add("failed", "nothing") }
    let windows = daemon.windowFinding()
    add("windows", windows.text, windows.isFollowed ? nil : .pending)
    let mistakes = try daemon.diagnosis().mistakes ?? []
    for mistake in mistakes { add("files", mistake, .bad) }
    members = [
      "open": .array(state.entries.map(\.json)), "failed": .array(failures.map(\.json)),
      "holds": .array((state.holds ?? []).map { .string($0) }), "windows": .string(windows.text),
      "mistakes": .array(mistakes.map { .string($0) }),
    ]
  }

  // MARK: One name

  /// The number of endings on a page.
  private static let maxEndings = 5

  /// - Throws: `Failure` if navd does not answer, or nothing has that name.
  init(of name: String, _ daemon: DaemonClient) throws(Failure) {
    let (state, destinations) = (try daemon.state(), try daemon.destinations())
    let mistake = try daemon.mistakes()[name]
    let destination = destinations.first { $0.name == name }
    let open = state.entries.filter { $0.binding == name || $0.destination == name }
    let isBinding = destination != nil || mistake != nil || !open.isEmpty
    let group = state.groupEntries[name]
    let members = destinations.filter { $0.entry.group == name }.map(\.name)
    let path = state.paths[name]
    let isHold = state.holds?.contains(name) == true
    var filter: Properties = [:]
    if isBinding || group == nil { filter[Options.binding] = name } else { filter[Options.group] = name }
    var endings = try daemon.history(UInt32(Self.maxEndings), filter)
    guard isBinding || group != nil || !members.isEmpty || path != nil || isHold || !endings.isEmpty else {
      let known =
        destinations.map(\.name) + state.entries.compactMap(\.binding) + state.groupEntries.keys + state.paths.keys
        + (state.holds ?? [])
      throw Failure(
        daemon.operation,
        "nothing has the name \(quoted(name)): no destination, group, stack or hold, and nothing open",
        hint: nearest(to: name, among: known).map { "did you mean “\($0)”?" }
          ?? "“navctl destinations” lists what can be opened",
        status: .unknownName)
    }
    try daemon.addErrors(to: &endings)
    self.members["name"] = .string(name)
    if isBinding || group == nil && path == nil && !isHold { describe(open, in: state, after: endings.first) }
    if let destination { try describe(destination, mistake, daemon) }
    if destination == nil, let mistake {
      add("file", mistake, .bad)
      self.members["mistake"] = .string(mistake)
    }
    if destination == nil, mistake == nil, open.isEmpty, endings.first?.destination == name {
      let hint = nearest(to: name, among: destinations.map(\.name)).map { "; did you mean “\($0)”?" }
      add("shown by", "nothing, since there is no destination \(quoted(name)) any more\(hint ?? "")", .bad)
    }
    if group != nil || !members.isEmpty {
      describe(group: group, declared: members, fallback: try daemon.diagnosis().fallbacks?[name])
    }
    if let path {
      add("stack", path.isEmpty ? "empty" : path.map { "\($0.binding) \($0.id)" }.joined(separator: " › "))
    }
    if isHold { add("hold", "in force; “navctl holds” shows who holds", .pending) }
    describe(endings)
  }

  private mutating func describe(_ open: [StateEntry], in state: StateSnapshot, after last: EndingEntry?) {
    for entry in open { add("state", described(entry, state), Colour(entry.knownPhase)) }
    if open.isEmpty { add("state", "not open" + (last.map { "; " + Self.described($0) } ?? ", and never was")) }
    for entry in open {
      for window in entry.windows ?? [] { add("window", WindowProperties(reading: window).shown) }
      if let pid = entry.pid { add("process", "\(pid)") }
      if let unit = entry.unit { add("unit", unit) }
    }
    members["open"] = .array(open.map(\.json))
  }

  private mutating func describe(
    _ destination: NamedDestination, _ mistake: String?, _ daemon: DaemonClient
  ) throws(Failure) {
    let entry = destination.entry
    add("shown by", destination.kind == .state ? "programs that watch the state" : destination.target)
    if !destination.behaviour.isEmpty { add("behaviour", destination.behaviour) }
    if let file = entry.file { add("file", file) }
    if let mistake { add("file", "\(mistake); the version before is used", .bad) }
    for warning in try daemon.diagnosis().warnings ?? [] where entry.file.map({ warning.hasPrefix($0 + ":") }) == true {
      add("file", warning, .pending)
    }
    if let group = entry.group { add("member of", group) }
    members["destination"] = .string(destination.name)
    members["mistake"] = mistake.map { .string($0) }
    guard let window = entry.window else { return }
    let followed = daemon.windowFinding()
    let patterns = ["app-id", "title"].compactMap { key in window[key].map { "\(key) “\(JSON($0).plainText)”" } }
    let those = patterns.isEmpty ? "those of its program" : "those with \(patterns.joined(separator: " and "))"
    add("windows", "\(those), \(followed.text)", followed.isFollowed ? nil : .pending)
    members["windows"] = .string(followed.text)
  }

  private mutating func describe(group: GroupEntry?, declared: [String], fallback: Value?) {
    add("group", "selected: \(group?.selection ?? "nothing")")
    if let queue = group?.queue, !queue.isEmpty { add("group", "queue: \(queue.joined(separator: ", "))") }
    let tags = (group?.tags ?? []) + declared.filter { group?.tags?.contains($0) != true }
    if !tags.isEmpty { add("group", "members: \(tags.joined(separator: ", "))") }
    members["group"] = group?.json
    guard let entry = fallback.flatMap({ Properties(value: $0) }).map(FallbackEntry.init) else { return }
    add(
      "fallback", (entry.destination ?? "nothing") + (entry.until.map { ", until \(Timestamp.local($0))" } ?? ""))
    members["fallback"] = entry.json
  }

  private mutating func describe(_ endings: [EndingEntry]) {
    if let failure = endings.first(where: \.hasFailed) {
      add("last failure", "\(Self.time(of: failure)): \(failure.failure)", .bad)
      members["failure"] = failure.json
    }
    for ending in endings { add("history", Self.described(ending)) }
    members["history"] = .array(endings.map(\.json))
  }

  // MARK: Words

  private func described(_ entry: StateEntry, _ state: StateSnapshot) -> String {
    var text = entry.shownPhase
    if let since = entry.since { text += " for \(Timestamp.elapsed(since: since, at: now))" }
    if entry.knownPhase == .waiting, entry.heldBy == nil, entry.restartAt == nil, let group = entry.group,
      let selection = state.groupEntries[group]?.selection
    {
      text += ", until \(selection) in the group \(group) is gone"
    }
    return text
  }

  private static func described(_ ending: EndingEntry) -> String {
    let shown = ending.shownFor.map { " after \(DurationText.text($0))" } ?? ""
    let by = ending.requester == nil ? "" : " by \(ending.endedBy)"
    let cause =
      ending.hasFailed ? ": \(ending.failure)" : ending.windowSeen == true ? ", status \(ending.shownStatus)" : ""
    return "\(time(of: ending)): \(ending.name) \(ending.text(\.reason))\(by)\(shown)\(cause)"
  }

  private static func time(of ending: EndingEntry) -> String { ending.time.map { Timestamp.local($0) } ?? "" }
}

extension EndingEntry {
  /// The binding and the id, for people.
  fileprivate var name: String { [text(\.binding), text(\.id)].filter { !$0.isEmpty }.joined(separator: " ") }
}

extension DaemonClient {
  /// Whether windows are followed, in words.
  fileprivate func windowFinding() -> (text: String, isFollowed: Bool) {
    let adapters = windowAdapters()
    let backends = adapters.compactMap(\.backend).map { "“\($0)”" }.joined(separator: ", ")
    guard backends.isEmpty else {
      return (
        "followed by the backend \(backends)" + (adapters.silence.map { "; \($0)" } ?? ""), adapters.silence == nil
      )
    }
    let reason = adapters.silence ?? "no adapter is running"
    let advice = adapters.isEmpty ? windowAdapterAdvice() : [WindowAdapter].adviceOnSilence
    return ("not followed, since \(reason): an item is open while its program runs; \(advice)", false)
  }
}
