import PresentationModel

/// The settings of a group in `navd.toml`.
public struct GroupSettings: Hashable, Sendable {
  /// The name of the destination that is shown while nothing else is selected (K1); nil for none.
  public var fallback: String?
  /// The order in which a member goes and the next one comes (G10).
  public var replacement: Replacement

  public init(fallback: String? = nil, replacement: Replacement = .sequential) {
    (self.fallback, self.replacement) = (fallback, replacement)
  }
}

/// The order in which an item goes and the next one comes.
public enum Replacement: String, CaseIterable, Sendable {
  /// The item has gone before the next one is presented (P3, G1).
  case sequential
  /// The item goes when the next one is presented (G10).
  case overlap
}
