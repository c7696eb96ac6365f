// Why this file exists: the state and its parts as dictionaries, in the one shape that the bus, JSON and presenters share.

import CoordinatorAPI
import DBusValues
import PresentationRules
import TextFormats

extension Item {
  /// The item as signals and presenters are given it; what there is none of is left out.
  package func properties(parent: BindingID?) -> Properties {
    // With room for what most have: to grow is to hash again what is there.
    var all = Properties(minimumCapacity: 3)
    describe(in: &all)
    if let parent { all["from"] = .string(parent.text) }
    return all
  }

  /// What it is by itself, whatever it is presented from.
  fileprivate func describe(in all: inout Properties) {
    all["value"] = .properties(value)
    all["container-values"] = .properties(containerValues)
    if let style { all["style"] = .string(style) }
    if let title { all["title"] = .string(title) }
    if let destinationName { all["destination"] = .string(destinationName) }
    if let membership {
      all["group"] = .string(membership.group.text)
      all["tag"] = .string(membership.tag)
    }
    if let position { all["stack"] = .string(position.stack.text) }
  }
}

extension StateMachine {
  /// The item of a presentation, with the binding that it is presented from.
  package func properties(of presentation: Presentation) -> Properties {
    presentation.item.content.properties(parent: parent(of: presentation.handle)?.binding)
  }

  /// A presentation as an entry of the state; `platform` is what its presenter knows, such as a process's number.
  package func entry(_ presentation: Presentation, platform: Properties) -> Properties {
    var entry = Properties(minimumCapacity: 12 + platform.count)
    presentation.item.content.describe(in: &entry)
    entry["binding"] = .string(presentation.binding.text)
    entry["id"] = .string(presentation.item.id)
    entry["presentation"] = .uint64(presentation.handle.number)
    entry["phase"] = .string(presentation.phase.word)
    if let parent = presentation.parent { entry["parent"] = .uint64(parent.number) }
    if let since = presentation.since { entry["since"] = .uint64(since) }
    if let owner = presentation.item.owner { entry["owner"] = .string(owner.name) }
    if let timeout = presentation.item.timeout { entry["timeout"] = .uint64(timeout) }
    if presentation.item.priority != 0 { entry["priority"] = .int32(presentation.item.priority) }
    return entry.merging(platform) { first, _ in first }
  }

  /// Milliseconds until a presentation ends as `expired` (O2); nil where it has no timeout, or that has not begun.
  package func timeLeft(of presentation: Presentation, at now: Instant) -> UInt64? {
    presentation.expires.map { ($0.nanoseconds - min($0.nanoseconds, now.nanoseconds)) / 1_000_000 }
  }

  /// The whole state, as `GetState` answers it.
  package func properties(platform: (Handle) -> Properties) -> Properties {
    let entries = allPresentations.map { Value.properties(entry($0, platform: platform($0.handle))) }
    var groups: Properties = [:]
    for name in groupNames {
      var group: Properties = ["tags": tags(of: name).value, "queue": queuedTags(of: name).value]
      if let selection = selection(of: name) { group["selection"] = .string(selection) }
      groups[name.text] = group.value
    }
    var stacks: Properties = [:]
    for name in stackNames {
      let path = path(of: name).map { ["binding": .string($0.binding.text), "id": .string($0.id)] as Properties }
      stacks[name.text] = path.value
    }
    return [
      "serial": .uint64(serial.number), "presentations": .array(element: Properties.valueType, entries),
      "groups": groups.value, "stacks": stacks.value,
    ]
  }
}

extension StateMachine {
  /// What is remembered of those that are gone, the latest first, without their results (D6).
  package func history(most: UInt32, filter: Properties) throws(Refusal) -> [Properties] {
    try Options.ofHistory.refuse(filter)
    func fits(_ option: OptionKey<String>, _ text: String?) -> Bool { filter[option].map { $0 == text } ?? true }
    let fitting = history.reversed().lazy.filter { ending in
      fits(Options.binding, ending.binding.text) && fits(Options.destination, ending.destination)
        && fits(Options.group, ending.group?.text) && fits(Options.stack, ending.stack?.text)
        && fits(Options.reason, ending.reason.rawValue)
    }
    return fitting.prefix(most == 0 ? Int.max : Int(most)).map(\.properties)
  }
}

extension Ending {
  fileprivate var properties: Properties {
    var all: Properties = [
      "binding": .string(binding.text), "id": .string(id), "presentation": .uint64(handle.number),
      "reason": .string(reason.rawValue), "serial": .uint64(serial.number),
    ]
    if let destination { all["destination"] = .string(destination) }
    if let group { all["group"] = .string(group.text) }
    if let stack { all["stack"] = .string(stack.text) }
    if let time { all["time"] = .uint64(time) }
    if let by { all["by"] = by.properties.value }
    if let presentedAt {
      all["shown-for"] = .uint64((endedAt.nanoseconds - min(endedAt.nanoseconds, presentedAt.nanoseconds)) / 1_000_000)
    }
    return all
  }
}

extension Requester {
  fileprivate var properties: Properties {
    var all: Properties = ["client": .string(client.name)]
    if let process { all["pid"] = .uint64(UInt64(process)) }
    if let program { all["program"] = .string(program) }
    return all
  }
}

extension Destination {
  /// What is known about it, as `Destinations` answers.
  package var properties: Properties {
    var all: Properties = ["start-timeout": .uint64(startTimeout), "grace": .uint64(grace)]
    switch presenter {
    case .command(let arguments): all["command"] = arguments.map { String(decoding: $0, as: UTF8.self) }.value
    case .unit(let unit): all["unit"] = .string(unit)
    case .bus(let name, let path):
      all["bus"] = .string(name)
      all["path"] = .objectPath(path)
    case .none: break
    }
    if let group { all["group"] = .string(group.text) }
    if let style { all["style"] = .string(style) }
    switch source {
    case .file(let path): all["file"] = .string(path)
    case .client(let client): all["client"] = .string(client.name)
    case .request: break
    }
    return all
  }

  /// The registration that a client asks for (D1).
  package init(name: String, path: ObjectPath, options: Properties, client: Client) throws(Refusal) {
    try Options.ofRegisterPresenter.refuse(options)
    self.init(
      name: name, presenter: .bus(name: client.name, path: path),
      group: try BindingID(optional: options[Options.group]), style: options[Options.style],
      startTimeout: options[Options.startTimeout] ?? Destination.standardStartTimeout,
      grace: options[Options.grace] ?? Destination.standardGrace, source: .client(client))
  }
}

extension Container {
  /// - Throws: `Refusal`: `invalidArgument` for a kind that there is not, or a name where there is none to give; `invalidBinding`.
  package init(kind: String, name: String) throws(Refusal) {
    switch kind {
    case "group": self = .group(try BindingID(name))
    case "stack": self = .stack(try BindingID(name))
    case "parent": self = .parent(try BindingID(name))
    case "all":
      guard name.isEmpty else {
        throw Refusal(
          .invalidArgument,
          "name is \(quoted(name)), but the kind “all” has none; an empty one, or the kind group, stack or parent, would do"
        )
      }
      self = .coordinator
    default:
      throw Refusal(.invalidArgument, "kind is \(quoted(kind)); group, stack, parent or all would do")
    }
  }
}
