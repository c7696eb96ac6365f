/// The expected state of the slot, group or stack that a request names; the request is refused as `stale` if the state differs (P10).
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
  /// The serial since which the subject must not have changed; nil for any.
  public var serial: UInt64?

  public init(id: String? = nil, presentation: Handle? = nil, serial: UInt64? = nil) {
    self.id = id
    content = presentation.map { .presentation($0) }
    self.serial = serial
  }

  /// The presentation that the slot is expected to hold; nil if none is named.
  public var presentation: Handle? {
    get { if case .presentation(let handle) = content { handle } else { nil } }
    set { content = newValue.map { .presentation($0) } }
  }
}
