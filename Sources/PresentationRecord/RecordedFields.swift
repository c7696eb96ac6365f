import DBusValues
import PresentationModel
import PresentationRules

// The fields of rows, each once: these lists write and read them. What the contract has, too, has its name there. A release that adds a
// field gives it a default, so that it reads the records of releases before it.

extension BindingID {
  /// Stands for a binding that is still to be read.
  fileprivate static let blank = try! BindingID("_")
}

// MARK: Presentations

extension RecordedState.PresentationRow: Fielded {
  static var blank: Self {
    let presentation = Presentation(handle: Handle(0), binding: .blank, item: Shared(Item(id: "")))
    return Self(presentation)
  }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    // Only the fields are copied: a change in the presentation would copy it and its item.
    var (item, fields) = (presentation.item.content, presentation.content)
    try item.code(with: &coder)
    try fields.code(with: &coder)
    try coder.mark("parked", &isParked)
    try coder.field("stays", &stays)
    guard Coder.reads else { return }
    fields.item = Shared(item)
    fields.announced = fields.phase.name
    presentation = Presentation(fields)
  }
}

extension PresentationFields {
  /// Codes all fields except those of the item.
  fileprivate mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    var (word, dismissal) = (phase.name, phase.dismissal)
    try coder.required("binding", &binding)
    try coder.required("phase", &word)
    try coder.field("dismissal", &dismissal)
    try coder.require((word == .dismissing) == (dismissal != nil), "the phase is “\(word.rawValue)”")
    phase = word == .presenting ? .presenting : word == .presented ? .presented : .waiting
    if let dismissal { phase = .dismissing(dismissal) }
    try coder.field("parent", &parent)
    try coder.mark("named-parent", &hasNamedParent)
    try coder.field("creator", &creator)
    try coder.field("presented-at", &presentedAt)
    try coder.field("since", &since)
    try coder.field("presented-serial", &presentedSerial)
    try coder.field("expires", &expires)
    try coder.field("starts-by", &startsBy)
    try coder.field("answer-due", &answerDue)
    try coder.mark("awaits-presenter", &awaitsPresenter)
    try coder.mark("ready", &isReady)
    var isUnderWay = updates == .underWay
    var author: String? = if case .underWayAndPending(let author) = updates { author?.name ?? "" } else { nil }
    try coder.mark("updating", &isUnderWay)
    try coder.field("update-by", &author)
    updates =
      author.map { .underWayAndPending(author: $0.isEmpty ? nil : Client($0)) } ?? (isUnderWay ? .underWay : .idle)
    try coder.field("result", &result, default: [:])
    try coder.field("by", &endedBy)
    try coder.field("program", &program)
    try coder.field("restart", &continuation)
  }
}

extension Item {
  fileprivate mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    var (group, tag, stack, index) = (
      membership?.group, membership?.tag, position?.stack, position.map { UInt64($0.index) }
    )
    var actions = holds.words
    try coder.required("id", &id)
    try coder.field("destination", &destination)
    try coder.field("value", &value, default: [:])
    try coder.field("container-values", &containerValues, default: [:])
    try coder.field("style", &style)
    try coder.field("title", &title)
    try coder.field("output", &output)
    try coder.field("window", &placement)
    try coder.field("timeout", &timeout)
    try coder.field("owner", &owner)
    try coder.field("group", &group)
    try coder.field("tag", &tag)
    try coder.field("priority", &priority, default: 0)
    try coder.mark("queued", &isQueued)
    try coder.field("queue-age", &queueAge)
    try coder.mark("interrupted", &isInterrupted)
    try coder.mark("fallback", &isOwnFallback)
    try coder.field("stack", &stack)
    try coder.field("index", &index)
    try coder.field("directory", &directory)
    try coder.field("environment", &environment, default: [:])
    try coder.field("input", &input)
    try coder.field("platform-data", &platformData, default: [:])
    try coder.field("animated", &animated, default: true)
    try coder.field("holds", &actions, default: [:])
    try coder.require((group == nil) == (tag == nil), "a member of a group has a tag")
    try coder.require((stack == nil) == (index == nil), "an element of a stack has an index")
    membership = if let group, let tag { GroupTag(group: group, tag: tag) } else { nil }
    position = if let stack, let index { StackPosition(stack: stack, index: Int(clamping: index)) } else { nil }
    holds = actions.actions
  }
}

extension PendingDismissal: Fielded {
  private static let stages: [String: Stage] = [
    "overtaken": .overtaken, "held": .held, "departed": .departed, "asked": .asked, "settling": .settling,
    "killed": .killed,
  ]

  static var blank: Self { Self(.asked, reason: .closed) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    var message: String? = if case .asking(let message) = stage { message } else { nil }
    var word = Self.stages.first { $0.value == stage }?.key ?? "asking"
    try coder.required("stage", &word)
    try coder.field("message", &message)
    let found = message.map { .asking(message: $0) } ?? Self.stages[word]
    try coder.require((word == "asking") == (message != nil) && found != nil, "no dismissal is “\(word)”")
    stage = found ?? stage
    try coder.required("reason", &reason)
    try coder.field("animated", &animated, default: true)
    try coder.mark("forced", &isForced)
    try coder.field("time-left", &timeLeft)
    try coder.mark("handed-over", &hasHandedOver)
  }
}

extension Continuation: Fielded {
  static var blank: Self { Self() }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field("restarts", &restarts, default: 0)
    try coder.field("due", &due)
    try coder.field("time-left", &timeLeft)
  }
}

extension Requester: Fielded {
  static var blank: Self { Self(Client("")) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("client", &client)
    try coder.field("pid", &process)
    try coder.field("program", &program)
  }
}

extension Ending: Fielded {
  static var blank: Self { Self(Handle(0), .blank, id: "", reason: .closed, serial: Serial(0)) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("binding", &binding)
    try coder.required("id", &id)
    try coder.required("reason", &reason)
    try coder.required("serial", &serial)
    try coder.field("destination", &destination)
    try coder.field("group", &group)
    try coder.field("stack", &stack)
    try coder.field("result", &result, default: [:])
    try coder.field("presented-at", &presentedAt)
    try coder.field("ended-at", &endedAt, default: Instant(nanoseconds: 0))
    try coder.field("time", &time)
    try coder.field("by", &by)
  }
}

extension [String: HoldAction] {
  fileprivate var words: [String: String] { isEmpty ? [:] : mapValues(\.rawValue) }
}

extension [String: String] {
  /// The effects of holds (H3). A word that no release has written has no effect.
  fileprivate var actions: [String: HoldAction] { isEmpty ? [:] : compactMapValues(HoldAction.init) }
}

// MARK: Requests

extension RecordedState.Tag: Fielded {
  static var blank: Self { Self(binding: .blank, id: "", options: ItemOptions(), stamp: 0) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("binding", &binding)
    try coder.required("id", &id)
    try coder.field("options", &options, default: ItemOptions())
    try coder.mark("trusted", &isTrusted)
    try coder.required("stamp", &stamp)
  }
}

extension LoginItem: Fielded {
  static var blank: Self { Self(id: "", options: ItemOptions(), handle: Handle(0)) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("id", &id)
    try coder.required("presentation", &handle)
    try coder.field("options", &options, default: ItemOptions())
    try coder.field("queue-age", &queueAge)
    try coder.mark("interrupted", &isInterrupted)
    try coder.field("index", &index, default: 0)
  }
}

extension LoginHold: Fielded {
  static var blank: Self { Self() }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field("message", &message, default: "")
    try coder.field("until", &until)
  }
}

// MARK: Destinations

extension Destination: Fielded {
  static var blank: Self { Self(name: "", presenter: .none, source: .request) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    var file: String? = if case .file(let path) = source { path } else { nil }
    var client: Client? = if case .client(let client) = source { client } else { nil }
    try coder.required("name", &name)
    try presenter.code(with: &coder)
    try coder.field("group", &group)
    try coder.field("style", &style)
    try coder.field("start-timeout", &startTimeout, default: Self.defaultStartTimeout)
    try coder.mark("start-timeout-written", &isStartTimeoutWritten)
    try coder.field("grace", &grace, default: Self.defaultGrace)
    try coder.field("file", &file)
    try coder.field("client", &client)
    try coder.require(file == nil || client == nil, "a destination is of a file or of a client")
    source = file.map { .file(path: $0) } ?? client.map { .client($0) } ?? .request
    try coder.mark("protected", &isProtected)
    try coder.field("window", &window)
    try coder.field("settings", &itemSettings)
  }
}

extension Destination.Presenter {
  fileprivate mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    var (command, scope, unit): ([[UInt8]]?, CommandScope, String?) = (nil, .tree, nil)
    var (bus, path): (String?, ObjectPath?) = (nil, nil)
    switch self {
    case .command(let arguments, let itsScope): (command, scope) = (arguments, itsScope)
    case .unit(let name): unit = name
    case .bus(let name, let itsPath): (bus, path) = (name, itsPath)
    case .none: break
    }
    try coder.field("command", &command)
    try coder.field("scope", &scope, default: .tree)
    try coder.field("unit", &unit)
    try coder.field("bus", &bus)
    try coder.field("path", &path)
    switch (command, unit, bus, path) {
    case (let command?, nil, nil, nil): self = .command(command, scope: scope)
    case (nil, let unit?, nil, nil): self = .unit(unit)
    case (nil, nil, let bus?, let path?): self = .bus(name: bus, path: path)
    case (nil, nil, nil, nil): self = .none
    default: try coder.require(false, "expected a command, a unit or a program on the bus, found several")
    }
  }
}

extension WindowFollowing: Fielded {
  static var blank: Self { Self() }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field("app-id", &pattern.appID)
    try coder.field("title", &pattern.title)
    try coder.field("all", &takesAll, default: true)
    try coder.mark("adopt", &adopts)
    try coder.field("settle", &settle, default: 0)
    try coder.field("linger", &linger)
    try coder.mark("end-leftover", &endsLeftover)
    try coder.mark("kill", &kills)
    try coder.mark("end-unfocused", &endsUnfocused)
    try coder.mark("here", &comesHere)
    try coder.mark("end-with-output", &endsWithOutput)
    try coder.mark("hide", &hides)
    try coder.field("placement", &placement, default: WindowPlacement())
  }
}

extension ItemSettings: Fielded {
  static var blank: Self { Self() }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    var (actions, words) = (holds.words, inhibits.map(\.rawValue).sorted())
    try coder.field("id", &id)
    try coder.field("desktop", &desktop)
    try coder.field("options", &options, default: ItemOptions())
    try coder.field("on-present", &onPresent)
    try coder.field("on-dismiss", &onDismiss)
    try coder.field("check", &check)
    try coder.field("holds", &actions, default: [:])
    try coder.field("hold", &hold)
    try coder.field("inhibit", &words, default: [])
    try coder.field("restart", &restart)
    try coder.mark("restore-at-login", &restoresAtLogin)
    try coder.field("replacement", &replacement, default: .sequential)
    try coder.mark("awaits-ready", &awaitsReady)
    (holds, inhibits) = (actions.actions, Set(words.compactMap(InhibitedAction.init)))
  }
}

extension ProgramCheck: Fielded {
  static var blank: Self { Self([]) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("command", &command)
    try coder.required("every", &interval)
    try coder.required("failures", &failures)
  }
}

extension RestartRule: Fielded {
  static var blank: Self { Self(.always) }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("when", &condition)
    try coder.required("delay", &delay)
    try coder.required("delay-max", &maxDelay)
    try coder.required("limit", &limit)
  }
}

// MARK: Others

extension Holder: Fielded {
  static var blank: Self { Self() }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.field("client", &client)
    try coder.mark("owned", &isOwned)
    try coder.field("message", &message, default: "")
    try coder.field("since", &since)
    try coder.field("expires", &expires)
    try coder.mark("restore", &restoresAtLogin)
  }
}

extension RecordedState.Numbers: Fielded {
  static var blank: Self { Self() }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("serial", &serial)
    try coder.required("last-handle", &lastHandle)
    try coder.required("last-queue-age", &lastQueueAge)
  }
}

extension Record.Session: Fielded {
  static var blank: Self { Self(bus: "", boot: "", clock: 0, token: "") }

  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure) {
    try coder.required("bus", &bus)
    try coder.required("boot", &boot)
    try coder.required("clock", &clock)
    try coder.required("token", &token)
    try coder.mark("adapter", &hadAdapter)
    try coder.field("windows-to-show", &windowsToShow, default: [:])
    try coder.field("began", &began, default: 0)
  }
}
