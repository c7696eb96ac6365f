import CoordinatorCore
import DBus
import DBusValues
import Logging
import PresentationModel
import PresentationRules
import Processes
import TextFormats
import WindowRules

/// Shows items by starting units of the user's service manager, and dismisses them by stopping the units. The end of each job is
/// the acknowledgement (D5). A unit that already runs is taken over.
final class UnitPresenter: ProcessPresenter {
  private final class Showing {
    let unit: UnitName
    /// The subscription to the unit; nil until its start is requested.
    var watch: UnitWatch?
    /// Whether the start was reported.
    var isStarted = false
    /// Whether the unit was reported as ready: it is active (D19).
    var isReady = false
    var isStopping = false

    init(_ unit: UnitName) { self.unit = unit }
  }

  private let manager: SystemdManager
  private let log: Logger
  private let reports: any ReportReceiver
  private var showing: [Handle: Showing] = [:]

  init(_ manager: SystemdManager, log: Logger, reports: any ReportReceiver) {
    self.manager = manager
    self.log = log
    self.reports = reports
  }

  // MARK: Starting

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    do throws(UnitName.Mistake) {
      let unit = try presentation.content.unitName()
      if let other = showing.first(where: { $0.value.unit == unit }) {
        return reports.take(
          .presentAnswered(
            handle,
            error:
              "the unit \(unit) is shown already, by presentation \(other.key); use another unit or dismiss that one"))
      }
      let showing = Showing(unit)
      self.showing[handle] = showing
      manager.whenKnown { [weak self] in
        guard let self, self.showing[handle] === showing else { return }
        start(showing, handle)
      }
    } catch {
      reports.take(.presentAnswered(handle, error: error.why))
    }
  }

  private func start(_ showing: Showing, _ handle: Handle) {
    guard manager.isPresent else {
      return failed(handle, "cannot start the unit \(showing.unit): no user manager on the bus (\(Systemd.name))")
    }
    let watch = manager.watch(showing.unit) { [weak self] in self?.changed(handle) }
    showing.watch = watch
    manager.start(showing.unit) { [weak self] end in
      guard let self, self.showing[handle] === showing, !showing.isStopping else { return }
      switch end {
      case .finished(SystemdJobs.done):
        // The manager sends no change of a unit that was active before.
        manager.refresh(watch) { [weak self] in
          guard let self, self.showing[handle] === showing, !showing.isStopping else { return }
          if watch.state.hasEnded, watch.state.meetsConditions == false {
            conditionsUnmet(showing, handle)
          } else {
            started(handle)
          }
        }
      case .finished(let result):
        let why = watch.state.result.map { $0 == "success" ? "" : ", “\($0)”" } ?? ""
        failed(
          handle,
          "the unit \(showing.unit) was not started: expected the job's result “done”, found “\(result)”\(why); see "
            + "“systemctl --user status '\(showing.unit)'”")
      case .refused(let error): failed(handle, error.message)
      }
    }
  }

  /// Reports a unit that was not started because of its conditions: its job is done nevertheless.
  private func conditionsUnmet(_ showing: Showing, _ handle: Handle) {
    manager.readUnmetConditions(of: showing.unit) { [weak self] conditions in
      guard let self, self.showing[handle] === showing, !showing.isStopping else { return }
      let which = conditions.isEmpty ? "" : ": " + conditions.joined(separator: ", ")
      failed(handle, "the unit \(showing.unit) was not started, since a condition of its file is not met\(which)")
    }
  }

  private func started(_ handle: Handle) {
    showing[handle]?.isStarted = true
    // The job of a unit with Type=notify is done when the unit has said READY=1.
    reportReady(handle)
    reports.take(.presentAnswered(handle, error: nil))
    changed(handle)
  }

  private func reportReady(_ handle: Handle) {
    guard let showing = showing[handle], !showing.isReady else { return }
    showing.isReady = true
    reports.take(.ready(handle))
  }

  private func failed(_ handle: Handle, _ error: String) {
    forget(handle)
    reports.take(.presentAnswered(handle, error: error))
  }

  /// Does nothing: a unit has no item to update (D8).
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {}

  // MARK: Ending

  private func changed(_ handle: Handle) {
    guard let showing = showing[handle], let state = showing.watch?.state else { return }
    if showing.isStarted, state.active == "active" { reportReady(handle) }
    guard state.hasEnded else { return }
    if showing.isStopping {
      stopped(handle)
    } else if showing.isStarted {
      forget(handle)
      var result: Properties = [:]
      let hasFailed = state.active == "failed" && !state.wasStopped
      if hasFailed {
        result[PresentationResult.keys.error] =
          "the unit \(showing.unit) failed: \(state.failure ?? state.result ?? "unknown")"
      }
      if state.wasStopped { result[PresentationResult.keys.stopped] = true }
      reports.take(.ended(handle, failed: hasFailed, result: result))
    }
  }

  func dismiss(_ handle: Handle, _ reason: Reason, isRequested: Bool, animated: Bool, isForced: Bool) {
    guard let showing = showing[handle], showing.watch != nil else {
      forget(handle)
      reports.take(.dismissAnswered(handle, result: [:]))
      return
    }
    showing.isStopping = true
    // A manager that is being updated comes back.
    manager.whenKnown { [weak self] in
      guard let self, self.showing[handle] === showing else { return }
      stop(showing, handle)
    }
  }

  private func stop(_ showing: Showing, _ handle: Handle) {
    manager.stop(showing.unit) { [weak self] end in
      guard let self, self.showing[handle] === showing else { return }
      switch end {
      case .finished(SystemdJobs.done): stopped(handle)
      // The unit was started again meanwhile; it still has its grace time to end.
      case .finished: break
      case .refused(let error) where error.name == Systemd.noSuchUnit: stopped(handle)
      case .refused(let error):
        log.error("a unit could not be stopped, and counts as gone: \(error.message)", metadata: metadata(for: handle))
        stopped(handle, ["error": .string(error.message)])
      }
    }
  }

  private func stopped(_ handle: Handle, _ result: Properties = [:]) {
    forget(handle)
    reports.take(.dismissAnswered(handle, result: result))
  }

  func kill(_ handle: Handle) {
    if let unit = showing[handle]?.unit { manager.kill(unit) }
  }

  func abandon(_ handle: Handle) {
    log.error("a unit could not be stopped, not even by SIGKILL, and counts as gone", metadata: metadata(for: handle))
  }

  func forget(_ handle: Handle) { showing.removeValue(forKey: handle)?.watch?.cancel() }

  private func metadata(for handle: Handle) -> Logger.Metadata {
    ["presentation": "\(handle)", "unit": "\(showing[handle]?.unit.text ?? "")"]
  }

  func platform(of handle: Handle) -> Properties {
    guard let showing = showing[handle] else { return [:] }
    var all: Properties = ["unit": .string(showing.unit.text)]
    if let pid = showing.watch?.state.mainProcess { all[StateEntry.keys.pid] = UInt64(pid) }
    return all
  }

  func runs(_ handle: Handle, _ process: ProcessOrigin) -> Bool {
    showing[handle].map { process.controlGroups.contains(ByteString($0.unit.text)) } ?? false
  }

  func hasStarted(_ handle: Handle, _ process: ProcessOrigin) -> Bool { runs(handle, process) }

  func isInJob(_ handle: Handle) -> Bool { showing[handle]?.watch?.state.hasJob == true }

  /// None: the manager starts the unit with an environment of its own.
  func startupID(of presentation: Presentation) -> StartupID? { nil }

  /// False: only the manager knows the command line, and its unit is the only one that it starts.
  func repeats(_ handle: Handle, _ process: ProcessOrigin) -> Bool { false }

  // MARK: After a restart

  /// Takes over each active or starting unit as the one that the previous navd started.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    manager.whenKnown { [self] in
      var survivals: [Handle: Survival] = [:]
      var unanswered = 1
      func answered() {
        unanswered -= 1
        if unanswered == 0 { completion(survivals) }
      }
      for presentation in remembered.map(\.presentation) {
        let handle = presentation.handle
        survivals[handle] = presentation.phase == .presenting ? .toBeShown : .gone(result: [:])
        guard manager.isPresent, let unit = try? presentation.content.unitName() else { continue }
        let showing = Showing(unit)
        self.showing[handle] = showing
        let watch = manager.watch(unit) { [weak self] in self?.changed(handle) }
        showing.watch = watch
        unanswered += 1
        manager.refresh(watch) { [self] in
          if watch.state.active == nil || watch.state.hasEnded {
            forget(handle)
          } else {
            showing.isStarted = true
            survivals[handle] = .shown
            changed(handle)
          }
          answered()
        }
      }
      answered()
    }
  }
}

extension PresentationFields {
  /// The unit that shows the item.
  fileprivate func unitName() throws(UnitName.Mistake) -> UnitName {
    let text = item.destination?.content.unitName(for: item.content, at: binding) ?? ""
    do throws(UnitName.Mistake) {
      return try UnitName(text)
    } catch {
      throw UnitName.Mistake(why: "unit name \(quoted(text)): \(error.why)")
    }
  }
}
