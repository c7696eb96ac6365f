/// The places of the windows of presentations, and the place of their user (N11).
public struct WindowPlaces: Hashable, Sendable {
  public struct Place: Hashable, Sendable {
    /// Whether none of the windows is in view, and the window system can bring them into view; false if it does not tell.
    public var isOutOfView: Bool
    /// The outputs of the windows; empty if the window system does not tell them.
    public var outputs: Set<String>

    public init(isOutOfView: Bool = false, outputs: Set<String> = []) {
      self.isOutOfView = isOutOfView
      self.outputs = outputs
    }
  }

  /// The output with the focus; nil if the window system does not tell it.
  public var focusedOutput: String?
  /// The places of those presentations that are shown and follow windows.
  public var ofPresentations: [Handle: Place]

  public init(focusedOutput: String? = nil, _ ofPresentations: [Handle: Place]) {
    self.focusedOutput = focusedOutput
    self.ofPresentations = ofPresentations
  }
}
