import DBusValues
import Navigation

/// A screen that shows nothing, and records its appearance and disappearance in a ``Display``, whose switches make it slow or faulty.
///
///     navigator.present(isPresented: $model.isOpen) { RecordingScreen("main", on: display) }
///     model.isOpen = true
///     try await until { display.names == ["main"] }
@MainActor
public final class RecordingScreen: DecliningScreen {
  /// The error of a screen in ``Display/refused``.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { RecordingScreen("main", on: display) }.onDismiss { end in
  ///       if let refusal = end.error as? RecordingScreen.Refusal { print(refusal.description) }
  ///     }
  public struct Refusal: Error, CustomStringConvertible {
    /// The text of the error.
    public let description = "there is no room"
  }

  /// The screen's name in the log.
  ///
  ///     let last = display.screens.last?.name
  public let name: String
  private let display: Display
  /// Called after the screen has appeared.
  private let onAppear: (@MainActor (Showing) -> Void)?
  /// The presentation; nil until the screen appears.
  ///
  ///     try await display["main"]?.showing?.dismiss()
  public private(set) var showing: Showing?
  /// Whether the screen was asked to disappear, and has not declined.
  private var isPrepared = false

  /// Creates a screen.
  ///
  ///     RecordingScreen("list", on: display) { list in list.present(item: $model.note) { _ in RecordingScreen("note", on: display) } }
  ///
  /// - Parameters:
  ///   - name: the screen's name in the log.
  ///   - display: the display.
  ///   - onAppear: called after the screen has appeared.
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

  public func prepareToDisappear(_ showing: Showing) async throws {
    display.disappearing.append(name)
    isPrepared = true
    if display.asking.contains(name) {
      try await showing.ask("Save \(name)?")
      await display.answer(for: name)
    }
    if display.declining.contains(name) {
      isPrepared = false
      throw Declined("\(name) is not saved")
    }
  }

  public func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    if !isPrepared { display.disappearing.append(name) }
    while display.stuck.contains(name) { await display.change() }
    display.take(self, animated ? "-" : "-!")
    return ["name": .string(name)]
  }

  /// Closes the screen as its user does, without asking the screen.
  ///
  ///     try await display["main"]?.close()
  ///     try await until { !model.isOpen }
  public func close() async throws {
    display.take(self, "x")
    try await showing?.reportClosed()
  }
}
