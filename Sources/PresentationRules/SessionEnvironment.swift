import PresentationModel

// The variables of a session that has begun after navd (K6).

extension StateMachine {
  /// The variables that clients have given for commands, by their names.
  public var environment: [String: String] { state.environment.mapValues { $0 } }

  /// Takes in variables for commands, in place of earlier ones of the same names. What waits to be presented again is tried at once,
  /// since it may have failed for want of them.
  /// - Parameter variables: by their names; one with an empty value is removed.
  /// - Returns: whether any is different now.
  /// - Throws: `Refusal`: `invalidArgument`, `limitExceeded`, `shuttingDown`; nothing has changed then.
  public mutating func importEnvironment(
    _ variables: [String: String], at now: Instant
  ) throws(Refusal) -> (changed: Bool, outcome: Outcome) {
    guard !state.isShuttingDown else {
      throw Refusal(.shuttingDown, "navd is quitting; start it again, and repeat the request")
    }
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) { try EnvironmentVariable.check(name, value) }
    let imported = state.environment.mapValues { $0 }.merging(variables) { $1 }.filter { !$0.value.isEmpty }
    try limits.check("variables", imported.count, limits.variables, of: "variables for commands")
    let bytes = imported.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    try limits.check("environment", bytes, limits.environment, of: "bytes of variables for commands")
    let differing = variables.filter { state.environment[$0.key] ?? "" != $0.value }.keys
    guard !differing.isEmpty else { return (false, Outcome()) }
    for name in differing { state.environment[name] = imported[name] }
    return (true, process(at: now) { $0.retry() })
  }

  /// Forgets the variables, which were those of another session (R8).
  public mutating func forgetEnvironment() {
    for name in Array(state.environment.keys) { state.environment[name] = nil }
  }
}

extension Turn {
  /// Presents what waits for its next attempt (K1, K3), whose delays begin anew.
  fileprivate mutating func retry() {
    let waiting = state.presentations.values.filter { $0.phase == .waiting && $0.continuation?.due != nil }
      .map { $0.handle }.sorted()
    for handle in waiting {
      state.presentations[handle]!.continuation!.due = nil
      state.presentations[handle]!.continuation!.restarts = 0
    }
    for index in state.fallbacks.indices {
      (state.fallbacks[index].due, state.fallbacks[index].refusals) = (nil, 0)
    }
    machine.lists.mayStart += waiting
    advance()
  }
}
