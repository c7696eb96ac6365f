import DBus
import DBusValues
import PresentationModel

// Holds (H1).
extension CoordinatorInterface {
  public static let hold = Method(
    name, "Hold", in: Arg<String>("name", doc: "The name of the hold, such as dnd."), Arg<Properties>("options"),
    out: Arg<UInt64>("cookie", doc: "The number of this holder, never used twice; 0 if the hold was ended."),
    doc: """
      Begins to hold: while somebody holds it, items wait, end or are refused, as their destinations say. A client in a \
      sandbox may not hold (AccessDenied).

      Options:
      \(Options.ofHold.doc)
      """)

  public static let releaseHold = Method(
    name, "ReleaseHold",
    in: Arg<String>("name", doc: "The name of the hold."),
    Arg<UInt64>("cookie", doc: "The number of one holder, as Hold has returned it to any client; 0: all of them."),
    out: Arg<UInt32>("released", doc: "How many holders have ended; 0 if no client holds by the name, or the number."),
    doc: """
      Ends what clients hold, whoever they are. Facts of the session, and what presentations hold, end only by themselves.
      """)

  public static let holds = Method(
    name, "Holds", out: Arg<[Properties]>("holders", doc: "By name, and in the order in which they began."),
    isReading: true,
    doc: """
      Lists who holds what, and the facts of the session that are true: locked, idle, fullscreen and sleep.

      A holder; a key without a value is absent:
      \(HoldEntry.table.doc)
      """)

  public static let holdChanged = Signal(
    name, "HoldChanged", Arg<String>("name"), Arg<Bool>("in_force", doc: "Whether somebody still holds it."),
    Arg<UInt64>("serial"),
    doc:
      "One more client or fact holds, or one less. While in force, the entries of waiting presentations have held-by.")
}
