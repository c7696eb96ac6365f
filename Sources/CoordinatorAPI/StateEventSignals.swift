import DBus
import DBusValues
import PresentationModel
import TextFormats

/// Sends signals of ``CoordinatorInterface``.
package protocol SignalEmitter {
  func emit<Arguments>(_ signal: Signal<Arguments>, _ arguments: consuming Arguments)
}

extension StateEvent {
  /// Reads a signal of ``CoordinatorInterface``.
  /// - Returns: nil for any other message, and for a signal without a serial.
  /// - Throws: `InvalidArgs` if the arguments are not those of the contract.
  public init?(_ message: Message) throws(DBusError) {
    typealias Rows = CoordinatorInterface
    guard message.kind == .signal, message.interface == Rows.name, let member = message.member else { return nil }
    func subject(
      _ binding: String, _ id: String, _ path: ObjectPath, _ number: UInt64, title: String = ""
    ) throws(DBusError) -> Subject {
      let presentation = Handle(number)
      guard presentation.path == path else {
        throw DBusError(
          name: .invalidArgs, message: "\(member): expected the path of presentation \(number), found \(path)")
      }
      return Subject(binding: binding, id: id, presentation: presentation, title: title.isEmpty ? nil : title)
    }
    func known<Word: RawRepresentable<String>>(_ text: String) throws(DBusError) -> Word {
      guard let word = Word(rawValue: text) else {
        throw DBusError(name: .invalidArgs, message: "\(member): unknown \(Word.self) \(quoted(text))")
      }
      return word
    }
    switch member {
    case Rows.presented.name:
      let (binding, id, path, number, serial, item) = try Rows.presented.arguments(of: message)
      self.init(.presented(try subject(binding, id, path, number), item: item), serial: serial)
    case Rows.updated.name:
      let (binding, id, path, number, serial, item) = try Rows.updated.arguments(of: message)
      self.init(.updated(try subject(binding, id, path, number), item: item), serial: serial)
    case Rows.phaseChanged.name:
      let (binding, id, path, number, serial, phase, title) = try Rows.phaseChanged.arguments(of: message)
      self.init(.phase(try subject(binding, id, path, number, title: title), try known(phase)), serial: serial)
    case Rows.dismissed.name:
      let (binding, id, path, number, serial, reason) = try Rows.dismissed.arguments(of: message)
      self.init(.dismissed(try subject(binding, id, path, number), try known(reason)), serial: serial)
    case Rows.declined.name:
      let (binding, id, path, number, serial, reason) = try Rows.declined.arguments(of: message)
      self.init(.declined(try subject(binding, id, path, number), message: reason), serial: serial)
    case Rows.askingChanged.name:
      let (binding, id, path, number, serial, asking, question, title) = try Rows.askingChanged.arguments(of: message)
      self.init(
        .asking(try subject(binding, id, path, number, title: title), message: asking ? question : nil), serial: serial)
    case Rows.action.name:
      let (binding, id, path, number, serial, action, parameters) = try Rows.action.arguments(of: message)
      self.init(.action(try subject(binding, id, path, number), action, parameters: parameters), serial: serial)
    case Rows.selectionChanged.name:
      let (group, tag, serial) = try Rows.selectionChanged.arguments(of: message)
      // The signal has the empty text, which is not a tag, if no member is selected.
      self.init(.selection(group: group, tag: tag.isEmpty ? nil : tag), serial: serial)
    case Rows.pathChanged.name:
      let (stack, path, serial) = try Rows.pathChanged.arguments(of: message)
      let elements = path.map { PathElement(binding: $0.fields.0, id: $0.fields.1) }
      self.init(.path(stack: stack, elements), serial: serial)
    case Rows.groupChanged.name:
      let (group, tags, queue, serial) = try Rows.groupChanged.arguments(of: message)
      self.init(.group(group, tags: tags, queue: queue), serial: serial)
    case Rows.holdChanged.name:
      let (name, isInForce, serial) = try Rows.holdChanged.arguments(of: message)
      self.init(.hold(name, isInForce: isInForce), serial: serial)
    case Rows.parkedChanged.name:
      let (parked, serial) = try Rows.parkedChanged.arguments(of: message)
      self.init(.parked(parked.map(ParkedEntry.init)), serial: serial)
    case Rows.requested.name:
      let (items, serial) = try Rows.requested.arguments(of: message)
      self.init(.requested(items.map(RequestedEntry.init)), serial: serial)
    default: return nil
    }
  }

  /// Sends the event as its signal.
  package func send(by emitter: borrowing some SignalEmitter) {
    typealias Rows = CoordinatorInterface
    switch kind {
    case .presented(let subject, let item):
      emitter.emit(Rows.presented, (subject.binding, subject.id, subject.path, subject.number, serial, item))
    case .updated(let subject, let item):
      emitter.emit(Rows.updated, (subject.binding, subject.id, subject.path, subject.number, serial, item))
    case .phase(let subject, let phase):
      emitter.emit(
        Rows.phaseChanged,
        (subject.binding, subject.id, subject.path, subject.number, serial, phase.rawValue, subject.title ?? ""))
    case .dismissed(let subject, let reason):
      emitter.emit(Rows.dismissed, (subject.binding, subject.id, subject.path, subject.number, serial, reason.rawValue))
    case .declined(let subject, let message):
      emitter.emit(Rows.declined, (subject.binding, subject.id, subject.path, subject.number, serial, message))
    case .asking(let subject, let message):
      emitter.emit(
        Rows.askingChanged,
        (
          subject.binding, subject.id, subject.path, subject.number, serial, message != nil, message ?? "",
          subject.title ?? ""
        ))
    case .action(let subject, let action, let parameters):
      emitter.emit(
        Rows.action, (subject.binding, subject.id, subject.path, subject.number, serial, action, parameters))
    case .selection(let group, let tag): emitter.emit(Rows.selectionChanged, (group, tag ?? "", serial))
    case .group(let group, let tags, let queue): emitter.emit(Rows.groupChanged, (group, tags, queue, serial))
    case .path(let stack, let path):
      emitter.emit(Rows.pathChanged, (stack, path.map { Structure($0.binding, $0.id) }, serial))
    case .hold(let name, let isInForce): emitter.emit(Rows.holdChanged, (name, isInForce, serial))
    case .parked(let parked): emitter.emit(Rows.parkedChanged, (parked.map(\.properties), serial))
    case .requested(let items): emitter.emit(Rows.requested, (items.map(\.properties), serial))
    }
  }

  /// The event as JSON: `serial`, `event`, and the arguments of its signal that have a value.
  public var json: JSON {
    let entry = StateEntry.keys
    var members: Properties = [:]
    members[StateSnapshot.keys.serial] = serial
    func set(_ event: String, _ subject: Subject? = nil) {
      members["event"] = .string(event)
      members[entry.binding] = subject?.binding
      members[entry.id] = subject?.id
      members[entry.presentation] = subject?.presentation.number
      if let title = subject?.title { members[entry.title] = title }
    }
    switch kind {
    case .presented(let subject, let item):
      set("presented", subject)
      members["item"] = .properties(item)
    case .updated(let subject, let item):
      set("updated", subject)
      members["item"] = .properties(item)
    case .phase(let subject, let phase):
      set("phase", subject)
      members[entry.phase] = phase.rawValue
    case .dismissed(let subject, let reason):
      set("dismissed", subject)
      members[EndingEntry.keys.reason] = reason.rawValue
    case .declined(let subject, let message):
      set("declined", subject)
      members[entry.message] = message
    case .asking(let subject, let message):
      set("asking", subject)
      members[entry.asking] = message != nil
      members[entry.message] = message
    case .action(let subject, let action, let parameters):
      set("action", subject)
      members["action"] = .string(action)
      members["parameters"] = .properties(parameters)
    case .selection(let group, let tag):
      set("selection")
      members[entry.group] = group
      members[entry.tag] = tag
    case .group(let group, let tags, let queue):
      set("group")
      members[entry.group] = group
      members[GroupEntry.keys.tags] = tags
      members[GroupEntry.keys.queue] = queue
    case .path(let stack, let path):
      set("path")
      members[entry.stack] = stack
      members["path"] = path.map(\.properties).value
    case .hold(let name, let isInForce):
      set("hold")
      members["hold"] = .string(name)
      members["in-force"] = .boolean(isInForce)
    case .parked(let parked):
      set("parked")
      members[StateSnapshot.keys.parked] = parked.map(\.properties)
    case .requested(let items):
      set("requested")
      members["items"] = items.map(\.properties).value
    }
    return JSON(members)
  }
}
