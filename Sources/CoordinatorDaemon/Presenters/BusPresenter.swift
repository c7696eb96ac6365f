import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Shows items by calling programs on the bus (`org.navd.Presenter1`), whose replies are the acknowledgements (D4).
final class BusPresenter: Presenter {
  private final class Showing {
    let name: BusName
    let path: ObjectPath
    var watch: NameWatch?
    /// The owner of the name, as far as known.
    var owner: Client?

    init(name: BusName, path: ObjectPath) {
      self.name = name
      self.path = path
    }
  }

  private let connection: Connection
  private let limits: Limits
  private let report: (Report) -> Void
  private var showing: [Handle: Showing] = [:]
  /// Presentations of the previous navd that their presenters have not been asked to show again.
  private var restored: Set<Handle> = []
  /// Unanswered calls of each presenter. For a presenter that has left, the bus answers.
  private var unanswered: [BusName: Int] = [:]

  init(_ connection: Connection, limits: Limits, report: @escaping (Report) -> Void) {
    self.connection = connection
    self.limits = limits
    self.report = report
  }

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    guard case .bus(let text, let path) = presentation.item.destination?.presenter, let name = BusName(text) else {
      report(.presentAnswered(handle, error: "the destination has no valid bus name"))
      return
    }
    let open = unanswered[name, default: 0]
    guard open < limits.callsPerPresenter else {
      let why =
        "expected at most \(limits.callsPerPresenter) unanswered calls of the presenter \(name) (the limit "
        + "“calls-per-presenter”), found \(open)"
      report(.presentAnswered(handle, error: why))
      return
    }
    stopShowing(handle)
    let showing = Showing(name: name, path: path)
    self.showing[handle] = showing
    var item = properties
    item[StateEntry.keys.animated] = presentation.item.animated
    if restored.remove(handle) != nil { item[StateEntry.keys.restored] = true }
    item[StateEntry.keys.platformData] = presentation.item.platformData
    call(
      PresenterInterface.present, of: showing, (handle.path, presentation.binding.text, presentation.item.id, item)
    ) { [weak self] result in
      guard let self, self.showing[handle] === showing else { return }
      switch result {
      case .success: report(.presentAnswered(handle, error: nil))
      case .failure(let error): report(.presentAnswered(handle, error: error.description))
      }
    }
    // The name may have no owner until the call has activated its program.
    follow(showing, handle)
  }

  /// Calls have no timeout, since the rules set the deadlines.
  private func call<Input, Output>(
    _ method: Method<Input, Output>, of showing: Showing, _ input: Input,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    unanswered[showing.name, default: 0] += 1
    connection.call(method, on: showing.name, at: showing.path, input, timeout: nil) { [weak self] result in
      if let self, let open = unanswered[showing.name] { unanswered[showing.name] = open > 1 ? open - 1 : nil }
      completion(result)
    }
  }

  private func follow(_ showing: Showing, _ handle: Handle) {
    var hadOwner = false
    showing.watch = connection.watchName(showing.name) { [weak self] owner in
      guard let self, self.showing[handle] === showing else { return }
      if let owner {
        if hadOwner, showing.owner != Client(owner.text) { left(handle) }
        hadOwner = true
        showing.owner = Client(owner.text)
      } else if hadOwner || showing.name.isUnique {
        left(handle)
      }
    }
  }

  /// Reports the end of an item whose presenter has left the bus (D4).
  private func left(_ handle: Handle) {
    forget(handle)
    report(.ended(handle, failed: true, result: ["error": .string("the presenter left the bus")]))
  }

  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {
    let handle = presentation.handle
    guard let showing = showing[handle] else { return }
    guard author == nil || author != showing.owner else {
      report(.updateAnswered(handle))
      return
    }
    call(PresenterInterface.update, of: showing, (handle.path, properties)) { [weak self] _ in
      guard let self, self.showing[handle] === showing else { return }
      report(.updateAnswered(handle))
    }
  }

  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool) {
    guard let showing = showing[handle] else {
      report(.dismissAnswered(handle, result: [:]))
      return
    }
    call(PresenterInterface.dismiss, of: showing, (handle.path, reason.rawValue, animated)) { [weak self] result in
      guard let self, self.showing[handle] === showing else { return }
      forget(handle)
      switch result {
      case .success(let values): report(.dismissAnswered(handle, result: values))
      case .failure(let error): report(.dismissAnswered(handle, result: ["error": .string(error.description)]))
      }
    }
  }

  /// Presenters that are still on the bus are asked to show their items again, and so learn of the new navd.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    var survivals: [Handle: Survival] = [:]
    for presentation in remembered.map(\.presentation) {
      guard case .bus(let text, let path) = presentation.item.destination?.presenter, recovered.names.contains(text),
        let name = BusName(text)
      else { continue }
      let showing = Showing(name: name, path: path)
      self.showing[presentation.handle] = showing
      follow(showing, presentation.handle)
      restored.insert(presentation.handle)
      survivals[presentation.handle] = .toBeShown
    }
    completion(survivals)
  }

  func shows(_ handle: Handle, as client: Client) -> Bool { showing[handle]?.owner == client }

  func forget(_ handle: Handle) {
    restored.remove(handle)
    stopShowing(handle)
  }

  private func stopShowing(_ handle: Handle) { showing.removeValue(forKey: handle)?.watch?.cancel() }
}
