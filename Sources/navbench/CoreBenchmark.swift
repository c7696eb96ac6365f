import PresentationModel
import PresentationRules

/// Operations of the state machine without a bus, compared with a dictionary, and in a large state compared with a small one: the
/// cost of an operation must not depend on the number of presentations.
struct CoreBenchmark {
  private let operations = 10_000
  private let rounds = 5
  private let now = Instant(nanoseconds: 1)

  func run(into report: inout Report) {
    for (many, label) in [(10_000, "10⁴"), (100_000, "10⁵"), (1_000_000, "10⁶")] {
      grow("present and dismiss, \(label) slots", "10³ slots", slots(1_000), slots(many), into: &report) {
        machine, index in
        perform(.present(binding("probe[\(index)]"), id: "", ItemOptions()), &machine)
        perform(.dismiss(binding("probe[\(index)]")), &machine)
      }
    }
    grow("present another id, 10⁶ slots", "10³ slots", slots(1_000), slots(1_000_000), into: &report) {
      machine, index in
      perform(.present(binding("slot[\(index % 1_000)]"), id: String(index), ItemOptions()), &machine)
    }
    grow("select another of 10⁵ members", "of 10³", members(1_000), members(100_000), into: &report) {
      machine, index in
      perform(.select(group, tag: "tag\(index % 997)", binding: nil, id: nil, ItemOptions()), &machine)
    }
    grow("push and pop, stack 10⁴ deep", "10³ deep", pushed(1_000), pushed(10_000), into: &report) { machine, index in
      perform(.push(stack, binding("probe[\(index)]"), id: "", ItemOptions()), &machine)
      perform(.pop(stack, count: 1), &machine)
    }
    grow("present from the end of a chain of 10³", "of 10", chain(10), chain(1_000), into: &report) { machine, index in
      let end = binding("chain[\(machine.count - 1)]")
      perform(.present(binding("probe[\(index)]"), id: "", options { $0.from = end }), &machine)
      perform(.dismiss(binding("probe[\(index)]")), &machine)
    }
  }

  // MARK: Initial states

  private let group = try! BindingID("group")
  private let stack = try! BindingID("stack")

  private func slots(_ count: Int) -> StateMachine {
    filled(count) { machine, index in
      perform(.present(binding("slot[\(index)]"), id: "", ItemOptions()), &machine)
    }
  }

  private func members(_ count: Int) -> StateMachine {
    filled(count) { machine, index in
      perform(.select(group, tag: "tag\(index)", binding: nil, id: nil, ItemOptions()), &machine)
    }
  }

  private func pushed(_ count: Int) -> StateMachine {
    filled(count) { machine, index in
      perform(.push(stack, binding("screen[\(index)]"), id: "", ItemOptions()), &machine)
    }
  }

  private func chain(_ count: Int) -> StateMachine {
    filled(count) { machine, index in
      let before = index == 0 ? nil : binding("chain[\(index - 1)]")
      perform(.present(binding("chain[\(index)]"), id: "", options { $0.from = before }), &machine)
    }
  }

  private func filled(_ count: Int, _ fill: (inout StateMachine, Int) -> Void) -> StateMachine {
    var limits = Limits()
    limits.items = 4 * count + operations
    limits.tags = 4 * count
    limits.stack = 4 * count
    var machine = StateMachine(limits: limits)
    for index in 0..<count { fill(&machine, index) }
    return machine
  }

  // MARK: Measuring

  /// Measures the same operation in a large state and in a small one.
  private func grow(
    _ subject: String, _ peer: String, _ small: consuming StateMachine, _ large: consuming StateMachine,
    into report: inout Report,
    _ operation: (inout StateMachine, Int) -> Void
  ) {
    var medians: (subject: [Double], peer: [Double]) = ([], [])
    for _ in 0..<rounds {
      medians.peer.append(
        nanoseconds { for index in 0..<operations { operation(&small, index) } } / Double(operations))
      medians.subject.append(
        nanoseconds { for index in 0..<operations { operation(&large, index) } } / Double(operations))
    }
    report.compare(subject, with: peer, medians.subject, medians.peer, goal: .atMost(3))
  }

  private func perform(_ operation: Request.Operation, _ machine: inout StateMachine) {
    // A refusal is a bug of the benchmark.
    _ = try! machine.perform(Request(operation), by: nil, at: now)
  }

  private func binding(_ text: String) -> BindingID { try! BindingID(text) }

  private func options(_ set: (inout ItemOptions) -> Void) -> ItemOptions {
    var options = ItemOptions()
    set(&options)
    return options
  }
}
