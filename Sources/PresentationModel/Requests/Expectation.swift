/// The expected content of the slot that a request names; the request is refused as `stale` if the slot holds something else (P10).
public struct Expectation: Hashable, Sendable {
  /// The content of a slot.
  public enum Content: Hashable, Sendable {
    case nothing
    case presentation(Handle)
  }

  /// The expected id in the slot; nil for any.
  public var id: String?
  /// The expected presentation in the slot, or none in it; nil for any content.
  public var content: Content?

  public init(id: String? = nil, presentation: Handle? = nil) {
    self.id = id
    content = presentation.map { .presentation($0) }
  }

  /// The presentation that the slot is expected to hold; nil if none is named.
  public var presentation: Handle? {
    get { if case .presentation(let handle) = content { handle } else { nil } }
    set { content = newValue.map { .presentation($0) } }
  }
}
