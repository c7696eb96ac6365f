import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// A crowd of clients on the same ten bindings.

/// A client that makes one request after another, each after the answer to the previous one.
private final class CrowdClient {
  let connection: Connection
  private(set) var answers = 0
  private(set) var errors: [DBusError] = []
  private var random: SeededNumbers
  private var rest: Int

  init(_ connection: Connection, seed: UInt64, requests: Int) {
    self.connection = connection
    random = SeededNumbers(seed: seed)
    rest = requests
  }

  func requestNext() {
    guard rest > 0 else { return }
    rest -= 1
    let binding = "slot[\(Int.random(in: 0..<10, using: &random))]"
    let id = ["", "a", "b"].randomElement(using: &random) ?? ""
    // Commands present the slots with odd numbers.
    let isCommand = "13579".contains { binding.hasSuffix("[\($0)]") }
    let options: Properties = isCommand ? ["destination": .string("sleeper")] : .state
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1: call(CoordinatorInterface.present, (binding, id, options))
    case 2, 3: call(CoordinatorInterface.toggle, (binding, id, options))
    default: call(CoordinatorInterface.dismiss, (binding, [:]))
    }
  }

  private func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) {
    connection.call(
      method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil
    ) { [unowned self] result in
      answers += 1
      if case .failure(let error) = result { errors.append(error) }
      requestNext()
    }
  }
}

/// The presentations as the events of a watcher, or a state, describe them.
private struct PresentationReplay {
  struct Shown: Hashable {
    let binding: String
    let id: String
    var phase: String
  }

  var presentations: [UInt64: Shown] = [:]
  /// The contradictions between events.
  var faults: [String] = []

  init(_ watcher: Watcher) {
    var gone: Set<UInt64> = []
    for event in watcher.events {
      guard let number = event.json["presentation"]?.unsigned, let binding = event.json["binding"]?.string,
        let id = event.json["id"]?.string
      else { continue }
      if gone.contains(number) { faults.append("after its end: \(event.line)") }
      switch event.json["event"]?.string {
      case "presented": presentations[number] = Shown(binding: binding, id: id, phase: "presented")
      case "phase":
        presentations[number] = Shown(binding: binding, id: id, phase: event.json["phase"]?.string ?? "")
      case "dismissed":
        presentations[number] = nil
        gone.insert(number)
      default: break
      }
      let shown = presentations.values.filter { $0.binding == binding && $0.phase.hasPrefix("present") }
      if shown.count > 1 { faults.append("two are shown at \(binding): \(event.line)") }
    }
  }

  init(_ state: JSON) {
    for entry in state["presentations"]?.array ?? [] {
      guard let number = entry["presentation"]?.unsigned, let binding = entry["binding"]?.string,
        let id = entry["id"]?.string, let phase = entry["phase"]?.string
      else { continue }
      presentations[number] = Shown(binding: binding, id: id, phase: phase)
    }
  }
}

@Test(
  "P9, W2: 200 clients that present, toggle and dismiss the same ten bindings leave the state that the events describe")
func crowd_onTenBindings_leavesTheStateOfItsEvents() throws {
  let session = try Session(destinations: ["sleeper": "command = [\"sleep\", \"60\"]\n"])
  let watcher = try session.watch()
  let requests = 10
  let clients = try (0..<200).map { CrowdClient(try session.connect(), seed: $0, requests: requests) }
  for client in clients { client.requestNext() }
  try session.wait("all are answered") { clients.allSatisfy { $0.answers == requests } }
  #expect(clients.flatMap(\.errors) == [])

  try session.wait("the state settles") {
    PresentationReplay(watcher).presentations.values.allSatisfy { $0.phase == "presented" }
  }
  let state = try session.state()
  #expect(watcher.hasAllSerials)
  #expect(state["serial"]?.unsigned == watcher.events.last?.serial)
  let replayed = PresentationReplay(watcher)
  #expect(replayed.faults == [])
  #expect(replayed.presentations == PresentationReplay(state).presentations)
  let ended = watcher.events.filter { $0.json["event"]?.string == "dismissed" }.map {
    $0.json["presentation"]?.unsigned
  }
  #expect(Set(ended).count == ended.count)

  let commands = replayed.presentations.values.filter { entry in "13579".contains { entry.binding.hasSuffix("[\($0)]") }
  }
  let processes = session.processes().map { "\($0.binding ?? "") \($0.id ?? "")" }.sorted()
  #expect(processes == commands.map { "\($0.binding) \($0.id)" }.sorted())

  let (count, _) = try session.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  #expect(Int(count) == replayed.presentations.count)
  try session.wait("all presentations have ended") { PresentationReplay(watcher).presentations.isEmpty }
  #expect(try session.state()["presentations"]?.array == [])
  #expect(session.processes() == [])
}
