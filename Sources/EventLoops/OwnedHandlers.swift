// Handlers that belong to an owner. The loop does not retain the owner, and calls none of its handlers after its end. So an owner may
// have its watch or its timer as a property.
extension EventLoop {
  /// Does the same as ``watch(_:_:_:)``, as long as the owner lives.
  @discardableResult
  public func watch<Owner: AnyObject>(
    _ descriptor: Int32, _ interest: Interest, of owner: Owner, _ handler: @escaping (Owner, Readiness) -> Void
  ) throws(SystemError) -> Watch {
    try watch(descriptor, interest) { [weak owner] in if let owner { handler(owner, $0) } }
  }

  /// Does the same as ``timer(after:_:)``, if the owner still lives then.
  @discardableResult
  public func timer<Owner: AnyObject>(
    after delay: Duration, of owner: Owner, _ handler: @escaping (Owner) -> Void
  ) -> Timer {
    timer(after: delay) { [weak owner] in if let owner { handler(owner) } }
  }

  /// Does the same as ``timer(at:_:)``, if the owner still lives then.
  @discardableResult
  public func timer<Owner: AnyObject>(
    at deadline: Instant, of owner: Owner, _ handler: @escaping (Owner) -> Void
  ) -> Timer {
    timer(at: deadline) { [weak owner] in if let owner { handler(owner) } }
  }

  /// Does the same as ``onSignal(_:_:)``, as long as the owner lives.
  @discardableResult
  public func onSignal<Owner: AnyObject>(
    _ signals: [Int32], of owner: Owner, _ handler: @escaping (Owner, Int32) -> Void
  ) throws(SystemError) -> SignalWatch {
    try onSignal(signals) { [weak owner] in if let owner { handler(owner, $0) } }
  }
}
