import DBusValues

/// A dictionary of the contract. `Keys` declares each key with its type and its meaning, for the code and for the documentation. Absent
/// keys are nil.
@dynamicMemberLookup
public protocol TypedDictionary: Hashable, Sendable {
  /// The declared keys: a plain record with one property for each. It is a class, since a structure would be copied at each use.
  associatedtype Keys: AnyObject & Sendable
  static var keys: Keys { get }
  var properties: Properties { get set }
  init(_ properties: Properties)
}

extension TypedDictionary {
  /// The keys in the order of their declaration, for documentation.
  package static var table: OptionTable {
    OptionTable(Mirror(reflecting: keys).children.compactMap { ($0.value as? any DocumentedKey)?.row })
  }

  // Inlined, since the compiler then evaluates a literal key path.
  @inlinable
  public subscript<T>(dynamicMember key: KeyPath<Keys, DictionaryKey<T>>) -> T? {
    get { properties[Self.keys[keyPath: key]] }
    set { properties[Self.keys[keyPath: key]] = newValue }
  }
}

/// A presentation in the state, or its item in a signal or a call to a presenter.
public struct StateEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let binding = DictionaryKey<String>("binding", doc: "The binding that holds its item.")
    public let id = DictionaryKey<String>("id", doc: "The id of the item; empty if it has none.")
    public let presentation = DictionaryKey<UInt64>(
      "presentation", doc: "The number of the presentation, with which its object path ends.")
    public let handle = DictionaryKey<ObjectPath>("handle", doc: "The object path of the presentation.")
    public let phase = DictionaryKey<String>("phase", doc: "waiting, presenting, presented or dismissing.")
    public let asking = DictionaryKey<Bool>(
      "asking", doc: "True while it is dismissing, and its presenter asks its user whether to end it.")
    public let message = DictionaryKey<String>("message", doc: "With asking: the question, if it is known.")
    public let destination = DictionaryKey<String>(
      "destination", doc: "The destination that shows it; absent for a command in the request, or state only.")
    public let group = DictionaryKey<String>("group", doc: "The group that it is a member of.")
    public let tag = DictionaryKey<String>("tag", doc: "The tag that selects it in its group.")
    public let stack = DictionaryKey<String>("stack", doc: "The stack that it is an element of.")
    public let from = DictionaryKey<String>("from", doc: "The binding that it is presented from.")
    public let parent = DictionaryKey<UInt64>(
      "parent", doc: "The number of the presentation that it is presented from.")
    public let owner = DictionaryKey<String>(
      "owner", doc: "The unique name of its owner: when this client leaves the bus, it ends.")
    public let value = DictionaryKey<Properties>("value", doc: "The item's value.")
    public let containerValues = DictionaryKey<Properties>(
      "container-values", doc: "The container values that the item sets, without the defaults.")
    public let since = DictionaryKey<UInt64>("since", doc: "When it was presented, in milliseconds since 1970.")
    public let presentedSerial = DictionaryKey<UInt64>(
      "presented-serial", doc: "The serial of its Presented; absent before that.")
    public let timeout = DictionaryKey<UInt64>("timeout", doc: "Milliseconds from its presentation until it expires.")
    public let timeoutLeft = DictionaryKey<UInt64>(
      "timeout-left", doc: "The remaining milliseconds of its timeout, if that runs.")
    public let heldBy = DictionaryKey<[String]>(
      "held-by", doc: "While it waits: the holds in force that keep it from being presented.")
    public let queued = DictionaryKey<UInt32>(
      "queued", doc: "While it waits in the queue of its group: its place there, 1 for the next one.")
    public let replacing = DictionaryKey<UInt64>(
      "replacing",
      doc: "While the one before it is still on the screen, with a replacement that overlaps: the number of that one.")
    public let restarts = DictionaryKey<UInt32>(
      "restarts", doc: "How many times it was presented again after it had ended by itself; absent if it was not.")
    public let restartAt = DictionaryKey<UInt64>(
      "restart-at", doc: "While it waits for that: when it is presented again, in milliseconds since 1970.")
    public let priority = DictionaryKey<Int32>(
      "priority", doc: "Its priority in the queue of its group; absent if it is 0.")
    public let pid = DictionaryKey<UInt64>("pid", doc: "The process that shows it.")
    public let unit = DictionaryKey<String>("unit", doc: "The systemd unit that shows it.")
    public let windows = DictionaryKey<[Properties]>(
      "windows",
      doc:
        "If it follows windows: each with id s, app-id s, title s, output s, focused b and in-view b, as far as known. One that was there before and is never closed has guest b."
    )
    public let late = DictionaryKey<String>(
      "late", doc: "While it is presenting, although its start timeout is over: why it is not on the screen.")
    public let animated = DictionaryKey<Bool>("animated", doc: "Whether the presenter animates the change.")
    public let restored = DictionaryKey<Bool>(
      "restored",
      doc: "True if the coordinator or the presenter was restarted: an item that is still on the screen stays.")
    public let platformData = DictionaryKey<Properties>(
      "platform-data", doc: "Passed to the presenter: activation-token s, parent-window s, output s.")
  }

  /// The keys of an entry of `GetState`.
  package static let ofState =
    OptionTable(
      table.rows.filter { row in
        ![keys.from.name, keys.timeoutLeft.name, keys.animated.name, keys.restored.name, keys.platformData.name]
          .contains(row.name)
      }) + Options.ofAppearance

  /// The keys of the item in a signal.
  package static let ofSignal = OptionTable([
    keys.value.row, keys.containerValues.row, keys.style.row, keys.title.row, keys.output.row, keys.destination.row,
    keys.group.row, keys.tag.row, keys.stack.row, keys.from.row,
  ])

  /// The keys of the item that a presenter gets.
  package static let ofPresenter = OptionTable([
    keys.value.row, keys.containerValues.row, keys.style.row, keys.title.row, keys.output.row, keys.destination.row,
    keys.group.row, keys.tag.row, keys.stack.row, keys.from.row, keys.animated.row, keys.restored.row,
    keys.platformData.row,
  ])

  /// The phase; nil if it is absent or unknown.
  public var knownPhase: Phase? { self.phase.flatMap(Phase.init) }
}

/// The whole state, as `GetState` answers it.
public struct StateSnapshot: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let serial = DictionaryKey<UInt64>("serial", doc: "The serial of the last difference.")
    public let record = DictionaryKey<String>(
      "record",
      doc:
        "The id of navd's record. Serials and numbers of presentations belong to it: they begin again with another record, as after a power cut."
    )
    public let presentations = DictionaryKey<[Properties]>(
      "presentations", doc: "One entry for each presentation that has not ended, in the order of acceptance.")
    public let groups = DictionaryKey<Properties>("groups", doc: "The groups by name.")
    public let stacks = DictionaryKey<Properties>(
      "stacks", doc: "The paths of the stacks by name: arrays of elements from the bottom to the top.")
    public let holds = DictionaryKey<[String]>(
      "holds", doc: "The names of the holds in force; absent if there is none.")
    public let parked = DictionaryKey<[Properties]>(
      "parked",
      doc: "The programs whose windows dismissals have hidden, the oldest first; absent if there is none. Each: "
        + "binding s, id s, destination s, presentation t, handle o, outdated b, stays s.")
  }

  public var entries: [StateEntry] { (self.presentations ?? []).map(StateEntry.init) }

  public var parkedEntries: [ParkedEntry] { (self.parked ?? []).map(ParkedEntry.init) }

  public var groupEntries: [String: GroupEntry] {
    (self.groups ?? [:]).compactMapValues { Properties(value: $0).map(GroupEntry.init) }
  }

  public var paths: [String: [PathElement]] {
    (self.stacks ?? [:]).compactMapValues { [Properties](value: $0)?.compactMap(PathElement.init) }
  }
}

/// A group in the state.
public struct GroupEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let selection = DictionaryKey<String>("selection", doc: "The selected tag; absent if no member is selected.")
    public let tags = DictionaryKey<[String]>(
      "tags", doc: "Its tags: those that destinations declare or programs serve, and those of its members.")
    public let titles = DictionaryKey<[String: String]>(
      "titles",
      doc:
        "By tags: the title of the member's item, or else of the destination that declares the tag. A tag without one is absent."
    )
    public let queue = DictionaryKey<[String]>("queue", doc: "The queued tags, the next one first.")
  }
}

/// A program whose windows a dismissal has hidden, in the state (N8).
public struct ParkedEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let binding = DictionaryKey<String>("binding", doc: "The binding that held its item.")
    public let id = DictionaryKey<String>("id", doc: "The id of the item.")
    public let destination = DictionaryKey<String>("destination", doc: "The destination that showed it.")
    public let presentation = DictionaryKey<UInt64>(
      "presentation", doc: "The number of the presentation for which the program was started.")
    public let handle = DictionaryKey<ObjectPath>("handle", doc: "The object path of that presentation.")
    public let isOutdated = DictionaryKey<Bool>(
      "outdated",
      doc: "Present and true if the destination's file has another command now. It ends when it would be shown again.")
    public let stays = DictionaryKey<String>(
      "stays",
      doc: "Why its windows have not closed, since they were asked to; absent if they were not, or have not answered.")
  }
}

/// An ended presentation, as `History` answers it.
public struct EndingEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let binding = DictionaryKey<String>("binding", doc: "The binding that held its item.")
    public let id = DictionaryKey<String>("id", doc: "The id of the item.")
    public let presentation = DictionaryKey<UInt64>(
      "presentation", doc: "The number of the presentation, with which its object path ends.")
    public let handle = DictionaryKey<ObjectPath>("handle", doc: "The object path of the presentation.")
    public let reason = DictionaryKey<String>("reason", doc: "Why it ended.")
    public let serial = DictionaryKey<UInt64>("serial", doc: "The serial of its end.")
    public let destination = DictionaryKey<String>("destination", doc: "The destination that showed it.")
    public let group = DictionaryKey<String>("group", doc: "The group that it was a member of.")
    public let stack = DictionaryKey<String>("stack", doc: "The stack that it was an element of.")
    public let time = DictionaryKey<UInt64>("time", doc: "When it ended, in milliseconds since 1970.")
    public let shownFor = DictionaryKey<UInt64>(
      "shown-for", doc: "Milliseconds from its presentation to the end; absent if it was never presented.")
    public let status = DictionaryKey<Int32>("status", doc: "The exit status of its command.")
    public let signal = DictionaryKey<String>("signal", doc: "The signal that ended its command.")
    public let windowSeen = DictionaryKey<Bool>("window-seen", doc: PresentationResult.keys.windowSeen.doc)
    public let by = DictionaryKey<Properties>("by", doc: "The client whose request ended it.")
  }

  /// The client whose request ended the presentation; nil if no request did.
  public var requester: RequesterEntry? { self.by.map(RequesterEntry.init) }

  /// Whether the presentation has failed in the eyes of a person: it could not be shown, it crashed, or its command soon ended by
  /// itself with an error. The reason in the last case is `closed` (D3).
  public var hasFailed: Bool { self.reason == Reason.failed.rawValue || endedAtOnce }

  /// Whether the command ended by itself within two seconds of its start, with another exit status than 0, and its user has not closed
  /// its window.
  public var endedAtOnce: Bool {
    self.reason == Reason.closed.rawValue && self.by == nil && self.windowSeen != true
      && self.status.map { $0 != 0 } ?? false
      && self.shownFor.map { $0 < Self.shortly } ?? true
  }

  /// The milliseconds in which a command ends “at once”.
  private static let shortly: UInt64 = 2000

  /// The error, as long as the coordinator remembers it; nil if there is none. Clients add it from
  /// the answer of `Wait`, since the answer of `History` has no results (D6).
  public var error: String? {
    get { properties[PresentationResult.keys.error] }
    set { properties[PresentationResult.keys.error] = newValue }
  }

  /// The presentation whose result has the error; nil if this one has not failed. `Wait` for it answers at once, since it has ended.
  package var failedPresentation: Handle? { hasFailed ? self.presentation.map(Handle.init) : nil }
}

/// The client whose request ended a presentation.
public struct RequesterEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let client = DictionaryKey<String>("client", doc: "The unique name of the client.")
    public let pid = DictionaryKey<UInt64>("pid", doc: "The id of its process.")
    public let program = DictionaryKey<String>("program", doc: "The name of its program.")
  }
}

/// A destination, as `Destinations` answers it.
public struct DestinationEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let command = DictionaryKey<[String]>("command", doc: "The program and its arguments.")
    public let desktop = DictionaryKey<String>(
      "desktop", doc: "The id of the application whose desktop file gives the command.")
    public let scope = DictionaryKey<String>(
      "scope", doc: "Of a command: tree, if its item ends with all its processes, or process, if with its first one.")
    public let protected = DictionaryKey<Bool>("protected", doc: "True if its items end only by themselves.")
    public let unit = DictionaryKey<String>("unit", doc: "The systemd unit.")
    public let bus = DictionaryKey<String>("bus", doc: "The bus name of the presenter.")
    public let path = DictionaryKey<ObjectPath>("path", doc: "The object path of the presenter.")
    public let group = DictionaryKey<String>("group", doc: "The group of items that name none.")
    public let style = DictionaryKey<String>("style", doc: "The style of items that name none.")
    public let id = DictionaryKey<String>("id", doc: "The id of items whose requests give none.")
    public let title = DictionaryKey<String>("title", doc: "The title of items whose requests give none.")
    public let value = DictionaryKey<Properties>("value", doc: "The value of items whose requests give none.")
    public let timeout = DictionaryKey<UInt64>(
      "timeout", doc: "The timeout of items whose requests give none, in milliseconds.")
    public let directory = DictionaryKey<String>("directory", doc: "The working directory of its command.")
    public let environment = DictionaryKey<[String: String]>("environment", doc: "Variables of its command.")
    public let onPresent = DictionaryKey<[String]>(
      "on-present", doc: "The command that is run when an item was presented.")
    public let onDismiss = DictionaryKey<[String]>(
      "on-dismiss", doc: "The command that is run when a presented item has ended.")
    public let check = DictionaryKey<Properties>(
      "check",
      doc:
        "The check of the programs of presented items: command as, every t in milliseconds, and failures u, after which an item has failed."
    )
    public let restart = DictionaryKey<Properties>(
      "restart",
      doc:
        "If its items are presented again that end by themselves: when s (on-failure or always), delay t, delay-max t, limit u."
    )
    public let restore = DictionaryKey<String>(
      "restore", doc: "login, if its items are kept beyond the session and presented again at the next login.")
    public let replacement = DictionaryKey<String>(
      "replacement", doc: "overlap, if an item stays on the screen until the next one is there.")
    public let ready = DictionaryKey<String>(
      "ready", doc: "notify, if an item is on the screen only once its program has said so (Ready).")
    public let holds = DictionaryKey<[String: String]>(
      "holds", doc: "What holds do with its items, by their names: show, postpone, refuse or dismiss.")
    public let hold = DictionaryKey<String>("hold", doc: "The hold that is in force while one of its items is live.")
    public let inhibit = DictionaryKey<[String]>(
      "inhibit", doc: "What logind is kept from while an item is presented.")
    public let serves = DictionaryKey<Properties>(
      "serves", doc: "The bindings that it serves, and what each accepts (Serve).")
    public let file = DictionaryKey<String>("file", doc: "The file that declares it.")
    public let client = DictionaryKey<String>("client", doc: "The client that registered it.")
    public let startTimeout = DictionaryKey<UInt64>("start-timeout", doc: "Milliseconds that showing may take.")
    public let grace = DictionaryKey<UInt64>("grace", doc: "Milliseconds that a dismissal may take.")
    public let window = DictionaryKey<Properties>(
      "window",
      doc:
        "How its items follow windows, if they do. The keys are app-id s, title s, windows s, adopt b, settle t, linger t, leftover s, kill b, unfocus s, here b, output-gone s and dismissal s. Options of org.navd.WindowSystem1.Place may be there, too."
    )
  }
}

/// The result of a presentation, for clients that wait for it (rule D6).
public struct PresentationResult: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let error = DictionaryKey<String>("error", doc: "Why it failed.")
    public let status = DictionaryKey<Int32>(
      "status",
      doc:
        "The exit status of a command; absent if it is not known, as after a signal, or if the command has outlived a navd."
    )
    public let statusKnown = DictionaryKey<Bool>(
      "status-known", doc: "Whether there is a status; never absent at an end.")
    public let declined = DictionaryKey<String>(
      "declined", doc: "With settled: why its presenter keeps it. The presentation has not ended.")
    public let signal = DictionaryKey<String>("signal", doc: "The signal that ended a command.")
    public let windowSeen = DictionaryKey<Bool>(
      "window-seen",
      doc: """
        True if a command ended with another status than 0 when its window had been there for so long that its user may have \
        closed it.
        """)
    public let output = DictionaryKey<[UInt8]>("output", doc: "The standard output of a command.")
    public let outputTruncated = DictionaryKey<Bool>("output-truncated", doc: "True if the output was cut.")
    public let kept = DictionaryKey<String>(
      "kept", doc: "The binding of what is still on the screen, since this one did not come to replace it.")
    public let stopped = DictionaryKey<Bool>(
      "stopped", doc: "True if somebody has stopped it by the service manager; it is not presented again.")
  }
}
