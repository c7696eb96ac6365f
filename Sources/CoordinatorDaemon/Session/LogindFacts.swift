import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel

/// Reports the facts that logind knows about the session: locked, idle, about to sleep (H2).
final class LogindFacts {
  /// Holds the locks, which end with each logind.
  weak var inhibitors: Inhibitors?
  /// The system bus; nil if there is none, or until it answers.
  private(set) var system: Connection?

  private unowned let facts: SessionFacts
  private let loop: EventLoop
  private let log: Logger
  private var owner: BusName?
  private var ownerWatch: NameWatch?
  private var ofManager: [Subscription] = []
  /// The session that is followed; nil until logind knows one.
  private var session: ObjectPath?
  private var ofSession: [Subscription] = [] { didSet { for former in oldValue { former.cancel() } } }
  /// The timer after which logind counts as absent.
  private var patience: Timer?
  private var requestLimit: Timer?
  private var hasLoggedAbsence = false

  /// The time that a locker has to report that it has locked.
  private static let lockLimit = Duration.seconds(5)
  /// The time that a logind may be off the bus: systemd starts it again at once.
  private static let restartTime = Duration.milliseconds(500)

  init(_ facts: SessionFacts, on loop: EventLoop, log: Logger) {
    self.facts = facts
    self.loop = loop
    self.log = log
  }

  /// Connects to the system bus, and follows logind there. A bus that does not answer delays nobody.
  func begin() {
    facts.expect([.locked, .idle, .sleep], from: .logind)
    let address =
      getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/run/dbus/system_bus_socket"
    patience = loop.timer(after: defaultTimeout) { [unowned self] in
      isAbsent("the system bus does not answer")
    }
    Connection.open(address: address, loop: loop) { [weak self] result in
      guard let self else { return }
      patience?.cancel()
      switch result {
      case .success(let system): follow(system)
      case .failure(let error): isAbsent("there is no system bus (\(error.message))")
      }
    }
  }

  private func follow(_ system: Connection) {
    self.system = system
    system.handlers.onDisconnected = { [unowned self] in
      self.system = nil
      patience?.cancel()
      isAbsent("the system bus has ended")
    }
    ofManager = [
      system.subscribe(to: Logind.Manager.prepareForSleep, from: Logind.name, at: Logind.path) {
        [unowned self] isStarting, _ in facts.set(.sleep, isStarting, by: .logind)
      },
      system.subscribe(to: Logind.Manager.sessionNew, from: Logind.name, at: Logind.path) { [unowned self] _, _ in
        if session == nil { findSession() }
      },
      system.subscribe(to: Logind.Manager.sessionRemoved, from: Logind.name, at: Logind.path) {
        [unowned self] removed, _ in if removed.1 == session { findSession() }
      },
    ]
    ownerWatch = system.watchName(Logind.name) { [unowned self] owner in
      let isFirst = self.owner == nil
      self.owner = owner
      patience?.cancel()
      if owner != nil {
        findSession()
        inhibitors?.takeAll()
      } else if isFirst {
        isAbsent("logind is not on the system bus")
      } else {
        patience = loop.timer(after: Self.restartTime) { [unowned self] in isAbsent("logind has left the system bus") }
      }
    }
  }

  private func isAbsent(_ why: String) {
    session = nil
    ofSession = []
    for fact in [SessionFact.locked, .idle, .sleep] { facts.set(fact, false, by: .logind) }
    facts.set(.locked, false, by: .lockRequest)
    if !hasLoggedAbsence {
      hasLoggedAbsence = true
      log.notice("\(why), so it cannot say whether the session is locked, idle or about to sleep")
    }
    facts.answered(.logind)
  }

  /// Asks logind.
  /// - Parameter completion: is not called if another logind has come before the answer.
  private func ask<Input, Output>(
    _ method: Method<Input, Output>, at path: ObjectPath, _ input: Input,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    let asked = owner
    system?.call(method, on: Logind.name, at: path, input, autoStart: false) { [weak self] result in
      if self?.owner == asked { completion(result) }
    }
  }

  /// Finds navd's session. A service of the user is in no session, and counts as in the user's
  /// graphical one.
  private func findSession() {
    if let id = getenv("XDG_SESSION_ID").map({ String(cString: $0) }), !id.isEmpty {
      ask(Logind.Manager.getSession, at: Logind.path, id) { [unowned self] result in found(try? result.get()) }
      return
    }
    ask(PropertyAccessing.get, at: Logind.ownUser, (Logind.user.text, "Display")) { [unowned self] result in
      var path: ObjectPath?
      if let value = try? result.get(), case .structure(let fields) = value, fields.count == 2 {
        path = ObjectPath(value: fields[1])
      }
      found(path == .root ? nil : path)
    }
  }

  private func found(_ path: ObjectPath?) {
    guard let system else { return }
    guard let path else { return isAbsent("logind knows no session of this user") }
    session = path
    ofSession = [
      system.subscribe(to: PropertyAccessing.propertiesChanged, from: Logind.name, at: path) {
        [unowned self] arguments, _ in
        if arguments.0 == Logind.Session.name.text { take(arguments.1) }
      },
      system.subscribe(to: Logind.Session.lock, from: Logind.name, at: path) { [unowned self] _, _ in
        facts.set(.locked, true, by: .lockRequest)
        requestLimit?.cancel()
        // The limit is for lockers that report no locking: they would not report the unlocking
        // either.
        requestLimit = loop.timer(after: Self.lockLimit) { [unowned self] in
          facts.set(.locked, false, by: .lockRequest)
        }
      },
      system.subscribe(to: Logind.Session.unlock, from: Logind.name, at: path) { [unowned self] _, _ in
        facts.set(.locked, false, by: .lockRequest)
      },
    ]
    ask(
      PropertyAccessing.get, at: Logind.path, (Logind.Manager.name.text, Logind.Manager.preparingForSleep)
    ) { [unowned self] result in
      if let value = try? result.get(), let isPreparing = Bool(value: value) {
        facts.set(.sleep, isPreparing, by: .logind)
      }
    }
    ask(PropertyAccessing.getAll, at: path, Logind.Session.name.text) { [unowned self] result in
      switch result {
      case .success(let properties):
        take(properties)
        facts.answered(.logind)
      case .failure(let error): isAbsent("logind does not tell of the session \(path) (\(error.message))")
      }
    }
  }

  private func take(_ properties: Properties) {
    if let isLocked = properties["LockedHint"].flatMap(Bool.init(value:)) {
      facts.set(.locked, isLocked, by: .logind)
      facts.set(.locked, false, by: .lockRequest)
    }
    if let isIdle = properties["IdleHint"].flatMap(Bool.init(value:)) { facts.set(.idle, isIdle, by: .logind) }
  }
}
