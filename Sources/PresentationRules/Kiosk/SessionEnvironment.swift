import PresentationModel

// Variables of a session that began after navd (K6).

extension StateMachine {
  /// The variables that clients have given for commands, by their names.
  public var environment: [String: String] { state.environment.mapValues { $0 } }

  /// Sets variables for commands, in place of earlier ones of the same names. Items that wait to be presented again are tried at once,
  /// since they may have failed without the variables.
  /// - Parameter variables: the values, by their names; a variable with an empty value is removed.
  /// - Returns: whether any variable changed.
  /// - Throws: `Refusal`: `invalidArgument`, `limitExceeded`, `shuttingDown`; then nothing has changed.
  public mutating func importEnvironment(
    _ variables: [String: String], at now: Instant
  ) throws(Refusal) -> (changed: Bool, outcome: Outcome) {
    guard !state.isShuttingDown else {
      throw Refusal(.shuttingDown, "navd is quitting; start it again, and repeat the request")
    }
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) { try EnvironmentVariable.check(name, value) }
    let imported = state.environment.mapValues { $0 }.merging(variables) { $1 }.filter { !$0.value.isEmpty }
    try limits.check("entries", imported.count, limits.entries, of: "variables for commands")
    let bytes = imported.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    try limits.check("value", bytes, limits.value, of: "bytes of variables for commands")
    let differing = variables.filter { state.environment[$0.key] ?? "" != $0.value }.keys
    guard !differing.isEmpty else { return (false, Outcome()) }
    for name in differing { state.environment[name] = imported[name] }
    return (true, process(at: now) { $0.retry() })
  }

  /// Forgets the variables, which belonged to another session (R8).
  public mutating func forgetEnvironment() {
    for name in Array(state.environment.keys) { state.environment[name] = nil }
  }
}

extension Transition {
  /// Presents items that wait for their next attempt (K1, K3). Their delays begin anew.
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
    state.lists.mayStart += waiting
    advance()
  }
}
