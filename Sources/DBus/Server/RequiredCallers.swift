import DBusValues

/// The names whose owners alone may call an interface, each with the clients whose calls wait until it has an owner.
///
/// A program may call before it owns its name, while it starts. So nobody is refused until somebody owns the name.
struct RequiredCallers {
  /// With a watch each, by which the calls of a client that leaves are dropped.
  fileprivate var waiting: [BusName: [BusName: NameWatch]] = [:]
}

extension Connection {
  /// Finds out who owns a name, before an interface is exported that only its owner may call.
  func require(_ name: BusName) {
    guard requiredCallers.waiting[name] == nil else { return }
    requiredCallers.waiting[name] = [:]
    _ = watchName(name) { [weak self] owner in
      guard let self, owner != nil, let clients = requiredCallers.waiting.updateValue([:], forKey: name) else { return }
      for (client, watch) in clients {
        watch.cancel()
        resume(client)
      }
    }
  }

  /// Suspends a client until a name has an owner.
  func suspend(_ client: BusName, untilOwned name: BusName) {
    guard owner(of: name) == nil, requiredCallers.waiting[name]?[client] == nil else { return }
    suspend(client)
    requiredCallers.waiting[name]?[client] = watchName(client) { [weak self] owner in
      guard let self, owner == nil, let watch = requiredCallers.waiting[name]?.removeValue(forKey: client) else {
        return
      }
      watch.cancel()
      rounds.drop(client)
    }
  }

  /// The error for a client that does not own the name; nil for its owner.
  func refusal(of client: BusName, unlessOwning name: BusName) -> DBusError? {
    guard owner(of: name) != client else { return nil }
    return DBusError(
      name: .accessDenied, message: "expected a call by the owner of the name \(name), found one by \(client)")
  }

  /// The owner of a watched name; nil if there is none, or it is not known yet.
  private func owner(of name: BusName) -> BusName? {
    if case .known(let owner)? = rules.watchedNames[name]?.owner { owner } else { nil }
  }
}
