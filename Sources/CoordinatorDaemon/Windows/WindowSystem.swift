import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules
import TextFormats
import WindowRules

/// A client of the window-system adapter of one display, which may be absent, leave the bus and
/// come back (`org.navd.WindowSystem1`). It begins with the first presentation that follows windows
/// there.
final class WindowSystem {
  private enum Presence {
    /// The adapter was not asked, has not answered, or has just left and may be started again.
    case unknown
    /// The adapter is not on the bus, or leaves requests unanswered.
    case absent
    case present
  }

  /// Called each time that an adapter has told its windows.
  var onArrival: () -> Void = {}
  /// Receives what the window system reports.
  unowned var observer: WindowPresenter?
  private let connection: Connection
  /// The name of the adapter on the bus.
  let name: BusName
  private let log: Logger
  private var presence = Presence.unknown
  private var follower: NameWatch?
  /// The unique names of the adapter on the bus, and of the adapter whose windows were read last.
  private var owner: BusName?
  private var lastRead: BusName?
  /// The subscription to the adapter's signals; nil while nothing needs the windows.
  private var signals: Subscription?
  /// Whether signals are received although nothing follows windows, because a fullscreen window is a hold (H2).
  var isNeededForFullscreen = false
  private var waiting: [() -> Void] = []
  private var absence: Timer?
  private var rest: Timer?
  /// Whether the session starts an adapter, or there has been one (N13).
  private var isExpected = false
  /// Tells whether the session starts the adapter; nil if it does not start one of this display.
  private let session: AdapterOfSession?
  let desktopEntries: DesktopEntries
  private(set) var facts = WindowSystemFacts([], backend: "")
  /// The output with the focus; empty if the adapter does not know it.
  private var focusedOutput = ""
  private var outputs: Set<String> = []
  /// The display of the adapter; without names if it does not tell.
  private(set) var display = DisplayNames([])
  private var reading = WindowReading()
  /// The time that an adapter has to answer.
  private static let timeout = Duration.milliseconds(Int64(WindowTracker.timeOfSilence))
  /// The time that an adapter has to come back after it left.
  private static let absenceLimit = Duration.seconds(2)
  /// The time for which signals are received after they were needed.
  private static let timeToRest = Duration.seconds(1)
  /// The properties that may change while all others stay the same.
  private static let followedProperties: Set = [
    WindowSystemInterface.outputs.name.text, WindowSystemInterface.focusedOutput.name.text,
  ]
  /// The limit in bytes of kept titles and app-ids. A window with a longer id, or an output with a longer name, is ignored.
  static let maxText = 1024
  private static let maxOutputs = 1024

  /// - Parameters:
  ///   - name: the name of the adapter on the bus.
  ///   - session: tells whether the session starts the adapter; nil if it does not start one of
  ///     this display.
  ///   - entries: the desktop files of installed programs.
  init(
    _ connection: Connection, _ name: BusName, session: AdapterOfSession?, _ entries: DesktopEntries, log: Logger
  ) {
    self.connection = connection
    self.name = name
    self.session = session
    desktopEntries = entries
    self.log = log
  }

  /// Ends the work for a display that nothing needs any more.
  func end() {
    signals?.cancel()
    follower?.cancel()
    absence?.cancel()
    rest?.cancel()
  }

  var isPresent: Bool { presence == .present }

  /// Calls `body`, now or later, once the presence of a window system and its windows are known.
  func whenKnown(_ body: @escaping () -> Void) {
    if isResting, presence == .present { presence = .unknown }
    if presence == .unknown { waiting.append(body) } else { body() }
    begin()
  }

  private var isResting: Bool { signals == nil }

  /// Whether nothing waits for the adapter or reads its windows.
  var isIdle: Bool { isResting && waiting.isEmpty }

  /// Stops receiving signals if nothing needs them. The capabilities of the window system stay known.
  func restIfUnneeded() {
    // A silent adapter counts as present again once it has answered this reading.
    guard presence == .present || !reading.isPending else { return }
    guard !isResting, waiting.isEmpty, presence != .unknown, !isNeededForFullscreen, observer?.needsWindows == false
    else { return }
    signals?.cancel()
    signals = nil
    reading.forget()
  }

  private func begin() {
    guard isResting else { return }
    let rule = MatchRule(sender: name, path: WindowSystemInterface.object)
    signals = connection.subscribe(rule) { [unowned self] in receive($0) }
    guard follower == nil else {
      if owner != nil, presence != .present { readAll() }
      return
    }
    follower = connection.watchName(name) { [unowned self] owner in
      let hadOwner = self.owner != nil
      self.owner = owner
      (outputs, focusedOutput) = ([], "")
      reading.forget()
      absence?.cancel()
      if owner != nil {
        if presence == .absent { presence = .unknown }
        if isResting { presence = .unknown } else { readAll() }
      } else if hadOwner {
        left()
        absence = connection.loop.timer(after: Self.absenceLimit) { [weak self] in self?.becomeAbsent() }
      } else if let session {
        session.isExpected { [weak self] isExpected in
          guard let self, self.owner == nil, presence == .unknown else { return }
          self.isExpected = isExpected
          becomeAbsent(isStarting: isExpected)
        }
      } else {
        becomeAbsent()
      }
    }
  }

  private func left() {
    let wasPresent = presence == .present
    presence = .unknown
    reading.forget()
    guard wasPresent else { return }
    log.warning("the window-system adapter has left the bus; windows stay as they were seen last")
    observer?.windowSystemLeft()
  }

  /// - Parameters:
  ///   - isSilent: whether the adapter is on the bus, and does not answer.
  ///   - isStarting: whether it may be starting with navd.
  private func becomeAbsent(isSilent: Bool = false, isStarting: Bool = false) {
    presence = .absent
    observer?.windowSystemBecameAbsent(isSilent: isSilent, isExpected: isExpected, isStarting: isStarting)
    if isStarting {
      absence = connection.loop.timer(after: Self.absenceLimit) { [weak self] in
        if let self, presence == .absent { becomeAbsent() }
      }
    }
    serve()
  }

  /// Notes that the adapter has left a request unanswered. It counts as absent until it answers
  /// another reading, because a machine that is busy for a moment may have caused the silence.
  private func becameSilent() {
    guard presence != .absent else { return }
    if presence == .present {
      log.warning("the window-system adapter does not answer; windows stay as they were seen last")
    }
    presence = .unknown
    reading.forget()
    observer?.windowSystemLeft()
    becomeAbsent(isSilent: true)
    if !isResting { readAll() }
  }

  /// Checks that the adapter still answers.
  /// - Parameters:
  ///   - limit: the time to wait.
  ///   - completion: called with whether the adapter has answered, after all messages that it has sent before.
  func confirm(within limit: Duration = timeout, _ completion: @escaping (Bool) -> Void = { _ in }) {
    guard presence != .absent else { return completion(false) }
    let backend = WindowSystemInterface.backend
    call(PropertyAccessing.get, (WindowSystemInterface.name.text, backend.name.text), timeout: limit) { result in
      completion(!result.hasNoAnswer)
    }
  }

  private func serve() {
    let ready = waiting
    waiting = []
    for body in ready { body() }
    // Requests that have waited for the adapter may start programs in a later turn.
    rest?.cancel()
    rest = connection.loop.timer(after: Self.timeToRest) { [weak self] in self?.restIfUnneeded() }
  }

  // MARK: Reading

  /// Reads all windows. A pending reading is repeated after its answer instead, because an adapter
  /// may give reasons to read without end.
  private func readAll() {
    guard let number = reading.begin() else { return }
    let timeout = Self.timeout * reading.patience
    call(PropertyAccessing.getAll, WindowSystemInterface.name.text, timeout: timeout) { [weak self] result in
      guard let self, reading.isCurrent(number), let properties = try? result.get() else { return }
      facts = WindowSystemFacts(properties)
      display = DisplayNames(reading: properties)
      take(properties)
      reading.forgetEarlyProperties()
    }
    call(WindowSystemInterface.getWindows, (), timeout: timeout) { [weak self] result in
      guard let self, reading.isCurrent(number) else { return }
      let isOutdated = reading.end()
      defer { if isOutdated, reading.isCurrent(number) { readAll() } }
      switch result {
      case .success where isOutdated && reading.drop(): break
      case .success(let (windows, serial)):
        let (early, properties) = reading.take(at: serial)
        take(properties)
        arrived(windows.map { Window(id: $0.fields.0, WindowProperties(reading: $0.fields.1)) })
        for event in early { receive(event) }
      case .failure(let error) where error.name == .timedOut && presence == .absent:
        reading.wasSilent()
        readAll()
      // The adapter has left the bus and may come back, or it does not answer.
      case .failure where result.hasNoAnswer: break
      case .failure(let error):
        if presence != .absent { log.error("the window-system adapter does not tell its windows: \(error)") }
        left()
        becomeAbsent(isSilent: true)
      }
    }
  }

  private func receive(_ signal: Message) {
    if let event = try? WindowEvent(signal) { return receive(event) }
    guard let (interface, changed, _) = try? PropertyAccessing.propertiesChanged.arguments(of: signal),
      interface == WindowSystemInterface.name.text
    else { return }
    let followed = changed.filter { Self.followedProperties.contains($0.key) }
    if !reading.keep(followed) { take(followed) }
    if followed.count < changed.count { readAll() }
  }

  /// Handles properties that may have changed.
  private func take(_ properties: Properties) {
    typealias Rows = WindowSystemInterface
    func isShort(_ text: String) -> Bool { text.utf8.count <= Self.maxText }
    if let output = properties[Rows.focusedOutput.name.text] {
      focusedOutput = String(value: output).flatMap { isShort($0) ? $0 : nil } ?? ""
    }
    guard
      let names = properties[Rows.outputs.name.text].flatMap({ [String](value: $0) })?.prefix(Self.maxOutputs)
        .filter(isShort)
    else { return }
    let gone = outputs.subtracting(names)
    outputs = Set(names)
    if isPresent, !gone.isEmpty { observer?.outputsGone(gone) }
  }

  private func arrived(_ windows: [Window]) {
    let wasPresent = presence == .present
    presence = .present
    isExpected = true
    onArrival()
    if !wasPresent { log.notice("window system: “\(facts.backend)”, with \(windows.count) windows") }
    let isSameAdapter = lastRead != nil && lastRead == owner
    lastRead = owner
    observer?.windowSystemArrived(facts.capabilities, windows.compactMap(limited), isSameAdapter: isSameAdapter)
    serve()
  }

  private func receive(_ event: WindowEvent) {
    switch reading.place(event) {
    case .next: break
    case .early, .past: return
    case .afterGap: return readAll()
    }
    switch event.kind {
    case .opened(let window): if let window = limited(window) { observer?.windowChanged(.opened(window)) }
    case .changed(let id, let changed): observer?.windowChanged(.changed(id: id, limited(changed)))
    case .closed: observer?.windowChanged(event.kind)
    }
  }

  private func limited(_ window: Window) -> Window? {
    window.id.utf8.count > Self.maxText ? nil : Window(id: window.id, limited(window.properties))
  }

  private func limited(_ properties: WindowProperties) -> WindowProperties {
    func limited(_ text: String?) -> String? {
      guard let text, text.utf8.count > Self.maxText else { return nil }
      return String(decoding: text.utf8.prefix(Self.maxText), as: UTF8.self)
    }
    var properties = properties
    if let title = limited(properties.title) { properties.title = title }
    if let appID = limited(properties.appID) { properties.appID = appID }
    if limited(properties.parent) != nil { properties.parent = nil }
    if limited(properties.output) != nil { properties.output = nil }
    if limited(properties.startupID) != nil { properties.startupID = nil }
    return properties
  }

  // MARK: Requests

  /// - Parameters:
  ///   - done: called when the adapter has done what the method says.
  ///   - refused: called with the reason of a refusal, but not for a window that is gone.
  func request<Input>(
    _ method: Method<Input, Void>, _ input: Input, done: @escaping () -> Void = {}, refused: @escaping (String) -> Void
  ) {
    call(method, input) { result in
      // A call without an answer means that the adapter has left; open requests are made again to the next one.
      if case .success = result { return done() }
      guard case .failure(let error) = result, let code = ErrorCode(error.name), code != .unknownWindow else { return }
      refused(error.message)
    }
  }

  /// Calls a method of the adapter. The bus keeps the order: earlier signals of the adapter are received before the answer.
  private func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, timeout: Duration = timeout,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    connection.call(method, on: name, at: WindowSystemInterface.object, input, timeout: timeout, autoStart: false) {
      [weak self] result in
      completion(result)
      if case .failure(let error) = result, error.name == .timedOut, timeout >= Self.timeout { self?.becameSilent() }
    }
  }
}

extension Result where Failure == DBusError {
  /// Whether there is no answer: the adapter has left the bus, or is silent.
  fileprivate var hasNoAnswer: Bool {
    guard case .failure(let error) = self else { return false }
    return [.noReply, .nameHasNoOwner, .serviceUnknown, .timedOut].contains(error.name)
  }
}

// MARK: Limits of the window system

extension WindowSystem {
  /// The reason why the window system cannot do something; nil if it can, or if that is not known.
  /// - Parameter what: the subject of the sentence, such as “raising a window”.
  func whyNot(_ capability: WindowCapability, for what: String) -> String? {
    isPresent ? facts.whyNot(capability, for: what) : nil
  }

  /// Refuses a request that the window system cannot carry out.
  /// - Throws: `Refusal` with the code `notSupported`.
  func check(_ request: Request) throws(Refusal) {
    guard isPresent else { return }
    if request.raises, let why = whyNot(.activate, for: "raising a window") { throw Refusal(.notSupported, why) }
    if request.bringsHere == true, let why = whyNot(.summon, for: "bringing a window to the place in use") {
      throw Refusal(.notSupported, why)
    }
  }
}

// MARK: Outputs

extension Request.Operation {
  fileprivate var namesFocusedOutput: Bool { presents { $0.output == Options.focusedOutput } }
}

extension WindowSystem {
  /// Whether requests depend on facts that are unknown or outdated: the output with the focus, the capabilities, and whether there is an
  /// adapter at all. Programs that follow windows start after these are known, and a client has to hear of one that cannot start.
  /// - Parameters:
  ///   - hides: whether any destination hides its windows.
  ///   - follows: whether any of the requests may start a program that follows windows.
  func mustBeKnown(
    for requests: [Request], hides: @autoclosure () -> Bool = false, follows: @autoclosure () -> Bool = false
  ) -> Bool {
    let mayBeOutdated = isResting && isPresent
    if presence == .unknown || mayBeOutdated, follows() { return true }
    if presence == .unknown || mayBeOutdated,
      requests.contains(where: { $0.operation.namesFocusedOutput || $0.bringsHere == true })
    {
      return true
    }
    return mayBeOutdated && !facts.capabilities.contains(.hide)
      && requests.contains { $0.operation.presents { _ in true } } && hides()
  }

  /// Completes a request with the name of the focused output, the places of the windows, and the
  /// reasons why something cannot be done on outputs (N11, U1).
  /// - Parameter windows: the places of the windows of all presentations.
  /// - Throws: `Refusal` with the code `notSupported` if that output is not known.
  func placing(_ request: Request, among windows: [Handle: WindowPlaces.Place]) throws(Refusal) -> Request {
    var placed = request
    if isPresent, request.operation.presents(where: { _ in true }) {
      placed.places = WindowPlaces(focusedOutput: focusedOutput.isEmpty ? nil : focusedOutput, windows)
    }
    // Nothing is ever seen to have the focus, so a toggle that raises would close nothing (N7).
    if presence == .absent { placed.raises = false }
    placed.whyNoMoving = whyNot(.move, for: "moving a window to an output")
    placed.whyNoHiding = whyNot(.hide, for: "dismissal = \"hide\"")
    guard request.operation.namesFocusedOutput else { return placed }
    guard isPresent, !focusedOutput.isEmpty else {
      throw Refusal(.notSupported, "output: \(whyNoFocusedOutput); name an output instead of “focused”")
    }
    placed.operation = request.operation.mapItems { options in
      var options = options
      if options.output == Options.focusedOutput { options.output = focusedOutput }
      return options
    }
    return placed
  }

  private var whyNoFocusedOutput: String {
    isPresent
      ? "the window-system adapter (backend “\(facts.backend)”) does not tell which output has the focus"
      : "no window-system adapter is on the bus that tells which output has the focus"
  }
}
