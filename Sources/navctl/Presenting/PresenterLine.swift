import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

/// A line that a program writes to `navctl presenter`: an answer to a call, or a report.
struct PresenterLine: Equatable {
  enum Content: Equatable {
    case presented
    case failed(error: String)
    case dismissed(result: Properties)
    case declined(message: String)
    case asking(message: String)
    case closed(result: Properties)
    case act(action: String, parameters: Properties)
    case update(value: Properties)
  }

  let presentation: UInt64
  let content: Content

  /// The members that give the subject of a line, each with the other members that it may have.
  private static let members: KeyValuePairs<String, [String]> = [
    "presented": [], "failed": ["error"], "dismissed": ["result"], "declined": ["message"], "asking": ["message"],
    "closed": ["result"], "act": ["action", "parameters"], "update": ["value"],
  ]

  /// - Throws: `JSON.Mismatch` with the expected and the found value.
  init(_ json: JSON) throws(JSON.Mismatch) {
    let names = Self.members.map(\.key)
    guard let members = json.object else { throw JSON.Mismatch(why: "expected an object, found \(json.kind)") }
    let found = names.filter { members[$0] != nil }
    guard found.count == 1, let name = found.first, let others = Self.members.first(where: { $0.key == name })?.value
    else {
      throw JSON.Mismatch(
        why: "expected exactly one of \(names.joined(separator: ", ")), found "
          + (found.isEmpty ? "none" : found.joined(separator: " and ")))
    }
    if let unknown = members.keys.sorted().first(where: { $0 != name && !others.contains($0) }) {
      throw JSON.Mismatch(
        why: "unknown member “\(unknown.printable)” of “\(name)”; expected "
          + (others.isEmpty ? "none" : others.joined(separator: " and ")))
    }
    guard let number = members[name]?.unsigned else {
      throw JSON.Mismatch(
        why: "\(name): expected the number of a presentation, found \(members[name]?.text.printable ?? "nothing")")
    }
    func text(_ member: String, required: Bool = false) throws(JSON.Mismatch) -> String {
      guard let value = members[member] else {
        if required { throw JSON.Mismatch(why: "\(name): expected “\(member)”, found none") }
        return ""
      }
      guard let text = value.string else {
        throw JSON.Mismatch(why: "\(member): expected a string, found \(value.kind)")
      }
      return text
    }
    func properties(_ member: String, required: Bool = false) throws(JSON.Mismatch) -> Properties {
      guard let value = members[member] else {
        if required { throw JSON.Mismatch(why: "\(name): expected “\(member)”, found none") }
        return [:]
      }
      do throws(JSON.Mismatch) { return Properties(value: try Value(value, as: .properties)) ?? [:] } catch {
        throw JSON.Mismatch(why: "\(member): \(error.why)")
      }
    }
    presentation = number
    content =
      switch name {
      case "presented": .presented
      case "failed": .failed(error: try text("error"))
      case "dismissed": .dismissed(result: try properties("result"))
      case "declined": .declined(message: try text("message"))
      case "asking": .asking(message: try text("message"))
      case "closed": .closed(result: try properties("result"))
      case "act": .act(action: try text("action", required: true), parameters: try properties("parameters"))
      default: .update(value: try properties("value", required: true))
      }
  }
}
