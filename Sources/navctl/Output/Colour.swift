/// The colours in use, by their meaning.
enum Colour: String {
  case title = "1"
  case good = "32"
  case pending = "33"
  case ending = "35"
  case bad = "31"

  func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

  init?(_ phase: PresentationEntry.Phase?) {
    switch phase {
    case .presented: self = .good
    case .waiting, .presenting: self = .pending
    case .dismissing: self = .ending
    case nil: return nil
    }
  }
}
