import PresentationModel
import TextFormats

extension TableReader {
  /// Reads a table with the effect of each hold (H3).
  /// - Parameter example: a valid table, as written in a file.
  mutating func holds(_ key: String, example: String) -> [String: HoldAction] {
    guard let node = take(key) else { return [:] }
    guard let entries = entries(of: node, at: key, "a table such as \(key) = \(example)") else { return [:] }
    let words = HoldAction.allCases.map { "“\($0.rawValue)”" }
    let expectation = words.dropLast().joined(separator: ", ") + " or " + words.last!
    var holds: [String: HoldAction] = [:]
    for (name, node) in entries {
      guard HoldRequest.isName(name) else {
        fault(node.position, "“\(key)”: expected \(Template.keySyntax) as the name of a hold, found \(quoted(name))")
        continue
      }
      guard case .string(let word) = node.content else {
        fault(node.position, "“\(key)”: expected \(expectation) for “\(name)”, found \(node.kind)")
        continue
      }
      guard let action = HoldAction(rawValue: word) else {
        fault(node.position, "“\(key)”: expected \(expectation) for “\(name)”, found \(quoted(word))")
        continue
      }
      holds[name] = action
    }
    return holds
  }
}
