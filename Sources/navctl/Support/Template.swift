// Why this file exists: status bars want one line of their own shape, without a JSON tool between.
import ArgumentParser
import CoordinatorAPI

/// A text with placeholders as destination files have them: `{id}`, `{binding}`, `{value.KEY}`; `{{` and `}}` are braces.
struct Template: Equatable {
  private enum Part: Equatable {
    case text(String)
    /// The names that lead to a member.
    case member([String])
  }
  private let parts: [Part]

  /// - Throws: `ValidationError` where a brace is not closed or not opened.
  init(_ text: String) throws {
    do throws(BracedText.Mistake) {
      parts = try BracedText(text.utf8).parts.map { part in
        switch part {
        case .literal(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .placeholder(let name):
          .member(name.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
        }
      }
    } catch {
      throw ValidationError("the format \(error.why)")
    }
  }

  /// The text for one presentation or event; what it does not have is empty.
  func line(_ json: JSON) -> String {
    parts.map { part in
      switch part {
      case .text(let text): return text
      case .member(let names):
        let member = names.reduce(Optional(json)) { $0?[$1] }
        return (member.map { $0.string ?? $0.text } ?? "").printable
      }
    }.joined()
  }
}
