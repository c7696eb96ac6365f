import DBusValues
import TextFormats

/// Handling of a request while another member of its group is selected (rule G8).
public enum BusyPolicy: String, Hashable, Sendable, CaseIterable {
  /// Deselects the other member and presents this one.
  case replace
  /// Queues this one until no member is selected (G9).
  case queue
  /// Refuses the request with `busy`.
  case refuse
}

/// A program that a request starts without a shell.
public struct InlineCommand: Hashable, Sendable {
  /// The program and its arguments, as bytes; never empty.
  public var arguments: [[UInt8]]
  public init(arguments: [[UInt8]]) { self.arguments = arguments }
}

/// The options of an item in a request. An option that is nil leaves the present item as it is (P2).
public struct ItemOptions: Hashable, Sendable {
  public var destination: String?
  public var value: Properties?
  public var containerValues: Properties?
  public var style: String?
  public var title: String?
  /// The binding that the item is presented from (C1).
  public var from: BindingID?
  public var group: BindingID?
  public var tag: String?
  public var stack: BindingID?
  /// Milliseconds from `presented` until it ends as `expired` (O2); 0 removes a timeout.
  public var timeout: UInt64?
  public var owned: Bool?
  public var ifBusy: BusyPolicy?
  public var priority: Int32?
  public var command: InlineCommand?
  /// Working directory of the command. This and the two options below are used only at its start, so a difference does not
  /// change the item.
  public var directory: String?
  /// Variables that are added to the command's environment.
  public var environment: [String: String]?
  /// Passed to the presenter.
  public var platformData: Properties?

  public init() {}

  /// The options that a group remembers for a tag (G7).
  package var repeatable: ItemOptions {
    var copy = self
    copy.owned = nil
    copy.ifBusy = nil
    copy.priority = nil
    copy.platformData = nil
    return copy
  }

  /// Merges two sets of options; `later` takes precedence.
  package func overridden(by later: ItemOptions) -> ItemOptions {
    var copy = self
    copy.destination = later.destination ?? (later.command == nil ? destination : nil)
    copy.command = later.command ?? (later.destination == nil ? command : nil)
    copy.value = later.value ?? value
    copy.containerValues = later.containerValues ?? containerValues
    copy.style = later.style ?? style
    copy.title = later.title ?? title
    copy.from = later.from ?? from
    copy.group = later.group ?? group
    copy.tag = later.tag ?? tag
    copy.stack = later.stack ?? stack
    copy.timeout = later.timeout ?? timeout
    copy.owned = later.owned ?? owned
    copy.ifBusy = later.ifBusy ?? ifBusy
    copy.priority = later.priority ?? priority
    copy.directory = later.directory ?? directory
    copy.environment = later.environment ?? environment
    copy.platformData = later.platformData ?? platformData
    return copy
  }
}

extension ItemOptions {
  /// Reads the options of an item after ``Options/ofItem`` has checked names and types.
  /// - Throws: `Refusal`: `invalidBinding`, or `invalidArgument` for an unknown policy.
  package init(_ options: Properties) throws(Refusal) {
    self.init()
    // The fast path for most requests.
    if options.isEmpty { return }
    destination = options[Options.destination]
    value = options[Options.value]
    containerValues = options[Options.containerValues]
    style = options[Options.style]
    title = options[Options.title]
    from = try BindingID(optional: options[Options.from])
    group = try BindingID(optional: options[Options.group])
    tag = options[Options.tag]
    stack = try BindingID(optional: options[Options.stack])
    timeout = options[Options.timeout]
    owned = options[Options.owned]
    priority = options[Options.priority]
    command = options.command.map { InlineCommand(arguments: $0) }
    directory = options[Options.directory]
    environment = options[Options.environment]
    platformData = options[Options.platformData]
    if let word = options[Options.ifBusy] {
      guard let policy = BusyPolicy(rawValue: word) else {
        let words = BusyPolicy.allCases.map(\.rawValue).joined(separator: ", ")
        throw Refusal(.invalidArgument, "if-busy: expected one of \(words), found \(quoted(word))")
      }
      ifBusy = policy
    }
  }
}
