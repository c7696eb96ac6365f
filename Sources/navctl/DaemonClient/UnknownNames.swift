import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

/// Notes about unknown names, which the user may have mistyped. A request with such a name succeeds, and nothing happens, which is why
/// the user gets a line.
extension DaemonClient {
  func warnIfUnknown(binding: String) {
    guard isForPeople, let destinations = try? destinations().flatMap({ [$0.name] + $0.served.map(\.binding) }),
      let state = try? state(), case let open = state.entries.compactMap(\.binding),
      !(destinations + open).contains(binding), hasNoEndings(of: Options.binding, binding)
    else { return }
    if binding == "all" { return note("nothing is called “all”; did you mean “--all”?") }
    if state.groupEntries[binding] != nil {
      return note("“\(binding)” is a group; did you mean “navctl deselect \(binding)”?")
    }
    warn(
      "nothing is open as “\(binding)”, and no destination has that name", binding, among: destinations + open,
      otherwise: "“navctl list” shows what is open")
  }

  func warnIfUnknown(root: String) {
    func rootOf(_ binding: String) -> String { String(binding.prefix { $0 != "." && $0 != "[" }) }
    guard isForPeople, let destinations = try? destinations().flatMap({ [$0.name] + $0.served.map(\.binding) }),
      let open = try? state().entries.compactMap(\.binding),
      let ended = try? history(0, [:]).compactMap(\.binding)
    else { return }
    let known = Set((destinations + open).map(rootOf))
    guard !known.contains(root), !ended.contains(where: { rootOf($0) == root }) else { return }
    warn(
      "nothing is open as “\(root)” or below it, and no destination has that name", root, among: known.sorted(),
      otherwise: "“navctl list” shows what is open")
  }

  /// - Parameter tag: the tag; empty for none.
  func warnIfUnknown(group: String, tag: String = "") {
    guard isForPeople, let groups = try? state().groupEntries,
      let declared = try? destinations().compactMap(\.entry.group)
    else { return }
    let isDeclared = declared.contains { $0 == group || Self.isOfOutput(group, $0) }
    if groups[group] == nil, !isDeclared, hasNoEndings(of: Options.group, group) {
      return warn("there is no group “\(group)”", group, among: groups.keys + declared, otherwise: Failure.listed)
    }
    let tags = groups[group]?.tags ?? []
    guard !tag.isEmpty, !tags.contains(tag) else { return }
    warn("the group “\(group)” has no tag \(quoted(tag))", tag, among: tags, otherwise: Failure.listed)
  }

  func warnIfUnknown(stack: String) {
    guard isForPeople, let stacks = try? state().paths.keys, !stacks.contains(stack),
      hasNoEndings(of: Options.stack, stack)
    else { return }
    warn("there is no stack “\(stack)”", stack, among: stacks, otherwise: Failure.listed)
  }

  func warnIfUnknown(hold: String) {
    guard isForPeople, let destinations = try? destinations(), let open = try? state().entries.compactMap(\.binding)
    else { return }
    if hold == "all" { return note("no hold is called “all”; did you mean “--all”?") }
    let known =
      destinations.flatMap { ($0.entry.holds ?? [:]).keys + [$0.entry.hold].compactMap(\.self) }
      + SessionFact.allCases.map(\.rawValue)
    guard !known.contains(hold) else { return }
    if (destinations.map(\.name) + open).contains(hold) {
      return note("nothing holds “\(hold)”, which is no hold; did you mean “navctl close \(hold)”?")
    }
    warn(
      "nothing holds “\(hold)”, and no file has a hold of that name", hold, among: known,
      otherwise: "“navctl holds” shows what is held up")
  }

  /// Tells of a mistake in the file of the request's destination, of which the version before is used, and of a destination that has
  /// the name of the request's id. Both may not be what the user meant.
  /// - Parameters:
  ///   - mistakes: those in files of destinations, by the names of these.
  ///   - names: the names of all destinations, if the request has a word as its id.
  func noteRequest(mistakes: [String: String], destinations names: [String]) {
    if let destination, let mistake = mistakes[destination] {
      note("\(ErrorOutput.part(mistake)); navd uses what the file said before")
    }
    guard let word, names.contains(word) else { return }
    note(
      "“\(word)” is taken for an id of “\(destination ?? "")”, and is also a destination; to open that: navctl "
        + "\(Verbs.called) \(word)")
  }

  /// Tells of the last failure while nothing is open, since a list of nothing does not say that something was to be there.
  func noteLastFailure() {
    guard isForPeople, let ending = try? history(1, [:]).first, ending.hasFailed else { return }
    var last = [ending]
    try? addErrors(to: &last)
    note("“\(ending.text(\.binding))” is not open: \(ErrorOutput.part(last[0].failure)); see “navctl list --failed”")
  }

  /// - Parameters:
  ///   - group: the group; nil for none.
  ///   - stack: the stack; nil for none.
  func warnIfUnknown(group: String?, stack: String?) {
    if let group { warnIfUnknown(group: group) }
    if let stack { warnIfUnknown(stack: stack) }
  }

  private var isForPeople: Bool { !global.json && !global.quiet }

  /// Whether a group has the name of an output's group, by the pattern in a destination's file.
  private static func isOfOutput(_ group: String, _ pattern: String) -> Bool {
    guard let (start, end) = pattern.parted(at: "{output}") else { return false }
    return group.count > start.count + end.count && group.hasPrefix(start) && group.hasSuffix(end)
  }

  private func hasNoEndings(of key: DictionaryKey<String>, _ name: String) -> Bool {
    (try? history(1, [key.name: name.value]).isEmpty) ?? false
  }

  private func warn(_ why: String, _ name: String, among known: some Sequence<String>, otherwise advice: String) {
    let hint = nearest(to: name, among: known).map { "did you mean “\($0)”?" }
    note("\(why); \(hint ?? advice)")
  }

  private func note(_ text: String) { ErrorOutput.write("navctl: \(operation): \(text)") }
}
