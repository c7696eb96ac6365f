// Why this file exists: the user's service manager is a program on the bus like any other: it may be absent, leave and
// come back, and what it says of a job may arrive before the answer to who asked for the job.

import DBus
import DBusValues
import Glibc

/// What is known of a unit, from what the manager told of it since it is watched.
struct UnitState: Hashable, Sendable {
  /// `active`, `activating`, `inactive`, `failed`, …; nil before it was told.
  var active: String?
  /// Why it is no longer active, as in `success` or `exit-code`.
  var result: String?
  /// The service's main process, while there is one.
  var mainProcess: UInt32?
  /// How the main process ended, as `si_code` and `si_status` of `waitid` say it.
  var exitCode: Int32 = 0
  var exitStatus: Int32 = 0

  /// Whether nothing of it runs, or is about to.
  var hasEnded: Bool { active == "inactive" || active == "failed" }

  fileprivate mutating func take(_ properties: Properties) {
    func text(_ name: String) -> String? { properties[name].flatMap { String(value: $0) } }
    active = text("ActiveState") ?? active
    result = text("Result") ?? result
    if let pid = properties["MainPID"].flatMap({ UInt32(value: $0) }) { mainProcess = pid == 0 ? nil : pid }
    exitCode = properties["ExecMainCode"].flatMap { Int32(value: $0) } ?? exitCode
    exitStatus = properties["ExecMainStatus"].flatMap { Int32(value: $0) } ?? exitStatus
  }
}

/// A unit that is being watched, until ``cancel()``, whether or not anybody holds this object.
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

  /// The handler is not called any more.
  func cancel() {
    subscription?.cancel()
    subscription = nil
    onChange = nil
    manager?.forget(self)
  }

  fileprivate func take(_ properties: Properties) {
    let before = state
    state.take(properties)
    if state != before { onChange?() }
  }
}

/// The user's service manager, if the bus has one. It is never started by us.
final class SystemdManager {
  /// What became of a job.
  enum JobEnd {
    /// Its result, as in `done` or `failed`.
    case removed(String)
    /// There was none: the manager refused to make it, or cannot be asked.
    case refused(DBusError)
  }

  enum Presence: Equatable {
    /// Nobody has said yet.
    case unknown
    case absent
    /// Its release, as in 252; nil if it does not say.
    case present(version: Int?)
  }

  private(set) var presence = Presence.unknown
  /// Called when the manager turns out to be there or not, and whenever it comes or leaves.
  var onPresence: (() -> Void)?

  private let connection: Connection
  private var follower: NameWatch?
  private var waiting: [() -> Void] = []
  private var watches: [ObjectIdentifier: UnitWatch] = [:]

  private var jobSignals: Subscription?
  private var jobs: [ObjectPath: (JobEnd) -> Void] = [:]
  /// How many jobs were asked for and not yet answered; and what ended meanwhile, which may be one of them.
  private var jobsAskedFor = 0
  private var endedJobs: [ObjectPath: String] = [:]
  private var isSubscribed = false

  init(_ connection: Connection) {
    self.connection = connection
    follower = connection.watchName(Systemd.name) { [unowned self] owner in
      isSubscribed = false
      if owner != nil { greet() } else { become(.absent) }
    }
  }

  var isPresent: Bool { if case .present = presence { true } else { false } }

  /// Calls `body` when it is known whether there is a manager: now, or later.
  func whenKnown(_ body: @escaping () -> Void) {
    if presence == .unknown { waiting.append(body) } else { body() }
  }

  private func greet() {
    connection.call(
      PropertyAccessing.get, on: Systemd.name, at: Systemd.path, (Systemd.Manager.name.text, "Version"),
      timeout: .seconds(3), autoStart: false
    ) { [weak self] result in
      switch result {
      case .success(let version): self?.become(.present(version: String(value: version).flatMap(Self.release)))
      case .failure: self?.become(.absent)
      }
    }
  }

  /// The release that a version begins with: 252 of `252.38-1~deb12u1` and of `v252-rc1`.
  static func release(_ version: String) -> Int? {
    Int(version.drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && $0.isNumber })
  }

  private func become(_ new: Presence) {
    presence = new
    if isPresent, !watches.isEmpty {
      // It was away (`systemctl --user daemon-reexec`), and so was what it had to say.
      subscribe()
      for watch in watches.values { ask(about: watch) }
    }
    let ready = waiting
    waiting = []
    onPresence?()
    for body in ready { body() }
  }

  // MARK: Units

  /// Watches a unit. The handler is called when what is known of it has changed.
  func watch(_ unit: UnitName, _ onChange: @escaping () -> Void) -> UnitWatch {
    subscribe()
    let watch = UnitWatch(unit, self, onChange)
    watches[ObjectIdentifier(watch)] = watch
    watch.subscription = connection.subscribe(
      to: PropertyAccessing.propertiesChanged, from: Systemd.name, at: unit.path
    ) { [weak watch] arguments, _ in watch?.take(arguments.1) }
    return watch
  }

  fileprivate func forget(_ watch: UnitWatch) { watches[ObjectIdentifier(watch)] = nil }

  /// Asks how a unit is that was not started just now; one that there is not is `inactive`.
  /// - Parameter completion: called when it was answered, or could not be.
  func ask(about watch: UnitWatch, _ completion: @escaping () -> Void = {}) {
    // The process first, so that it is known when the state is told.
    ask(Systemd.service, "MainPID", of: watch) {}
    ask(Systemd.unit, "ActiveState", of: watch, completion)
  }

  private func ask(
    _ interface: InterfaceName, _ property: String, of watch: UnitWatch, _ completion: @escaping () -> Void
  ) {
    connection.call(
      PropertyAccessing.get, on: Systemd.name, at: watch.unit.path, (interface.text, property), autoStart: false
    ) { [weak watch] result in
      if let value = try? result.get() { watch?.take([property: value]) }
      completion()
    }
  }

  /// The manager sends signals to none but those who have asked for them.
  private func subscribe() {
    guard !isSubscribed else { return }
    isSubscribed = true
    try? connection.send(Systemd.Manager.subscribe, on: Systemd.name, at: Systemd.path, ())
  }

  // MARK: Jobs

  /// Starts a unit; one that has failed too often is forgiven first.
  func start(_ unit: UnitName, _ completion: @escaping (JobEnd) -> Void) {
    try? connection.send(Systemd.Manager.resetFailedUnit, on: Systemd.name, at: Systemd.path, unit.text)
    run(Systemd.Manager.startUnit, (unit.text, Self.mode), completion)
  }

  func stop(_ unit: UnitName, _ completion: @escaping (JobEnd) -> Void) {
    run(Systemd.Manager.stopUnit, (unit.text, Self.mode), completion)
  }

  /// Makes a service of these properties and starts it.
  func startTransient(
    _ service: UnitName, _ properties: [Structure<String, Value>], _ completion: @escaping (JobEnd) -> Void
  ) {
    run(Systemd.Manager.startTransientUnit, (service.text, "fail", properties, []), completion)
  }

  /// A job takes the place of another for the same unit.
  private static let mode = "replace"

  private func run<Input>(
    _ method: Method<Input, ObjectPath>, _ input: Input, _ completion: @escaping (JobEnd) -> Void
  ) {
    subscribe()
    if jobSignals == nil {
      jobSignals = connection.subscribe(to: Systemd.Manager.jobRemoved, from: Systemd.name, at: Systemd.path) {
        [weak self] arguments, _ in self?.removed(arguments.1, arguments.3)
      }
    }
    jobsAskedFor += 1
    connection.call(method, on: Systemd.name, at: Systemd.path, input, autoStart: false) {
      [weak self] result in
      guard let self else { return }
      jobsAskedFor -= 1
      switch result {
      case .success(let job):
        if let end = endedJobs.removeValue(forKey: job) { completion(.removed(end)) } else { jobs[job] = completion }
      case .failure(let error): completion(.refused(error))
      }
      if jobsAskedFor == 0 { endedJobs = [:] }
      restFromJobs()
    }
  }

  /// While none of its jobs are ours, the manager's need not wake us.
  private func restFromJobs() {
    guard jobs.isEmpty, jobsAskedFor == 0 else { return }
    jobSignals?.cancel()
    jobSignals = nil
  }

  private func removed(_ job: ObjectPath, _ result: String) {
    if let completion = jobs.removeValue(forKey: job) {
      completion(.removed(result))
      restFromJobs()
    } else if jobsAskedFor > 0 {
      endedJobs[job] = result
    }
  }

  /// Sends SIGKILL to every process of a unit.
  func kill(_ unit: UnitName) {
    try? connection.send(
      Systemd.Manager.killUnit, on: Systemd.name, at: Systemd.path, (unit.text, "all", SIGKILL))
  }
}
