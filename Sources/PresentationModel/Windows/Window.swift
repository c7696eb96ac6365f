import DBusValues

/// A window on the screen, as an adapter for the window system describes it (`org.navd.WindowSystem1`).
public struct Window: Hashable, Sendable, Identifiable {
  /// The adapter's own name of the window; never used for another one.
  public let id: String
  public var properties: WindowProperties

  public init(id: String, _ properties: WindowProperties) {
    self.id = id
    self.properties = properties
  }
}

/// The known properties of a window. An absent key means “unknown”; an empty text means “none”.
public struct WindowProperties: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  /// Makes a window of which no property is known.
  public init() { self.init([:]) }

  /// Reads the keys of the contract. Other keys, and values of another type, are left out: an adapter may be a stranger's program.
  public init(reading properties: Properties) {
    self.init(properties.filter { key, value in Self.known[key].map { $0.types.contains(value.type) } ?? false })
  }

  /// The table, made once: to make it takes half of the time of reading an event, and windows have many events.
  private static let known = table

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let appID = DictionaryKey<String>("app-id", doc: "Which program it is of; on X11 the class.")
    public let title = DictionaryKey<String>("title", doc: "The title.")
    public let pid = DictionaryKey<UInt32>(
      "pid",
      doc: """
        The process that shows it; that of a server, if the program hands its windows to one. 0 if none here shows it. Absent \
        while an adapter that tells processes does not know it yet: until then it is nobody's.
        """)
    public let parent = DictionaryKey<String>(
      "parent", doc: "The id of the window that it is a dialog of; empty if it is none.")
    public let output = DictionaryKey<String>(
      "output", doc: "The output that it is on, even if its workspace is not in view; empty if it is on none.")
    public let focused = DictionaryKey<Bool>("focused", doc: "Whether it has the focus of the keyboard.")
    public let urgent = DictionaryKey<Bool>("urgent", doc: "Whether it asks for its user's attention.")
    public let floating = DictionaryKey<Bool>(
      "floating", doc: "Whether it floats above tiled windows; absent where all windows do.")
    public let fullscreen = DictionaryKey<Bool>("fullscreen", doc: "Whether it fills its output.")
    public let minimized = DictionaryKey<Bool>("minimized", doc: "Whether its user has minimized it.")
    public let hidden = DictionaryKey<Bool>(
      "hidden", doc: "Whether it is in the scratchpad or iconified. A window on another workspace is not hidden.")
    public let inView = DictionaryKey<Bool>(
      "in-view",
      doc: """
        Whether its user sees it: an output shows its workspace, and no fullscreen window or tab covers it, as far as the \
        adapter knows. A hidden window is not in view.
        """)
    public let startupID = DictionaryKey<String>(
      "startup-id", doc: "The startup id with which its program opened it; absent if that named none, as many do.")
  }

  /// Sets the keys of a change; the other keys stay.
  public mutating func merge(_ changed: WindowProperties) { properties.merge(changed.properties) { $1 } }

  /// The keys of `later` whose values differ from those here. Keys that `later` does not have count as unchanged.
  public func changes(to later: WindowProperties) -> WindowProperties {
    WindowProperties(later.properties.filter { properties[$0.key] != $0.value })
  }
}

/// An event of the window system. Its serial is one more than that of the event before it.
public struct WindowEvent: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case opened(Window)
    /// The keys that have changed.
    case changed(id: String, WindowProperties)
    case closed(id: String)
  }

  public var kind: Kind
  public var serial: UInt64

  public init(_ kind: Kind, serial: UInt64) {
    self.kind = kind
    self.serial = serial
  }
}

/// An ability of an adapter for the window system. An adapter announces those that it has found to work.
public enum WindowCapability: String, Hashable, Sendable, CaseIterable {
  /// `Close` asks the window to close.
  case close
  case activate
  /// `Hide` and `Show`.
  case hide
  /// `MoveToOutput`.
  case move
  /// `Summon`.
  case summon
  /// `Place`, for all of its options but `fullscreen`.
  case place
  /// `Place` with the option `fullscreen`.
  case fullscreen
  /// `Expect`.
  case expect
  /// A window opens behind the one that is fullscreen on its workspace, and stays there until it is raised.
  case behind
  /// The property `pid`.
  case pid
  /// The property `parent`.
  case parent
  /// The property `output`.
  case output
  /// The property `focused`.
  case focus
  /// The property `in-view`.
  case inView = "in-view"
  /// The property `startup-id`.
  case startupID = "startup-id"
}
