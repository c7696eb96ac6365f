/// The observations and tasks of a screen, which end with it.
@MainActor
final class ScreenWork {
  private var observings: [Observing] = []
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var last = 0
  private var isOver = false

  func observe(_ apply: @escaping @MainActor () -> Void) {
    if isOver { return }
    observings.append(Navigation.observe { MainActor.assumeIsolated(apply) })
  }

  func run(_ body: @escaping @MainActor () async -> Void) -> Task<Void, Never> {
    last += 1
    let number = last
    let task = Task {
      await body()
      tasks[number] = nil
    }
    if isOver { task.cancel() } else { tasks[number] = task }
    return task
  }

  func end() {
    isOver = true
    let (observings, tasks) = (observings, tasks)
    (self.observings, self.tasks) = ([], [:])
    for observing in observings { observing.cancel() }
    for task in tasks.values { task.cancel() }
  }
}
