import DBusValues

/// Receives the signals that match a rule until ``cancel()``, even if this object is not kept.
public final class Subscription {
  let rule: MatchRule
  fileprivate var handler: ((Message) -> Void)?
  fileprivate var senderWatch: NameWatch?
  /// The current owner of the rule's sender, if the sender is a well-known name.
  fileprivate var owner: BusName?
  private weak var connection: Connection?

  fileprivate init(_ rule: MatchRule, _ connection: Connection, _ handler: @escaping (Message) -> Void) {
    self.rule = rule
    self.connection = connection
    self.handler = handler
  }

  /// Ends the subscription; the handler is not called again.
  public func cancel() {
    guard handler != nil else { return }
    handler = nil
    senderWatch?.cancel()
    connection?.removeSubscription(self)
  }

  fileprivate func accepts(_ signal: Message, from sender: BusName) -> Bool {
    guard handler != nil, rule.matches(signal) else { return false }
    guard let wanted = rule.sender else { return true }
    return sender == wanted || senderWatch != nil && sender == owner
  }
}

/// The subscriptions and the watched names of a connection. Each has a match rule on the bus.
struct MatchRules {
  var subscriptions: [Subscription] = []
  var watchedNames: [BusName: WatchedName] = [:]
}

extension Connection {
  /// Receives the signals that match a rule. D-Bus keeps messages in order: signals that were sent before the reply to a later call
  /// arrive before that reply.
  /// - Parameter ready: called when the bus has accepted the rule, or with its error.
  @discardableResult
  public func subscribe(
    _ rule: MatchRule, ready: ((DBusError?) -> Void)? = nil, _ handler: @escaping (Message) -> Void
  ) -> Subscription {
    let subscription = Subscription(rule, self, handler)
    // The rule does not keep others from sending us such signals directly, so the sender is checked here.
    if let sender = rule.sender, !sender.isUnique, sender != Bus.name {
      subscription.senderWatch = watchName(sender) { [weak subscription] in subscription?.owner = $0 }
    }
    rules.subscriptions.append(subscription)
    addMatch(rule, ready)
    return subscription
  }

  /// Receives a signal of a contract. Signals with other arguments are ignored.
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

  fileprivate func removeSubscription(_ subscription: Subscription) {
    rules.subscriptions.removeAll { $0 === subscription }
    removeMatch(subscription.rule)
  }

  func deliver(_ signal: Message) {
    guard let sender = signal.sender else { return }
    if sender == Bus.name { deliverNameSignal(signal) }
    // Iterates over a copy, since handlers may subscribe and cancel.
    for subscription in rules.subscriptions where subscription.accepts(signal, from: sender) {
      subscription.handler?(signal)
    }
  }

  /// Whether a signal is delivered to anybody.
  func isSubscribed(to signal: Message, from sender: BusName) -> Bool {
    rules.subscriptions.contains { $0.accepts(signal, from: sender) }
  }

  // MARK: Rules

  /// - Parameter completion: called with the error, if any; nil if the bus need not reply.
  func addMatch(_ rule: MatchRule, _ completion: ((DBusError?) -> Void)?) {
    guard let completion else {
      try? send(Bus.addMatch, on: Bus.name, at: Bus.path, rule.text)
      return
    }
    // Without a timeout, since a late answer is no refusal.
    call(Bus.addMatch, on: Bus.name, at: Bus.path, rule.text, timeout: nil) { result in
      if case .failure(let error) = result { completion(error) } else { completion(nil) }
    }
  }

  /// Removes one of the rules that are equal to `rule`; the bus counts them.
  func removeMatch(_ rule: MatchRule) {
    try? send(Bus.removeMatch, on: Bus.name, at: Bus.path, rule.text)
  }
}
