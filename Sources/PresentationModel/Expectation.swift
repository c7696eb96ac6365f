/// What a request expects of the slot, group or stack that it names; it is refused as `stale` if the state differs (rule P10).
public struct Expectation: Hashable, Sendable {
  /// The content of a slot.
  public enum Content: Hashable, Sendable {
    case nothing
    case presentation(Handle)
  }

  /// The id that the slot holds; nil expects nothing of it.
  public var id: String?
  /// The presentation that the slot holds, or that it holds none; nil expects nothing of it.
  public var content: Content?
  /// The subject has not changed since the state had this serial; nil expects nothing of it.
  public var serial: UInt64?

  public init(id: String? = nil, presentation: Handle? = nil, serial: UInt64? = nil) {
    self.id = id
    content = presentation.map { .presentation($0) }
    self.serial = serial
  }

  /// The presentation that the slot is expected to hold; nil where none is named.
  public var presentation: Handle? {
    get { if case .presentation(let handle) = content { handle } else { nil } }
    set { content = newValue.map { .presentation($0) } }
  }
}
