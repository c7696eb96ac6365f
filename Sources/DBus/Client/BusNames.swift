import CDBus
import DBusValues
import EventLoops

/// Watches the owner of a name until ``cancel()``, even if this object is not kept.
public final class NameWatch {
  public let name: BusName
  fileprivate var handler: ((BusName?) -> Void)?
  /// The number of this watch among the watches of the name.
  fileprivate var number = 0
  private weak var connection: Connection?

  fileprivate init(_ name: BusName, _ connection: Connection, _ handler: @escaping (BusName?) -> Void) {
    self.name = name
    self.connection = connection
    self.handler = handler
  }

  /// Ends the watch; the handler is not called again.
  public func cancel() {
    guard handler != nil else { return }
    handler = nil
    connection?.removeWatch(self)
  }
}

/// A name with its watches, which share one match rule.
final class WatchedName {
  enum Owner: Equatable {
    case unknown
    case known(BusName?)
  }

  /// The watches by number: one name may have thousands, and each must be quick to remove.
  private var watches: [Int: NameWatch] = [:]
  private var lastNumber = 0
  fileprivate(set) var owner = Owner.unknown
  fileprivate let rule: MatchRule

  fileprivate init(_ name: BusName) {
    rule = MatchRule(
      sender: Bus.name, path: Bus.path, interface: Bus.nameOwnerChanged.interface, member: Bus.nameOwnerChanged.name,
      arg0: name.text)
  }

  fileprivate var isEmpty: Bool { watches.isEmpty }

  fileprivate func add(_ watch: NameWatch) {
    lastNumber += 1
    watch.number = lastNumber
    watches[lastNumber] = watch
  }

  fileprivate func remove(_ watch: NameWatch) { watches[watch.number] = nil }

  /// Calls the handlers in the order in which they were added.
  fileprivate func notify(_ owner: BusName?) {
    for (_, watch) in watches.sorted(by: { $0.key < $1.key }) { watch.handler?(owner) }
  }
}

extension Connection {
  // MARK: Owning a name

  /// Requests a well-known name, without queueing for it. Export objects first: calls may arrive at once.
  /// - Parameter completion: fails with `AddressInUse` if another program owns the name, otherwise with the bus's error.
  public func requestName(_ name: BusName, _ completion: @escaping (Result<Void, DBusError>) -> Void) {
    requestName(name, hasAskedOwner: false, completion)
  }

  private func requestName(
    _ name: BusName, hasAskedOwner: Bool, _ completion: @escaping (Result<Void, DBusError>) -> Void
  ) {
    call(Bus.requestName, on: Bus.name, at: Bus.path, (name.text, UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE))) {
      [weak self] result in
      switch result {
      case .success(UInt32(DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)),
        .success(UInt32(DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER)):
        completion(.success(()))
      case .success where !hasAskedOwner:
        // A dbus-daemon that has stopped reading from a client notices the client's end only when it writes to it.
        self?.call(Peer.ping, on: name, at: .root, (), timeout: .seconds(1), autoStart: false) { _ in
          self?.requestName(name, hasAskedOwner: true, completion)
        }
      case .success:
        completion(.failure(DBusError(name: .addressInUse, message: "the name \(name) belongs to another program")))
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  /// Waits for the end of a name's owner, if that does not answer: the bus knows a program that was
  /// killed until it has noticed its end. Runs the loop meanwhile.
  /// - Returns: whether the name is free; false at once if its owner answers.
  public func waitUntilFree(_ name: BusName, within limit: Duration) -> Bool {
    var isFree: Bool?
    func finish(_ result: Bool) {
      if isFree == nil { isFree = result }
      loop.stop()
    }
    let watch = watchName(name) { if $0 == nil { finish(true) } }
    let timer = loop.timer(after: limit) { finish(false) }
    defer {
      watch.cancel()
      timer.cancel()
    }
    call(Peer.ping, on: name, at: .root, (), timeout: limit, autoStart: false) {
      if case .success = $0 { finish(false) }
    }
    while isFree == nil { loop.run() }
    return isFree!
  }

  /// Releases a name, after the messages of this turn.
  public func releaseName(_ name: BusName) {
    call(Bus.releaseName, on: Bus.name, at: Bus.path, name.text) { _ in }
  }

  // MARK: Watching names

  /// Watches a name. The handler is called with the owner as soon as it is known and at each change; nil means no owner. A unique name
  /// without an owner never gets one again. If the bus refuses to report on a name, it counts as having no owner, so that nothing
  /// relies on it.
  public func watchName(_ name: BusName, _ handler: @escaping (BusName?) -> Void) -> NameWatch {
    let watch = NameWatch(name, self, handler)
    if let watched = rules.watchedNames[name] {
      watched.add(watch)
      if watched.owner != .unknown {
        loop.soon { if case .known(let owner) = watched.owner { watch.handler?(owner) } }
      }
      return watch
    }
    let watched = WatchedName(name)
    watched.add(watch)
    rules.watchedNames[name] = watched
    // The rule comes first, so that no change before or after the answer is missed.
    addMatch(watched.rule) { [weak self] error in
      if error != nil { self?.ownerChanged(to: nil, of: watched) }
    }
    // Without a timeout: if the answer is late, since the bus or this program was stopped for a while, the name may still have an
    // owner.
    call(Bus.getNameOwner, on: Bus.name, at: Bus.path, name.text, timeout: nil) { [weak self] result in
      guard watched.owner == .unknown else { return }
      self?.ownerChanged(to: (try? result.get()).flatMap { BusName($0) }, of: watched)
    }
    return watch
  }

  fileprivate func removeWatch(_ watch: NameWatch) {
    guard let watched = rules.watchedNames[watch.name] else { return }
    watched.remove(watch)
    guard watched.isEmpty else { return }
    rules.watchedNames[watch.name] = nil
    removeMatch(watched.rule)
  }

  private func ownerChanged(to owner: BusName?, of watched: WatchedName) {
    guard watched.owner != .known(owner) else { return }
    watched.owner = .known(owner)
    watched.notify(owner)
  }

  /// - Parameter signal: a signal that the bus itself has sent.
  func deliverNameSignal(_ signal: Message) {
    if Bus.nameOwnerChanged.matches(signal), let (name, _, new) = try? Bus.nameOwnerChanged.arguments(of: signal) {
      guard let name = BusName(name), let watched = rules.watchedNames[name] else { return }
      ownerChanged(to: BusName(new), of: watched)
    } else if Bus.nameLost.matches(signal), let name = try? Bus.nameLost.arguments(of: signal), let name = BusName(name)
    {
      handlers.onNameLost?(name)
    }
  }
}
