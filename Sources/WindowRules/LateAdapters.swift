import DBusValues
import PresentationModel

// MARK: Adapters that come after the programs of a session (N13)

extension WindowTracker {
  /// Milliseconds from the start of a program, within which an expected adapter decides whether the program has handed over.
  static let timeForAdapter: UInt64 = 5000

  /// Lets the end of a program that was started without an adapter wait for the one that is expected.
  mutating func awaitAdapter(for handle: Handle) {
    guard isExpected, !followed[handle]!.isOnOtherDisplay else { return }
    followed[handle]!.awaitsAdapter = true
    effects.append(.wait(handle, milliseconds: Self.timeForAdapter))
  }

  /// Handles the end of a program whose windows are not seen: its presentation ends with it, unless a window of it may be seen soon.
  mutating func programEndedUnseen(_ handle: Handle, failed: Bool, result: Properties) {
    guard followed[handle]!.awaitsAdapter, !failed, !result.hasExitedInError else {
      return reportEnd(of: handle, failed: failed, result: result)
    }
    guard capabilities != nil else { return }
    assignAll()
    if case .unseen? = followed[handle]?.stage { awaitHandedOver(handle) }
  }

  /// Judges the programs that have ended while an adapter was expected.
  mutating func adapterCame() {
    for (handle, following) in followed.sorted {
      if case .unseen = following.stage, following.awaitsAdapter, !following.isRunning { awaitHandedOver(handle) }
    }
  }

  /// Ends the wait for an adapter, or for the window that it is to tell.
  mutating func adapterIsLate(for handle: Handle) {
    guard let following = followed[handle] else { return }
    if !following.isRunning, !following.hasSoughtGuest, capabilities != nil {
      if seekGuest(for: handle) { return }
      return effects.append(.wait(handle, milliseconds: Self.timeForAdapter - Self.timeToOpen))
    }
    followed[handle]!.awaitsAdapter = false
    if !following.isRunning { reportEnd(of: handle, failed: following.hasFailed, result: following.result) }
  }
}
