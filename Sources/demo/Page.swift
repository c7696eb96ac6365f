import DBusValues
import Navigation
import Observation

/// A page of the terminal, made for one presentation. Its content is drawn from state, and its keys change state.
@MainActor @Observable
final class Page: DecliningScreen {
  enum Kind {
    /// A page. The top page is shown and receives the keys.
    case page
    /// A card, shown below the page and beside other cards.
    case card
  }

  let title: String
  let kind: Kind
  /// The page's name on the bus, shown so that users can refer to it.
  private(set) var binding = ""
  /// The number of visible lines: a page unrolls as it appears.
  private var unrolled = 0
  @ObservationIgnored private var goal = 0
  private let terminal: Terminal
  private let content: @MainActor () -> [String]
  private let onKey: @MainActor (Key, Showing) -> Void
  private let onAppear: @MainActor (Showing) -> Void
  private let prepare: @MainActor (Showing) async throws -> Void
  @ObservationIgnored private var showing: Showing?

  /// - Parameters:
  ///   - content: the lines, which are read again when their state has changed.
  ///   - onKey: handles a key; escape also closes the page.
  ///   - onAppear: presents other screens from the page.
  ///   - prepare: called before the page is dismissed, unless the dismissal is forced or the user closes the page; it may decline.
  init(
    _ title: String, _ kind: Kind = .page, on terminal: Terminal, content: @escaping @MainActor () -> [String],
    onKey: @escaping @MainActor (Key, Showing) -> Void = { _, _ in },
    onAppear: @escaping @MainActor (Showing) -> Void = { _ in },
    prepare: @escaping @MainActor (Showing) async throws -> Void = { _ in }
  ) {
    self.title = title
    self.kind = kind
    self.terminal = terminal
    self.content = content
    self.onKey = onKey
    self.onAppear = onAppear
    self.prepare = prepare
  }

  /// The visible lines.
  var lines: [String] { Array(content().prefix(unrolled)) }

  func press(_ key: Key) {
    guard let showing else { return }
    onKey(key, showing)
    if key == .escape { Task { await close() } }
  }

  /// Closes the page for its user. The library then resets the state that presents the page.
  private func close() async {
    guard let showing else { return }
    self.showing = nil
    await roll(to: 0, animated: true)
    terminal.remove(self)
    try? await showing.reportClosed()
  }

  // MARK: Screen

  func appear(_ showing: Showing) async throws {
    self.showing = showing
    binding = showing.binding
    terminal.add(self)
    await roll(to: content().count, animated: showing.item["animated"] != .boolean(false))
    // The page was cancelled while it appeared. It is removed here, because `disappear` is not called.
    if Task.isCancelled {
      terminal.remove(self)
      throw CancellationError()
    }
    // The user may have closed the page meanwhile.
    guard self.showing != nil else { return }
    unrolled = .max
    onAppear(showing)
  }

  func prepareToDisappear(_ showing: Showing) async throws { try await prepare(showing) }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    self.showing = nil
    await roll(to: 0, animated: animated)
    terminal.remove(self)
    return [:]
  }

  /// Changes the number of visible lines; a later call replaces the goal of an earlier one.
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
