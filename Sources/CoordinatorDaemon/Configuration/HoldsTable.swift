import PresentationModel
import TextFormats

extension TableReader {
  /// Reads a table with the effect of each hold (H3).
  /// - Parameter example: a valid table, as written in a file.
  mutating func holds(_ key: String, example: String) -> [String: HoldAction] {
    guard let node = take(key) else { return [:] }
    guard let entries = entries(of: node, at: key, "a table such as \(key) = \(example)") else { return [:] }
    let expectation = Self.alternatives(HoldAction.allCases.map(\.rawValue))
    var holds: [String: HoldAction] = [:]
    for (name, node) in entries {
      guard HoldRequest.isName(name) else {
        fault(
          node.position, "“\(key)”: expected \(CommandTemplate.keySyntax) as the name of a hold, found \(quoted(name))")
        continue
      }
      let word: String? = if case .string(let text) = node.content { text } else { nil }
      holds[name] = word.flatMap(HoldAction.init(rawValue:))
      if holds[name] == nil {
        fault(node.position, "“\(key)”: expected \(expectation) for “\(name)”, found \(word.map(quoted) ?? node.kind)")
      }
    }
    return holds
  }
}
