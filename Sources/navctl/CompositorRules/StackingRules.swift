import PresentationModel
import TextFormats

/// Rules of labwc, whose actions put a window into the middle, then move it to edges and away from them.
extension CompositorRules {
  func labwc() -> Text {
    let match = attributes("identifier")
    var (actions, notes): ([String], [String]) = ([], [widened].compactMap(\.self))
    if let (width, height) = placement.size?.pixels {
      actions.append("name=\"ResizeTo\" width=\"\(width)\" height=\"\(height)\"")
    } else if placement.size != nil {
      notes.append("\(sizeWritten) needs the size of the output; nearest is the size that the program chooses")
    }
    if isAtPointer {
      actions.append("name=\"AutoPlace\" policy=\"cursor\"")
    } else if case .point(let x, let y)? = placement.place {
      actions.append("name=\"MoveTo\" x=\"\(x)\" y=\"\(y)\"")
    } else if let positions {
      actions.append("name=\"AutoPlace\" policy=\"center\"")
      let (x, horizontal) = side(positions.x, "left", "right")
      let (y, vertical) = side(positions.y, "up", "down")
      for edge in [horizontal, vertical].compactMap(\.self) {
        actions.append("name=\"MoveToEdge\" direction=\"\(edge)\" snapWindows=\"no\"")
      }
      if x != 0 || y != 0 { actions.append("name=\"MoveRelative\" x=\"\(x)\" y=\"\(y)\"") }
    }
    if placement.isSticky == true { actions.append("name=\"ToggleOmnipresent\"") }
    if placement.isAbove == true { actions.append("name=\"ToggleAlwaysOnTop\"") }
    if placement.isFullscreen == true { actions.append("name=\"ToggleFullscreen\"") }
    if placement.takesFocus == false {
      notes.append("focus = false: labwc has no rule for that; a new window gets the focus")
    }
    guard !actions.isEmpty else { return ([], notes) }
    return (["<windowRule \(match)>"] + actions.map { "  <action \($0) />" } + ["</windowRule>"], notes)
  }

  /// The pixels by which a window is moved away from an edge, and the edge; no edge in the middle.
  private func side(_ position: Position, _ start: String, _ end: String) -> (Int, String?) {
    switch position {
    case .start(let pixels): (Int(pixels), start)
    case .middle: (0, nil)
    case .end(let pixels): (-Int(pixels), end)
    }
  }
}

extension CompositorRules {
  /// The windows as attributes of an element of XML, as labwc and openbox have them.
  fileprivate func attributes(_ appID: String) -> String {
    criteria(appID, "title") { "\($0)=\"\(Self.xml(Self.wildcards($1)))\"" }.joined(separator: " ")
  }
}

/// Rules of openbox, whose negative positions count from the right and lower edges.
extension CompositorRules {
  func openbox() -> Text {
    let match = attributes("class")
    var (settings, notes): ([String], [String]) = ([], [widened].compactMap(\.self))
    if let positions {
      settings.append(
        "<position force=\"yes\"><x>\(coordinate(positions.x))</x><y>\(coordinate(positions.y))</y></position>")
    }
    if isAtPointer {
      settings.append("<position force=\"yes\"><x>center</x><y>center</y><monitor>mouse</monitor></position>")
      notes.append("\(placeWritten): openbox has no rule for that; nearest is the center of the pointer's monitor")
    }
    if let size = placement.size {
      settings.append("<size><width>\(length(size.width))</width><height>\(length(size.height))</height></size>")
      notes.append("its size counts without the frame")
    }
    if placement.isSticky == true { settings.append("<desktop>all</desktop>") }
    if placement.isAbove == true { settings.append("<layer>above</layer>") }
    if placement.takesFocus == false { settings.append("<focus>no</focus>") }
    if placement.isFullscreen == true { settings.append("<fullscreen>yes</fullscreen>") }
    guard !settings.isEmpty else { return ([], notes) }
    return (["<application \(match)>"] + settings.map { "  \($0)" } + ["</application>"], notes)
  }

  private func coordinate(_ position: Position) -> String {
    switch position {
    case .start(let pixels): "\(pixels)"
    case .middle: "center"
    case .end(let pixels): "-\(pixels)"
    }
  }

  private func length(_ length: WindowPlacement.Length) -> String {
    switch length {
    case .pixels(let number): "\(number)"
    case .percent(let number): "\(number)%"
    }
  }
}

/// Rules of KWin, which have pixels from the upper left corner of the screens, and the center.
extension CompositorRules {
  /// Values of a rule of KWin.
  private enum KWin {
    static let force = 2, apply = 3
    static let centered = 5, underPointer = 7
    static let regularExpression = 3
  }

  /// - Parameter name: the name of the rule.
  func kwin(_ name: String) -> Text {
    var (keys, notes): ([String], [String]) = (["Description=\(name)", "types=1"], [])
    // KWin compares X11 classes in small letters.
    let patterns = [
      ("wmclass", pattern.appID.map { "(?i)" + ShellPattern($0).expression }),
      ("title", pattern.title.map { ShellPattern($0).expression }),
    ]
    for case (let key, let expression?) in patterns {
      keys.append("\(key)=\(expression.replacingAll("\\", with: "\\\\"))")
      keys.append("\(key)match=\(KWin.regularExpression)")
    }
    let first = keys.count
    func add(_ key: String, _ value: String, _ rule: Int = KWin.apply) {
      keys += ["\(key)=\(value)", "\(key)rule=\(rule)"]
    }
    if let (width, height) = placement.size?.pixels {
      add("size", "\(width),\(height)")
    } else if placement.size != nil {
      notes.append("\(sizeWritten) needs the size of the screen; nearest is the size that the program chooses")
    }
    switch (positions?.x, positions?.y) {
    case (.start(let x)?, .start(let y)?):
      add("position", "\(x),\(y)")
      notes.append("its place counts from the upper left corner of all screens, and of a panel that is there")
    case (nil, nil):
      if isAtPointer { add("placement", "\(KWin.underPointer)", KWin.force) }
    default:
      add("placement", "\(KWin.centered)", KWin.force)
      if !isCentered {
        notes.append("\(placeWritten) needs the size of the screen and of the window; nearest is the center")
      }
    }
    // No name of a desktop means each.
    if placement.isSticky == true { add("desktops", "") }
    if placement.isAbove == true { add("above", "true") }
    if placement.isFullscreen == true { add("fullscreen", "true") }
    if placement.takesFocus == false {
      add("acceptfocus", "false", KWin.force)
      notes.append("focus = false: nearest is a window that never gets the focus")
    }
    return keys.count == first ? ([], notes) : (["[\(name)]"] + keys, notes)
  }
}
