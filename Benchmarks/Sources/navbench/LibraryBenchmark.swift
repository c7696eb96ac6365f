import DBusValues
import EventLoops
import Navigation
import Observation

/// The Swift library with many elements of a path, live models and presented booleans. The cost of each must not grow with their number.
@MainActor
struct LibraryBenchmark {
  private static let (few, many) = (100, 1000)
  let rounds: Int

  /// A measured subject, with the time for a number of elements together.
  private struct Subject {
    let name: String
    let measure: @MainActor (Coordinator, Int) async throws -> Double
  }

  private static let subjects = [
    Subject(name: "elements of a path, appear") { try await path($0, $1).appear },
    Subject(name: "elements of a path, disappear") { try await path($0, $1).disappear },
    Subject(name: "elements of a path, pushed one by one") { try await pushes($0, $1) },
    Subject(name: "live models, a binding and its text") { models($0, $1) },
    Subject(name: "presented booleans, appear") { try await booleans($0, $1).appear },
    Subject(name: "presented booleans, one change") { try await booleans($0, $1).change },
    Subject(name: "presented booleans, disappear") { try await booleans($0, $1).disappear },
  ]

  /// Measures with an embedded coordinator, and on the session bus, where a navd runs.
  func run(into report: inout Report) async throws {
    let coordinators = [("embedded", Coordinator.embedded()), ("on the bus", try await Coordinator.session())]
    for subject in Self.subjects {
      for (place, coordinator) in coordinators {
        var times: (few: [Double], many: [Double]) = ([], [])
        // The first round is dropped.
        for round in 0...rounds {
          // As many elements in all, since a few milliseconds would measure the scheduler.
          var few = 0.0
          for _ in 0..<Self.many / Self.few { few += try await subject.measure(coordinator, Self.few) }
          let many = try await subject.measure(coordinator, Self.many)
          guard round > 0 else { continue }
          times.few.append(few / Double(Self.many))
          times.many.append(many / Double(Self.many))
        }
        report.compare(
          "\(Self.many) \(subject.name), each, \(place)", with: "\(Self.few)", times.many, times.few,
          goal: .atMost(1.3))
      }
    }
  }

  // MARK: Subjects

  struct Switch: Identifiable {
    let id: Int
    var isOn: Bool
  }

  /// The state of a program.
  @Observable
  final class Model {
    var path: [Int] = []
    var switches: [Switch] = []
    var isOn = false
  }

  /// A program with a path, its screens and its navigator.
  private static func stack(_ coordinator: Coordinator) -> (Model, ScreenCounter, Navigator) {
    let (model, counter, navigator) = (Model(), ScreenCounter(), Navigator(coordinator))
    navigator.stack(path: Bindable(model).path)
      .navigationDestination(for: Int.self) { _ in CountedScreen(counter) }
    return (model, counter, navigator)
  }

  private static func path(
    _ coordinator: Coordinator, _ count: Int
  ) async throws -> (appear: Double, disappear: Double) {
    let (model, counter, navigator) = stack(coordinator)
    let appear = await elapsed(counter, reaching: count, navigator) { model.path = Array(0..<count) }
    let disappear = await elapsed(counter, reaching: 0, navigator) { model.path = [] }
    return (appear, disappear)
  }

  private static func pushes(_ coordinator: Coordinator, _ count: Int) async throws -> Double {
    let (model, counter, navigator) = stack(coordinator)
    let time = await elapsed(counter, reaching: count, navigator) {
      for index in 0..<count {
        model.path.append(index)
        await counter.reaches(index + 1)
      }
    }
    _ = await elapsed(counter, reaching: 0, navigator) { model.path = [] }
    return time
  }

  private static func models(_ coordinator: Coordinator, _ count: Int) -> Double {
    let models = (0..<count).map { _ in Model() }
    return nanoseconds { for model in models { _ = coordinator.text(of: Bindable(model).isOn) } }
  }

  private static func booleans(
    _ coordinator: Coordinator, _ count: Int
  ) async throws -> (appear: Double, change: Double, disappear: Double) {
    let (model, counter, navigator) = (Model(), ScreenCounter(), Navigator(coordinator))
    func all(_ isOn: Bool) -> [Switch] { (0..<count).map { Switch(id: $0, isOn: isOn) } }
    model.switches = all(false)
    let appear = await elapsed(counter, reaching: count, navigator) {
      for one in Bindable(model).switches {
        navigator.present(isPresented: one.isOn) { CountedScreen(counter) }
      }
      model.switches = all(true)
    }
    // Every boolean is read again, because they belong to one property.
    let change = await elapsed(counter, reaching: count - 1, navigator) { model.switches[count / 2].isOn = false }
    let disappear = await elapsed(counter, reaching: 0, navigator) {
      model.switches = all(false)
    }
    return (appear, change, disappear)
  }

  /// The time, in nanoseconds, from a change until so many screens are shown and the coordinator knows it.
  private static func elapsed(
    _ counter: ScreenCounter, reaching count: Int, _ navigator: Navigator, _ change: () async -> Void
  ) async -> Double {
    let start = MonotonicInstant.now
    await change()
    await counter.reaches(count)
    await navigator.settle()
    return Double(MonotonicInstant.now.nanoseconds - start.nanoseconds)
  }
}

/// The number of shown screens.
@MainActor
private final class ScreenCounter {
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
  var count = 0 {
    didSet {
      guard let waiting, waiting.count == count else { return }
      self.waiting = nil
      waiting.continuation.resume()
    }
  }

  func reaches(_ count: Int) async {
    guard self.count != count else { return }
    await withCheckedContinuation { waiting = (count, $0) }
  }
}

@MainActor
private final class CountedScreen: Screen {
  private let counter: ScreenCounter

  init(_ counter: ScreenCounter) { self.counter = counter }

  func appear(_ showing: Showing) async throws { counter.count += 1 }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    counter.count -= 1
    return [:]
  }
}
