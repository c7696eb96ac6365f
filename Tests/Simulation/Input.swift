import DBusValues
import PresentationModel
import PresentationRules

/// An input of the machine, as a value that can be traced, and repeated on a copy of the machine.
enum Input {
  case perform([Request], Client)
  case report(Report)
  case closed(Handle, Properties, byPresenter: Bool)
  case asking(Handle, byPresenter: Bool)
  case act(Handle, byPresenter: Bool)
  /// The next deadline has come, and perhaps others after it.
  case time
  case left(Client)
  case register(Destination, Client)
  case unregister(String, Client)
  /// A client serves bindings by a destination, or serves them no longer (D18).
  case serve(String, [(BindingID, ServedEntry?)], Client)
  case hold(HoldRequest, Client)
  case release(String, cookie: UInt64?)
  case fact(SessionFact, Bool)
  case shutDown
  /// A restart of navd after it was killed.
  case resume([Handle: Survival], absent: Set<Client>)

  struct Effect {
    var replies: [Reply] = []
    var outcome = Outcome()
    /// The bindings that another client serves.
    var elsewhere: [BindingID] = []
  }

  /// Applies the input to a machine.
  func happen(to machine: inout StateMachine, at milliseconds: UInt64) throws(Refusal) -> Effect {
    let now = Instant(nanoseconds: milliseconds * 1_000_000)
    switch self {
    case .perform(let requests, let client):
      let (replies, outcome) = try machine.perform(requests, by: client, at: now)
      return Effect(replies: replies, outcome: outcome)
    case .report(let report): return Effect(outcome: machine.report(report, at: now))
    case .closed(let handle, let result, let byPresenter):
      let serial = machine.serial
      let (isChanged, outcome) = try machine.closed(handle, result: result, byPresenter: byPresenter, at: now)
      precondition(isChanged == (machine.serial != serial))
      return Effect(outcome: outcome)
    case .asking(let handle, let byPresenter):
      return Effect(outcome: try machine.asking(handle, message: "?", byPresenter: byPresenter, at: now))
    case .act(let handle, let byPresenter):
      return Effect(outcome: try machine.act(handle, action: "go", parameters: [:], byPresenter: byPresenter))
    case .time: return Effect(outcome: machine.expire(at: now))
    case .left(let client): return Effect(outcome: machine.clientLeft(client, at: now))
    case .register(let destination, let client):
      return Effect(outcome: try machine.register(destination, by: client, at: now))
    case .unregister(let name, let client): return Effect(outcome: try machine.unregister(name, by: client))
    case .serve(let destination, let entries, let client):
      var served: [(BindingID, ServedBinding?)] = []
      for (binding, entry) in entries {
        if let entry { served.append((binding, try ServedBinding(entry))) } else { served.append((binding, nil)) }
      }
      let (elsewhere, outcome) = try machine.serve(destination, served, by: client)
      return Effect(outcome: outcome, elsewhere: elsewhere)
    case .hold(let request, let client):
      return Effect(outcome: try machine.hold(request, by: client, at: now).outcome)
    case .release(let name, let cookie):
      return Effect(outcome: machine.releaseHold(name, cookie: cookie, at: now).outcome)
    case .fact(let fact, let isTrue): return Effect(outcome: machine.set(fact, isTrue, at: now))
    case .shutDown: return Effect(outcome: machine.shutDown(at: now))
    case .resume(let survivals, let absent):
      return Effect(outcome: machine.resume(survivals, absent: absent, at: now))
    }
  }

  /// Whether the input makes one difference between two states. A timeout and a hold may end at the same instant, and a client that
  /// leaves may end both items and registrations.
  var isOneChange: Bool {
    switch self {
    case .time, .left, .resume: false
    default: true
    }
  }
}

// MARK: Traces

extension Input: CustomStringConvertible {
  var description: String {
    switch self {
    case .perform(let requests, let client): "\(client): " + requests.map(\.shown).joined(separator: " · ")
    case .report(let report): "a presenter says \(report)"
    case .closed(let handle, _, let byPresenter): "\(handle) reported closed\(byPresenter ? " by its presenter" : "")"
    case .asking(let handle, let byPresenter): "\(handle) asks\(byPresenter ? ", says its presenter" : "")"
    case .act(let handle, let byPresenter): "\(handle) acts\(byPresenter ? ", says its presenter" : "")"
    case .time: "time passes"
    case .left(let client): "\(client) leaves"
    case .register(let destination, let client): "\(client) registers \(destination.name)"
    case .unregister(let name, let client): "\(client) unregisters \(name)"
    case .serve(let name, let entries, let client):
      "\(client) serves by \(name) " + entries.map { "\($0): \($1?.properties ?? [:])" }.joined(separator: ", ")
    case .hold(let request, let client): "\(client) holds \(request)"
    case .release(let name, let cookie): "\(name) is released" + (cookie.map { " by the number \($0)" } ?? "")
    case .fact(let fact, let isTrue): "\(fact) is \(isTrue)"
    case .shutDown: "navd is told to quit"
    case .resume(let survivals, let absent):
      "navd was killed and is back; absent: \(absent.sorted()), "
        + survivals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
  }
}

extension Request {
  var shown: String {
    var text: String
    switch operation {
    case .present(let binding, let id, let options): text = "present \(binding)=\(id)\(options.shown)"
    case .toggle(let binding, let id, let options, let anyID):
      text = "toggle \(binding)=\(anyID ? "*" : id)\(options.shown)"
    case .update(let binding, let value, let remove, let values, let timeout):
      text = "update \(binding) \(value) -\(remove) \(values ?? [:]) timeout \(timeout.map { "\($0)" } ?? "-")"
    case .dismiss(let binding): text = "dismiss \(binding)"
    case .dismissAll(let scope): text = "dismiss all \(scope)"
    case .select(let group, let tag, let binding, let id, let options):
      text = "select \(group) “\(tag)” at \(binding?.text ?? "-")=\(id ?? "-")\(options.shown)"
    case .deselect(let group, let tag): text = "deselect \(group) “\(tag ?? "*")”"
    case .forget(let group, let tag): text = "forget \(group) “\(tag)”"
    case .toggleSelection(let group, let tag, let binding, let id, let options):
      text = "toggle selection \(group) “\(tag)” at \(binding?.text ?? "-")=\(id ?? "-")\(options.shown)"
    case .push(let stack, let binding, let id, let options): text = "push \(stack) \(binding)=\(id)\(options.shown)"
    case .pop(let stack, let count): text = "pop \(stack) \(count)"
    case .popTo(let stack, let binding): text = "pop \(stack) to \(binding?.text ?? "nothing")"
    case .setPath(let stack, let elements):
      let path = elements.map { "\($0.binding?.text ?? "-")=\($0.id)\($0.options.shown)" }
      text = "set path \(stack) [\(path.joined(separator: ", "))]"
    }
    if isForced { text += ", forced" }
    if needsKnownName { text += ", known" }
    if let places { text += ", out of view \(places.ofPresentations.keys.sorted())" }
    if let id = expectation.id { text += ", expecting id “\(id)”" }
    if expectation.content != nil {
      text += ", expecting \(expectation.presentation.map(\.description) ?? "nothing")"
    }
    return text
  }
}

extension ItemOptionFields {
  var shown: String {
    var parts: [String] = []
    if let destination { parts.append("to \(destination)") }
    if command != nil { parts.append("command") }
    if let input { parts.append("input \(input)") }
    if let value { parts.append("value \(value)") }
    if let containerValues { parts.append("container values \(containerValues)") }
    if let style { parts.append("style \(style)") }
    if let title { parts.append("title “\(title)”") }
    if let from { parts.append("from \(from)") }
    if let group { parts.append("group \(group)") }
    if let tag { parts.append("tag “\(tag)”") }
    if let stack { parts.append("stack \(stack)") }
    if let timeout { parts.append("timeout \(timeout)") }
    if let owned { parts.append("owned \(owned)") }
    if let ifBusy { parts.append("if busy \(ifBusy)") }
    if let priority { parts.append("priority \(priority)") }
    return parts.isEmpty ? "" : " (" + parts.joined(separator: ", ") + ")"
  }
}
