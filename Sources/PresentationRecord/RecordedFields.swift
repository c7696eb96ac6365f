import DBusValues
import PresentationModel
import PresentationRules

// Encodings of the contents of rows. A field's code is never used for another field; a release that adds a field adds a code.

extension Item {
  mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    var environment = environment.properties
    try coder.field(1, &destination)
    try coder.field(2, &value, default: [:])
    try coder.field(3, &containerValues, default: [:])
    try coder.field(4, &style)
    try coder.field(5, &title)
    try coder.field(6, &timeout)
    try coder.field(7, &owner)
    try coder.field(8, &priority, default: 0)
    try coder.field(9, &membership)
    try coder.field(10, &isQueued, default: false)
    try coder.field(11, &position)
    try coder.field(12, &directory)
    try coder.field(13, &environment, default: [:])
    try coder.field(14, &platformData, default: [:])
    try coder.field(15, &animated, default: true)
    try coder.field(16, &output)
    try coder.mark(17, &isInterrupted)
    try coder.holds(20, &holds)
    try coder.field(22, &input)
    self.environment = environment.texts
  }
}

extension ItemOptionFields {
  mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    var environment = environment?.properties
    try coder.field(1, &destination)
    try coder.field(2, &value)
    try coder.field(3, &containerValues)
    try coder.field(4, &style)
    try coder.field(5, &title)
    try coder.field(6, &from)
    try coder.field(7, &group)
    try coder.field(8, &tag)
    try coder.field(9, &stack)
    try coder.field(10, &timeout)
    try coder.field(11, &owned)
    try coder.field(12, &ifBusy)
    try coder.field(13, &priority)
    try coder.field(14, &command)
    try coder.field(15, &directory)
    try coder.field(16, &environment)
    try coder.field(17, &platformData)
    try coder.field(18, &output)
    try coder.field(20, &within)
    try coder.field(22, &input)
    self.environment = environment?.texts
  }
}

extension FieldCoder where Self: ~Copyable {
  /// Codes the effects of holds, by their names (H3).
  fileprivate mutating func holds(_ code: UInt8, _ holds: inout [String: HoldAction]) throws(Failure) {
    var words = holds.isEmpty ? [:] : holds.mapValues { Value.string($0.rawValue) }
    try field(code, &words, default: [:])
    guard !words.isEmpty || !holds.isEmpty else { return }
    // A word that no release has written has no effect.
    holds = words.texts.compactMapValues(HoldAction.init)
  }
}

extension [String: String] {
  /// The texts as values. Mapping would make a new dictionary even of an empty one.
  fileprivate var properties: Properties { isEmpty ? [:] : mapValues { .string($0) } }
}

extension Properties {
  fileprivate var texts: [String: String] { compactMapValues { if case .string(let text) = $0 { text } else { nil } } }
}

extension PresentationFields {
  /// Codes all fields except those of the item, and the other parts of the row.
  fileprivate mutating func code<Coder: FieldCoder & ~Copyable>(
    with coder: inout Coder, slotChanged: inout Serial, isParked: inout Bool
  ) throws(Coder.Failure) {
    try coder.field(32, &parent)
    try coder.field(33, &creator)
    try coder.field(34, &presentedAt)
    try coder.field(35, &expires)
    try coder.field(36, &answerDue)
    var isUnderWay = updates == .underWay
    try coder.mark(37, &isUnderWay)
    var author: String? =
      if case .underWayAndPending(let author) = updates { author?.name ?? "" } else { nil }
    try coder.field(38, &author)
    let pending = author.map { UpdateState.underWayAndPending(author: $0.isEmpty ? nil : Client($0)) }
    updates = isUnderWay ? .underWay : pending ?? .idle
    try coder.field(39, &result, default: [:])
    // Apart from the item, since writing to the item would copy it.
    var queueAge = item.queueAge
    try coder.field(41, &queueAge)
    if queueAge != item.queueAge { item.queueAge = queueAge }
    try coder.field(43, &slotChanged, default: Serial(0))
    try coder.field(44, &endedBy)
    try coder.field(45, &since)
    try coder.mark(46, &hasNamedParent)
    var dismissing = phase.dismissal
    try coder.field(42, &dismissing)
    var isForced = dismissing?.isForced ?? false
    try coder.mark(47, &isForced)
    dismissing?.isForced = isForced
    var timeLeft = dismissing?.timeLeft
    try coder.field(48, &timeLeft)
    dismissing?.timeLeft = timeLeft
    var message: String? = if case .asking(let message) = dismissing?.stage { message } else { nil }
    try coder.field(49, &message)
    try coder.field(55, &startsBy)
    if let message { dismissing?.stage = .asking(message: message) }
    try coder.field(56, &continuation)
    try coder.mark(57, &awaitsPresenter)
    if let dismissing { phase = .dismissing(dismissing) }
    try coder.mark(50, &isParked)
    try coder.field(51, &program)
  }
}

extension RecordedState.PresentationRow {
  func write(to payload: inout PayloadWriter) {
    payload.put(presentation.binding, presentation.item.id, presentation.phase.name.rawValue)
    // Only the fields are copied: a change in the presentation would copy it and its item.
    var (item, fields, slotChanged, isParked) = (presentation.item.content, presentation.content, slotChanged, isParked)
    item.code(with: &payload)
    fields.code(with: &payload, slotChanged: &slotChanged, isParked: &isParked)
  }

  init(_ handle: Handle, from payload: inout PayloadReader) throws(Unreadable) {
    let binding: BindingID = try payload.get()
    var item = Item(id: try payload.get())
    let word: String = try payload.get()
    try item.code(with: &payload)
    let phase = [Lifecycle.presenting, .presented].first { $0.name.rawValue == word } ?? .waiting
    self.init(Presentation(handle: handle, binding: binding, item: Shared(item), phase: phase), slotChanged: Serial(0))
    try presentation.content.code(with: &payload, slotChanged: &slotChanged, isParked: &isParked)
    let found = presentation.phase.name.rawValue
    guard found == word else { throw Unreadable("expected the phase “\(found)”, found “\(word)”") }
    // Set here, where nothing else refers to the presentation: a later change would copy it.
    presentation.content.announced = presentation.phase.name
  }
}

/// The fields that every record of a dismissal has. Later ones are coded elsewhere.
extension Dismissal: Recordable {
  /// The stages; the index of each is its code. A presenter that asks its user is recorded as `asked`.
  private static let stages: [Stage] = [.overtaken, .held, .departed, .asked, .killed, .settling]

  func write(to payload: inout PayloadWriter) {
    payload.put(UInt8(Self.stages.firstIndex(of: stage) ?? Self.stages.firstIndex(of: .asked)!), reason, animated)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    let code = Int(try payload.get(UInt8.self))
    guard code < Self.stages.count else { throw Unreadable("expected a dismissal, 0 to 5, found \(code)") }
    try self.init(Self.stages[code], reason: payload.get(), animated: payload.get())
  }
}

extension Shared<Ending> {
  /// Writes the ending. It belongs to the shared ending, which would otherwise be copied twice.
  func write(to payload: inout PayloadWriter) {
    payload.put(self.binding, self.id)
    payload.put(self.reason, self.serial)
    var copy = content
    copy.code(with: &payload)
  }
}

extension Ending {
  init(_ handle: Handle, from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(handle, payload.get(), id: payload.get(), reason: payload.get(), serial: payload.get())
    try code(with: &payload)
  }

  fileprivate mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, &destination)
    try coder.field(2, &group)
    try coder.field(3, &stack)
    try coder.field(4, &result, default: [:])
    try coder.field(5, &presentedAt)
    try coder.field(6, &endedAt, default: Instant(nanoseconds: 0))
    try coder.field(7, &time)
    try coder.field(8, &by)
  }
}

extension RecordedState.Tag: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(binding, id, stamp)
    var copy = self
    copy.code(with: &payload)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(
      binding: payload.get(), id: payload.get(), options: ItemOptions(), isTrusted: false, stamp: payload.get())
    try code(with: &payload)
  }

  private mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    try options.content.code(with: &coder)
    try coder.field(32, &isTrusted, default: false)
  }
}

extension RecordedState.Changed: Recordable {
  func write(to payload: inout PayloadWriter) {
    var copy = self
    copy.code(with: &payload)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self.init()
    try code(with: &payload)
  }

  private mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, &present)
    try coder.field(2, &absent)
    try coder.field(3, &stamp, default: 0)
  }
}

extension RecordedState.Numbers: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(serial, lastHandle)
    payload.put(lastQueueAge, changesForgotten)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self.init()
    (serial, lastHandle) = try (payload.get(), payload.get())
    (lastQueueAge, changesForgotten) = try (payload.get(), payload.get())
  }
}

extension Record.Session: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(bus, boot)
    payload.put(clock, token)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(bus: payload.get(), boot: payload.get(), clock: payload.get(), token: payload.get())
  }
}

extension Destination: Recordable {
  /// Precedes the kind of a presenter whose items are protected.
  private static let protection: UInt8 = 5
  /// Precedes the kind of a presenter whose items follow windows.
  private static let windows: UInt8 = 8
  /// Precedes the settings of items.
  private static let settings: UInt8 = 6

  func write(to payload: inout PayloadWriter) {
    payload.put(name)
    if let itemSettings {
      var content = PayloadWriter()
      var copy = itemSettings.content
      copy.code(with: &content)
      payload.put(Self.settings)
      payload.put(bytes: content.bytes)
    }
    if isProtected { payload.put(Self.protection) }
    if let window { payload.put(Self.windows, window) }
    switch presenter {
    case .none: payload.put(UInt8(0))
    case .command(let arguments, .tree): payload.put(UInt8(1), InlineCommand(arguments: arguments))
    case .command(let arguments, .process): payload.put(UInt8(4), InlineCommand(arguments: arguments))
    case .unit(let unit): payload.put(UInt8(2), unit)
    case .bus(let name, let path): payload.put(UInt8(3), name, path.text)
    }
    payload.put(group?.text ?? "", style != nil)
    if let style { payload.put(style) }
    payload.put(startTimeout, grace)
    switch source {
    case .request: payload.put(UInt8(0))
    case .file(let path): payload.put(UInt8(1), path)
    case .client(let client): payload.put(UInt8(2), client)
    }
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    let name: String = try payload.get()
    var itemSettings: Shared<ItemSettings>?
    if payload.isNext(Self.settings) {
      var content = payload.reader(of: try payload.bytes())
      var settings = ItemSettings()
      try settings.code(with: &content)
      try content.finish()
      itemSettings = Shared(settings)
    }
    let isProtected = payload.isNext(Self.protection)
    let window: WindowFollowing? = payload.isNext(Self.windows) ? try payload.get() : nil
    let presenter: Presenter =
      switch try payload.get(UInt8.self) {
      case 0: .none
      case 1: .command(try payload.get(InlineCommand.self).arguments)
      case 2: .unit(try payload.get())
      case 3: try .bus(name: payload.get(), path: payload.path())
      case 4: .command(try payload.get(InlineCommand.self).arguments, scope: .process)
      case let code: throw Unreadable("expected a kind of presenter, 0 to 4, found \(code)")
      }
    let group: String = try payload.get()
    try self.init(
      name: name, presenter: presenter,
      style: payload.get(Bool.self) ? payload.get() : nil, startTimeout: payload.get(), grace: payload.get(),
      source: .request, isProtected: isProtected, itemSettings: itemSettings, window: window)
    if !group.isEmpty { self.group = try DestinationGroup(recorded: group) }
    switch try payload.get(UInt8.self) {
    case 0: break
    case 1: source = .file(path: try payload.get())
    case 2: source = .client(try payload.get())
    case let code: throw Unreadable("expected the kind of a destination's source, 0 to 2, found \(code)")
    }
  }
}

extension WindowFollowing: Recordable {
  func write(to payload: inout PayloadWriter) {
    var content = PayloadWriter()
    var copy = self
    copy.code(with: &content)
    payload.put(bytes: content.bytes)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self.init()
    var content = payload.reader(of: try payload.bytes())
    try code(with: &content)
    try content.finish()
  }

  private mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    var takesFirst = !takesAll
    try coder.field(1, &pattern.appID)
    try coder.field(2, &pattern.title)
    try coder.mark(3, &takesFirst)
    try coder.mark(4, &adopts)
    try coder.field(5, &linger)
    try coder.mark(6, &endsLeftover)
    try coder.mark(7, &kills)
    try coder.mark(8, &endsUnfocused)
    try coder.mark(9, &endsWithOutput)
    try coder.mark(10, &hides)
    try coder.mark(11, &comesHere)
    takesAll = !takesFirst
  }
}

extension ItemSettings {
  fileprivate mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    var onPresent = onPresent.map { InlineCommand(arguments: $0) }
    var onDismiss = onDismiss.map { InlineCommand(arguments: $0) }
    try options.content.code(with: &coder)
    try coder.field(32, &id)
    try coder.field(33, &onPresent)
    try coder.field(34, &onDismiss)
    try coder.holds(45, &holds)
    try coder.field(47, &hold)
    try coder.field(48, &desktop)
    var words = inhibits.isEmpty ? nil : inhibits.map(\.rawValue).sorted().joined(separator: ":")
    try coder.field(46, &words)
    inhibits = Set((words ?? "").split(separator: ":").compactMap { InhibitedAction(rawValue: String($0)) })
    try coder.field(35, &restart)
    try coder.mark(36, &restoresAtLogin)
    self.onPresent = onPresent?.arguments
    self.onDismiss = onDismiss?.arguments
  }
}

extension RestartRule: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(condition == .always)
    payload.put(delay, maxDelay)
    payload.put(limit)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(
      payload.get() ? .always : .onFailure, delay: payload.get(), maxDelay: payload.get(), limit: payload.get())
  }
}

extension Continuation: Recordable {
  /// The value for “none”: no real time is that late.
  private static let never = UInt64.max

  func write(to payload: inout PayloadWriter) {
    payload.put(restarts)
    payload.put(due?.nanoseconds ?? Self.never, timeLeft ?? Self.never)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(restarts: payload.get())
    let (due, timeLeft): (UInt64, UInt64) = try (payload.get(), payload.get())
    if due != Self.never { self.due = Instant(nanoseconds: due) }
    if timeLeft != Self.never { self.timeLeft = timeLeft }
  }
}

extension KeptItem: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(id, handle)
    var copy = self
    copy.code(with: &payload)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(id: payload.get(), options: ItemOptions(), handle: payload.get())
    try code(with: &payload)
  }

  private mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    try options.content.code(with: &coder)
    try coder.field(32, &queueAge)
    try coder.mark(33, &isInterrupted)
    try coder.field(34, &index, default: 0)
  }
}

extension InlineCommand: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(UInt32(arguments.count))
    for argument in arguments { payload.put(bytes: argument) }
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self.init(arguments: [])
    for _ in 0..<(try payload.get(UInt32.self)) { arguments.append(Array(try payload.bytes())) }
  }
}

extension Holder: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(message)
    var copy = self
    copy.code(with: &payload)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self.init()
    message = try payload.get()
    try code(with: &payload)
  }

  private mutating func code<Coder: FieldCoder & ~Copyable>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, &client)
    try coder.mark(2, &isOwned)
    try coder.field(3, &since)
    try coder.field(4, &expires)
  }
}

extension Requester: Recordable {
  func write(to payload: inout PayloadWriter) { payload.put(client, process ?? 0, program ?? "") }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(payload.get(), process: payload.get(), program: payload.get())
    if process == 0 { process = nil }
    if program == "" { program = nil }
  }
}

extension StackPosition: Recordable {
  func write(to payload: inout PayloadWriter) { payload.put(stack, UInt32(index)) }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(stack: payload.get(), index: Int(payload.get(UInt32.self)))
  }
}

// MARK: Keys

extension GroupTag: Recordable {
  func write(to payload: inout PayloadWriter) { payload.put(group, tag) }
  init(from payload: inout PayloadReader) throws(Unreadable) { try self.init(group: payload.get(), tag: payload.get()) }
}

extension Holder.Key: Recordable {
  func write(to payload: inout PayloadWriter) { payload.put(name, cookie) }
  init(from payload: inout PayloadReader) throws(Unreadable) {
    try self.init(name: payload.get(), cookie: payload.get())
  }
}

extension Subject: Recordable {
  func write(to payload: inout PayloadWriter) {
    let (code, binding): (UInt8, BindingID) =
      switch self {
      case .slot(let binding): (0, binding)
      case .group(let binding): (1, binding)
      case .stack(let binding): (2, binding)
      }
    payload.put(code, binding)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    let (code, binding) = try (payload.get(UInt8.self), payload.get(BindingID.self))
    switch code {
    case 0: self = .slot(binding)
    case 1: self = .group(binding)
    case 2: self = .stack(binding)
    default: throw Unreadable("expected a kind of subject, 0 to 2, found \(code)")
    }
  }
}
