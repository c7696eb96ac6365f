// Why this file exists: bars and menus take text for markup, and ids and titles are text of other programs.

extension String {
  /// The text for where Pango or HTML is expected, as g_markup_escape_text makes it.
  var escapedForMarkup: String {
    var result = ""
    for character in unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "'": result += "&#39;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}
