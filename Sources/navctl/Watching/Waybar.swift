// Why this file exists: waybar's custom modules have a line format of their own (waybar-custom(5), `return-type: json`).

import CoordinatorAPI
import TextFormats

/// One line for waybar.
enum Waybar {
  /// - Parameter presentation: what is shown, nil for nothing: then the text is empty and waybar hides the module.
  ///
  /// `text` and `tooltip` are Pango markup, so they are escaped; `alt` and `class` are looked up in waybar's
  /// configuration and style sheet, and stand as they are.
  static func line(_ presentation: JSON?) -> JSON {
    guard let presentation else {
      return ["text": "", "alt": "", "tooltip": "", "class": ["none"], "percentage": 0]
    }
    let binding = presentation["binding"]?.string ?? ""
    let id = presentation["id"]?.string ?? ""
    let tag = presentation["tag"]?.string ?? ""
    let title = presentation["title"]?.string ?? ""
    let text = [title, tag, id, binding].first { !$0.isEmpty } ?? ""
    let classes = [presentation["phase"]?.string, presentation["destination"]?.string].compactMap { $0 }
    let percentage: JSON =
      switch presentation["value"]?["percentage"] {
      case .integer(let number): .integer(number)
      case .real(let number) where number.isFinite: .real(number)
      default: 0
      }
    return [
      "text": .string(text.printable.escapedForMarkup),
      "alt": .string(tag),
      "tooltip": .string((id.isEmpty ? binding : "\(binding) \(id)").printable.escapedForMarkup),
      "class": .array(classes.filter { !$0.isEmpty }.map(JSON.string)),
      "percentage": percentage,
    ]
  }
}
