import PresentationModel

// Holds that are kept beyond the session, and are in force again after the next login (K4).

/// A hold that is in force again after the next login.
public struct LoginHold: Hashable, Sendable {
  public var message: String
  /// The time of its end, in milliseconds since 1970; nil for never.
  public var until: UInt64?

  public init(message: String = "", until: UInt64? = nil) { (self.message, self.until) = (message, until) }
}

extension StateMachine {
  /// The holds on record.
  public var loginHolds: [String: LoginHold] { state.loginHoldsOnRecord }

  /// Puts the holds of an earlier session in force again, with the rest of their time.
  public mutating func restore(_ holds: [String: LoginHold], at now: Instant) -> Outcome {
    state.comparesLoginHolds = true
    return process(at: now) { transition in
      for (name, hold) in holds.sorted(by: { $0.key < $1.key }) { transition.restore(hold, named: name) }
    }
  }

  /// The differences of the kept holds from the record. Of several holders of a name, the last one to end counts.
  mutating func takeUnrecordedLoginHolds() -> RecordChanges.Rows<String, LoginHold> {
    var kept: [String: LoginHold] = [:]
    for (key, holder) in state.holders.filter({ $0.value.restoresAtLogin }) {
      let until = holder.expires.flatMap { end in
        state.wallClockLead.map { end.moved(by: $0).nanoseconds / 1_000_000 }
      }
      let other = kept[key.name]
      if other == nil || until == nil || other?.until.map({ $0 < until! }) == true {
        kept[key.name] = LoginHold(message: holder.message, until: until)
      }
    }
    let names = Set(kept.keys).union(state.loginHoldsOnRecord.keys).sorted()
    defer { state.loginHoldsOnRecord = kept }
    return names.filter { kept[$0] != state.loginHoldsOnRecord[$0] }.map { ($0, kept[$0]) }
  }
}
