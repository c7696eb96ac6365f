import TextFormats

/// One line for a custom module of waybar (waybar-custom(5), `return-type: json`).
enum Waybar {
  /// `text` and `tooltip` are Pango markup, so they are escaped; `alt` and `class` are looked up in waybar's
  /// configuration and style sheet, so they are not.
  /// - Parameter presentation: what is open; if nil, the text is empty and waybar hides the module.
  static func line(_ presentation: PresentationEntry?) -> JSON {
    guard let presentation else {
      return ["text": "", "alt": "", "tooltip": "", "class": ["none"], "percentage": 0]
    }
    let tag = presentation.tag ?? ""
    let text = [presentation.title, tag, presentation.id, presentation.binding].first { !$0.isEmpty } ?? ""
    let classes = [presentation.text(.phase), presentation.text(.destination)].filter { !$0.isEmpty }
    let percentage: JSON =
      switch presentation.value?["percentage"] {
      case .integer(let number): .integer(number)
      case .real(let number) where number.isFinite: .real(number)
      default: 0
      }
    return [
      "text": .string(text.printable.escapedForMarkup),
      "alt": .string(tag),
      "tooltip": .string(presentation.name.printable.escapedForMarkup),
      "class": .array(classes.map(JSON.string)),
      "percentage": percentage,
    ]
  }
}
