import DBusValues
import Navigation

/// A screen that shows nothing, and records its appearance and disappearance in a ``Display``, whose switches make it slow or faulty.
@MainActor
public final class RecordingScreen: Screen {
  /// The error of a screen that is in ``Display/refused``.
  public struct Refusal: Error, CustomStringConvertible {
    /// The text of the error.
    public let description = "there is no room"
  }

  /// Its name in the log.
  public let name: String
  private let display: Display
  /// Called after it has appeared.
  private let onAppear: (@MainActor (Showing) -> Void)?
  /// The presentation that it shows; nil until it appears.
  public private(set) var showing: Showing?

  /// - Parameters:
  ///   - name: its name in the log.
  ///   - display: the display.
  ///   - onAppear: called after it has appeared.
  public init(_ name: String, on display: Display, onAppear: (@MainActor (Showing) -> Void)? = nil) {
    self.name = name
    self.display = display
    self.onAppear = onAppear
  }

  public func appear(_ showing: Showing) async throws {
    if display.refused.contains(name) { throw Refusal() }
    self.showing = showing
    try await display.wait(for: name)
    display.screens.append(self)
    display.log.append("+\(name)")
    onAppear?(showing)
  }

  public func disappear(_ showing: Showing, animated: Bool) async throws(Declined) -> Properties {
    display.disappearing.append(name)
    while display.stuck.contains(name) { await display.change() }
    if display.asking.contains(name), !showing.isForced {
      try? await showing.ask("Save \(name)?")
      await display.answer(for: name)
    }
    if display.declining.contains(name), !showing.isForced || display.stubborn.contains(name) {
      throw Declined("\(name) is not saved")
    }
    display.take(self, animated ? "-" : "-!")
    return ["name": .string(name)]
  }

  /// Closes it like its user.
  public func close() async throws {
    display.take(self, "x")
    try await showing?.close()
  }
}
