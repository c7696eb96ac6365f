import ArgumentParser
import Navigation

/// An example of a program that uses Navigation: a counter, facts about numbers, and notes. Everything on screen is state of its
/// models, which other programs can watch and change.
///
///     $ .build/debug/demo          # + and - count, f asks for a fact, n opens the notes
///     $ navctl watch               # in another terminal
///     $ navctl dismiss --all
@main
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "A counter with facts, and notes: an example of the library Navigation.")

  @Flag(help: "Work without a session bus: other programs neither see the presentations nor show them.")
  var embedded = false

  func run() async throws {
    // The rest of the program is the same for both.
    let coordinator = embedded ? Coordinator.embedded() : try await Coordinator.session()
    try await Demo.run(with: coordinator)
  }
}
