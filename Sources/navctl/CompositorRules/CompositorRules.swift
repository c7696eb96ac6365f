import ArgumentParser
import PresentationModel
import TextFormats

extension Compositor: ExpressibleByArgument {
  /// A text as a comment of the configuration.
  func comment(_ text: String) -> String {
    switch self {
    case .sway, .i3, .kwin: "# \(text)"
    case .hyprland: "-- \(text)"
    case .niri: "// \(text)"
    // Two hyphens would end the comment.
    case .labwc, .openbox: "<!-- \(text.replacingAll("--", with: "- -")) -->"
    }
  }

  /// The lines that say what the file of a destination says of its windows.
  /// - Parameters:
  ///   - name: the name of the destination.
  ///   - pattern: the windows that are meant.
  ///   - placement: where and how they are shown.
  func rules(_ name: String, _ pattern: WindowPattern, _ placement: WindowPlacement) -> [String] {
    guard !pattern.isEmpty else {
      return [
        comment("\(name): its file has neither app-id nor title, so that no rule can say which windows are meant")
      ]
    }
    let rules = CompositorRules(pattern: pattern, placement: placement)
    let (lines, notes) =
      switch self {
      case .sway, .i3: rules.i3(appID: self == .sway ? "app_id" : "class")
      case .hyprland: rules.hyprland()
      case .niri: rules.niri()
      case .labwc: rules.labwc()
      case .openbox: rules.openbox()
      case .kwin: rules.kwin(name)
      }
    return notes.map { comment("\(name): \($0)") } + lines
  }
}

/// The rules for the windows of one destination. Each language says what it cannot say, and the lines
/// have what comes nearest.
struct CompositorRules {
  typealias Text = (lines: [String], notes: [String])

  let pattern: WindowPattern
  let placement: WindowPlacement

  /// The position along one axis of the usable area.
  enum Position {
    /// Pixels from the left or upper edge.
    case start(UInt32)
    case middle
    /// Pixels from the right or lower edge.
    case end(UInt32)
  }

  /// The positions of a place that is not at the pointer; nil for none.
  var positions: (x: Position, y: Position)? {
    let margin = placement.margin ?? 0
    switch placement.place {
    case nil, .pointer?: return nil
    case .point(let x, let y)?: return (.start(x), .start(y))
    case .anchor(let anchor)?:
      func position(_ side: WindowPlacement.Side) -> Position {
        switch side {
        case .start: .start(margin)
        case .middle: .middle
        case .end: .end(margin)
        }
      }
      return (position(anchor.sides.x), position(anchor.sides.y))
    }
  }

  var isCentered: Bool { placement.place == .anchor(.center) }
  var isAtPointer: Bool { placement.place == .pointer }
  /// The place in the words of the file, for a note.
  var placeWritten: String { "place = \"\(placement.place?.text ?? "")\"" }
  var sizeWritten: String { "size = \"\(placement.size?.text ?? "")\"" }

  // MARK: The windows

  /// The patterns as criteria of a language.
  /// - Parameters:
  ///   - appID: the name of the criterion for the app-id.
  ///   - form: makes a criterion of a name and a pattern.
  func criteria(_ appID: String, _ title: String, _ form: (_ name: String, _ pattern: String) -> String) -> [String] {
    [(appID, pattern.appID), (title, pattern.title)].compactMap { name, pattern in pattern.map { form(name, $0) } }
  }

  /// A shell pattern with `*` and `?` alone, as labwc and openbox have them.
  static func wildcards(_ pattern: String) -> String {
    ShellPattern(pattern).parts.map { part in
      switch part {
      case .anyText: "*"
      case .anyCharacter, .oneOf, .literal("*"), .literal("?"): "?"
      case .literal(let scalar): String(scalar)
      }
    }.joined()
  }

  /// The note about a pattern that ``wildcards(_:)`` widens; nil if it is the same.
  var widened: String? {
    [pattern.appID, pattern.title].compactMap(\.self).contains { $0.contains("[") || $0.contains("\\") }
      ? "“[…]” and “\\” of its pattern are “?” here, which fits any character" : nil
  }

  /// A pattern as a regular expression in double quotes, in which a backslash escapes.
  static func quotedExpression(_ pattern: String) -> String {
    "\"\(ShellPattern(pattern).expression.replacingAll("\\", with: "\\\\"))\""
  }

  static func xml(_ text: String) -> String {
    text.replacingAll("&", with: "&amp;").replacingAll("<", with: "&lt;").replacingAll("\"", with: "&quot;")
  }
}

extension WindowPlacement.Size {
  /// The size in pixels; nil if a side is a share of the output.
  var pixels: (width: UInt32, height: UInt32)? {
    guard case (.pixels(let width), .pixels(let height)) = (width, height) else { return nil }
    return (width, height)
  }
}

extension WindowPlacement.Length {
  /// Pixels; for a share, those of an output of a size.
  func pixels(of whole: UInt32) -> UInt32 {
    switch self {
    case .pixels(let number): number
    case .percent(let number): whole * number / 100
    }
  }
}
