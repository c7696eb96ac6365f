// Why this file exists: a screen is whatever a program can show; here it is a page of a terminal.

import DBusValues
import Navigation
import Observation

/// A page, made for one presentation: drawn by what its state is, with keys that change the state.
@MainActor @Observable
final class Page: Screen {
  enum Kind {
    /// On top of the others, with the keys.
    case page
    /// Below the page that has the keys, beside others.
    case card
  }

  let title: String
  let kind: Kind
  /// Its name on the bus, for who would like to drive it.
  private(set) var binding = ""
  /// How many of its lines are to be seen: pages unroll.
  private var unrolled = 0
  @ObservationIgnored private var goal = 0
  private let terminal: Terminal
  private let content: @MainActor () -> [String]
  private let onKey: @MainActor (Key, Showing) -> Void
  private let onAppear: @MainActor (Showing) -> Void
  @ObservationIgnored private var showing: Showing?

  /// - Parameters:
  ///   - content: its lines; read again when what it reads has changed.
  ///   - onKey: does what a key does; escape closes it anyway.
  ///   - onAppear: presents what is presented from it.
  init(
    _ title: String, _ kind: Kind = .page, on terminal: Terminal, content: @escaping @MainActor () -> [String],
    onKey: @escaping @MainActor (Key, Showing) -> Void = { _, _ in },
    onAppear: @escaping @MainActor (Showing) -> Void = { _ in }
  ) {
    self.title = title
    self.kind = kind
    self.terminal = terminal
    self.content = content
    self.onKey = onKey
    self.onAppear = onAppear
  }

  /// What of it is to be seen now.
  var lines: [String] { Array(content().prefix(unrolled)) }

  func press(_ key: Key) {
    guard let showing else { return }
    onKey(key, showing)
    if key == .escape { Task { await close() } }
  }

  /// Its user closes it. It tells so when it is gone, and nil is written to the state that it was presented from.
  private func close() async {
    guard let showing else { return }
    self.showing = nil
    await roll(to: 0, animated: true)
    terminal.remove(self)
    try? await showing.close()
  }

  // MARK: Screen

  func appear(_ showing: Showing) async throws {
    self.showing = showing
    binding = showing.binding
    terminal.add(self)
    await roll(to: content().count, animated: showing.item["animated"] != .boolean(false))
    // It may be told to go while it comes: what has not come need not go, but is not to stay either.
    if Task.isCancelled {
      terminal.remove(self)
      throw CancellationError()
    }
    // It may have been closed.
    guard self.showing != nil else { return }
    unrolled = .max
    onAppear(showing)
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    self.showing = nil
    await roll(to: 0, animated: animated)
    terminal.remove(self)
    return [:]
  }

  /// The last who rolls it is obeyed.
  private func roll(to count: Int, animated: Bool) async {
    goal = count
    unrolled = min(unrolled, content().count)
    while animated, unrolled != count, goal == count, !Task.isCancelled {
      unrolled += unrolled < count ? 1 : -1
      try? await Task.sleep(for: .milliseconds(15))
    }
    if goal == count { unrolled = count }
  }
}
