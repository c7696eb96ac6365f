import PresentationModel

// MARK: Outputs (U1–U3)

extension WindowTracker {
  /// Sets the output of a presentation's windows, and moves them to it.
  public mutating func move(_ handle: Handle, to output: String?) {
    let handle = program(of: handle)
    guard followed[handle] != nil else { return }
    followed[handle]!.output = output
    for id in followed[handle]!.windows { place(id, of: handle) }
  }

  /// Brings the windows of a presentation to where their user is, with the focus (N11).
  /// - Parameter output: the output to which they come; nil for the place in use.
  public mutating func bring(_ handle: Handle, to output: String?) {
    guard let following = followed[program(of: handle)], let last = following.windows.last else { return }
    if output != nil || capabilities?.contains(.summon) != true {
      if output != nil { move(handle, to: output) }
      if capabilities?.contains(.activate) == true { raise(handle) }
    } else {
      activated = last
      for id in following.windows { noteBrought(id, of: program(of: handle)) }
      expect(following.windows)
      effects += following.windows.map { .summon(window: $0) }
    }
  }

  /// The places of the windows of presentations that are on the screen (N11).
  public var places: [Handle: WindowPlaces.Place] {
    guard let capabilities else { return [:] }
    var places: [Handle: WindowPlaces.Place] = [:]
    for (_, following) in followed.all {
      guard case .shown = following.stage, case .presentation(let handle) = following.role else { continue }
      let known = following.windows.compactMap { windows[$0]?.properties }
      // A key that is pressed again at once is about what its user is about to see.
      if !arriving.isDisjoint(with: following.windows) {
        places[handle] = WindowPlaces.Place()
        continue
      }
      places[handle] = WindowPlaces.Place(
        isOutOfView: capabilities.contains(.summon) && known.allSatisfy { $0.inView == false },
        outputs: Set(known.compactMap(\.output)))
    }
    return places
  }

  /// Notes that windows were asked to come into view.
  mutating func expect(_ ids: [String]) {
    arriving.formUnion(ids)
    effects.append(.waitForArrival(milliseconds: Self.timeToArrive))
  }

  /// Notes what the window system tells of a window that was asked to come into view.
  mutating func noteArrival(of id: String, _ changes: WindowProperties) {
    if changes.inView == true || changes.output ?? "" != "" { arriving.remove(id) }
  }

  /// Notes that the time of ``Effect/waitForArrival(milliseconds:)`` is over: windows are where the window system says.
  public mutating func arrivalTimeIsOver() {
    noteArrived(arriving)
    arriving = []
  }

  /// Notes that outputs are gone, before their windows move to others (U3).
  public mutating func outputsGone(_ gone: Set<String>) {
    for (handle, following) in followed.sorted {
      guard case .shown = following.stage, following.rule.endsWithOutput else { continue }
      let known = following.windows.compactMap { windows[$0]?.properties.output }
      let places = known.isEmpty ? [following.output].compactMap(\.self) : known
      if !gone.isDisjoint(with: places) { report(.outputGone(presentation(of: handle))) }
    }
  }

  /// Moves a window to the output of its presentation. A dialog appears beside its parent.
  mutating func place(_ id: String, of handle: Handle) {
    guard let output = followed[handle]?.output, capabilities?.contains(.move) == true,
      let window = windows[id]?.properties, window.output != output, window.parent ?? "" == ""
    else { return }
    moved = id
    noteBrought(id, of: handle)
    effects.append(.move(window: id, output: output))
  }
}
