import PresentationModel
import TextFormats

/// A menu in rofi's script mode (rofi-script(5)): open items, and items that can be opened.
struct RofiMenu: Equatable {
  /// The effect of choosing a line.
  enum Choice: Equatable {
    /// Selects the tag of a group, or deselects it.
    case tag(group: String, String)
    /// Dismisses this presentation; does nothing if another one has replaced it.
    case dismissal(String, presentation: UInt64)
    /// Presents a destination that is not open.
    case destination(String)
  }

  struct Line: Equatable {
    let text: String
    let choice: Choice
    /// Whether the item is open.
    let isActive: Bool
  }

  private(set) var lines: [Line] = []

  /// - Parameter group: the group whose tags are listed alone; nil for everything.
  init(_ state: StateSnapshot, destinations: [NamedDestination], group: String?) {
    let shown = state.entries.filter { $0.knownPhase != .dismissing }
    for (name, content) in state.groupEntries.sorted(by: { $0.key < $1.key }) where group == nil || group == name {
      for tag in content.tags ?? [] {
        // rofi passes the chosen text back as an argument, which must not look like an option.
        let isBare = group != nil && !tag.hasPrefix("-")
        add(
          isBare ? tag : "\(name): \(tag)", titled: shown.last { $0.group == name && $0.tag == tag },
          .tag(group: name, tag), isActive: content.selection == tag)
      }
    }
    guard group == nil else { return }
    var taken: Set<String> = []
    for entry in shown where entry.group == nil {
      guard let number = entry.presentation, let binding = entry.binding else { continue }
      taken.insert(binding)
      add(entry.name, titled: entry, .dismissal(binding, presentation: number), isActive: true)
    }
    // A destination can be presented under its own name only if the name is also a binding (D2).
    for destination in destinations where destination.entry.group == nil {
      let name = destination.name
      guard !taken.contains(name), (try? BindingID(name)) != nil else { continue }
      add(name, titled: nil, .destination(name), isActive: false)
    }
  }

  private mutating func add(_ name: String, titled entry: StateEntry?, _ choice: Choice, isActive: Bool) {
    let title = entry?.title ?? ""
    lines.append(Line(text: title.isEmpty ? name : "\(name) – \(title)", choice: choice, isActive: isActive))
  }

  /// The text that rofi reads.
  /// - Parameter message: the reason why the previous choice failed.
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
  /// The choice as JSON, which is one line without control characters.
  var info: String {
    let words: [JSON] =
      switch self {
      case .tag(let group, let tag): ["tag", .string(group), .string(tag)]
      case .dismissal(let binding, let number): ["dismiss", .string(binding), JSON(number)]
      case .destination(let name): ["present", .string(name)]
      }
    return JSON.array(words).text
  }

  /// - Returns: nil if the text was not made by `info`.
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
