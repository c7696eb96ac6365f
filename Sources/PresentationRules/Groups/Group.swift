import PresentationModel

/// The state of one exclusive group.
///
/// The selection is one optional, so two members cannot be selected (G1).
struct Group: Sendable {
  var selected: BindingID?
  var queue = Queue()
  /// The members that may be on screen: at most one (G1), or two of which one is being dismissed (G10).
  var live: [Handle] = []
}

/// The last request for a tag, as its group remembers it (G7).
struct TagMemory: Hashable, Sendable {
  var binding: BindingID
  var id: String
  var options: ItemOptions
  /// Whether no part of the request is from a client that may be in a sandbox (L3).
  var isTrusted: Bool

  /// The approximate size in memory, in bytes (L1).
  var byteCount: Int {
    let command = options.command?.arguments.reduce(0) { $0 + $1.count } ?? 0
    let environment = options.environment?.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } ?? 0
    return command + environment + id.utf8.count + (options.value?.byteCount ?? 0)
      + (options.containerValues?.byteCount ?? 0)
  }
}

/// A tag in a group: the membership of an item. It also serves as a key.
public struct GroupTag: Hashable, Sendable {
  /// The greatest length of a tag in bytes (B5).
  static let maxBytes = 255

  public var group: BindingID
  public var tag: String
  public init(group: BindingID, tag: String) {
    (self.group, self.tag) = (group, tag)
  }
}
