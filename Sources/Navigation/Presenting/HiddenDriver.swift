import CoordinatorAPI
import DBusValues
import PresentationModel

/// Serves a piece of state whose screens are out of view: it writes what other clients request into the state, and presents nothing.
/// When a screen presents the state, its driver takes the place of this one until that screen ends.
@MainActor
final class HiddenDriver: Driver {
  private enum State {
    case item(DrivenContent)
    case path(PathState)
  }

  private let state: State
  private let accepts: ServedEntry
  private let from: String
  let subject: DrivenSubject
  let ownDestination: String?
  let root: BindingRoot
  let noted = NotedTransaction()
  var onDifference: (() -> Void)?
  let acceptance = Moment()
  /// The presentations that are to begin with the parent, by their bindings.
  private var waiting: [String: PresentationState] = [:]

  /// - Parameters:
  ///   - content: the state.
  ///   - kind: the way in which the state is presented.
  ///   - from: the binding of the parent.
  init(_ content: DrivenContent, as kind: ItemPlace.Kind, of navigator: Navigator, from: String) {
    let place = ItemPlace(kind, of: content, in: navigator, from: from, ownDestination: navigator.destination)
    state = .item(content)
    accepts = place.placing(content.accepts())
    self.from = from
    subject = .slot(place.binding)
    ownDestination = navigator.destination
    root = content.route.root
  }

  /// - Parameters:
  ///   - path: the state.
  ///   - accepts: the elements that other clients may push.
  ///   - from: the binding of the parent.
  init(_ path: PathState, _ accepts: ServedEntry, of navigator: Navigator, from: String) {
    var accepts = accepts
    accepts.from = from
    (state, self.accepts, self.from) = (.path(path), accepts, from)
    subject = .stack(navigator.coordinator.text(of: path.route))
    ownDestination = navigator.destination
    root = path.route.root
  }

  var served: (binding: String, accepts: ServedEntry)? { (subject.name, accepts) }

  // MARK: Coordinator to state

  func isUnknown(_ presentation: PresentationHandle) -> Bool {
    !waiting.values.contains { $0.presentation == presentation }
  }

  func adopt(_ entries: [PresentationState]) {
    let entries = entries.filter { $0.destination == ownDestination }
    guard entries.contains(where: { isUnknown($0.presentation) }) else { return }
    waiting = Dictionary(entries.map { ($0.binding, $0) }) { $1 }
    request(
      entries.sorted { place(of: $0) < place(of: $1) }.map {
        RequestedEntry($0.binding, id: $0.id, destination: $0.destination ?? "", value: $0.value)
      })
  }

  private func place(of entry: PresentationState) -> Int { StackElement.parts(of: entry.binding)?.index ?? 0 }

  func request(_ items: [RequestedEntry]) {
    switch state {
    case .item(let content): content.adopt(items)
    case .path(let path): path.adopt(items)
    }
  }

  func updated(_ presentation: PresentationHandle, value: Properties, at moment: Moment) {
    guard case .item(let content) = state, !isUnknown(presentation) else { return }
    _ = content.edit?(value)
  }

  /// Returns the presentations that are to begin with the parent, and forgets them.
  func takeWaiting() -> [String: PresentationState] {
    defer { waiting = [:] }
    return waiting
  }

  func parent(of presentation: PresentationHandle) -> String? { from }

  @discardableResult
  func ended(_ presentation: PresentationHandle, _ end: Dismissal) -> (@MainActor () -> Void)? {
    guard let entry = waiting.values.first(where: { $0.presentation == presentation }) else { return nil }
    waiting[entry.binding] = nil
    // An item whose parent was replaced waits for the next parent.
    if end.followsAnother { return nil }
    switch state {
    case .item(let content): if content.read()?.id == entry.id { content.clear() }
    case .path(let path):
      let (values, index) = (path.read(), place(of: entry))
      if index < values.count, values.id(index) == entry.id { path.truncate(index) }
    }
    return nil
  }

  func reconcile(
    _ state: StateIndex, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle] {
    let lost = waiting.values.filter { !state.contains($0.presentation, of: $0.id, at: subject) }
    for entry in lost { ended(entry.presentation, Dismissal(reason: .lost, error: nil)) }
    adopt(state[subject].filter { $0.phase != .dismissing && !givenUp.contains($0.presentation) })
    return lost.map(\.presentation)
  }

  /// Waits for the screen that presents the state.
  func screen(
    for presentation: PresentationHandle, binding: String, id: String, value: Properties, isGivenUp: Bool
  ) throws(ShowingError) -> (any Screen)? {
    nil
  }

  // MARK: Nothing is presented

  func changes(_ transaction: Transaction, _ tracking: Tracking) -> [Coordinator.Request] { [] }
  func watch(_ tracking: Tracking) -> Bool { false }
  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction? { nil }
  func accepted(_ replies: [[Value]], at moment: Moment) {}
  func leftovers() -> [Coordinator.Request] { [] }
  func refused(_ error: CoordinatorError) -> Bool { false }
  func postponed() {}
  func appeared(_ presentation: PresentationHandle, id: String, value: Properties, destination: String?) {}
  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties) {}
  func hasGivenUp(_ presentation: PresentationHandle) -> Bool { false }
  func isHidden(_ presentation: PresentationHandle) -> Bool { false }
  func declined(_ presentation: PresentationHandle) {}
  func forgetRefusal() {}
  func retire() -> [Coordinator.Request] { [] }
  var isIdle: Bool { true }
  var isOver: Bool { true }
}
