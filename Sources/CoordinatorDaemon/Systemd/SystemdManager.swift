import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import Processes

/// A subscription to the state of a unit. It lasts until ``cancel()``, even without a reference to it.
final class UnitWatch {
  let unit: UnitName
  fileprivate(set) var state = UnitState()
  fileprivate var onChange: (() -> Void)?
  fileprivate var subscription: Subscription?
  private weak var manager: SystemdManager?

  fileprivate init(_ unit: UnitName, _ manager: SystemdManager, _ onChange: @escaping () -> Void) {
    self.unit = unit
    self.manager = manager
    self.onChange = onChange
  }

  /// Ends the subscription; the handler is not called again.
  func cancel() {
    subscription?.cancel()
    subscription = nil
    onChange = nil
    manager?.forget(self)
  }

  fileprivate func receive(_ properties: Properties) {
    let before = state
    state.merge(properties)
    if state != before { onChange?() }
  }
}

/// A client of the user's service manager, which may be absent, leave the bus and come back. navd never starts it.
final class SystemdManager {
  enum Presence: Equatable {
    /// The bus or the manager has not answered yet, or the manager has just left. The manager leaves the bus and comes back when
    /// it is updated (`systemctl --user daemon-reexec`).
    case unknown
    case absent
    /// `version` is systemd's release, such as 252; nil if it cannot be read.
    case present(version: Int?)
  }

  private(set) var presence = Presence.unknown
  /// The id of the manager's process; nil if the bus has not told it.
  private(set) var process: UInt32?
  /// Called when the presence is known, and whenever the manager joins the bus or has left for good.
  var onPresenceChanged: (() -> Void)?

  private let connection: Connection
  /// The time that a manager has to come back after it left.
  private let absenceLimit: Duration
  private var absence: Timer?
  private var follower: NameWatch?
  private var waiting: [() -> Void] = []
  private var watches: [ObjectIdentifier: UnitWatch] = [:]

  private lazy var jobs = SystemdJobs(of: self, connection)
  private var isSubscribed = false

  init(_ connection: Connection, absenceLimit: Duration = .seconds(5)) {
    self.connection = connection
    self.absenceLimit = absenceLimit
    follower = connection.watchName(Systemd.name) { [unowned self] owner in
      isSubscribed = false
      process = nil
      guard owner != nil else { return left() }
      connection.credentials(of: Systemd.name) { [weak self] in self?.process = (try? $0.get())?.processID }
      readVersion()
    }
  }

  var isPresent: Bool { if case .present = presence { true } else { false } }

  /// Calls `body` once the presence is known: now or later.
  func whenKnown(_ body: @escaping () -> Void) {
    if presence == .unknown { waiting.append(body) } else { body() }
  }

  /// - Parameter limit: the time to wait; nil to wait as long as the manager is on the bus.
  private func readVersion(within limit: Duration? = .seconds(3)) {
    connection.call(
      PropertyAccessing.get, on: Systemd.name, at: Systemd.path, (Systemd.Manager.name.text, "Version"),
      timeout: limit, autoStart: false
    ) { [weak self] result in
      switch result {
      case .success(let version): self?.setPresence(.present(version: String(value: version).flatMap(Self.release)))
      case .failure(let error):
        self?.left()
        // The second reading has no limit: a busy manager is used once it answers.
        if error.name == .timedOut { self?.readVersion(within: nil) }
      }
    }
  }

  /// Notes that the manager is not on the bus. It may have lost calls that it has not answered.
  func left() {
    if isPresent {
      presence = .unknown
      readVersion()
      absence = connection.loop.timer(after: absenceLimit) { [weak self] in self?.setPresence(.absent) }
    } else if absence == nil, presence != .absent {
      setPresence(.absent)
    }
  }

  /// The release at the beginning of a version: 252 for `252.38-1~deb12u1` and `v252-rc1`.
  static func release(_ version: String) -> Int? {
    Int(version.drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && $0.isNumber })
  }

  private func setPresence(_ new: Presence) {
    absence?.cancel()
    absence = nil
    presence = new
    if isPresent, !watches.isEmpty || !jobs.isIdle {
      // The manager was away, and its signals were missed.
      subscribe()
      for watch in watches.values {
        watch.state = UnitState()
        refresh(watch)
      }
      jobs.checkAll()
    }
    let ready = waiting
    waiting = []
    onPresenceChanged?()
    if !isPresent { jobs.refuseAll() }
    for body in ready { body() }
  }

  // MARK: Units

  /// Watches a unit, and calls the handler when its state has changed. The state is unknown until a change or `refresh`.
  func watch(_ unit: UnitName, _ onChange: @escaping () -> Void) -> UnitWatch {
    subscribe()
    let watch = UnitWatch(unit, self, onChange)
    watches[ObjectIdentifier(watch)] = watch
    watch.subscription = connection.subscribe(
      to: PropertyAccessing.propertiesChanged, from: Systemd.name, at: unit.path
    ) { [weak watch] arguments, _ in watch?.receive(arguments.1) }
    return watch
  }

  fileprivate func forget(_ watch: UnitWatch) { watches[ObjectIdentifier(watch)] = nil }

  /// Reads the state of a unit that was not just started. The manager reports a unit that does not exist as `inactive`.
  /// - Parameter completion: called after the answer or an error.
  func refresh(_ watch: UnitWatch, _ completion: @escaping () -> Void = {}) {
    // The process and the job come first, so that the handler sees them with the state.
    read(Systemd.service, "MainPID", of: watch) {}
    read(Systemd.unit, "Job", of: watch) {}
    read(Systemd.unit, "ActiveState", of: watch, completion)
  }

  private func read(
    _ interface: InterfaceName, _ property: String, of watch: UnitWatch, _ completion: @escaping () -> Void
  ) {
    connection.call(
      PropertyAccessing.get, on: Systemd.name, at: watch.unit.path, (interface.text, property), autoStart: false
    ) { [weak watch] result in
      if let value = try? result.get() { watch?.receive([property: value]) }
      completion()
    }
  }

  /// Reads the conditions of a unit that have kept it from starting, such as `ConditionPathExists=/x`.
  /// - Parameter completion: receives all conditions of the unit if the manager has forgotten the
  ///   results, and none if it does not answer.
  func readUnmetConditions(of unit: UnitName, _ completion: @escaping ([String]) -> Void) {
    connection.call(
      PropertyAccessing.get, on: Systemd.name, at: unit.path, (Systemd.unit.text, "Conditions"), autoStart: false
    ) { result in
      let all = (try? result.get()).flatMap([UnitCondition].init) ?? []
      let unmet = all.filter(\.isUnmet)
      completion((unmet.isEmpty ? all : unmet).map(\.description))
    }
  }

  /// Asks whether a unit belongs to a command: another navd, with another record, may have started a unit with the same name.
  /// - Parameters:
  ///   - limit: the time to wait; nil to wait as long as the manager is on the bus.
  ///   - completion: receives nil if the manager does not answer.
  func askWhether(
    _ unit: UnitName, isOf marker: ByteString, within limit: Duration? = defaultTimeout,
    _ completion: @escaping (Bool?) -> Void
  ) {
    func read(_ property: String, _ answer: @escaping (Value) -> Void) {
      connection.call(
        PropertyAccessing.get, on: Systemd.name, at: unit.path, (Systemd.service.text, property), timeout: limit,
        autoStart: false
      ) { result in
        switch result {
        case .success(let value): answer(value)
        case .failure(let error): completion(Self.isSilence(error) ? nil : false)
        }
      }
    }
    read("LimitLOCKSSoft") { value in
      if case .uint64(let number) = value, DescentMark.isMark(number) {
        return completion(number == DescentMark(marker).number)
      }
      // A file of the user changes the limit.
      let variable = "\(CommandPresenter.markerVariable)=\(marker)"
      read("Environment") { completion([String](value: $0)?.contains(variable) ?? false) }
    }
  }

  /// True for an error that means only that the manager does not answer now.
  private static func isSilence(_ error: DBusError) -> Bool {
    [.noReply, .nameHasNoOwner, .disconnected, .timedOut, .limitsExceeded].contains(error.name)
  }

  /// Asks the manager for signals, once each time that it joins the bus.
  func subscribe() {
    guard !isSubscribed else { return }
    isSubscribed = true
    try? connection.send(Systemd.Manager.subscribe, on: Systemd.name, at: Systemd.path, ())
  }

  // MARK: Jobs

  /// Starts a unit, after a reset of the count of its starts, so that systemd's start limit never applies.
  func start(_ unit: UnitName, _ completion: @escaping (SystemdJobs.Outcome) -> Void) {
    try? connection.send(Systemd.Manager.resetFailedUnit, on: Systemd.name, at: Systemd.path, unit.text)
    jobs.run(Systemd.Manager.startUnit, (unit.text, Self.mode), of: unit, completion)
  }

  func stop(_ unit: UnitName, _ completion: @escaping (SystemdJobs.Outcome) -> Void) {
    jobs.run(Systemd.Manager.stopUnit, (unit.text, Self.mode), of: unit, completion)
  }

  /// Creates a transient service and starts it.
  /// - Parameter accepted: called when the manager has created the service. If it is not called before the completion, the unit may be
  ///   another one with the same name.
  func startTransient(
    _ service: UnitName, _ properties: [Structure<String, Value>], accepted: @escaping () -> Void,
    _ completion: @escaping (SystemdJobs.Outcome) -> Void
  ) {
    jobs.run(
      Systemd.Manager.startTransientUnit, (service.text, "fail", properties, []), of: service, accepted: accepted,
      completion)
  }

  /// The mode in which a new job replaces a conflicting queued job.
  private static let mode = "replace"
  /// Sends SIGKILL to every process of a unit, or to its main process alone.
  func kill(_ unit: UnitName, _ scope: CommandScope = .tree) {
    let whom = scope == .tree ? "all" : "main"
    try? connection.send(
      Systemd.Manager.killUnit, on: Systemd.name, at: Systemd.path, (unit.text, whom, SIGKILL))
  }
}
