// Why this file exists: what can be said of an item beside its id is the same for every verb that presents one.

import DBusValues
import PresentationModel

/// What happens to a request while another member of its group is selected (rule G8).
public typealias BusyPolicy = PresentationModel.BusyPolicy

/// How an item is shown; what is nil is not given, and stays as it is (rule P2).
public struct PresentationOptions: Hashable, Sendable {
  /// Who shows it: the name of a destination. nil: the one called like the binding, else it is state only (D2).
  public var destination: String?
  /// What the item holds.
  public var value: Properties?
  /// What it carries for its container (V2).
  public var containerValues = ContainerValues()
  /// Handed to the presenter: sheet, popover, alert, …
  public var style: String?
  /// What to call it where a name is shown.
  public var title: String?
  /// The binding that it is presented from (C1).
  public var from: String?
  /// The group that it is a member of; nil: its destination's.
  public var group: String?
  /// What the group selects it by; nil: by its binding (G7).
  public var tag: String?
  /// The stack that it is pushed on.
  public var stack: String?
  /// When it ends by itself, from when it is presented (O2); milliseconds count.
  public var timeout: Duration?
  /// Whether it ends when this program leaves the bus (O1).
  public var isOwned: Bool?
  /// What to do when another member of its group is selected; nil: replace it.
  public var ifBusy: BusyPolicy?
  /// In a queue the highest comes first (G9).
  public var priority: Int32?
  /// The program and its arguments that show it, instead of a destination (D3).
  public var command: [String]?
  /// Where ``command`` runs.
  public var directory: String?
  /// What ``command``, or the destination's, has in its environment beside what navd has.
  public var environment: [String: String]?
  /// Handed to the presenter: `activation-token`, `parent-window`, `output`.
  public var platformData: Properties?
  /// Whether showing it is animated (T2).
  public var animated: Bool?

  /// What is said most often; the rest is set afterwards.
  public init(
    destination: String? = nil, value: Properties? = nil, style: String? = nil, title: String? = nil,
    timeout: Duration? = nil
  ) {
    self.destination = destination
    self.value = value
    self.style = style
    self.title = title
    self.timeout = timeout
  }

  /// The same, with a value for its container.
  public func containerValue<Value>(
    _ keyPath: WritableKeyPath<ContainerValues, Value>, _ value: Value
  ) -> PresentationOptions {
    var options = self
    options.containerValues[keyPath: keyPath] = value
    return options
  }

  /// As the contract has it.
  var properties: Properties {
    var all: Properties = [:]
    all[Options.destination] = destination
    all[Options.value] = value
    if !containerValues.properties.isEmpty { all[Options.containerValues] = containerValues.properties }
    all[Options.style] = style
    all[Options.title] = title
    all[Options.from] = from
    all[Options.group] = group
    all[Options.tag] = tag
    all[Options.stack] = stack
    all[Options.timeout] = timeout.map(\.milliseconds)
    all[Options.owned] = isOwned
    all[Options.ifBusy] = ifBusy?.rawValue
    all[Options.priority] = priority
    all[Options.command] = command
    all[Options.directory] = directory
    all[Options.environment] = environment
    all[Options.platformData] = platformData
    all[Options.animated] = animated
    return all
  }
}

/// What a request expects of what it is about; where that has changed, it is refused (`stale`, rule P10).
public typealias Expectation = PresentationModel.Expectation

extension Expectation {
  /// The expectation as options of a request.
  var properties: Properties {
    var options: Properties = [:]
    options[Options.expectedID] = id
    options[Options.expectedPresentation] = content.map {
      if case .presentation(let handle) = $0 { handle.path } else { .root }
    }
    options[Options.expectedSerial] = serial
    return options
  }
}

extension PresentationOptions {
  /// With what is expected of what is there.
  func properties(_ expectation: Expectation) -> Properties {
    properties.merging(expectation.properties) { $1 }
  }
}

extension Expectation {
  /// For a request that gives nothing else of an item; nil: as its transaction says (T2).
  func properties(animated: Bool?) -> Properties {
    var all = properties
    all[Options.animated] = animated
    return all
  }
}

/// How the items of a destination are shown (D1), where the items do not say.
public struct DestinationOptions: Hashable, Sendable {
  /// The group of items that name none.
  public var group: String?
  /// The style of items that name none.
  public var style: String?
  /// How long showing may take before it counts as failed (D4); nil: 10 seconds.
  public var startTimeout: Duration?
  /// How long a dismissal may take before it counts as gone (P14); nil: 2 seconds.
  public var grace: Duration?

  /// Options of which only some are given; the rest is as the coordinator has it.
  public init(
    group: String? = nil, style: String? = nil, startTimeout: Duration? = nil, grace: Duration? = nil
  ) {
    self.group = group
    self.style = style
    self.startTimeout = startTimeout
    self.grace = grace
  }

  /// As the contract has it.
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
  /// Whole milliseconds, rounded up; nothing for what is negative.
  var milliseconds: UInt64 {
    guard self > .zero else { return 0 }
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
    return isTooLong ? .max : whole + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
