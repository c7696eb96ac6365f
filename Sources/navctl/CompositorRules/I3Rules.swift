import PresentationModel

/// Rules of sway and i3, whose positions are pixels and shares of the output, and know nothing of the
/// size of the window.
extension CompositorRules {
  /// The size of an output for an example, in pixels.
  private static let output = (width: UInt32(1920), height: UInt32(1080))

  /// - Parameter appID: the name of the criterion for the app-id.
  func i3(appID: String) -> Text {
    let criteria = pattern.i3Criteria(appID: appID)
    var (commands, notes): ([String], [String]) = ([], [])
    if placement.makesFloating { commands.append("floating enable") }
    if let size = placement.size { commands.append("resize set \(size.width.i3) \(size.height.i3)") }
    if isAtPointer {
      commands.append("move position mouse")
    } else if let positions {
      let x = words(positions.x, placement.size?.width)
      let y = words(positions.y, placement.size?.height)
      if isCentered {
        commands.append("move position center")
      } else if let x, let y {
        commands.append("move position \(x) \(y)")
      } else {
        commands.append("move position center")
        notes.append("\(placeWritten) needs the size of the output and of the window; nearest is the center\(example)")
      }
    }
    if placement.isSticky == true { commands.append("sticky enable") }
    if placement.isFullscreen == true { commands.append("fullscreen enable") }
    let rule = commands.isEmpty ? [] : ["for_window \(criteria) \(commands.joined(separator: ", "))"]
    return ((placement.takesFocus == false ? ["no_focus \(criteria)"] : []) + rule, notes)
  }

  /// A position in words; nil if it depends on the size of the output.
  private func words(_ position: Position, _ length: WindowPlacement.Length?) -> String? {
    switch (position, length) {
    case (.start(let pixels), _): "\(pixels) px"
    case (.middle, .percent(let share)?): "\((100 - share) / 2) ppt"
    case (.end(0), .percent(let share)?): "\(100 - share) ppt"
    default: nil
    }
  }

  /// The command for an output of a common size, as the end of a note.
  private var example: String {
    guard let positions, let size = placement.size else { return "" }
    func pixels(_ position: Position, _ length: WindowPlacement.Length, of whole: UInt32) -> UInt32 {
      let room = whole - min(whole, length.pixels(of: whole))
      return switch position {
      case .start(let pixels): pixels
      case .middle: room / 2
      case .end(let pixels): room - min(room, pixels)
      }
    }
    let (width, height) = Self.output
    return ", and on an output of \(width) by \(height) pixels without bars: move position "
      + "\(pixels(positions.x, size.width, of: width)) px \(pixels(positions.y, size.height, of: height)) px"
  }
}

extension WindowPlacement.Length {
  fileprivate var i3: String {
    switch self {
    case .pixels(let number): "\(number) px"
    case .percent(let number): "\(number) ppt"
    }
  }
}
