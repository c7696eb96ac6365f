// Why this file exists: what rofi shows of navd, and what is meant by a line of it (rofi-script(5)).

import CoordinatorAPI
import TextFormats

/// A menu of what can be shown, and of what is.
struct RofiMenu: Equatable {
  /// What choosing a line does.
  enum Choice: Equatable {
    /// A tag of a group is selected, or not any more.
    case tag(group: String, String)
    /// What is shown there is dismissed; if something else is by then, nothing is.
    case dismissal(String, presentation: UInt64)
    /// A destination that is not shown is presented.
    case destination(String)
  }

  struct Line: Equatable {
    let text: String
    let choice: Choice
    /// Whether it is shown.
    let isActive: Bool
  }

  private(set) var lines: [Line] = []

  /// - Parameters:
  ///   - destinations: names, with what is known about each.
  ///   - group: only its tags, by themselves.
  init(_ state: StateView, destinations: [(name: String, about: JSON)], group: String?) {
    let isShown: (JSON) -> Bool = { $0["phase"] != "dismissing" }
    var members: [String: [String: JSON]] = [:]
    for presentation in state.presentations where isShown(presentation) {
      guard let name = presentation["group"]?.string, let tag = presentation["tag"]?.string else { continue }
      members[name, default: [:]][tag] = presentation
    }
    for (name, content) in (state.json["groups"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard group == nil || group == name else { continue }
      for tag in (content["tags"]?.array ?? []).compactMap(\.string) {
        // It comes back as an argument, and is to be no option then.
        let isBare = group != nil && !tag.hasPrefix("-")
        add(
          isBare ? tag : "\(name): \(tag)", titled: members[name]?[tag], .tag(group: name, tag),
          isActive: content["selection"]?.string == tag)
      }
    }
    guard group == nil else { return }
    var taken: Set<String> = []
    for presentation in state.presentations where presentation["group"] == nil && isShown(presentation) {
      guard let binding = presentation["binding"]?.string, let number = presentation["presentation"]?.unsigned else {
        continue
      }
      taken.insert(binding)
      let id = presentation["id"]?.string ?? ""
      add(
        id.isEmpty ? binding : "\(binding) \(id)", titled: presentation, .dismissal(binding, presentation: number),
        isActive: true)
    }
    for (name, about) in destinations where about["group"] == nil && !taken.contains(name) && Self.isSlot(name) {
      add(name, titled: nil, .destination(name), isActive: false)
    }
  }

  private mutating func add(_ name: String, titled presentation: JSON?, _ choice: Choice, isActive: Bool) {
    let title = presentation?["title"]?.string ?? ""
    lines.append(Line(text: title.isEmpty ? name : "\(name) – \(title)", choice: choice, isActive: isActive))
  }

  /// Whether a destination's name is also that of a slot, at which it can be presented (D2).
  private static func isSlot(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.isASCIILetter else { return false }
    return name.unicodeScalars.allSatisfy { $0.isASCIILetter || "0"..."9" ~= $0 || "_-.[]".unicodeScalars.contains($0) }
  }

  /// What rofi reads.
  /// - Parameter message: why what was chosen before could not be done.
  func text(prompt: String, message: String? = nil) -> String {
    var text = "\0prompt\u{1F}\(prompt.printable)\n\0no-custom\u{1F}true\n"
    if let message { text += "\0message\u{1F}\(message.printable.escapedForMarkup)\n" }
    let active = lines.indices.filter { lines[$0].isActive }.map(String.init)
    if !active.isEmpty { text += "\0active\u{1F}\(active.joined(separator: ","))\n" }
    for line in lines { text += "\(line.text.printable)\0info\u{1F}\(line.choice.info)\n" }
    return text
  }
}

extension RofiMenu.Choice {
  /// One line without control characters, which is what JSON is.
  var info: String {
    let words: [JSON] =
      switch self {
      case .tag(let group, let tag): ["tag", .string(group), .string(tag)]
      case .dismissal(let binding, let number): ["dismiss", .string(binding), JSON(number)]
      case .destination(let name): ["present", .string(name)]
      }
    return JSON.array(words).text
  }

  /// - Returns: nil where a menu of ours does not say that.
  init?(info: String) {
    let words = (try? JSON.parse(info))?.array ?? []
    switch (words.first?.string, words.count) {
    case ("tag", 3):
      guard let group = words[1].string, let tag = words[2].string else { return nil }
      self = .tag(group: group, tag)
    case ("dismiss", 3):
      guard let binding = words[1].string, let number = words[2].unsigned else { return nil }
      self = .dismissal(binding, presentation: number)
    case ("present", 2):
      guard let name = words[1].string else { return nil }
      self = .destination(name)
    default: return nil
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isASCIILetter: Bool { "a"..."z" ~= self || "A"..."Z" ~= self }
}
