import PresentationModel

/// Rules of Hyprland in Lua, as it has them since 0.55, with sums of the sizes of monitor and window.
extension CompositorRules {
  func hyprland() -> Text {
    let match = criteria("class", "title") { "\($0) = \(Self.quotedExpression($1))" }.joined(separator: ", ")
    var (effects, notes): ([String], [String]) = ([], [])
    if placement.makesFloating { effects.append("float = true") }
    if let size = placement.size {
      effects.append("size = { \(length(size.width, "monitor_w")), \(length(size.height, "monitor_h")) }")
    }
    if isAtPointer {
      effects.append("move = { \"cursor_x\", \"cursor_y\" }")
    } else if isCentered {
      effects.append("center = true")
    } else if let positions {
      effects.append("move = { \"\(sum(positions.x, "w"))\", \"\(sum(positions.y, "h"))\" }")
      notes.append("its place counts from the edges of the monitor; add the height of a bar")
    }
    if placement.isSticky == true || placement.isAbove == true { effects.append("pin = true") }
    if placement.isAbove == true, placement.isSticky != true {
      notes.append("above = true: nearest is “pin”, which also shows it on every workspace")
    }
    if placement.takesFocus == false { effects.append("no_initial_focus = true") }
    if placement.isFullscreen == true { effects.append("fullscreen = true") }
    guard !effects.isEmpty else { return ([], notes) }
    return (["hl.window_rule({ match = { \(match) }, \(effects.joined(separator: ", ")) })"], notes)
  }

  private func length(_ length: WindowPlacement.Length, _ whole: String) -> String {
    switch length {
    case .pixels(let number): "\(number)"
    case .percent(let number): "\"\(whole)*\(number)/100\""
    }
  }

  /// - Parameter axis: `w` or `h`, the last letter of the sizes.
  private func sum(_ position: Position, _ axis: String) -> String {
    switch position {
    case .start(let pixels): "\(pixels)"
    case .middle: "(monitor_\(axis)-window_\(axis))/2"
    case .end(let pixels): "monitor_\(axis)-window_\(axis)-\(pixels)"
    }
  }
}
