import DBusValues
import PresentationModel

/// A position in a stack; `index` counts from 0 at the bottom.
public struct StackPosition: Hashable, Sendable {
  public var stack: BindingID
  public var index: Int
  public init(stack: BindingID, index: Int) {
    (self.stack, self.index) = (stack, index)
  }
}

/// The content of a slot that is not empty. A plain record: most of its properties are options of `Present`.
public struct Item: Hashable, Sendable {
  public var id: String
  /// The destination that shows the item; nil for an item that is state only (D2).
  public var destination: Shared<Destination>?
  public var value: Properties
  /// The container values that were set; the defaults are in the declarations (V3).
  public var containerValues: Properties
  public var style: String?
  public var title: String?
  /// The output that was asked for (U1). Windows report the output that they are on.
  public var output: String?
  /// The place and the appearance of the windows, as far as they are not those of the destination (N15).
  public var placement: WindowPlacement?
  /// The timeout in milliseconds; nil for none (O2).
  public var timeout: UInt64?
  /// The client whose departure from the bus ends the item (O1).
  public var owner: Client?
  public var priority: Int32
  public var membership: GroupTag?
  /// Whether the item waits in its group's queue (G9).
  public var isQueued: Bool
  /// The age in the queue of the group, among items of the same priority. An item keeps its age while it waits. If a request selects it
  /// and the member before it stays after all, it goes back to the queue with its age (P15).
  public var queueAge: UInt64?
  /// Whether another member interrupted the item, which waits to return (K2).
  public var isInterrupted = false
  /// Whether navd has selected the item as the fallback of its group, and nobody has asked for it. It goes when another one becomes the
  /// fallback (K7).
  public var isOwnFallback = false
  public var position: StackPosition?
  public var directory: String?
  public var environment: [String: String]
  /// The standard input of the command; nil for the item (D16).
  public var input: [UInt8]?
  public var platformData: Properties
  /// Whether the appearance is animated (T2).
  public var animated: Bool
  /// The effects of holds on the item, as files say them (H3). A hold without an effect is not in it.
  public var holds: [String: HoldAction] = [:]

  /// Whether two items look the same to watchers. Options that only matter at the start do not
  /// count. Neither does the position, which has its own events, nor the timeout, which changes
  /// without an event (P2).
  func looksLike(_ other: Item) -> Bool {
    id == other.id && value == other.value && containerValues == other.containerValues && style == other.style
      && title == other.title && output == other.output && placement == other.placement && owner == other.owner
      && priority == other.priority
  }
}

extension Item {
  /// The way in which the item follows windows; nil if it does not (N1–N6, N15).
  public var following: WindowFollowing? {
    guard var following = destination?.window, let placement else { return destination?.window }
    following.placement = following.placement.overridden(by: placement)
    return following
  }

  /// Makes an item with nothing but an id.
  public init(id: String) {
    self.init(
      id: id, destination: nil, value: [:], containerValues: [:], style: nil, title: nil, output: nil, timeout: nil,
      owner: nil, priority: 0, membership: nil, isQueued: false, queueAge: nil, position: nil, directory: nil,
      environment: [:],
      platformData: [:],
      animated: true)
  }
}

extension Item {
  /// Creates an item from the options of a request.
  init(
    id: String, destination: Shared<Destination>?, options: ItemOptions, membership: GroupTag?,
    holds: [String: HoldAction], author: Author
  ) {
    let settings = destination?.itemSettings?.options
    let timeout = options.timeout ?? settings?.timeout
    self.init(
      id: id, destination: destination, value: options.value ?? settings?.value ?? [:],
      containerValues: options.containerValues ?? [:], style: options.style ?? destination?.style,
      title: options.title ?? settings?.title, output: options.namedOutput, placement: options.placement,
      timeout: timeout == 0 ? nil : timeout,
      owner: options.owned == true ? author.client : nil,
      priority: options.priority ?? 0, membership: membership, isQueued: false, queueAge: nil, position: nil,
      directory: options.directory, environment: options.environment ?? [:], input: options.input,
      platformData: options.platformData ?? [:], animated: author.animated, holds: holds)
  }

  /// The item after a request with the same id (P2). Somebody has asked for it now (K7).
  func applying(_ options: ItemOptions, by author: Author) -> Item {
    var copy = self
    copy.isOwnFallback = false
    copy.value = options.value ?? value
    copy.containerValues = options.containerValues ?? containerValues
    copy.style = options.style ?? style
    copy.title = options.title ?? title
    if options.output != nil { copy.output = options.namedOutput }
    copy.placement = options.placement ?? placement
    if let timeout = options.timeout { copy.timeout = timeout == 0 ? nil : timeout }
    if let owned = options.owned { copy.owner = owned ? author.client : nil }
    copy.priority = options.priority ?? priority
    return copy.keepingHowToRun(ifAs: self, by: author)
  }
}

extension Shared<Item> {
  /// The name of the destination; nil for state only, and for a command that a request has given.
  public var destinationName: String? { self.destination?.givenName }

  /// The approximate size in memory and in signals, in bytes (L1). It belongs to the shared item: a property of `Item` would copy the
  /// item.
  var byteCount: Int {
    func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }
    let appearance = size(self.style) + size(self.title) + size(self.output)
    let texts = self.id.utf8.count + appearance + size(self.membership?.tag)
    let environment = self.environment
    let started =
      environment.isEmpty
      ? size(self.directory)
      : environment.reduce(size(self.directory)) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    let input = self.input?.count ?? 0
    return texts + started + input + self.value.byteCount + self.containerValues.byteCount + self.platformData.byteCount
  }

  /// Writes the properties of the item, without its parent. It belongs to the shared item for the reason of ``byteCount``.
  package func describe(in properties: inout Properties) {
    let keys = StateEntry.keys
    properties[keys.value] = self.value
    properties[keys.containerValues] = self.containerValues
    if let style = self.style { properties[keys.style] = style }
    if let title = self.title { properties[keys.title] = title }
    if let output = self.output { properties[keys.output] = output }
    if let destinationName { properties[keys.destination] = destinationName }
    if let membership = self.membership {
      properties[keys.group] = membership.group.text
      properties[keys.tag] = membership.tag
    }
    if let position = self.position { properties[keys.stack] = position.stack.text }
  }

  /// Forgets the place in the queue of the group: the item does not return to it.
  mutating func leaveQueue() {
    self.queueAge = nil
    self.isInterrupted = false
  }
}

extension Limits {
  /// Checks the texts that only presenters interpret (L1).
  func check(appearanceOf options: ItemOptions) throws(Refusal) {
    if let style = options.style { try check(text: style, as: "style") }
    if let title = options.title { try check(text: title, as: "title") }
    if let output = options.output { try check(text: output, as: "output") }
  }
}

extension Properties {
  /// The approximate size when marshalled, in bytes (L1).
  var byteCount: Int { isEmpty ? 0 : reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount + 8 } }
}
