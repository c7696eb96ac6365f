// Why this file exists: status bars and scripts want one line of their own shape, without a JSON tool between.

import ArgumentParser
import CoordinatorAPI
import TextFormats

/// A text with placeholders as destination files have them: `{id}`, `{binding}`, `{value.KEY}`; `{{` and `}}` are braces.
/// After a colon stands how it is written: `{title:markup}`.
struct Template: Equatable {
  /// How a field is written where not as it stands.
  enum Form: String, CaseIterable {
    /// Escaped for Pango and HTML.
    case markup
    /// As JSON; `null` where there is none.
    case json
    /// Milliseconds since 1970, as the clock on the wall says it.
    case time
    /// The same, as how long ago that was.
    case elapsed
    /// Milliseconds, in the two greatest units that say it.
    case duration
  }

  private enum Part: Equatable {
    case text(String)
    /// The names that lead to a member, and how that is written.
    case member([String], Form?)
  }
  private let parts: [Part]

  /// - Throws: `ValidationError` where a brace is not closed or not opened, or there is no such form.
  init(_ text: String) throws {
    do throws(BracedText.Mistake) {
      parts = try BracedText(text.utf8).parts.map { part throws(BracedText.Mistake) in
        switch part {
        case .literal(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .placeholder(let name): try Self.member(name)
        }
      }
    } catch {
      throw ValidationError("the format \(error.why)")
    }
  }

  private static func member(_ text: String) throws(BracedText.Mistake) -> Part {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let names = halves[0].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard halves.count > 1 else { return .member(names, nil) }
    guard let form = Form(rawValue: halves[1]) else {
      let forms = Form.allCases.map(\.rawValue).joined(separator: ", ")
      throw BracedText.Mistake("has {\(text.printable)}; after “:” one of \(forms) would do")
    }
    return .member(names, form)
  }

  /// - Throws: `ValidationError` where the template names what can never be there.
  func require(_ fields: Fields) throws {
    for case .member(let names, _) in parts {
      if let problem = fields.problem(names) {
        throw ValidationError("the format has {\(names.joined(separator: ".").printable)}; \(problem)")
      }
    }
  }

  /// The text for one presentation, ending or event; what it does not have is empty.
  /// - Parameter now: milliseconds since 1970.
  func line(_ json: JSON, at now: UInt64 = WallClock.now) -> String {
    parts.map { part in
      switch part {
      case .text(let text): return text
      case .member(let names, let form):
        let member = names.reduce(Optional(json)) { $0?[$1] }
        return Self.text(member, form, now)
      }
    }.joined()
  }

  private static func text(_ member: JSON?, _ form: Form?, _ now: UInt64) -> String {
    let plain = (member.map { $0.string ?? $0.text } ?? "").printable
    switch form {
    case nil: return plain
    case .markup: return plain.escapedForMarkup
    case .json: return (member ?? .null).text
    // What is no number stays what it is.
    case .time: return member?.unsigned.map { WallClock.local($0) } ?? plain
    case .elapsed: return member?.unsigned.map { WallClock.elapsed(since: $0, at: now) } ?? plain
    case .duration: return member?.unsigned.map { DurationText.text($0) } ?? plain
    }
  }
}

/// What a template can name.
struct Fields {
  /// Members that have members, of any name where none are given.
  private static let members: [String: [String]] = [
    "value": [], "container-values": [], "item": [], "parameters": [], "groups": [], "stacks": [],
    "by": ["client", "pid", "program"],
  ]

  let names: [String]

  /// Those of a presentation in the state.
  static let presentation = Fields(names: [
    "binding", "container-values", "destination", "group", "id", "owner", "parent", "phase", "pid", "presentation",
    "priority", "since", "stack", "style", "tag", "timeout", "title", "unit", "value",
  ])

  /// Those of all events, and of the state that comes first.
  static let event = Fields(names: [
    "action", "binding", "event", "group", "groups", "id", "item", "parameters", "path", "phase", "presentation",
    "presentations", "queue", "reason", "serial", "stack", "stacks", "tag", "tags",
  ])

  /// Those of an ending that is remembered.
  static let ending = Fields(names: [
    "binding", "by", "destination", "error", "group", "id", "presentation", "reason", "serial", "shown-for", "stack",
    "time",
  ])

  /// Why there can be nothing of that name; nil where there can.
  fileprivate func problem(_ path: [String]) -> String? {
    guard let first = path.first, names.contains(first) else {
      let hint = nearest(to: path.first ?? "", among: names).map { "did you mean {\($0)}? " } ?? ""
      return "\(hint)there are \(names.joined(separator: ", "))"
    }
    guard path.count > 1 else { return nil }
    guard let inner = Self.members[first] else { return "{\(first)} has nothing in it" }
    guard inner.isEmpty || inner.contains(path[1]) && path.count == 2 else {
      return "in {\(first)} there are \(inner.joined(separator: ", "))"
    }
    return nil
  }
}
