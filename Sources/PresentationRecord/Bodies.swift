// Why this file exists: which field of a body is what. A code is never used for something else again; what a release adds
// gets a new one.

import DBusValues
import PresentationModel
import PresentationRules

// MARK: Items

extension Item {
  func write(to body: inout BodyWriter) {
    body.field(1, destination) { $1.write(to: &$0) }
    body.fieldUnlessEmpty(2, value)
    body.fieldUnlessEmpty(3, containerValues)
    body.field(4, style)
    body.field(5, title)
    body.field(6, timeout)
    body.field(7, owner)
    if priority != 0 { body.field(8, priority) }
    body.field(9, membership) { body, membership in
      body.put(membership.group.text)
      body.put(membership.tag)
    }
    if isQueued { body.field(10, true) }
    body.field(11, position) { body, position in
      body.put(position.stack.text)
      body.put(UInt32(position.index))
    }
    body.field(12, directory)
    body.field(13, environment.isEmpty ? nil : environment) { $0.put($1.mapValues { Value.string($0) }) }
    body.fieldUnlessEmpty(14, platformData)
    if !animated { body.field(15, false) }
  }

  /// - Returns: false where there is no such field.
  fileprivate mutating func read(_ code: UInt8, _ body: inout BodyReader) throws(Unreadable) -> Bool {
    switch code {
    case 1: destination = try Destination(reading: &body)
    case 2: value = try body.properties()
    case 3: containerValues = try body.properties()
    case 4: style = try body.text()
    case 5: title = try body.text()
    case 6: timeout = try body.number()
    case 7: owner = try body.client()
    case 8: priority = try body.number()
    case 9:
      let group = try body.binding()
      membership = Membership(group: group, tag: try body.text())
    case 10: isQueued = try body.truth()
    case 11:
      let stack = try body.binding()
      position = StackPosition(stack: stack, index: Int(try body.number(UInt32.self)))
    case 12: directory = try body.text()
    case 13: environment = try body.texts()
    case 14: platformData = try body.properties()
    case 15: animated = try body.truth()
    default: return false
    }
    return true
  }
}

extension BodyReader {
  fileprivate mutating func texts() throws(Unreadable) -> [String: String] {
    try properties().compactMapValues { if case .string(let text) = $0 { text } else { nil } }
  }
}

extension Destination {
  func write(to body: inout BodyWriter) {
    body.put(name)
    switch presenter {
    case .none: body.put(UInt8(0))
    case .command(let arguments):
      body.put(UInt8(1))
      body.put(UInt32(arguments.count))
      for argument in arguments { body.put(argument) }
    case .unit(let unit):
      body.put(UInt8(2))
      body.put(unit)
    case .bus(let name, let path):
      body.put(UInt8(3))
      body.put(name)
      body.put(path.text)
    }
    body.put(group?.text ?? "")
    body.put(style != nil)
    if let style { body.put(style) }
    body.put(startTimeout)
    body.put(grace)
    switch source {
    case .request: body.put(UInt8(0))
    case .file(let path):
      body.put(UInt8(1))
      body.put(path)
    case .client(let client):
      body.put(UInt8(2))
      body.put(client.name)
    }
  }

  init(reading body: inout BodyReader) throws(Unreadable) {
    let name = try body.text()
    let presenter: Presenter
    switch try body.number(UInt8.self) {
    case 0: presenter = .none
    case 1:
      var arguments: [[UInt8]] = []
      for _ in 0..<(try body.number(UInt32.self)) { arguments.append(try body.someBytes()) }
      presenter = .command(arguments)
    case 2: presenter = .unit(try body.text())
    case 3:
      let name = try body.text()
      guard let path = ObjectPath(try body.text()) else { throw Unreadable("a presenter's path is none") }
      presenter = .bus(name: name, path: path)
    case let other: throw Unreadable("there is no presenter of the kind \(other)")
    }
    let group = try body.text()
    let style = try body.truth() ? try body.text() : nil
    let startTimeout: UInt64 = try body.number()
    let grace: UInt64 = try body.number()
    let source: Source
    switch try body.number(UInt8.self) {
    case 0: source = .request
    case 1: source = .file(path: try body.text())
    case 2: source = .client(try body.client())
    case let other: throw Unreadable("a destination comes from nowhere: \(other)")
    }
    self.init(
      name: name, presenter: presenter, group: group.isEmpty ? nil : try BindingID(recorded: group), style: style,
      startTimeout: startTimeout, grace: grace, source: source)
  }
}

// MARK: Presentations

extension RecordedState.Presentation {
  /// All but what has columns of its own.
  var body: [UInt8] {
    var body = BodyWriter()
    item.content.write(to: &body)
    body.field(32, parent?.number)
    body.field(33, creator)
    body.field(34, presentedAt)
    body.field(35, expires)
    body.field(36, answerDue)
    switch update {
    case .underWay?: body.put(UInt8(37))
    case .underWayAndPending(let author)?: body.field(38, author?.name ?? "")
    case nil: break
    }
    body.fieldUnlessEmpty(39, result)
    if hasDeparted { body.put(UInt8(40)) }
    body.field(41, queueAge)
    body.field(43, slotChanged.number)
    body.field(44, endedBy)
    body.field(45, since)
    if case .dismissing(let stage, let reason, let animated) = phase {
      body.put(UInt8(42))
      body.put(stage.code)
      body.put(reason.rawValue)
      body.put(animated)
    }
    return body.bytes
  }

  init(handle: Handle, binding: BindingID, id: String, phase word: String, body: [UInt8]) throws(Unreadable) {
    self.init(handle: handle, binding: binding, item: Shared(Item(id: id)), phase: .waiting)
    switch word {
    case "presenting": phase = .presenting
    case "presented": phase = .presented
    default: break
    }
    var reader = BodyReader(body)
    // Not by a closure that captures it, which would have to be escaping for an initialiser.
    var row = self
    try reader.fields { (code, body) throws(Unreadable) in try row.read(code, &body) }
    self = row
    guard phase.name.rawValue == word else { throw Unreadable("presentation \(handle) has the phase “\(word)”") }
  }

  private mutating func read(_ code: UInt8, _ body: inout BodyReader) throws(Unreadable) -> Bool {
    switch code {
    case 32: parent = Handle(try body.number())
    case 33: creator = try body.client()
    case 34: presentedAt = try body.instant()
    case 35: expires = try body.instant()
    case 36: answerDue = try body.instant()
    case 37: update = .underWay
    case 38:
      let author = try body.text()
      update = .underWayAndPending(author: author.isEmpty ? nil : Client(author))
    case 39: result = try body.properties()
    case 40: hasDeparted = true
    case 41: queueAge = try body.number()
    case 43: slotChanged = Serial(try body.number())
    case 44: endedBy = try body.requester()
    case 45: since = try body.number()
    case 42:
      let stage = try Dismissal(code: try body.number())
      let reason = try Reason(recorded: try body.text())
      phase = .dismissing(stage, reason: reason, animated: try body.truth())
    default: return try item.content.read(code, &body)
    }
    return true
  }
}

extension Dismissal {
  fileprivate var code: UInt8 {
    switch self {
    case .overtaken: 0
    case .held: 1
    case .departed: 2
    case .asked: 3
    case .killed: 4
    }
  }

  fileprivate init(code: UInt8) throws(Unreadable) {
    switch code {
    case 0: self = .overtaken
    case 1: self = .held
    case 2: self = .departed
    case 3: self = .asked
    case 4: self = .killed
    default: throw Unreadable("there is no dismissal of the kind \(code)")
    }
  }
}

extension Reason {
  init(recorded word: String) throws(Unreadable) {
    guard let reason = Reason(rawValue: word) else { throw Unreadable("there is no reason “\(word)”") }
    self = reason
  }
}

// MARK: What is remembered

extension Ending {
  /// All but what has columns of its own.
  var body: [UInt8] {
    var body = BodyWriter()
    body.field(1, destination)
    body.field(2, group)
    body.field(3, stack)
    body.fieldUnlessEmpty(4, result)
    body.field(5, presentedAt)
    body.field(6, endedAt)
    body.field(7, time)
    body.field(8, by)
    return body.bytes
  }

  init(
    handle: Handle, binding: BindingID, id: String, reason: Reason, serial: Serial, body: [UInt8]
  ) throws(Unreadable) {
    var destination: String?
    var group: BindingID?
    var stack: BindingID?
    var result: Properties = [:]
    var presentedAt: Instant?
    var endedAt = Instant(nanoseconds: 0)
    var time: UInt64?
    var requester: Requester?
    var reader = BodyReader(body)
    try reader.fields { (code, body) throws(Unreadable) in
      switch code {
      case 1: destination = try body.text()
      case 2: group = try body.binding()
      case 3: stack = try body.binding()
      case 4: result = try body.properties()
      case 5: presentedAt = try body.instant()
      case 6: endedAt = try body.instant()
      case 7: time = try body.number()
      case 8: requester = try body.requester()
      default: return false
      }
      return true
    }
    self.init(
      handle: handle, binding: binding, id: id, destination: destination, group: group, stack: stack, reason: reason,
      result: result, serial: serial, presentedAt: presentedAt, endedAt: endedAt, time: time, by: requester)
  }
}

extension ItemOptions {
  var body: [UInt8] {
    var body = BodyWriter()
    body.field(1, destination)
    body.field(2, value)
    body.field(3, containerValues)
    body.field(4, style)
    body.field(5, title)
    body.field(6, from)
    body.field(7, group)
    body.field(8, tag)
    body.field(9, stack)
    body.field(10, timeout)
    body.field(11, owned)
    body.field(12, ifBusy?.rawValue)
    body.field(13, priority)
    body.field(14, command?.arguments) { body, arguments in
      body.put(UInt32(arguments.count))
      for argument in arguments { body.put(argument) }
    }
    body.field(15, directory)
    body.field(16, environment) { $0.put($1.mapValues { Value.string($0) }) }
    body.field(17, platformData)
    return body.bytes
  }

  init(body: [UInt8]) throws(Unreadable) {
    var options = ItemOptions()
    var reader = BodyReader(body)
    try reader.fields { (code, body) throws(Unreadable) in
      switch code {
      case 1: options.destination = try body.text()
      case 2: options.value = try body.properties()
      case 3: options.containerValues = try body.properties()
      case 4: options.style = try body.text()
      case 5: options.title = try body.text()
      case 6: options.from = try body.binding()
      case 7: options.group = try body.binding()
      case 8: options.tag = try body.text()
      case 9: options.stack = try body.binding()
      case 10: options.timeout = try body.number()
      case 11: options.owned = try body.truth()
      case 12: options.ifBusy = BusyPolicy(rawValue: try body.text())
      case 13: options.priority = try body.number()
      case 14:
        var arguments: [[UInt8]] = []
        for _ in 0..<(try body.number(UInt32.self)) { arguments.append(try body.someBytes()) }
        options.command = InlineCommand(arguments: arguments)
      case 15: options.directory = try body.text()
      case 16: options.environment = try body.texts()
      case 17: options.platformData = try body.properties()
      default: return false
      }
      return true
    }
    self = options
  }
}

extension Value {
  var body: [UInt8] {
    var body = BodyWriter()
    body.put(self)
    return body.bytes
  }

  init(body: [UInt8]) throws(Unreadable) {
    var reader = BodyReader(body)
    self = try reader.value()
  }
}

extension [Destination] {
  /// One after the other.
  var body: [UInt8] {
    var body = BodyWriter()
    for destination in self { destination.write(to: &body) }
    return body.bytes
  }

  init(body: [UInt8]) throws(Unreadable) {
    self.init()
    var reader = BodyReader(body)
    while !reader.isAtEnd { append(try Destination(reading: &reader)) }
  }
}
