import ArgumentParser
import PresentationModel
import TextFormats

/// A text with placeholders as in destination files: `{id}`, `{binding}`, `{value.KEY}`; `{{` and `}}` are braces.
/// A form may follow after a colon: `{title:markup}`.
struct OutputTemplate: Equatable {
  /// The conversion of a field's text.
  enum Form: String, CaseIterable {
    /// The text escaped for Pango and HTML.
    case markup
    /// The value as JSON; `null` if absent.
    case json
    /// Milliseconds since 1970, as local date and time.
    case time
    /// Milliseconds since 1970, as the time since then.
    case elapsed
    /// Milliseconds, in the two largest suitable units.
    case duration
  }

  private enum Part: Equatable {
    case text(String)
    /// The path to a member, and its form.
    case member([String], Form?)
  }
  private let parts: [Part]

  /// - Throws: `ValidationError` for an unbalanced brace or an unknown form.
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
      throw BracedText.Mistake("has {\(text.printable)}; expected one of \(forms) after “:”")
    }
    return .member(names, form)
  }

  /// - Throws: `ValidationError` if the template names an unknown field.
  func require(_ fields: TemplateFields) throws {
    for case .member(let names, _) in parts {
      if let problem = fields.problem(names) {
        throw ValidationError("the format has {\(names.joined(separator: ".").printable)}; \(problem)")
      }
    }
  }

  /// The text for one presentation, history entry or event; absent members are empty.
  /// - Parameter now: the time in milliseconds since 1970.
  func line(_ json: JSON, at now: UInt64 = Timestamp.now) -> String {
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
    let plain = (member?.plainText ?? "").printable
    switch form {
    case nil: return plain
    case .markup: return plain.escapedForMarkup
    case .json: return (member ?? .null).text
    // A member that is not a number is printed unchanged.
    case .time: return member?.unsigned.map { Timestamp.local($0) } ?? plain
    case .elapsed: return member?.unsigned.map { Timestamp.elapsed(since: $0, at: now) } ?? plain
    case .duration: return member?.unsigned.map { DurationText.text($0) } ?? plain
    }
  }
}

/// The fields that a template can name.
struct TemplateFields {
  /// The fields with members; an empty list allows any name.
  private static let members: [String: [String]] = [
    StateEntry.keys.value.name: [], StateEntry.keys.containerValues.name: [], "item": [], "parameters": [],
    StateSnapshot.keys.groups.name: [], StateSnapshot.keys.stacks.name: [],
    StateSnapshot.keys.parked.name: [],
    EndingEntry.keys.by.name: RequesterEntry.table.rows.map(\.name),
  ]

  let names: [String]

  init(_ names: [String]) { self.names = Set(names).sorted() }

  /// The fields of a presentation in the state.
  static let presentation = TemplateFields(StateEntry.ofState.rows.map(\.name))

  /// The fields of all events, and of the state before them.
  static let event = {
    let (entry, group) = (StateEntry.keys, GroupEntry.keys)
    return TemplateFields(
      StateSnapshot.table.rows.map(\.name) + [
        "action", entry.asking.name, entry.binding.name, "event", entry.group.name, entry.id.name, "hold", "in-force",
        "item", "items", entry.message.name, "parameters", "path", entry.phase.name, entry.presentation.name,
        group.queue.name,
        EndingEntry.keys.reason.name, entry.stack.name, entry.tag.name, group.tags.name,
      ])
  }()

  /// The fields of an entry in the history.
  static let history = TemplateFields(EndingEntry.table.rows.map(\.name) + [PresentationResult.keys.error.name])

  /// The reason why a path names no field; nil if it names one.
  fileprivate func problem(_ path: [String]) -> String? {
    guard let first = path.first, names.contains(first) else {
      let hint = nearest(to: path.first ?? "", among: names).map { "did you mean {\($0)}? " } ?? ""
      return "\(hint)the fields are \(names.joined(separator: ", "))"
    }
    guard path.count > 1 else { return nil }
    guard let inner = Self.members[first] else { return "{\(first)} has no members" }
    guard inner.isEmpty || inner.contains(path[1]) && path.count == 2 else {
      return "{\(first)} has the members \(inner.joined(separator: ", "))"
    }
    return nil
  }
}
