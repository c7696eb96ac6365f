import Navigation

/// The program: two models, which know nothing of screens, and the terminal on which they are shown.
@MainActor
final class Demo {
  let terminal: Terminal
  /// The models have names of the program's own, which are made unique on the bus, so that two copies of the program do not conflict.
  @Bindable(.own("counter")) var counter = Counter()
  @Bindable(.own("notes")) var notes = Notes()

  private init(_ terminal: Terminal) { self.terminal = terminal }

  /// Shows the counter until it is closed, by its user or by another program.
  static func run(with coordinator: Coordinator) async throws {
    let demo = Demo(try Terminal())
    // A page must report within this time that it asks its user, even on a busy machine.
    let navigator = Navigator(coordinator, grace: .seconds(30))
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    navigator.onRefused = { [demo] error in
      // State that could not be presented was reset to nil; the user is notified.
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

  /// Returns to the counter from any screen, without animation.
  func goHome() {
    withTransaction(Transaction(animated: false)) {
      counter.fact = nil
      notes.path = NavigationPath()
    }
  }
}
