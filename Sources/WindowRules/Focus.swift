import PresentationModel

// MARK: Focus (N7, N9)

extension WindowTracker {
  /// Brings the windows of a presentation to the front: the last one, which may be a dialog of the others.
  public mutating func raise(_ handle: Handle) {
    guard let id = followed[program(of: handle)]?.windows.last else { return }
    activated = id
    effects.append(.activate(window: id))
  }

  /// Reports the focus if it is at another window, or if that belongs to a presentation now.
  mutating func noteFocus(of id: String) {
    guard windows[id]?.properties.focused == true else { return }
    let owner = owner(of: id)
    if let focus, focus == (id, owner) { return }
    let isMoved = moved != nil && moved == focus?.window && moved != id
    if isMoved { moved = nil }
    let isOwn = activated == id || isMoved
    activated = nil
    focus = (id, owner)
    effects.append(.focused(owner.map(presentation), isOwn: isOwn))
  }
}
