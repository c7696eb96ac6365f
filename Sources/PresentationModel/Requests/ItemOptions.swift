import DBusValues
import TextFormats

/// Handling of a request while another member of its group is selected (rule G8).
public enum BusyPolicy: String, Hashable, Sendable, CaseIterable {
  /// Deselects the other member and presents this one.
  case replace
  /// Like `replace`, but the other member waits in the queue, before all others (K2).
  case interrupt
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
public typealias ItemOptions = Shared<ItemOptionFields>

/// The fields of ``ItemOptions``, a plain record: one property for each option of `Present`.
public struct ItemOptionFields: Hashable, Sendable {
  public var destination: String?
  public var value: Properties?
  public var containerValues: Properties?
  public var style: String?
  public var title: String?
  /// The output to appear on, empty for none in particular (U1).
  public var output: String?
  /// The place and the appearance of the windows, as far as they are not to be those of the destination (N15).
  public var placement: WindowPlacement?
  /// The binding that the item is presented from (C1).
  public var from: BindingID?
  public var group: BindingID?
  public var tag: String?
  public var stack: BindingID?
  /// Milliseconds from `presented` until the item ends as `expired`; 0 removes a timeout (O2).
  public var timeout: UInt64?
  /// Milliseconds from the request until the item ends as `expired` if it still waits then; 0 for
  /// never (H6).
  public var within: UInt64?
  public var owned: Bool?
  public var ifBusy: BusyPolicy?
  public var priority: Int32?
  public var command: InlineCommand?
  /// The working directory of the command. The directory, the environment and the platform data are used only at the start of the
  /// command, so a difference in them does not change the item.
  public var directory: String?
  /// Variables that are added to the command's environment.
  public var environment: [String: String]?
  /// The standard input of the command instead of the item (D16).
  public var input: [UInt8]?
  /// Data that are passed to the presenter.
  public var platformData: Properties?

  public init() {}

  /// An instance without options, as most requests have it.
  fileprivate static let none = Shared(ItemOptionFields())
}

extension ItemOptions {
  public init() { self = ItemOptionFields.none }

  /// The name of the first option that says how a program is run; nil if there is none (L3).
  package var optionAboutRunning: String? {
    if self.command != nil { return Options.command.name }
    if self.directory != nil { return Options.directory.name }
    if self.environment != nil { return Options.environment.name }
    return self.input == nil ? nil : Options.input.name
  }

  /// The options that a group remembers for a tag (G7).
  package var repeatable: ItemOptions {
    var copy = content
    copy.owned = nil
    copy.ifBusy = nil
    copy.priority = nil
    copy.input = nil
    copy.platformData = nil
    return ItemOptions(copy)
  }

  /// Merges two sets of options; `later` takes precedence.
  package func overridden(by later: ItemOptions) -> ItemOptions {
    var copy = content
    copy.destination = later.destination ?? (later.command == nil ? copy.destination : nil)
    copy.command = later.command ?? (later.destination == nil ? copy.command : nil)
    copy.value = later.value ?? copy.value
    copy.containerValues = later.containerValues ?? copy.containerValues
    copy.style = later.style ?? copy.style
    copy.title = later.title ?? copy.title
    copy.output = later.output ?? copy.output
    copy.placement = later.placement ?? copy.placement
    copy.from = later.from ?? copy.from
    copy.group = later.group ?? copy.group
    copy.tag = later.tag ?? copy.tag
    copy.stack = later.stack ?? copy.stack
    copy.timeout = later.timeout ?? copy.timeout
    copy.within = later.within ?? copy.within
    copy.owned = later.owned ?? copy.owned
    copy.ifBusy = later.ifBusy ?? copy.ifBusy
    copy.priority = later.priority ?? copy.priority
    copy.directory = later.directory ?? copy.directory
    copy.environment = later.environment ?? copy.environment
    copy.input = later.input ?? copy.input
    copy.platformData = later.platformData ?? copy.platformData
    return ItemOptions(copy)
  }
}

extension Options {
  public static let destination = DictionaryKey<String>(
    "destination",
    doc: "The destination that shows it. Default: the destination with the name of the binding; see also state.")
  public static let value = DictionaryKey<Properties>(
    "value", doc: "The item's value, a dictionary; replaces the former value as a whole.")
  public static let containerValues = DictionaryKey<Properties>(
    "container-values", doc: "Values for declared keys, each of its declared type.")
  public static let style = DictionaryKey<String>("style", doc: "Passed to the presenter: sheet, popover, alert, …")
  public static let title = DictionaryKey<String>("title", doc: "A name for people.")
  /// The value ``focusedOutput`` is used in requests only: items have the name of the real output.
  public static let output = DictionaryKey<String>(
    "output",
    doc:
      "The output where it appears, such as DP-1. In a request also “focused”, the one with the focus, or empty for none."
  )
  public static let window = DictionaryKey<Properties>(
    "window",
    doc: """
      Where and how its windows are shown: options of org.navd.WindowSystem1.Place, each instead of the destination's. With a \
      command, the item follows the command's windows, too.
      """)
  public static let from = DictionaryKey<String>(
    "from", doc: "The binding of the parent, which must hold an item. Default: the nearest one.")
  public static let group = DictionaryKey<String>(
    "group", doc: "The exclusive group that it is a member of. Default: the destination's.")
  public static let tag = DictionaryKey<String>(
    "tag", doc: "The name that selects it in its group. Default: the binding without a leading “group.”.")
  public static let stack = DictionaryKey<String>("stack", doc: "The stack that it is the top of.")
  public static let timeout = DictionaryKey<UInt64>(
    "timeout", doc: "Milliseconds from its presentation until it expires, 0 for never; giving it again restarts it.")
  public static let within = DictionaryKey<UInt64>(
    "within",
    doc: "Milliseconds from the request until it expires if it has not been presented by then; 0 for never.")
  public static let owned = DictionaryKey<Bool>(
    "owned", doc: "Whether it ends when the sender leaves the bus. False: it has no owner.")
  public static let ifBusy = DictionaryKey<String>(
    "if-busy",
    doc: "The action if another member of the group is selected: replace (the default), interrupt, queue or refuse.")
  public static let priority = DictionaryKey<Int32>(
    "priority", doc: "Its priority in a queue: the highest is selected first, among equals the oldest.")
  /// The arguments are strings, or bytes if one of them is not UTF-8. Read them by `Properties.command`.
  public static let command = DictionaryKey<[String]>(
    "command", alternatives: [.array(.array(.byte))],
    doc: "The program that shows it, and its arguments, instead of a destination.")
  public static let directory = DictionaryKey<String>("directory", doc: "The working directory of the command.")
  public static let environment = DictionaryKey<[String: String]>(
    "environment", doc: "Variables for the command, added to its environment.")
  public static let input = DictionaryKey<[UInt8]>(
    "input", doc: "What the command, or the destination's, reads on its standard input instead of the item as JSON.")
  public static let platformData = DictionaryKey<Properties>(
    "platform-data", doc: "Passed to the presenter: activation-token s, parent-window s.")

  /// The output with the focus, as a value of ``output``.
  package static let focusedOutput = "focused"

  /// The options that only presenters interpret. An item carries them to presenters and watchers under the same names.
  public static let ofAppearance = OptionTable([style.row, title.row, output.row])

  /// The options of an item: those of `SetPath`'s elements, and of every method that presents.
  public static let ofItem =
    OptionTable([destination.row, value.row, containerValues.row]) + ofAppearance
    + OptionTable([
      window.row, from.row, group.row, tag.row, stack.row, timeout.row, within.row, owned.row, ifBusy.row, priority.row,
      command.row, directory.row, environment.row, input.row, platformData.row,
    ])
}

extension StateEntry.Keys {
  public var style: DictionaryKey<String> { Options.style }
  public var title: DictionaryKey<String> { Options.title }
  public var output: DictionaryKey<String> { Options.output }
}

extension ItemOptions {
  /// Reads the options of an item after ``Options/ofItem`` has checked names and types.
  /// - Throws: `Refusal`: `invalidBinding`, or `invalidArgument` for an unknown policy.
  package init(_ options: Properties) throws(Refusal) {
    self = options.isEmpty ? ItemOptionFields.none : ItemOptions(try ItemOptionFields(options))
  }
}

extension ItemOptionFields {
  /// The options as a request has them.
  package var properties: Properties {
    var options: Properties = [:]
    options[Options.destination] = destination
    options[Options.value] = value
    options[Options.containerValues] = containerValues
    options[Options.style] = style
    options[Options.title] = title
    options[Options.output] = output
    options[Options.window] = placement?.options.properties
    options[Options.from] = from?.text
    options[Options.group] = group?.text
    options[Options.tag] = tag
    options[Options.stack] = stack?.text
    options[Options.timeout] = timeout
    options[Options.within] = within
    options[Options.owned] = owned
    options[Options.ifBusy] = ifBusy?.rawValue
    options[Options.priority] = priority
    options[Options.command.name] = command?.arguments.value
    options[Options.directory] = directory
    options[Options.environment] = environment
    options[Options.input] = input
    options[Options.platformData] = platformData
    return options
  }

  package init(_ options: Properties) throws(Refusal) {
    destination = options[Options.destination]
    value = options[Options.value]
    containerValues = options[Options.containerValues]
    style = options[Options.style]
    title = options[Options.title]
    output = options[Options.output]
    if let given = options[Options.window] {
      do throws(Refusal) { placement = try WindowPlacement(checking: given) } catch {
        throw Refusal(.invalidArgument, "window: \(error.message)")
      }
    }
    from = try BindingID(optional: options[Options.from])
    group = try BindingID(optional: options[Options.group], as: "group")
    tag = options[Options.tag]
    stack = try BindingID(optional: options[Options.stack], as: "stack")
    timeout = options[Options.timeout]
    within = options[Options.within]
    owned = options[Options.owned]
    priority = options[Options.priority]
    command = options.command.map { InlineCommand(arguments: $0) }
    directory = options[Options.directory]
    environment = options[Options.environment]
    input = options[Options.input]
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
