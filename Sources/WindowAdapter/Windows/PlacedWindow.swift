import PresentationModel

/// A window that was placed, and where it was seen last.
struct PlacedWindow {
  struct Spot: Equatable {
    /// The name of the output.
    var output: String
    /// The usable area of the output.
    var area: ScreenArea
    /// The area of the window, frame included.
    var frame: ScreenArea

    init(output: String, area: ScreenArea, frame: ScreenArea) {
      (self.output, self.area, self.frame) = (output, area, frame)
    }

    /// - Returns: nil unless the window floats, is shown and is not fullscreen.
    init?(_ properties: WindowProperties?, output: String, area: ScreenArea, frame: ScreenArea) {
      guard let properties, properties.floating == true, properties.fullscreen != true, properties.hidden != true
      else { return nil }
      self.init(output: output, area: area, frame: frame)
    }

    var isInView: Bool { area.contains(frame) }
  }

  private let placement: WindowPlacement
  private(set) var spot: Spot?

  init(_ placement: WindowPlacement, at spot: Spot? = nil) {
    self.placement = placement
    self.spot = spot
  }

  /// Notes where the window is now.
  /// - Parameter outputs: the names of the outputs.
  /// - Returns: the placement that brings the window into view again; nil if it is in view, or if its user
  ///   has moved it out of view or to another output.
  mutating func move(to spot: Spot, among outputs: [String]) -> WindowPlacement? {
    defer { self.spot = spot }
    guard let former = self.spot, former.isInView, !spot.isInView else { return nil }
    let hasChanged = former.output == spot.output ? former.area != spot.area : !outputs.contains(former.output)
    // Focus, workspaces and stacking are its user's since it was placed.
    return hasChanged
      ? WindowPlacement(placement.place ?? .anchor(.center), size: placement.size, margin: placement.margin) : nil
  }
}
