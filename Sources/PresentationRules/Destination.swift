// Why this file exists: a destination is a name that says how an item is shown; the machine needs to know it to judge a
// request (D1, D2, G7), the presenters to carry it out.

import DBusValues

/// How items of a name are shown.
public struct Destination: Hashable, Sendable {
  /// What shows an item.
  public enum Presenter: Hashable, Sendable {
    /// A program with its arguments, which may hold placeholders (D3). They are bytes, as file names are.
    case command([[UInt8]])
    /// A systemd unit; its name may hold placeholders (D5).
    case unit(String)
    /// A program on the bus that implements the presenter's interface (D4).
    case bus(name: String, path: ObjectPath)
    /// A destination that is declared, for its group and style, but is nothing but state.
    case none
  }

  /// Where the registration came from.
  public enum Source: Hashable, Sendable {
    case file(path: String)
    case client(Client)
    /// Given with the request itself (`command`).
    case request
  }

  public static let standardStartTimeout: UInt64 = 10_000
  public static let standardGrace: UInt64 = 2_000

  public var name: String
  public var presenter: Presenter
  public var group: BindingID?
  public var style: String?
  /// How long showing may take before it counts as failed, in milliseconds.
  public var startTimeout: UInt64
  /// How long a dismissal may take before SIGKILL, and on the bus before it counts as gone, in milliseconds (P14).
  public var grace: UInt64
  public var source: Source

  public init(
    name: String, presenter: Presenter, group: BindingID? = nil, style: String? = nil,
    startTimeout: UInt64 = Destination.standardStartTimeout, grace: UInt64 = Destination.standardGrace, source: Source
  ) {
    self.name = name
    self.presenter = presenter
    self.group = group
    self.style = style
    self.startTimeout = startTimeout
    self.grace = grace
    self.source = source
  }

  /// Whether dismissing it has a second, harder means (P14: once more after SIGKILL).
  var canBeKilled: Bool {
    switch presenter {
    case .command, .unit: true
    case .bus, .none: false
    }
  }

  /// Whether a program on the bus shows it. Only such a presenter receives updates (D8, D10).
  var isBus: Bool { if case .bus = presenter { true } else { false } }

  /// Whether a name could be a destination's: a file name without `/` or a leading dot (B5).
  public static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 255 && name.utf8.first != UInt8(ascii: ".")
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  /// The tag that the destination declares in its group, and the binding of that tag (G7).
  ///
  /// - Throws: `Refusal` with the code `invalidConfiguration` where its name can be no binding.
  public func declaredTag() throws(Refusal) -> (group: BindingID, tag: String, binding: BindingID)? {
    guard let group else { return nil }
    if let binding = try? BindingID(name) { return (group, name, binding) }
    if let binding = group.appending(name: name) { return (group, name, binding) }
    throw Refusal(
      .invalidConfiguration,
      "destination “\(abridged(name))” has the group “\(group)”, but neither “\(abridged(name))” nor "
        + "“\(group).\(abridged(name))” is a binding; name it as a binding, or leave out its group")
  }
}
