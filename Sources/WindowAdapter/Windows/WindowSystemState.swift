import PresentationModel

/// The state of the window system, as far as a backend reports it.
struct WindowSystemState {
  var windows = WindowTable()
  /// The capabilities that were found to work, in the order of the contract.
  var capabilities: [WindowCapability] = []
  /// The outputs in the window system's order.
  var outputs: [String] = []
  /// The output with the focus; empty if it is not known.
  var focusedOutput = ""

  /// Sets the output with the focus where the protocol does not report it: the focused window's output, or else the only output.
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

/// The requests of clients for a window.
enum WindowRequest: Hashable {
  case close, activate, hide, show, summon
  case move(output: String)
  case place(WindowPlacement)

  /// The capabilities that the request requires.
  var needs: Set<WindowCapability> {
    switch self {
    case .close: [.close]
    case .activate: [.activate]
    case .hide, .show: [.hide]
    case .move: [.move]
    case .summon: [.summon]
    case .place(let placement): placement.needs
    }
  }

  /// The request as the subject of a sentence.
  var noun: String {
    switch self {
    case .close: "closing a window"
    case .activate: "activating a window"
    case .hide: "hiding a window"
    case .show: "showing a hidden window"
    case .move: "moving a window to another output"
    case .place: "placing a window"
    case .summon: "bringing a window to where its user is"
    }
  }
}
