import DBusValues

/// Facts about a running coordinator from which its user's trouble may come, for `navctl doctor`.
public struct Diagnosis: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let pid = DictionaryKey<UInt64>("pid", doc: "The process of navd.")
    public let since = DictionaryKey<UInt64>("since", doc: "When it started, in milliseconds since 1970.")
    public let sessionSince = DictionaryKey<UInt64>(
      "session-since", doc: "When the first navd of this session started, in milliseconds since 1970.")
    public let startedBy = DictionaryKey<String>(
      "started-by", doc: "The program that started it, such as systemd or dbus-daemon; absent if that has ended.")
    public let commands = DictionaryKey<String>("commands", doc: "How commands run, and why so.")
    public let environment = DictionaryKey<[String]>(
      "environment", doc: "The names of the variables that clients have given for commands (ImportEnvironment).")
    public let record = DictionaryKey<String>("record", doc: "The directory of the record.")
    public let recordError = DictionaryKey<String>(
      "record-error", doc: "Why the last changes are not on record; absent if they are.")
    public let setAside = DictionaryKey<String>(
      "set-aside",
      doc: "The unreadable record that the start found, and why it could not be read; absent if there was none.")
    public let left = DictionaryKey<[String]>(
      "left", doc: "Programs that go on after the last windows of their items (N3), a line each; 100 at most.")
    public let directories = DictionaryKey<[String]>(
      "directories", doc: "Where destination files are looked for, the most important directory first.")
    public let fallbacks = DictionaryKey<Properties>(
      "fallbacks",
      doc:
        "The fallback of each group that has one, by the group's name: destination s, absent if there is none now, and until t. That is when the clock will make it another one, in milliseconds since 1970."
    )
    public let mistakes = DictionaryKey<[String]>(
      "mistakes", doc: "The mistakes in the configuration files, a line each; 100 at most.")
    public let limits = DictionaryKey<Properties>(
      "limits", doc: "The property Limits, for libraries that do not read its type, as Qt's does not by itself.")
    public let warnings = DictionaryKey<[String]>(
      "warnings",
      doc: "Destinations that may not work, such as one with a program that is not found, a line each; 100 at most.")
  }
}

/// The fallback of a group (K1, K7).
public struct FallbackEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let destination = DictionaryKey<String>("destination", doc: "The destination; absent if there is none now.")
    public let until = DictionaryKey<UInt64>(
      "until",
      doc: "When the clock will make another one the fallback, in milliseconds since 1970; absent if it will not.")
  }
}
