import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel

/// The facts of the session, as reported by logind, screen savers and the window system (H2). A missing source reports nothing.
final class SessionFacts {
  private enum Source: Hashable {
    case logind
    /// A request to lock, until the locker reports that it has locked.
    case request
    case screenSaver(BusName)
    case windows
  }

  /// Called when a fact has changed, and only after the completion of `whenKnown`.
  var onChange: (SessionFact, Bool) -> Void = { _, _ in }
  /// Called when logind joins the bus, for the first time or again.
  var onLogind: (() -> Void)?
  /// The system bus; nil if there is none.
  private(set) var system: Connection?

  private let session: Connection
  private let log: Logger
  private var truths: [SessionFact: Set<Source>] = [:]
  /// The sources that have not answered yet, with the facts that they may report.
  private var open: [Source: Set<SessionFact>] = [:]
  /// Called when all sources have answered, or the time limit is over; nil before `whenKnown`, and after the call.
  private var completion: (([SessionFact: Bool]) -> Void)?
  private var limit: Timer?
  private var isBegun = false
  /// The number of changes of the owner of a source's name, by which late answers of an earlier owner are known.
  private var changes: [Source: UInt64] = [:]
  private var hasLoggedAbsence = false
  private var watches: [NameWatch] = []
  private var subscriptions: [Subscription] = []
  /// The subscriptions to logind's session, as long as there is one.
  private var ofSession: [Subscription] = [] { didSet { for former in oldValue { former.cancel() } } }
  private var requestLimit: Timer?

  /// The time that sources have before navd serves without them (H5).
  private static let timeLimit = Duration.seconds(1)
  /// The time that a locker has to report that it has locked.
  private static let lockLimit = Duration.seconds(5)

  init(_ session: Connection, log: Logger) {
    self.session = session
    self.log = log
  }

  /// Asks all sources.
  func begin() {
    open[.logind] = [.locked, .idle, .sleep]
    for saver in ScreenSaverInterface.all { open[.screenSaver(saver.bus)] = [.locked] }
    for saver in ScreenSaverInterface.all { follow(saver) }
    followLogind()
  }

  /// - Parameter completion: called once, with the known facts; after a second at most.
  func whenKnown(_ completion: @escaping ([SessionFact: Bool]) -> Void) {
    self.completion = completion
    if open.isEmpty { return complete() }
    limit = session.loop.timer(after: Self.timeLimit) { [unowned self] in complete() }
  }

  /// Adds the window system to the sources. A call after `whenKnown` has no effect.
  func expectWindows() { if !isBegun { open[.windows] = [.fullscreen] } }

  /// Reports that the presence of a window system and its windows are known.
  func windowsAreKnown() { answered(.windows) }

  /// Reports whether the focused window is fullscreen and belongs to no presentation.
  func windows(areFullscreen: Bool) { set(.fullscreen, areFullscreen, by: .windows) }

  private func answered(_ source: Source) {
    guard let facts = open.removeValue(forKey: source) else { return }
    if open.isEmpty { complete() }
    guard isBegun else { return }
    // Until now the recorded facts counted (H5).
    for fact in SessionFact.allCases where facts.contains(fact) && !open.values.contains(where: { $0.contains(fact) }) {
      onChange(fact, truths[fact]?.isEmpty == false)
    }
  }

  private func complete() {
    guard let completion else { return }
    self.completion = nil
    limit?.cancel()
    let unknown = open.values.reduce(into: Set()) { $0.formUnion($1) }
    isBegun = true
    completion(
      SessionFact.allCases.reduce(into: [:]) { facts, fact in
        let isTrue = truths[fact]?.isEmpty == false
        if isTrue || !unknown.contains(fact) { facts[fact] = isTrue }
      })
  }

  private func set(_ fact: SessionFact, _ isTrue: Bool, by source: Source) {
    let before = truths[fact]?.isEmpty == false
    if isTrue { truths[fact, default: []].insert(source) } else { truths[fact]?.remove(source) }
    let after = truths[fact]?.isEmpty == false
    if before != after, isBegun { onChange(fact, after) }
  }

  /// Asks the owner of a source's name.
  /// - Parameter completion: is not called if the owner changes before it has answered.
  private func ask<Input, Output>(
    _ source: Source, by connection: Connection, _ method: Method<Input, Output>, on name: BusName, at path: ObjectPath,
    _ input: Input, _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    let change = changes[source]
    connection.call(method, on: name, at: path, input, autoStart: false) { [weak self] result in
      if self?.changes[source] == change { completion(result) }
    }
  }

  // MARK: Screen savers

  private func follow(_ saver: ScreenSaverInterface) {
    let source = Source.screenSaver(saver.bus)
    for path in saver.paths {
      subscriptions.append(
        session.subscribe(to: saver.activeChanged, from: saver.bus, at: path) { [unowned self] isActive, _ in
          set(.locked, isActive, by: source)
        })
    }
    watches.append(
      session.watchName(saver.bus) { [unowned self] owner in
        changes[source, default: 0] += 1
        set(.locked, false, by: source)
        guard owner != nil else { return answered(source) }
        ask(saver, saver.paths[...])
      })
  }

  private func ask(_ saver: ScreenSaverInterface, _ paths: ArraySlice<ObjectPath>) {
    let source = Source.screenSaver(saver.bus)
    guard let path = paths.first else { return answered(source) }
    ask(source, by: session, saver.getActive, on: saver.bus, at: path, ()) { [unowned self] result in
      guard case .success(let isActive) = result else { return ask(saver, paths.dropFirst()) }
      set(.locked, isActive, by: source)
      answered(source)
    }
  }

  // MARK: logind

  private func followLogind() {
    let address =
      getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/run/dbus/system_bus_socket"
    do throws(DBusError) {
      system = try Connection.open(address: address, loop: session.loop)
    } catch {
      return logindIsAbsent("there is no system bus (\(error.message))")
    }
    system!.onDisconnected = { [unowned self] in
      system = nil
      logindIsAbsent("the system bus has ended")
    }
    subscriptions.append(
      system!.subscribe(to: Logind.Manager.prepareForSleep, from: Logind.name, at: Logind.path) {
        [unowned self] isStarting, _ in set(.sleep, isStarting, by: .logind)
      })
    watches.append(
      system!.watchName(Logind.name) { [unowned self] owner in
        changes[.logind, default: 0] += 1
        guard owner != nil else { return logindIsAbsent("logind is not on the system bus") }
        findSession()
        onLogind?()
      })
  }

  private func logindIsAbsent(_ why: String) {
    ofSession = []
    for fact in [SessionFact.locked, .idle, .sleep] { set(fact, false, by: .logind) }
    set(.locked, false, by: .request)
    if !hasLoggedAbsence {
      hasLoggedAbsence = true
      log.notice("\(why), so it cannot say whether the session is locked, idle or about to sleep")
    }
    answered(.logind)
  }

  private func askLogind<Input, Output>(
    _ method: Method<Input, Output>, at path: ObjectPath, _ input: Input,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    guard let system else { return }
    ask(.logind, by: system, method, on: Logind.name, at: path, input, completion)
  }

  /// Finds navd's session. A service of the user is in none, and belongs to the user's graphical session.
  private func findSession() {
    if let id = getenv("XDG_SESSION_ID").map({ String(cString: $0) }), !id.isEmpty {
      askLogind(Logind.Manager.getSession, at: Logind.path, id) { [unowned self] result in found(try? result.get()) }
      return
    }
    askLogind(PropertyAccessing.get, at: Logind.ownUser, (Logind.user.text, "Display")) { [unowned self] result in
      var path: ObjectPath?
      if let value = try? result.get(), case .structure(let fields) = value, fields.count == 2 {
        path = ObjectPath(value: fields[1])
      }
      found(path == .root ? nil : path)
    }
  }

  private func found(_ path: ObjectPath?) {
    guard let system else { return }
    guard let path else { return logindIsAbsent("logind knows no session of this user") }
    ofSession = [
      system.subscribe(to: PropertyAccessing.propertiesChanged, from: Logind.name, at: path) {
        [unowned self] arguments, _ in
        if arguments.0 == Logind.Session.name.text { take(arguments.1) }
      },
      system.subscribe(to: Logind.Session.lock, from: Logind.name, at: path) { [unowned self] _, _ in
        set(.locked, true, by: .request)
        requestLimit?.cancel()
        // A locker that does not report that it has locked would not report that it has unlocked.
        requestLimit = session.loop.timer(after: Self.lockLimit) { [unowned self] in set(.locked, false, by: .request) }
      },
      system.subscribe(to: Logind.Session.unlock, from: Logind.name, at: path) { [unowned self] _, _ in
        set(.locked, false, by: .request)
      },
    ]
    askLogind(
      PropertyAccessing.get, at: Logind.path, (Logind.Manager.name.text, Logind.Manager.preparingForSleep)
    ) { [unowned self] result in
      if let value = try? result.get(), let isPreparing = Bool(value: value) {
        set(.sleep, isPreparing, by: .logind)
      }
    }
    askLogind(PropertyAccessing.getAll, at: path, Logind.Session.name.text) { [unowned self] result in
      switch result {
      case .success(let properties):
        take(properties)
        answered(.logind)
      case .failure(let error): logindIsAbsent("logind does not tell of the session \(path) (\(error.message))")
      }
    }
  }

  private func take(_ properties: Properties) {
    if let isLocked = properties["LockedHint"].flatMap(Bool.init(value:)) {
      set(.locked, isLocked, by: .logind)
      set(.locked, false, by: .request)
    }
    if let isIdle = properties["IdleHint"].flatMap(Bool.init(value:)) { set(.idle, isIdle, by: .logind) }
  }
}
