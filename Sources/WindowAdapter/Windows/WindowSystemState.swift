import PresentationModel

/// All that a backend tells of the window system.
struct WindowSystemState {
  var windows = WindowTable()
  /// The capabilities that were found to work, in the order of the contract.
  var capabilities: [WindowCapability] = []
  /// In the window system's order.
  var outputs: [String] = []
  /// Empty if it is not known.
  var focusedOutput = ""

  /// Sets the output with the focus where the protocol does not tell it: a window with the focus does, and so does the only output.
  mutating func inferFocusedOutput() {
    let focused = windows.focused.flatMap { windows.properties(of: $0)?.output } ?? ""
    if !focused.isEmpty {
      focusedOutput = focused
    } else if outputs.count == 1 {
      focusedOutput = outputs[0]
    } else if !outputs.contains(focusedOutput) {
      focusedOutput = ""
    }
  }
}

/// What clients ask of a window.
enum WindowRequest: Hashable {
  case close, activate, hide, show, summon
  case move(output: String)

  /// The capability without which it is refused.
  var capability: WindowCapability {
    switch self {
    case .close: .close
    case .activate: .activate
    case .hide, .show: .hide
    case .move: .move
    case .summon: .summon
    }
  }

  /// As the subject of a sentence.
  var noun: String {
    switch self {
    case .close: "closing a window"
    case .activate: "activating a window"
    case .hide: "hiding a window"
    case .show: "showing a hidden window"
    case .move: "moving a window to another output"
    case .summon: "bringing a window to where its user is"
    }
  }
}
