import DBus
import DBusValues
import PresentationModel

@testable import Navigation

/// A coordinator for tests that replace some calls of it: a backend forwards every call that it does not implement to an embedded
/// coordinator.
protocol ForwardingBackend: CoordinatorBackend {
  var embedded: any CoordinatorBackend { get }
}

extension ForwardingBackend {
  func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int) {
    try await embedded.ask(method, input, starts: starts)
  }

  func wait(
    for presentation: PresentationHandle, _ phase: WaitPhase
  ) async throws(NavigationError) -> (String, Properties) { try await embedded.wait(for: presentation, phase) }

  func callWindowSystem<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output { try await embedded.callWindowSystem(method, input) }

  func windowEvents() async throws(NavigationError) -> AsyncStream<WindowEvent> { try await embedded.windowEvents() }

  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) async throws(NavigationError) { try await embedded.serve(destination, options, by: host) }

  func stopServing(_ destination: String, by host: any PresenterHost) async throws(NavigationError) {
    try await embedded.stopServing(destination, by: host)
  }

  func close() async { await embedded.close() }
}
