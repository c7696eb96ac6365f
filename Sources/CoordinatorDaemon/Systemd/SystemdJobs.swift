import DBus
import DBusValues

/// The jobs that navd has requested from the user's service manager, to their ends. A re-executed manager continues them. A call
/// that no manager took is repeated.
final class SystemdJobs {
  enum Outcome {
    /// The job has ended with a result such as `done` or `failed`.
    case finished(String)
    /// There was no job: the manager refused it, or could not be reached, or has left for good.
    case refused(DBusError)
  }

  private struct Job {
    let unit: String
    let completion: (Outcome) -> Void
  }

  private unowned let manager: SystemdManager
  private let connection: Connection
  private var signals: Subscription?
  /// The jobs that have not ended.
  private var jobs: [ObjectPath: Job] = [:]
  /// The number of calls without an answer, and the results of jobs that ended meanwhile, because
  /// the end of a job may be sent before the answer that names the job.
  private var unansweredCalls = 0
  private var earlyResults: [ObjectPath: String] = [:]
  /// Repetitions of calls that no manager took, by the numbers of the calls. The bus reports the last call first, but a unit has to
  /// be started before it is stopped.
  private var lostCalls: [Int: () -> Void] = [:]
  private var lastCall = 0

  private static let maxRepetitions = 3
  /// The result of a job that was carried out.
  static let done = "done"

  init(of manager: SystemdManager, _ connection: Connection) {
    self.manager = manager
    self.connection = connection
  }

  /// Whether every known job has ended.
  var isIdle: Bool { jobs.isEmpty }

  /// Calls a method that begins a job.
  /// - Parameter accepted: called before the completion, if the manager has taken this very call.
  func run<Input>(
    _ method: Method<Input, ObjectPath>, _ input: Input, of unit: UnitName, repetitions: Int = 0,
    accepted: @escaping () -> Void = {}, _ completion: @escaping (Outcome) -> Void
  ) {
    manager.subscribe()
    if signals == nil {
      signals = connection.subscribe(to: Systemd.Manager.jobRemoved, from: Systemd.name, at: Systemd.path) {
        [weak self] arguments, _ in self?.removed(arguments.1, arguments.3)
      }
    }
    unansweredCalls += 1
    lastCall += 1
    connection.call(method, on: Systemd.name, at: Systemd.path, input, autoStart: false) {
      [weak self, number = lastCall] result in
      guard let self else { return }
      unansweredCalls -= 1
      switch result {
      case .success(let job):
        accepted()
        if let result = earlyResults.removeValue(forKey: job) {
          completion(.finished(result))
        } else {
          jobs[job] = Job(unit: unit.text, completion: completion)
        }
      case .failure(let error) where error.name == .noReply && repetitions < Self.maxRepetitions:
        // The manager left before it took the call; it answers each call that it takes before it is re-executed.
        manager.left()
        lostCalls[number] = { [unowned self] in
          guard manager.isPresent else { return completion(.refused(error)) }
          run(method, input, of: unit, repetitions: repetitions + 1, accepted: accepted, completion)
        }
        manager.whenKnown { [unowned self] in repeatLostCalls() }
      // The manager took the first call after all.
      case .failure(let error) where error.name == Systemd.unitExists && repetitions > 0:
        completion(.finished(Self.done))
      case .failure(let error): completion(.refused(error))
      }
      if unansweredCalls == 0 { earlyResults = [:] }
      unsubscribeIfIdle()
    }
  }

  private func repeatLostCalls() {
    let calls = lostCalls.sorted { $0.key < $1.key }
    lostCalls = [:]
    for (_, call) in calls { call() }
  }

  /// Ends the subscription to job signals while navd has no job, so that the manager's other jobs do not wake navd.
  private func unsubscribeIfIdle() {
    guard jobs.isEmpty, unansweredCalls == 0 else { return }
    signals?.cancel()
    signals = nil
  }

  private func removed(_ job: ObjectPath, _ result: String) {
    if let job = jobs.removeValue(forKey: job) {
      job.completion(.finished(result))
      unsubscribeIfIdle()
    } else if unansweredCalls > 0 {
      earlyResults[job] = result
    }
  }

  /// Ends the jobs that have ended while the manager was away.
  func checkAll() {
    for (path, job) in jobs { check(job, at: path) }
  }

  /// Ends a job that has ended while the manager was away. The job's result is unknown; the state of its unit tells the rest. A manager
  /// that is too busy answers later: asking it again would leave one more call in the bus.
  private func check(_ job: Job, at path: ObjectPath) {
    connection.call(
      PropertyAccessing.get, on: Systemd.name, at: path, (Systemd.job.text, "Unit"), timeout: nil, autoStart: false
    ) { [weak self] result in
      guard let self, jobs[path] != nil else { return }
      switch result {
      // Another manager uses the same numbers for its own jobs.
      case .success(.structure(let fields)) where fields.first == .string(job.unit): break
      // The manager is asked once more when it is back.
      case .failure(let error) where [.noReply, .nameHasNoOwner, .disconnected].contains(error.name): break
      case .success, .failure: removed(path, Self.done)
      }
    }
  }

  /// Ends all jobs: the manager has left for good.
  func refuseAll() {
    let lost = jobs.values
    jobs = [:]
    for job in lost {
      job.completion(
        .refused(DBusError(name: .noReply, message: "the user manager has left the bus (\(Systemd.name))")))
    }
    unsubscribeIfIdle()
  }
}
