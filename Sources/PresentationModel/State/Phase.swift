/// The phase of a presentation (docs/semantics.md, *The idea*).
public enum Phase: String, Hashable, Sendable, CaseIterable {
  /// The presentation waits for another one to end or to be presented (P13).
  case waiting
  /// The presenter was asked to show the item, and has not answered.
  case presenting
  /// The item is on the screen.
  case presented
  /// The presentation is being dismissed, and may still be on the screen.
  case dismissing
}

/// A phase for which a client can wait (D6).
public enum WaitPhase: String, Hashable, Sendable, CaseIterable {
  case presented, gone
  /// The end of a dismissal: the presentation is gone, or its presenter keeps it (P15).
  case settled

  /// The words, for documentation.
  package static let words = "presented, gone or settled"
}

/// The reason for which a presentation ended (docs/semantics.md, *The idea*).
public enum Reason: String, Hashable, Sendable, CaseIterable {
  /// A client asked for the dismissal.
  case dismissed
  /// The user closed the presentation, or it ended by itself.
  case closed
  /// The binding holds another id.
  case replaced
  /// Another member of the group was selected, or none.
  case deselected
  /// The item was removed from its stack, alone or with an element below it.
  case popped
  /// The parent ended.
  case parent
  /// The timeout expired.
  case expired
  /// The client that owned the item left the bus.
  case owner
  /// The item was not shown, or its presenter crashed.
  case failed
  /// The presentation ended while no coordinator was running.
  case lost
  /// The coordinator was asked to quit.
  case shutdown
  /// The presentation waited for the end of another one, whose presenter declined (P15).
  case declined
  /// The window has lost the focus (N9).
  case unfocused
  /// A hold has begun (H5).
  case held
  /// The output of the window was unplugged (U3).
  case outputGone = "output-gone"
}
