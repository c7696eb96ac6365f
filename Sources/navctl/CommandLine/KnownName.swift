import PresentationModel
import TextFormats

/// A name in place of a verb, which is the name of something that navd or its files know.
enum KnownName {
  /// The command line that was probably meant; nil if the word is no such name.
  /// - Parameter arguments: the command line without the program's name; empty for none to look at.
  static func advice(_ word: String, _ arguments: [String]) -> String? {
    guard !arguments.isEmpty, let global = GlobalOptions.forNames(in: arguments) else { return nil }
    if let daemon = try? DaemonClient(global, word), let state = try? daemon.state(),
      let destinations = try? daemon.destinations()
    {
      return advice(word, destinations.map(\.name), state)
    }
    // While navd does not run, the names of destinations are in their files.
    guard let files = try? CheckedFiles(word, address: global.address) else { return nil }
    return advice(word, files.destinations, StateSnapshot([:]))
  }

  private static func advice(_ word: String, _ destinations: [String], _ state: StateSnapshot) -> String? {
    if destinations.contains(word) { return "“\(word)” is a destination: navctl toggle \(word)" }
    if state.entries.contains(where: { $0.binding == word }) { return "“\(word)” is open: navctl close \(word)" }
    if let group = state.groupEntries[word] {
      let tags = group.tags ?? []
      return "“\(word)” is a group with \(tags.joined(separator: ", ")): navctl select \(word) \(tags.first ?? "TAG")"
    }
    if state.paths[word] != nil { return "“\(word)” is a stack: navctl path \(word)" }
    if state.holds?.contains(word) == true { return "“\(word)” is a hold: navctl release \(word)" }
    return Verbs.meant(by: word) == nil
      ? nearest(to: word, among: destinations).map { "did you mean “navctl toggle \($0)”?" } : nil
  }
}
