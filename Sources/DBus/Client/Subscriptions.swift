// Why this file exists: signals that are asked for find who asked for them, and only if they come from whom they should.

import DBusValues

/// Signals that are being received, until ``cancel()``, whether or not anybody holds this object.
public final class Subscription {
  let rule: MatchRule
  fileprivate var handler: ((Message) -> Void)?
  fileprivate var senderWatch: NameWatch?
  /// The owner of a well-known sender.
  fileprivate var owner: BusName?
  private weak var connection: Connection?

  fileprivate init(_ rule: MatchRule, _ connection: Connection, _ handler: @escaping (Message) -> Void) {
    self.rule = rule
    self.connection = connection
    self.handler = handler
  }

  /// The handler is not called any more.
  public func cancel() {
    guard handler != nil else { return }
    handler = nil
    senderWatch?.cancel()
    connection?.stopReceiving(self)
  }

  fileprivate func wants(_ signal: Message, from sender: BusName) -> Bool {
    guard handler != nil, rule.matches(signal) else { return false }
    guard let wanted = rule.sender else { return true }
    return sender == wanted || senderWatch != nil && sender == owner
  }
}

extension Connection {
  /// Receives the signals that match a rule. A call that is made after this is answered after the signals that went
  /// before its answer have arrived, so nothing is missed in between.
  /// - Parameter ready: called once the bus has accepted the rule, or with what it said against it.
  @discardableResult
  public func subscribe(
    _ rule: MatchRule, ready: ((DBusError?) -> Void)? = nil, _ handler: @escaping (Message) -> Void
  ) -> Subscription {
    let subscription = Subscription(rule, self, handler)
    // Anyone may send us any signal directly; a well-known name in the rule means its owner.
    if let sender = rule.sender, !sender.isUnique, sender != Bus.name {
      subscription.senderWatch = watchName(sender) { [weak subscription] in subscription?.owner = $0 }
    }
    subscriptions.append(subscription)
    addMatch(rule) { ready?($0) }
    return subscription
  }

  /// Receives a signal by its contract row. What is not as the row says is left out.
  @discardableResult
  public func subscribe<Args>(
    to signal: Signal<Args>, from sender: BusName? = nil, at path: ObjectPath? = nil, arg0: String? = nil,
    ready: ((DBusError?) -> Void)? = nil, _ handler: @escaping (Args, Message) -> Void
  ) -> Subscription {
    let rule = MatchRule(sender: sender, path: path, interface: signal.interface, member: signal.name, arg0: arg0)
    return subscribe(rule, ready: ready) { message in
      if let arguments = try? signal.arguments(of: message) { handler(arguments, message) }
    }
  }

  fileprivate func stopReceiving(_ subscription: Subscription) {
    subscriptions.removeAll { $0 === subscription }
    removeMatch(subscription.rule)
  }

  func deliver(_ signal: Message) {
    guard let sender = signal.sender else { return }
    if sender == Bus.name { deliverNameSignal(signal) }
    // A copy: handlers subscribe and cancel.
    for subscription in subscriptions where subscription.wants(signal, from: sender) {
      subscription.handler?(signal)
    }
  }

  // MARK: Rules

  func addMatch(_ rule: MatchRule, _ completion: @escaping (DBusError?) -> Void) {
    call(Bus.addMatch, on: Bus.name, at: Bus.path, rule.text) { result in
      switch result {
      case .success: completion(nil)
      case .failure(let error): completion(error)
      }
    }
  }

  /// The bus counts equal rules, so that each takes back its own.
  func removeMatch(_ rule: MatchRule) {
    try? send(Bus.removeMatch, on: Bus.name, at: Bus.path, rule.text)
  }
}
