import PresentationModel

// MARK: Outputs (U1–U3)

extension WindowTracker {
  /// Takes in that the windows of a presentation are to appear on another output.
  public mutating func move(_ handle: Handle, to output: String?) {
    let handle = program(of: handle)
    guard followed[handle] != nil else { return }
    followed[handle]!.output = output
    for id in followed[handle]!.windows { place(id, of: handle) }
  }

  /// Takes in that outputs are there no longer, before their windows move to others (U3).
  public mutating func outputsGone(_ gone: Set<String>) {
    for (handle, following) in followed.sorted(by: { $0.key < $1.key }) {
      guard case .shown = following.stage, following.rule.endsWithOutput else { continue }
      let known = following.windows.compactMap { windows[$0]?.properties.output }
      let places = known.isEmpty ? [following.output].compactMap(\.self) : known
      if !gone.isDisjoint(with: places) { effects.append(.outputGone(presentation(of: handle))) }
    }
  }

  /// Moves a window to the output of its presentation. A dialog appears where its parent is.
  mutating func place(_ id: String, of handle: Handle) {
    guard let output = followed[handle]?.output, capabilities?.contains(.move) == true,
      let window = windows[id]?.properties, window.output != output, window.parent ?? "" == ""
    else { return }
    moved = id
    effects.append(.move(window: id, output: output))
  }
}
