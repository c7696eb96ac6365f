import DBusValues
import PresentationModel
import TextFormats

/// The way in which items that name the destination are shown (D1, D2).
public struct Destination: Hashable, Sendable {
  /// The program that shows an item.
  public enum Presenter: Hashable, Sendable {
    /// A program with its arguments, which may contain placeholders (D3). They are bytes, like file names.
    case command([[UInt8]], scope: CommandScope = .tree)
    /// A systemd unit; its name may contain placeholders (D5).
    case unit(String)
    /// A program on the bus that implements the presenter's interface (D4).
    case bus(name: String, path: ObjectPath)
    /// No program: the items are state only. The destination gives them a group and a style.
    case none
  }

  /// The origin of the registration.
  public enum Source: Hashable, Sendable {
    case file(path: String)
    case client(Client)
    /// The request itself (`command`).
    case request
  }

  public static let defaultStartTimeout: UInt64 = 10_000
  public static let defaultGrace: UInt64 = 2_000

  public var name: String
  public var presenter: Presenter
  public var group: DestinationGroup?
  public var style: String?
  /// Milliseconds that showing an item may take.
  public var startTimeout: UInt64
  /// Whether the file gives the start timeout. An item that follows windows ends by it only then (N2).
  public var isStartTimeoutWritten = false
  /// Milliseconds that a dismissal may take before SIGKILL; on the bus, before the presentation counts as gone (P14).
  public var grace: UInt64
  public var source: Source
  /// Whether items of the destination end only by themselves: no request ends them (D12).
  public var isProtected: Bool
  /// The way in which items follow the windows of their commands or units; nil if they do not (N1–N6).
  public var window: WindowFollowing?
  /// The settings of items; nil if the file of the destination has none.
  public var itemSettings: Shared<ItemSettings>?

  public init(
    name: String, presenter: Presenter, group: BindingID? = nil, style: String? = nil,
    startTimeout: UInt64 = Destination.defaultStartTimeout, grace: UInt64 = Destination.defaultGrace, source: Source,
    isProtected: Bool = false, itemSettings: Shared<ItemSettings>? = nil, window: WindowFollowing? = nil
  ) {
    self.name = name
    self.presenter = presenter
    self.group = group.map(DestinationGroup.named)
    self.style = style
    self.startTimeout = startTimeout
    self.grace = grace
    self.source = source
    self.isProtected = isProtected
    self.window = window
    self.itemSettings = itemSettings
  }

  /// Milliseconds after which an item that is not shown has failed; nil if its presenter decides that: a program may need longer for its
  /// first window (N2), but not one that says itself when it is there (D19).
  public var startLimit: UInt64? {
    window == nil || isStartTimeoutWritten || itemSettings?.awaitsReady == true ? startTimeout : nil
  }

  /// Whether a dismissal that times out is followed by SIGKILL (P14).
  var canBeKilled: Bool {
    switch presenter {
    case .command, .unit: true
    case .bus, .none: false
    }
  }

  /// Whether a program is run for items, with their directory and environment (L3).
  var runsCommand: Bool {
    if case .command = presenter { return true }
    return itemSettings?.onPresent != nil || itemSettings?.onDismiss != nil || itemSettings?.check != nil
  }

  /// Whether a program on the bus shows the items. Only such a presenter receives updates (D8, D10).
  var isBus: Bool { if case .bus = presenter { true } else { false } }

  /// The greatest length of a name in bytes (B5).
  static let maxNameBytes = 255

  /// Whether a text is a valid name of a destination: a file name without `/` or a leading dot (B5).
  public static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= maxNameBytes && name.utf8.first != UInt8(ascii: ".")
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  /// The tag that the destination declares in its group, and the binding of that tag (G7). nil if the destination has no group, or one
  /// for each output (U3).
  ///
  /// - Throws: `Refusal` with the code `invalidConfiguration` if its name gives no binding.
  public func declaredTag() throws(Refusal) -> (group: BindingID, tag: String, binding: BindingID)? {
    guard case .named(let group) = group else { return nil }
    if let binding = try? BindingID(name) { return (group, name, binding) }
    if let binding = group.appending(name: name) { return (group, name, binding) }
    throw Refusal(
      .invalidConfiguration,
      "destination \(quoted(name)) has the group “\(group)”, but neither \(quoted(name)) nor "
        + "\(quoted("\(group).\(name)")) is a binding; give it the name of a binding, or no group")
  }
}
