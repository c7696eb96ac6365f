// Why this file exists: colours say the same wherever navctl uses them.

/// The few colours in use, by their meaning.
enum Colour: String {
  case title = "1"
  case good = "32"
  case underWay = "33"
  case going = "35"
  case bad = "31"

  func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

  /// For the words of the contract that say how something stands.
  init?(phase: String) {
    switch phase {
    case "presented": self = .good
    case "waiting", "presenting": self = .underWay
    case "dismissing": self = .going
    default: return nil
    }
  }
}
