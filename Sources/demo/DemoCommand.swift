// Why this file exists: what a program does with Navigation is best seen in one that does it. This one counts, knows facts
// about numbers and keeps notes; everything that it shows is state of its models, and can be watched and driven by others.
//
//     $ .build/debug/demo          # + and - count, f asks for a fact, n opens the notes
//     $ navctl watch               # in another terminal
//     $ navctl dismiss --all

import ArgumentParser
import Navigation

@main
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "A counter with facts, and notes: an example of the library Navigation.")

  @Flag(help: "Do without a session bus: nobody else sees what is presented, and nothing is left to other programs.")
  var embedded = false

  func run() async throws {
    // One line chooses; nothing else in this program knows.
    let coordinator = embedded ? Coordinator.embedded() : try await Coordinator.session()
    try await Demo.run(with: coordinator)
  }
}
