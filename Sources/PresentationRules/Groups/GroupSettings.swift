import PresentationModel

/// The settings of a group in `navd.toml`.
public struct GroupSettings: Hashable, Sendable {
  /// The name of the destination that is shown while nothing else is selected (K1); nil for none.
  public var fallback: String?
  /// The destinations that are the fallback at other times (K7).
  public var otherFallbacks: Set<String>
  /// The order in which a member goes and the next one comes (G10).
  public var replacement: Replacement

  /// Whether the group has a fallback now or at another time.
  public var hasFallbacks: Bool { fallback != nil || !otherFallbacks.isEmpty }

  public init(
    fallback: String? = nil, otherFallbacks: Set<String> = [], replacement: Replacement = .sequential
  ) {
    (self.fallback, self.otherFallbacks, self.replacement) = (fallback, otherFallbacks, replacement)
  }
}

/// The order in which an item goes and the next one comes.
public enum Replacement: String, CaseIterable, Sendable {
  /// The item has gone before the next one is presented (P3, G1).
  case sequential
  /// The item goes when the next one is presented (G10).
  case overlap
}
