import CoordinatorAPI
import DBus
import DBusValues
import Processes

/// navd with many items of one kind, compared with a tenth of them: the cost of an item must not grow with their number.
struct ScaleBenchmark {
  private typealias Rows = CoordinatorInterface
  private static let goal = Goal.atMost(1.3)
  let harness: Harness
  let rounds: Int

  /// A kind of item.
  private struct Kind {
    let name: String
    let many: Int
    var destinations: (Int) -> [String: String] = { _ in [:] }
    /// The request with which the state is filled, by index.
    var fill: ((Int) -> TransactionRequest)?
    /// Whether the signal about one request contains all items, so that its cost is divided by their number, too.
    var requestNamesAll = false
    let request: (Int) throws -> Void
  }

  /// The measured quantities. Each is the sum for all items, except the time of most requests, which must not grow at all.
  private enum Quantity: String, CaseIterable {
    case start, reload
    case list = "GetState and Destinations"
    case memory
    case request = "one request"

    var unit: Unit { self == .memory ? .bytes : .nanoseconds }
  }

  private var kinds: [Kind] {
    // The number of items is the maximum that the limit permits.
    let another = { [harness] (index: Int) in
      _ = try harness.call(Rows.present, ("bench.item[0]", String(index), [:]))
    }
    return [
      Kind(name: "presentations", many: 100_000, fill: { .present("bench.item[\($0)]") }, request: another),
      Kind(
        name: "destinations", many: 10_000,
        destinations: { count in
          Dictionary(uniqueKeysWithValues: (0..<count).map { ("d\($0)", "state = true\nstyle = \"popover\"\n") })
        }, request: { [harness] in _ = try harness.call(Rows.present, ("d7", String($0), [:])) }),
      Kind(
        name: "groups", many: 1000,
        fill: { .present("bench.member[\($0)]", "", ["group": .string("bench.group[\($0)]")]) },
        request: { [harness] in
          _ = try harness.call(Rows.present, ("bench.other[\($0 % 2)]", "", ["group": .string("bench.group[0]")]))
        }),
      Kind(
        name: "elements of a stack", many: 1000,
        fill: {
          TransactionRequest(
            "Push", [.string("bench.stack"), .string("bench.element[\($0)]"), .string(""), Properties().value])
        }, requestNamesAll: true,
        request: { [harness] in
          _ = try harness.call(Rows.push, ("bench.stack", "bench.top[\($0)]", "", [:]))
          _ = try harness.call(Rows.pop, ("bench.stack", 1, [:]))
        }),
    ]
  }

  func run(into report: inout Report) throws {
    for kind in kinds { try measure(kind, into: &report) }
    try measureWatchers(into: &report)
    try harness.useOwnConfiguration()
  }

  private func measure(_ kind: Kind, into report: inout Report) throws {
    let sizes = try [kind.many / 10, kind.many].map { count in
      (
        count: count, state: try harness.newDirectory(),
        configuration: try harness.configuration(kind.destinations(count))
      )
    }
    let isOfEach = { (quantity: Quantity) in quantity != .request || kind.requestNamesAll }
    for size in sizes { try fill(size.state, kind, size.count) }
    var results: [Quantity: [[Double]]] = [:]
    for quantity in Quantity.allCases { results[quantity] = [[], []] }
    for _ in 0..<rounds {
      for (index, size) in sizes.enumerated() {
        harness.use(size.configuration)
        var navd: ProcessTree?
        let start = try nanoseconds {
          navd = try harness.start(harness.navd(stateDirectory: size.state), until: CoordinatorNames.bus)
        }
        results[.start]![index].append(start / Double(size.count))
        for (quantity, number) in try measure(kind) {
          results[quantity]![index].append(isOfEach(quantity) ? number / Double(size.count) : number)
        }
        if let navd { harness.stop(navd) }
      }
    }
    for quantity in Quantity.allCases {
      let each = isOfEach(quantity) ? ", each" : ""
      report.compare(
        "\(kind.many) \(kind.name): \(quantity.rawValue)\(each)", with: "\(kind.many / 10)", results[quantity]![1],
        results[quantity]![0], unit: quantity.unit, goal: Self.goal)
    }
  }

  private func measure(_ kind: Kind) throws -> [Quantity: Double] {
    let list = { (method: MemberName) in
      _ = try harness.connection.callAndWait(
        .call(method, of: Rows.name, on: CoordinatorNames.bus, at: CoordinatorNames.object))
    }
    var results: [Quantity: Double] = [:]
    results[.list] = try medianNanoseconds(of: 3) { _ in
      try list("GetState")
      try list("Destinations")
    }
    results[.request] = try medianNanoseconds(of: 200, kind.request)
    results[.reload] = try medianNanoseconds(of: 3) { _ in _ = try harness.call(Rows.reload, ()) }
    results[.memory] = try MemoryBenchmark(harness: harness).resident(try harness.process(of: CoordinatorNames.bus))
    return results
  }

  private func fill(_ directory: String, _ kind: Kind, _ count: Int) throws {
    guard let request = kind.fill else { return }
    let navd = try harness.start(harness.navd(stateDirectory: directory), until: CoordinatorNames.bus)
    try harness.fill(count, request)
    harness.stop(navd)
  }

  /// The bus copies each signal for each watcher; navd sends it once.
  private func measureWatchers(into report: inout Report) throws {
    let navd = try harness.startNavd()
    let echo = try harness.startBareEcho()
    defer { for tree in [navd, echo] { harness.stop(tree) } }
    let services = [CoordinatorNames.bus, BareEcho.name]
    // The bare echo's watchers show the bus's own part of the time.
    let results = try alternating(
      rounds,
      services.flatMap { service in
        [100, 1000].map { count in
          {
            let watchers = try harness.startWatchers(count)
            defer { harness.stop(watchers) }
            return try harness.meanNanoseconds(of: 50, watchedBy: count) {
              _ = try harness.connection.callAndWait(
                Rows.present, on: service, at: CoordinatorNames.object, ("bench.fact", String($0), [:]))
            } / Double(count)
          }
        }
      })
    report.compare("1000 watchers: one request, each", with: "100", results[1], results[0], goal: Self.goal)
    report.compare("1000 watchers of the bare echo: one request, each", with: "100", results[3], results[2])
  }
}
