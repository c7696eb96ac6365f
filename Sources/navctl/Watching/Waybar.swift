import CoordinatorAPI
import PresentationModel
import TextFormats

/// One line for a custom module of waybar (waybar-custom(5), `return-type: json`).
enum Waybar {
  /// `text` and `tooltip` are Pango markup, so they are escaped; `alt` and `class` are looked up in waybar's
  /// configuration and style sheet, so they are not.
  /// - Parameter entry: what is open; if nil, the text is empty and waybar hides the module.
  static func line(_ entry: StateEntry?) -> JSON {
    guard let entry else {
      return ["text": "", "alt": "", "tooltip": "", "class": ["none"], "percentage": 0]
    }
    let tag = entry.tag ?? ""
    let text = [entry.text(\.title), tag, entry.text(\.id), entry.text(\.binding)].first { !$0.isEmpty } ?? ""
    let classes = [entry.text(\.phase), entry.text(\.destination)].filter { !$0.isEmpty }
    let percentage: JSON =
      switch entry.value?["percentage"].map({ JSON($0) }) {
      case .integer(let number): .integer(number)
      case .real(let number) where number.isFinite: .real(number)
      default: 0
      }
    return [
      "text": .string(text.printable.escapedForMarkup),
      "alt": .string(tag),
      "tooltip": .string(entry.name.printable.escapedForMarkup),
      "class": .array(classes.map(JSON.string)),
      "percentage": percentage,
    ]
  }
}
