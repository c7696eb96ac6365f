import DBusValues
import PresentationModel

// MARK: Slow starts (N2)

extension WindowTracker {
  /// Sets the time after which a presentation without a window is late, unless the rules end it then.
  mutating func expectWindow(of handle: Handle) {
    guard let following = followed[handle], following.isAwaiting, !following.settings.isStartLimited else { return }
    effects.append(.wait(handle, milliseconds: following.settings.startTimeout))
  }

  /// Notes that the time for the first window is over. A program that lives goes on, since its window may still come.
  mutating func windowIsLate(_ handle: Handle) {
    guard let following = followed[handle] else { return }
    if following.hasHandedOver, !following.hasSoughtGuest {
      if seekGuest(for: handle) { return }
      followed[handle]!.hasSoughtGuest = true
      // The window of a slow program, or of one that the bus is still starting, may follow.
      let time = following.isLate ? Self.timeBetweenWindows : following.settings.startTimeout
      if following.isLate || !following.settings.isStartLimited { effects.append(.wait(handle, milliseconds: time)) }
      return
    }
    guard !following.isRunning, !hasUntold else {
      followed[handle]!.isLate = true
      return report(.startsSlowly(presentation(of: handle)))
    }
    var result = following.result
    result[PresentationResult.keys.error] =
      following.isLate
      ? "its program ended before it had a window"
      : "no window of it opened within \(following.settings.startTimeout) ms (start-timeout)"
    reportEnd(of: handle, failed: true, result: result)
  }

  /// The reason why a presentation is not on the screen although its start timeout is over; nil if it is not late (N2).
  public func lateness(of handle: Handle) -> String? {
    guard let following = followed[program(of: handle)], following.isLate, following.isAwaiting else { return nil }
    let doing = following.isRunning ? "its program runs" : "its program has ended"
    return "no window within \(following.settings.startTimeout) ms; \(doing)"
  }
}
