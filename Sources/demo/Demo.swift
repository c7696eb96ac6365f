// Why this file exists: models know nothing of screens, and screens nothing of each other; here they are brought together.

import Navigation

/// The program: two models, and the terminal that they are shown on.
@MainActor
final class Demo {
  let terminal: Terminal
  /// Names of the program's own: on the bus something is added to them, so that two copies are not in each other's way.
  @Bindable(.own("counter")) var counter = Counter()
  @Bindable(.own("notes")) var notes = Notes()

  private init(_ terminal: Terminal) { self.terminal = terminal }

  /// Shows the counter until that is closed, by its user or by somebody else.
  static func run(with coordinator: Coordinator) async throws {
    let demo = Demo(try Terminal())
    let navigator = Navigator(coordinator)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    navigator.onRefused = { [demo] error in
      // State that cannot be shown has been made nil, so that it does not lie; the user is told.
      if case .refused = error { demo.counter.report("\(error)") } else { end.yield() }
    }
    navigator.present(
      isPresented: demo.$counter.isOpen.named("window"), options: { PresentationOptions(title: "Counter") },
      onDismiss: { _ in end.yield() }
    ) { demo.counterPage() }
    demo.terminal.onHangUp = { [demo] in demo.counter.isOpen = false }
    for await _ in ends { break }
    demo.terminal.restore()
  }

  /// Back to the counter, from wherever, at once.
  func goHome() {
    withTransaction(Transaction(animated: false)) {
      counter.fact = nil
      notes.path = NavigationPath()
    }
  }
}
