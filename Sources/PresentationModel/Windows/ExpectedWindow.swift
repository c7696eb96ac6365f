import DBusValues

/// The first window of a program that is about to start: how it is to be shown, and what is known of it before (N15).
public struct ExpectedWindow: Hashable, Sendable {
  public var placement: WindowPlacement
  /// The pattern that the window fits; empty if the processes alone decide which window it is.
  public var pattern: WindowPattern

  public init(_ placement: WindowPlacement, _ pattern: WindowPattern = WindowPattern()) {
    (self.placement, self.pattern) = (placement, pattern)
  }

  /// The options of `Expect` besides those of `Place`.
  public struct Options: TypedDictionary {
    public var properties: Properties
    public init(_ properties: Properties) { self.properties = properties }

    public static let keys = Keys()
    public final class Keys: Sendable {
      public let appID = DictionaryKey<String>(
        "app-id",
        doc: """
          A shell pattern that the window's app-id fits, or its class on X11. It is for a compositor that has to know a window before \
          it opens.
          """)
      public let title = DictionaryKey<String>("title", doc: "A shell pattern that its title fits.")
    }
  }

  /// Reads the options of `Expect`. Keys of a later release are left out.
  /// - Throws: `Refusal` with the code `invalidArgument` for a value of another type, and for a text that is no place or no size.
  public init(reading options: Properties) throws(Refusal) {
    let table = Options.table
    let own = options.filter { table[$0.key] != nil }
    try table.check(own)
    let pattern = Options(own)
    self.init(
      try WindowPlacement(reading: options), WindowPattern(appID: pattern.appID, title: pattern.title))
  }

  /// The options of `Expect`.
  public var options: Properties {
    var pattern = Options([:])
    pattern.appID = self.pattern.appID
    pattern.title = self.pattern.title
    return placement.options.properties.merging(pattern.properties) { $1 }
  }
}
