import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import PresentationRules
import TestSupport

@testable import Simulation

/// A navd on a bus that gets the inputs of a simulated world: the requests of its clients, and the answers of their presenters. What
/// the world calls a client is a connection here.
final class LiveWorld {
  private typealias Rows = CoordinatorInterface

  private let session: Session
  private var connections: [Client: Connection] = [:]
  /// The calls to presenters without an answer.
  private var calls: [(method: String, presentation: ObjectPath, reply: (Result<Properties, DBusError>) -> Void)] = []
  /// The presentations whose dismissal was declined.
  private var declined: Set<Handle> = []
  /// navd's presentations, by those of the world.
  private var presentations: [Handle: Handle] = [:]

  /// The clients that show presentations, by the world's machine.
  private var presenters: [Handle: Client] = [:]

  private static let path: ObjectPath = "/p"
  /// No time passes in the world.
  private static let forEver: UInt64 = 3_600_000

  init(_ session: Session) throws {
    self.session = session
    try session.call(Rows.declareContainerValue, ("badge", .int32(0)))
  }

  // MARK: Inputs

  /// Gives an input to navd.
  /// - Parameter refusal: the refusal that the rules say.
  func happen(_ input: Input, _ refusal: Refusal?) throws {
    var found: ErrorCode?
    do { try happen(input) } catch let error as DBusError {
      guard let code = ErrorCode(error.name) else { throw error }
      found = code
    }
    guard found == refusal?.code else {
      throw Session.Failure(
        "navd answers \(found?.rawValue ?? "without an error"), expected \(refusal.map { "\($0)" } ?? "no error")")
    }
  }

  private func happen(_ input: Input) throws {
    switch input {
    case .perform(let requests, let client): try perform(requests.map(\.onBus), try connection(of: client))
    case .register(let destination, let client):
      var options: Properties = [:]
      if case .named(let group)? = destination.group { options[Options.group] = group.text }
      options[Options.startTimeout] = Self.forEver
      options[Options.grace] = Self.forEver
      let connection = try connection(of: client)
      try session.call(Rows.registerPresenter, (destination.name, Self.path, options), by: connection)
    case .unregister(let name, let client):
      try session.call(Rows.unregisterPresenter, name, by: try connection(of: client))
    case .serve(let destination, let entries, let client):
      let bindings = entries.map { Structure($0.text, $1?.properties ?? [:]) }
      try session.call(Rows.serve, (destination, bindings), by: try connection(of: client))
    case .asking(let handle, _):
      let (presentation, presenter) = try presented(handle)
      try session.call(Rows.asking, (presentation, "?"), by: presenter)
    case .report(let report): try hear(report)
    case .left(let client): connections.removeValue(forKey: client)?.close()
    default: throw Session.Failure("a navd on a bus cannot have this input: \(input)")
    }
  }

  private func perform(_ requests: [TransactionRequest], _ client: Connection) throws {
    guard requests.count == 1, let request = requests.first else {
      try session.call(Rows.apply, (requests, [:]), by: client)
      return
    }
    _ = try client.callAndWait([
      .call(
        MemberName(request.method)!, of: Rows.name, on: CoordinatorNames.bus, at: CoordinatorNames.object,
        request.arguments)
    ])
  }

  private func hear(_ report: Report) throws {
    switch report {
    case .presentAnswered(let handle, nil): try answer("Present", handle, .success([:]))
    case .updateAnswered(let handle): try answer("Update", handle, .success([:]))
    case .dismissAnswered(let handle, let result): try answer("Dismiss", handle, .success(result))
    case .declined(let handle, let message):
      // A call is answered once; the world has presenters that decline twice.
      let isFirst = declined.insert(handle).inserted
      guard isFirst || call("Dismiss", handle) != nil else { break }
      try answer(
        "Dismiss", handle, .failure(DBusError(name: CoordinatorError.Name.declined.errorName, message: message)))
    case .ended(let handle, _, let result):
      let (presentation, presenter) = try presented(handle)
      try session.call(Rows.closed, (presentation, result), by: presenter)
    // The connection of its presenter closes, or has closed.
    case .presenterLeft: break
    default: throw Session.Failure("a presenter on a bus cannot report this: \(report)")
    }
  }

  // MARK: Clients and presenters

  private func connection(of client: Client) throws -> Connection {
    if let connection = connections[client] { return connection }
    let connection = try session.connect()
    connections[client] = connection
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { [unowned self] input, call in
      calls.append(
        ("Present", input.0, { if case .failure(let error) = $0 { call.fail(error) } else { call.reply() } }))
    }
    object.implement(PresenterInterface.update) { [unowned self] input, call in
      calls.append(("Update", input.0, { if case .failure(let error) = $0 { call.fail(error) } else { call.reply() } }))
    }
    object.implement(PresenterInterface.dismiss) { [unowned self] input, call in
      calls.append(
        (
          "Dismiss", input.0,
          {
            switch $0 {
            case .success(let result): call.reply(result)
            case .failure(let error): call.fail(error)
            }
          }
        ))
    }
    connection.export(Self.path, [object])
    return connection
  }

  /// navd's presentation, and the connection of its presenter.
  private func presented(_ handle: Handle) throws -> (ObjectPath, Connection) {
    guard let presentation = presentations[handle] else { throw Session.Failure("navd does not present \(handle)") }
    guard let presenter = presenters[handle], let connection = connections[presenter] else {
      throw Session.Failure("\(handle) has no presenter on the bus")
    }
    return (presentation.path, connection)
  }

  /// The index of a call without an answer.
  private func call(_ method: String, _ handle: Handle) -> Int? {
    calls.firstIndex { $0.method == method && $0.presentation == presentations[handle]?.path }
  }

  private func answer(_ method: String, _ handle: Handle, _ result: Result<Properties, DBusError>) throws {
    // Nobody hears a presenter that has left.
    guard let presenter = presenters[handle].flatMap({ connections[$0] }) else { return }
    // The answer is a barrier: navd's earlier calls to the presenter come before it.
    try session.call(Rows.getState, (), by: presenter)
    guard let index = call(method, handle) else {
      // A presenter gets no call for its own update (D8).
      if method == "Update" { return }
      let waiting = calls.map { "\($0.method) \($0.presentation)" }
      throw Session.Failure("expected the call \(method) for \(handle), found \(waiting)")
    }
    calls.remove(at: index).reply(result)
    // navd handles the answer before a later call of the same client.
    try session.call(Rows.getState, (), by: presenter)
  }

  // MARK: Comparing

  /// Waits until navd's state is that of the world, as the naive model says it.
  func compare(with world: borrowing World) throws {
    let expected = state(of: world)
    var found: [String: String] = [:]
    do {
      try session.poll("the state is that of the naive model") {
        found = try state(world)
        return found == expected
      }
    } catch {
      let keys = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.sorted()
      let lines = keys.map { "\($0): \(found[$0] ?? "nothing"), expected \(expected[$0] ?? "nothing")" }
      throw Session.Failure("\(error)\n\(lines.joined(separator: "\n"))")
    }
  }

  /// The naive model's slots, groups and stacks, as text by their names.
  private func state(of world: borrowing World) -> [String: String] {
    var lines: [String: String] = [:]
    let model = world.model
    for (binding, slot) in model.slots {
      let item = slot.item
      let position = model.position(of: binding)
      let parent = slot.parent.flatMap { model.binding(of: $0) }
      let phase = world.handles[slot.token].flatMap { world.machine.presentation($0)?.phase.name.rawValue }
      let owner = item.owner.flatMap { connections[$0]?.uniqueName.text }
      lines[binding.text] = Self.line(
        item.id, phase, item.destination?.name, item.value, item.containerValues, item.style, item.title,
        item.group?.text, item.tag, position?.stack.text, parent?.text, owner, item.priority)
    }
    for group in world.generator.groups {
      lines["group \(group)"] = Self.line(model.selection(of: group), model.queue(of: group), model.tags(of: group))
    }
    for stack in world.generator.stacks {
      let path = model.paths[stack, default: []].map { "\($0)=\(model.slots[$0]!.item.id)" }
      lines["stack \(stack)"] = path.joined(separator: " ")
    }
    return lines
  }

  /// The same of navd.
  private func state(_ world: borrowing World) throws -> [String: String] {
    let snapshot = StateSnapshot(try session.call(Rows.getState, ()).0)
    let current = snapshot.entries.filter { $0.knownPhase != .dismissing }
    let bindings = Dictionary(uniqueKeysWithValues: current.map { ($0.presentation ?? 0, $0.binding ?? "") })
    var lines: [String: String] = [:]
    for entry in current {
      lines[entry.binding ?? ""] = Self.line(
        entry.id ?? "", entry.phase, entry.destination, entry.value ?? [:], entry.containerValues ?? [:],
        entry.properties[Options.style], entry.properties[Options.title], entry.group, entry.tag, entry.stack,
        entry.parent.flatMap { bindings[$0] }, entry.owner, entry.priority ?? 0)
    }
    for group in world.generator.groups {
      let entry = snapshot.groupEntries[group.text]
      lines["group \(group)"] = Self.line(entry?.selection, entry?.queue ?? [], entry?.tags ?? [])
    }
    for stack in world.generator.stacks {
      let path = snapshot.paths[stack.text, default: []]
      lines["stack \(stack)"] = path.map { "\($0.binding)=\($0.id)" }.joined(separator: " ")
    }
    try note(current, world)
    return lines
  }

  /// Notes which presentation of navd is which of the world. It must stay the same one.
  private func note(_ current: [StateEntry], _ world: borrowing World) throws {
    let numbers = Dictionary(uniqueKeysWithValues: current.map { ($0.binding ?? "", $0.presentation ?? 0) })
    for (binding, slot) in world.model.slots {
      guard let handle = world.handles[slot.token], let number = numbers[binding.text] else { continue }
      let presentation = world.machine.presentation(handle)
      if case .bus(let name, _)? = presentation?.item.destination?.presenter { presenters[handle] = Client(name) }
      guard presentations.updateValue(Handle(number), forKey: handle) ?? Handle(number) == Handle(number) else {
        throw Session.Failure("\(binding) is presented anew")
      }
    }
  }

  private static func line(_ parts: Any?...) -> String {
    parts.map { part in
      if let properties = part as? Properties { return "\(properties.sorted { $0.key < $1.key })" }
      return part.map { "\($0)" } ?? "–"
    }.joined(separator: " | ")
  }
}

extension Request {
  /// The request as a method of the contract with its arguments.
  fileprivate var onBus: TransactionRequest {
    var options: Properties = [:]
    options[Options.animated] = animated
    // The options that the method has.
    if case .update = operation {} else if isForced { options[Options.force] = true }
    switch operation {
    case .present, .toggle, .select, .toggleSelection, .push, .setPath:
      if !needsKnownName { options[Options.state] = true }
    default: break
    }
    func all(_ item: ItemOptions) -> Value { options.merging(item.onBus) { $1 }.value }
    func request(_ method: String, _ arguments: Value...) -> TransactionRequest {
      TransactionRequest(method, arguments)
    }
    func text(_ binding: BindingID?) -> Value { .string(binding?.text ?? "") }
    func selecting(_ binding: BindingID?, _ id: String?, _ item: ItemOptions) -> Value {
      options[Options.binding] = binding?.text
      options[Options.id] = id
      return all(item)
    }
    switch operation {
    case .present(let binding, let id, let item): return request("Present", text(binding), .string(id), all(item))
    case .toggle(let binding, let id, let item, let anyID):
      if anyID { options[Options.anyID] = true }
      return request("Toggle", text(binding), .string(id), all(item))
    case .update(let binding, let value, let remove, let containerValues, _):
      if !remove.isEmpty { options[Options.remove] = remove }
      options[Options.containerValues] = containerValues
      return request("Update", text(binding), value.value, options.value)
    case .dismiss(let binding): return request("Dismiss", text(binding), options.value)
    case .dismissAll(let scope):
      switch scope {
      case .root(let root): options[Options.root] = root
      case .group(let group): options[Options.group] = group.text
      case .stack(let stack): options[Options.stack] = stack.text
      case .everything: options[Options.all] = true
      case .parked: options[Options.parked] = true
      }
      return request("DismissAll", options.value)
    case .select(let group, let tag, let binding, let id, let item):
      return request("Select", text(group), .string(tag), selecting(binding, id, item))
    case .deselect(let group, let tag): return request("Deselect", text(group), .string(tag ?? ""), options.value)
    case .toggleSelection(let group, let tag, let binding, let id, let item):
      return request("ToggleSelection", text(group), .string(tag), selecting(binding, id, item))
    case .forget(let group, let tag): return request("Forget", text(group), .string(tag), options.value)
    case .push(let stack, let binding, let id, let item):
      return request("Push", text(stack), text(binding), .string(id), all(item))
    case .pop(let stack, let count): return request("Pop", text(stack), .uint32(count), options.value)
    case .popTo(let stack, let binding): return request("PopTo", text(stack), text(binding), options.value)
    case .setPath(let stack, let elements):
      let path = elements.map { Structure($0.binding?.text ?? "", $0.id, $0.options.onBus) }
      return request("SetPath", text(stack), path.value, options.value)
    }
  }
}

extension ItemOptions {
  fileprivate var onBus: Properties {
    var all: Properties = [:]
    all[Options.destination] = self.destination
    all[Options.value] = self.value
    all[Options.containerValues] = self.containerValues
    all[Options.style] = self.style
    all[Options.title] = self.title
    all[Options.from] = self.from?.text
    all[Options.group] = self.group?.text
    all[Options.tag] = self.tag
    all[Options.stack] = self.stack?.text
    all[Options.owned] = self.owned
    all[Options.ifBusy] = self.ifBusy?.rawValue
    all[Options.priority] = self.priority
    return all
  }
}
