import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// Requests over the bus, compared with the cheapest services that send the same messages.
struct BusBenchmark {
  private typealias Rows = CoordinatorInterface
  let harness: Harness
  let rounds: Int
  /// The number of calls in a round.
  let calls: Int

  func run(into report: inout Report) throws {
    let services = try [harness.startNavd(), harness.startEcho(), harness.startBareEcho()]
    defer { for service in services { harness.stop(service) } }
    try measureReplacement(into: &report)
    try measureFresh(into: &report)
    try measureReading(into: &report)
  }

  private func measureReplacement(into report: inout Report) throws {
    let results = try alternating(
      rounds,
      [CoordinatorNames.bus, BareEcho.name, Harness.echo].map { service in
        { try medianNanoseconds(of: calls) { try present("bench.fact", String($0), service) } }
      })
    let subject = "Present, another id each time"
    report.compare(subject, with: "dbus-test-tool echo", results[0], results[2], goal: .atMost(2.1))
    report.compare("the bare echo's Present", with: "dbus-test-tool echo", results[1], results[2])
    report.compare(subject, with: "the bare echo", results[0], results[1], goal: .atMost(1.25, onOneProcessor: true))
    try harness.dismissAll()
  }

  /// Measures Present in an empty slot: no item is replaced, so there is one signal less. The slots are emptied between rounds.
  private func measureFresh(into report: inout Report) throws {
    let results = try alternating(
      rounds,
      [CoordinatorNames.bus, Harness.echo].map { service in
        {
          defer { try? harness.dismissAll() }
          return try medianNanoseconds(of: calls) { try present("bench.fresh[\($0)]", "", service) }
        }
      })
    report.compare(
      "Present, another binding each time", with: "dbus-test-tool echo", results[0], results[1], goal: .atMost(2.1))
  }

  private func measureReading(into report: inout Report) throws {
    for index in 0..<10 { try present("bench.other[\(index)]", "", CoordinatorNames.bus) }
    let results = try alternating(
      rounds,
      [CoordinatorNames.bus, Harness.echo].map { service in
        { try medianNanoseconds(of: calls) { _ in try call("Get", service, [.string("bench.other[3]")]) } }
      })
    report.compare("Get", with: "dbus-test-tool echo", results[0], results[1], goal: .atMost(1.1))
    try harness.dismissAll()
  }

  /// The options of an item that nothing shows.
  private static let state: Properties = [Options.state.name: .boolean(true)]

  private func present(_ binding: String, _ id: String, _ service: BusName) throws {
    try call("Present", service, [.string(binding), .string(id), Self.state.value])
  }

  /// Makes a call without reading the reply, so that the client's part is the same for all services.
  private func call(_ method: MemberName, _ service: BusName, _ arguments: [Value]) throws {
    _ = try harness.connection.callAndWait([
      .call(method, of: Rows.name, on: service, at: CoordinatorNames.object, arguments)
    ])
  }
}
