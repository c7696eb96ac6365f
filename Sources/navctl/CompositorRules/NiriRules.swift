import PresentationModel

/// Rules of niri, which opens a floating window in the center, or beside edges of the usable area.
extension CompositorRules {
  func niri() -> Text {
    let match = criteria("app-id", "title") { "\($0)=\(Self.quotedExpression($1))" }.joined(separator: " ")
    var (properties, notes): ([String], [String]) = ([], [])
    if placement.makesFloating { properties.append("open-floating true") }
    if let size = placement.size {
      properties.append("default-column-width { \(length(size.width)); }")
      properties.append("default-window-height { \(length(size.height)); }")
    }
    if isAtPointer { notes.append("\(placeWritten): niri has no rule for that; nearest is the center, where it opens") }
    if !isCentered, let positions {
      let (x, horizontal) = side(positions.x, "left", "right")
      let (y, vertical) = side(positions.y, "top", "bottom")
      let corner = [vertical, horizontal].compactMap(\.self).joined(separator: "-")
      properties.append("default-floating-position x=\(x) y=\(y) relative-to=\"\(corner)\"")
    }
    if placement.isSticky == true { notes.append("sticky = true: niri has no rule for that; it is on one workspace") }
    if placement.isAbove == true { notes.append("above = true: niri shows each floating window above the others") }
    if placement.takesFocus == false { properties.append("open-focused false") }
    if placement.isFullscreen == true { properties.append("open-fullscreen true") }
    guard !properties.isEmpty else { return ([], notes) }
    return (["window-rule {", "    match \(match)"] + properties.map { "    \($0)" } + ["}"], notes)
  }

  private func length(_ length: WindowPlacement.Length) -> String {
    switch length {
    case .pixels(let number): "fixed \(number)"
    case .percent(let number): "proportion \(number / 100).\(number % 100 < 10 ? "0" : "")\(number % 100)"
    }
  }

  /// The pixels from an edge, and the edge; no edge in the middle.
  private func side(_ position: Position, _ start: String, _ end: String) -> (UInt32, String?) {
    switch position {
    case .start(let pixels): (pixels, start)
    case .middle: (0, nil)
    case .end(let pixels): (pixels, end)
    }
  }
}
