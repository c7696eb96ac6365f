import DBusValues

/// Tells the rules what has become of a presentation, its windows or the focus.
public enum Report: Hashable, Sendable {
  /// The answer to the command `present`; with an error if the item could not be shown (D7).
  case presentAnswered(Handle, error: String?)
  /// The program says that it is on the screen, before the answer to the command `present` or after it (D19).
  case ready(Handle)
  /// The answer to the command `update`.
  case updateAnswered(Handle)
  /// The answer to the commands `dismiss` and `kill`; an error also counts as the end (P4).
  case dismissAnswered(Handle, result: Properties)
  /// The other answer to the command `dismiss`: the presenter keeps the presentation (P15).
  case declined(Handle, message: String)
  /// Another window has the focus: one of a presentation, or of none. `isOwn`: the coordinator has moved the focus.
  case focused(Handle?, isOwn: Bool)
  /// The window with the focus has lost it. If another window does not get it in a moment, `noFocus` follows.
  case focusLost
  /// No window has had the focus for a quarter of a second. `isOwn`: the coordinator has caused it.
  case noFocus(isOwn: Bool)
  /// The other answer to the command `dismiss`: the windows are hidden, and the program goes on (N8).
  case hidden(Handle)
  /// The same for a window that its user had before, whatever the destination says of dismissals (N12).
  case guestHidden(Handle)
  /// The output of the windows was unplugged (U3).
  case outputGone(Handle)
  /// The start timeout is over, and the program runs without a window. It goes on (N2).
  case startsSlowly(Handle)
  /// The windows are gone (N3, N5). `isFinal`: only `ended` follows, with the result; otherwise another window may open.
  case windowsGone(Handle, isFinal: Bool)
  /// The presentation has a window again, after `windowsGone`.
  case windowsBack(Handle)
  /// The windows of a parked program are shown by its user, or are to be, since it was asked to end and may ask its user (N8).
  case parkedShown(Handle)
  /// A parked program has ended (N8).
  case parkedEnded(Handle)
  /// A parked program that was to end goes on: its user has cancelled that, or it does not end (N8).
  case parkedStays(Handle, message: String)
  /// The presenter asks its user before it answers the command `dismiss` (P16).
  case asking(Handle, message: String)
  /// The presenter on the bus has left the bus (D4).
  case presenterLeft(Handle)
  /// The bus name of the presenter that has left has an owner again (D4).
  case presenterReturned(Handle)
  /// The program of a presented item does not work any more, though it runs (D21).
  case hung(Handle, error: String)
  /// The presentation ended, whether or not it was dismissed.
  case ended(Handle, failed: Bool, result: Properties)
}
