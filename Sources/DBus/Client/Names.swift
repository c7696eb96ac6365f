// Why this file exists: a name on the bus is taken, lost, and followed from owner to owner.

import CDBus
import DBusValues
import EventLoops

/// A name that is being followed, until ``cancel()``, whether or not anybody holds this object.
public final class NameWatch {
  public let name: BusName
  fileprivate var handler: ((BusName?) -> Void)?
  /// Its place among those that follow the name.
  fileprivate var number = 0
  private weak var connection: Connection?

  fileprivate init(_ name: BusName, _ connection: Connection, _ handler: @escaping (BusName?) -> Void) {
    self.name = name
    self.connection = connection
    self.handler = handler
  }

  /// The handler is not called any more.
  public func cancel() {
    guard handler != nil else { return }
    handler = nil
    connection?.stopFollowing(self)
  }
}

/// All that follow one name share a match rule.
final class FollowedName {
  enum Owner: Equatable {
    case unknown
    case known(BusName?)
  }

  /// By their numbers: thousands may follow one name, and each of them may stop.
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

  /// Tells all who follow it, the first first.
  fileprivate func tell(_ owner: BusName?) {
    for (_, watch) in watches.sorted(by: { $0.key < $1.key }) { watch.handler?(owner) }
  }
}

extension Connection {
  // MARK: Ours

  /// Asks for a well-known name, without waiting in its queue. Be ready to serve before: calls may come at once.
  /// - Parameter completion: succeeds if the name is ours now; `AddressInUse` if it is another's, else what the bus said.
  public func requestName(_ name: BusName, _ completion: @escaping (Result<Void, DBusError>) -> Void) {
    call(Bus.requestName, on: Bus.name, at: Bus.path, (name.text, UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE))) { result in
      switch result {
      case .success(UInt32(DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)),
        .success(UInt32(DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER)):
        completion(.success(()))
      case .success:
        completion(.failure(DBusError(name: .addressInUse, message: "the name \(name) belongs to another program")))
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  /// Gives a name back, after what the turn has made has gone out.
  public func releaseName(_ name: BusName) {
    call(Bus.releaseName, on: Bus.name, at: Bus.path, name.text) { _ in }
  }

  // MARK: Others'

  /// Follows a name. The handler is called with its owner (a well-known name may have none, a unique name that has left
  /// has none for ever) as soon as that is known, and at each change. A name that the bus does not let us follow counts
  /// as one without an owner, so that nobody relies on it.
  public func watchName(_ name: BusName, _ handler: @escaping (BusName?) -> Void) -> NameWatch {
    let watch = NameWatch(name, self, handler)
    if let followed = followedNames[name] {
      followed.add(watch)
      if followed.owner != .unknown {
        loop.soon { if case .known(let owner) = followed.owner { watch.handler?(owner) } }
      }
      return watch
    }
    let followed = FollowedName(name)
    followed.add(watch)
    followedNames[name] = followed
    // The rule first: who leaves between the two is told by the one or the other.
    addMatch(followed.rule) { [weak self] error in
      if error != nil { self?.learned(nil, of: followed) }
    }
    call(Bus.getNameOwner, on: Bus.name, at: Bus.path, name.text) { [weak self] result in
      guard followed.owner == .unknown else { return }
      self?.learned((try? result.get()).flatMap { BusName($0) }, of: followed)
    }
    return watch
  }

  fileprivate func stopFollowing(_ watch: NameWatch) {
    guard let followed = followedNames[watch.name] else { return }
    followed.remove(watch)
    guard followed.isEmpty else { return }
    followedNames[watch.name] = nil
    removeMatch(followed.rule)
  }

  private func learned(_ owner: BusName?, of followed: FollowedName) {
    guard followed.owner != .known(owner) else { return }
    followed.owner = .known(owner)
    followed.tell(owner)
  }

  /// - Parameter signal: from the bus itself.
  func deliverNameSignal(_ signal: Message) {
    if let (name, _, new) = try? Bus.nameOwnerChanged.arguments(of: signal) {
      guard let name = BusName(name), let followed = followedNames[name] else { return }
      learned(BusName(new), of: followed)
    } else if let name = try? Bus.nameLost.arguments(of: signal), let name = BusName(name) {
      onNameLost?(name)
    }
  }
}
