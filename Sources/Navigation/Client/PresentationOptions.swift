import DBusValues
import PresentationModel

/// Handling of a request while another member of its group is selected (G8).
///
///     options.group.ifBusy = BusyPolicy.queue
public typealias BusyPolicy = PresentationModel.BusyPolicy

/// The options of an item, in groups. An option that is nil leaves the present item unchanged (P2).
///
///     var options = PresentationOptions(destination: "mixer", value: ["level": 40], style: "popover", title: "Volume")
///     options.from = "bar"
///     options.containerValues.badge = 3
///     options.group = .init("panels", ifBusy: .queue)
///     options.lifetime.timeout = .seconds(3)
///     options.window.output = "focused"
///     options.command.environment = ["LANG": "C.UTF-8"]
///     options.request.isForced = true
///     try await coordinator.present("mixer", options)
public struct PresentationOptions: Hashable, Sendable {
  /// The destination that shows the item; nil for the destination with the binding's name (D2).
  public var destination: String?
  /// The item's value, which replaces the former value as a whole.
  public var value: Properties?
  /// The container values set by the item (V2).
  public var containerValues = ContainerValues()
  /// The style, for the presenter: sheet, popover, alert, …
  public var style: String?
  /// The title, for people.
  public var title: String?
  /// Data for the presenter: `activation-token`, `parent-window`.
  ///
  ///     options.platformData = ["activation-token": "xdg-7"]
  public var platformData: Properties?

  /// The binding from which the item is presented (C1).
  public var from: String?
  /// The stack on which the item is pushed.
  ///
  ///     options.stack = "inventory.path"
  public var stack: String?
  /// The group of which the item is a member.
  public var group = Group()
  /// The end of the item without a further request.
  public var lifetime = Lifetime()
  /// The windows of the item.
  public var window = Window()
  /// The command that shows the item.
  public var command = Command()
  /// The request itself, of which the item remembers nothing.
  public var request = Request()

  /// Creates options from the most common ones; set the others afterwards.
  ///
  ///     try await coordinator.present("note", id: "7", PresentationOptions(value: ["text": "Milk"], title: "Note"))
  public init(
    destination: String? = nil, value: Properties? = nil, style: String? = nil, title: String? = nil,
    timeout: Duration? = nil
  ) {
    self.destination = destination
    self.value = value
    self.style = style
    self.title = title
    lifetime.timeout = timeout
  }

  /// An item as a member of an exclusive group (G1).
  ///
  ///     options.group = .init("panels", tag: "wifi", ifBusy: .queue, priority: 5)
  public struct Group: Hashable, Sendable {
    /// The name of the group; nil for the destination's group.
    ///
    ///     options.group.name = "panels"
    public var name: String?
    /// The tag that selects the item in its group; nil for its binding (G7).
    public var tag: String?
    /// The handling of the request while another member of the group is selected; nil for `replace`.
    public var ifBusy: BusyPolicy?
    /// The priority in a queue; the highest is selected first (G9).
    public var priority: Int32?

    /// Creates the options of a member.
    public init(_ name: String? = nil, tag: String? = nil, ifBusy: BusyPolicy? = nil, priority: Int32? = nil) {
      (self.name, self.tag, self.ifBusy, self.priority) = (name, tag, ifBusy, priority)
    }
  }

  /// The times and the client with which an item ends.
  ///
  ///     options.lifetime = .init(timeout: .seconds(3), within: .seconds(60), isOwned: true)
  public struct Lifetime: Hashable, Sendable {
    /// The time from the presentation until the item expires, in whole milliseconds; zero for never,
    /// and a negative time for at once (O2).
    public var timeout: Duration?
    /// The time from the request until the item expires if it has not been presented, in whole
    /// milliseconds; zero for never, and a negative time for at once (H6).
    public var within: Duration?
    /// Whether the item ends when this program leaves the bus (O1).
    public var isOwned: Bool?

    /// Creates a lifetime.
    public init(timeout: Duration? = nil, within: Duration? = nil, isOwned: Bool? = nil) {
      (self.timeout, self.within, self.isOwned) = (timeout, within, isOwned)
    }
  }

  /// The place of an item's windows.
  ///
  ///     options.window = .init(output: "focused", placement: .init(.anchor(.topRight)), comesHere: true, isRaised: true)
  public struct Window: Hashable, Sendable {
    /// The output (screen) on which the item is to appear; `focused` stands for the output with the focus (U1).
    public var output: String?
    /// The place and the appearance of the windows, as far as they are not to be those of the destination. With a ``Command``, the item
    /// then follows the windows of the command (N15).
    public var placement: WindowPlacement?
    /// Whether the windows of an item that is shown on another workspace or output come to the one in
    /// use; nil leaves that to the destination (N11).
    public var comesHere: Bool?
    /// Whether the windows of an item that is already shown are brought to the front.
    public var isRaised: Bool

    /// Creates the options of windows.
    public init(
      output: String? = nil, placement: WindowPlacement? = nil, comesHere: Bool? = nil, isRaised: Bool = false
    ) {
      (self.output, self.placement, self.comesHere, self.isRaised) = (output, placement, comesHere, isRaised)
    }
  }

  /// A program that shows an item instead of a destination, and what it or the destination's command gets.
  ///
  ///     options.command = .init(["sort"], directory: "/tmp", environment: ["LANG": "C.UTF-8"], input: Array("tea\n".utf8))
  public struct Command: Hashable, Sendable {
    /// The program and its arguments; nil for the destination's command (D3).
    ///
    ///     options.command.arguments = ["foot", "-e", "top"]
    public var arguments: [String]?
    /// The working directory of the program.
    public var directory: String?
    /// Variables to add to the environment of the program or of the destination's command.
    public var environment: [String: String]?
    /// The standard input of the program or of the destination's command, instead of the item as JSON (D16).
    public var input: [UInt8]?

    /// Creates the options of a command.
    public init(
      _ arguments: [String]? = nil, directory: String? = nil, environment: [String: String]? = nil,
      input: [UInt8]? = nil
    ) {
      (self.arguments, self.directory, self.environment, self.input) = (arguments, directory, environment, input)
    }
  }

  /// The ways in which a request is carried out.
  ///
  ///     options.request = .init(allowsState: true, animated: false, isForced: true)
  public struct Request: Hashable, Sendable {
    /// Whether an item without a destination and a command is accepted, as one that is state only, for programs that draw it
    /// themselves. Otherwise the request is refused, since the name is usually a mistake (D2).
    public var allowsState: Bool
    /// Whether the appearance is animated (T2).
    public var animated: Bool?
    /// Whether no presenter may decline to end an item that the request ends, or for whose end it still waits (P15).
    public var isForced: Bool

    /// Creates the options of a request.
    public init(allowsState: Bool = false, animated: Bool? = nil, isForced: Bool = false) {
      (self.allowsState, self.animated, self.isForced) = (allowsState, animated, isForced)
    }

    /// The options as the contract's dictionary.
    var properties: Properties {
      var all: Properties = [:]
      if allowsState { all[Options.state] = true }
      all[Options.animated] = animated
      if isForced { all[Options.force] = true }
      return all
    }
  }

  /// Returns a copy with a container value.
  ///
  ///     navigator.present(tag: .items, selection: $model.tab) {
  ///       PresentationOptions(title: "Items").containerValue(\.badge, model.count)
  ///     } content: {
  ///       Window("Items")
  ///     }
  public func containerValue<Value>(
    _ keyPath: WritableKeyPath<ContainerValues, Value>, _ value: Value
  ) -> PresentationOptions {
    var options = self
    options.containerValues[keyPath: keyPath] = value
    return options
  }

  /// The options as the contract's dictionary.
  var properties: Properties {
    var all: Properties = [:]
    all[Options.destination] = destination
    all[Options.value] = value
    if !containerValues.properties.isEmpty { all[Options.containerValues] = containerValues.properties }
    all[Options.style] = style
    all[Options.title] = title
    all[Options.platformData] = platformData
    all[Options.from] = from
    all[Options.stack] = stack
    all[Options.group] = group.name
    all[Options.tag] = group.tag
    all[Options.ifBusy] = group.ifBusy?.rawValue
    all[Options.priority] = group.priority
    all[Options.timeout] = lifetime.timeout.map(\.milliseconds)
    all[Options.within] = lifetime.within.map(\.milliseconds)
    all[Options.owned] = lifetime.isOwned
    all[Options.output] = window.output
    all[Options.window] = window.placement?.options.properties
    all[Options.here] = window.comesHere
    if window.isRaised { all[Options.raise] = true }
    all[Options.command] = command.arguments
    all[Options.directory] = command.directory
    all[Options.environment] = command.environment
    all[Options.input] = command.input
    return all.merging(request.properties) { $1 }
  }
}

/// The expected content of a request's slot. If the slot holds something else, the request is refused as `stale` (P10).
///
///     let note = try await coordinator.presentation(at: "note")
///     try await coordinator.dismiss("note", expecting: Expectation(presentation: note?.presentation))
public typealias Expectation = PresentationModel.Expectation

extension Expectation {
  /// The expectation as options of a request.
  var properties: Properties {
    var options: Properties = [:]
    options[Options.expectedID] = id
    options[Options.expectedPresentation] = content.map {
      if case .presentation(let handle) = $0 { handle.path } else { .root }
    }
    return options
  }
}

extension PresentationOptions {
  /// The options with an expectation.
  func properties(_ expectation: Expectation) -> Properties {
    properties.merging(expectation.properties) { $1 }
  }
}

extension Expectation {
  /// The options of a request without an item.
  /// - Parameters:
  ///   - animated: whether the change is animated; nil leaves it to the transaction (T2).
  ///   - force: whether no presenter may decline to end an item that the request ends, or for whose end it still waits (P15).
  func properties(animated: Bool?, force: Bool) -> Properties {
    var all = properties
    all[Options.animated] = animated
    if force { all[Options.force] = true }
    return all
  }
}

/// The options of a destination (D1).
///
///     let options = DestinationOptions(group: "notes", style: "sheet", startTimeout: .seconds(3), grace: .seconds(5))
///     try await navigator.serve("note-viewer", options) { item in Window("Note \(item.id)") }
public struct DestinationOptions: Hashable, Sendable {
  /// The group of items that name no group.
  public var group: String?
  /// The style of items that name no style.
  public var style: String?
  /// The time after which an item that has not appeared ends as failed; nil for 10 seconds (D4).
  public var startTimeout: Duration?
  /// The grace period, after which an item that is being dismissed counts as gone; nil for 2
  /// seconds (P14).
  public var grace: Duration?

  /// Creates options; the coordinator has defaults for omitted ones.
  public init(
    group: String? = nil, style: String? = nil, startTimeout: Duration? = nil, grace: Duration? = nil
  ) {
    self.group = group
    self.style = style
    self.startTimeout = startTimeout
    self.grace = grace
  }

  /// The options as the contract's dictionary.
  var properties: Properties {
    var all: Properties = [:]
    all[Options.group] = group
    all[Options.style] = style
    all[Options.startTimeout] = startTimeout.map(\.milliseconds)
    all[Options.grace] = grace.map(\.milliseconds)
    return all
  }
}

extension Duration {
  /// The time in whole milliseconds, rounded up. A negative time is over; it becomes the shortest one, because zero means never.
  var milliseconds: UInt64 {
    guard self >= .zero else { return 1 }
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
    return UInt64(clamping: whole + (rest > 0 ? 1 : 0))
  }
}
