/// The phase of a presentation (docs/semantics.md, *Words*).
public enum Phase: String, Hashable, Sendable, CaseIterable {
  /// Waits for another presentation to end or to be presented (P13).
  case waiting
  /// Its presenter was asked to show it and has not answered.
  case presenting
  /// It is on screen.
  case presented
  /// It is being dismissed and may still be on screen.
  case dismissing
}

/// The phase that a client can wait for.
public enum WaitPhase: String, Hashable, Sendable, CaseIterable {
  case presented, gone
}

/// Why a presentation ended (docs/semantics.md, *Words*).
public enum Reason: String, Hashable, Sendable, CaseIterable {
  /// A client asked for it.
  case dismissed
  /// Its user closed it, or it ended by itself.
  case closed
  /// Its binding holds another id.
  case replaced
  /// Another member of its group was selected, or none.
  case deselected
  /// It was removed from its stack, alone or with an element below it.
  case popped
  /// Its parent ended.
  case parent
  /// Its timeout expired.
  case expired
  /// The client that owned it left the bus.
  case owner
  /// It was not shown, or its presenter crashed.
  case failed
  /// It ended while no coordinator was running.
  case lost
  /// The coordinator was asked to quit.
  case shutdown
  /// It waited for the end of a presentation whose presenter declined to end it (P15).
  case declined
  /// Its window has lost the focus (N9).
  case unfocused
  /// A hold has begun (H5).
  case held
  /// The output of its window was unplugged (U3).
  case outputGone = "output-gone"
}
