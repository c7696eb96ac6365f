import DBusValues
import TextFormats

/// The effect of a hold on an item, from the weakest to the strongest (H3).
public enum HoldAction: String, Hashable, Sendable, CaseIterable, Comparable {
  /// No effect.
  case show
  /// The item waits while the hold is in force.
  case postpone
  /// The item ends when the hold begins, and waits while the hold is in force.
  case dismiss
  /// A request that would make a new presentation is refused.
  case refuse

  public static func < (a: HoldAction, b: HoldAction) -> Bool { a.strength < b.strength }
  private var strength: Int { Self.allCases.firstIndex(of: self)! }
}

/// A fact of the session. While it is true, a hold of the same name is in force (H2).
public enum SessionFact: String, Hashable, Sendable, CaseIterable {
  case locked, idle, fullscreen, sleep
}

/// A request to hold (H1).
public struct HoldRequest: Hashable, Sendable {
  public var name: String
  /// Whether the hold ends when its client leaves the bus.
  public var isOwned: Bool
  /// Milliseconds until the hold ends by itself; nil for never.
  public var timeout: UInt64?
  /// The purpose of the hold, for people.
  public var message: String
  /// Whether what clients hold by the name ends instead, if there is any.
  public var toggles: Bool
  /// Whether the hold is in force again after the next login (K4).
  public var restoresAtLogin = false

  /// - Throws: `Refusal` with the code `invalidArgument` if the name is not the name of a hold.
  public init(
    _ name: String, isOwned: Bool = false, timeout: UInt64? = nil, message: String = "", toggles: Bool = false
  )
    throws(Refusal)
  {
    do throws(Refusal) {
      guard try BindingID(name, as: "the hold").deriving == nil else {
        throw Refusal(.invalidArgument, "the hold \(quoted(name)) has several parts; expected one name such as “dnd”")
      }
    } catch {
      throw Refusal(.invalidArgument, error.message)
    }
    (self.name, self.isOwned, self.message, self.toggles) = (name, isOwned, message, toggles)
    self.timeout = timeout == 0 ? nil : timeout
  }

  /// Whether a text is the name of a hold, which is written like the root of a binding (B1).
  public static func isName(_ text: String) -> Bool { (try? BindingID(text)).map { $0.deriving == nil } ?? false }
}

extension Options {
  public static let holdOwned = DictionaryKey<Bool>(
    "owned", doc: "Whether the hold ends when the sender leaves the bus (default false).")
  public static let holdTimeout = DictionaryKey<UInt64>(
    "timeout", doc: "Milliseconds until it ends by itself; 0 for never, which is the default.")
  public static let holdMessage = DictionaryKey<String>("message", doc: "Its purpose, for people.")
  public static let holdToggle = DictionaryKey<Bool>(
    "toggle",
    doc: "Whether all that clients hold by this name ends instead, if there is any: one press begins and ends it.")
  public static let holdRestore = DictionaryKey<String>(
    "restore", doc: "login: it is in force again after the next login, as after a power cut, with the rest of its time."
  )
  public static let ofHold = OptionTable([
    holdOwned.row, holdTimeout.row, holdMessage.row, holdToggle.row, holdRestore.row,
  ])
}

extension HoldRequest {
  /// Reads the arguments of `Hold`.
  package init(_ name: String, _ options: Properties) throws(Refusal) {
    try Options.ofHold.check(options)
    try self.init(
      name, isOwned: options[Options.holdOwned] ?? false, timeout: options[Options.holdTimeout],
      message: options[Options.holdMessage] ?? "", toggles: options[Options.holdToggle] ?? false)
    guard let restore = options[Options.holdRestore] else { return }
    guard restore == "login" else {
      throw Refusal(.invalidArgument, "restore: expected “login”, found \(quoted(restore))")
    }
    guard !isOwned else {
      throw Refusal(.invalidArgument, "restore: a hold that ends with its client cannot be there after the next login")
    }
    restoresAtLogin = true
  }
}

/// A holder, as `Holds` answers it (H1).
public struct HoldEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let name = DictionaryKey<String>("name", doc: "The name of the hold.")
    public let cookie = DictionaryKey<UInt64>(
      "cookie",
      doc: "For ReleaseHold; absent for a fact of the session, and for a presentation, which nobody can release.")
    public let client = DictionaryKey<String>("client", doc: "The unique name of the client that holds.")
    public let presentation = DictionaryKey<UInt64>(
      "presentation", doc: "The presentation that holds, as its destination says; it ends with that.")
    public let handle = DictionaryKey<ObjectPath>("handle", doc: "The object path of that presentation.")
    public let binding = DictionaryKey<String>("binding", doc: "The binding of that presentation.")
    public let owned = DictionaryKey<Bool>("owned", doc: "True if it ends when this client leaves the bus.")
    public let message = DictionaryKey<String>("message", doc: "Its purpose, for people.")
    public let since = DictionaryKey<UInt64>("since", doc: "When it began, in milliseconds since 1970.")
    public let timeoutLeft = DictionaryKey<UInt64>(
      "timeout-left", doc: "The remaining milliseconds until it ends by itself.")
  }
}
