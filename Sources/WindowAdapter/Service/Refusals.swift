import PresentationModel

// The refusals of several backends.
extension Refusal {
  /// The refusal to do anything with a window that is gone.
  static let isGone = Refusal(.unknownWindow, "the window has closed")

  /// The refusal to close a window that could only be killed.
  static let cannotBeAsked = Refusal(
    .notSupported,
    "closing a window needs WM_DELETE_WINDOW among its protocols, which this window does not have: it cannot be asked, "
      + "only killed")
}
