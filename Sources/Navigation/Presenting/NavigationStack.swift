import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

/// A stack of screens that follows a path. Its screens can push further ones.
@MainActor
public final class NavigationStack: Presenting {
  /// Screens presented from the stack are pushed on it.
  public let presentationSource: PresentationSource
  let driver: PathDriver
  /// The parent of the stack: what is pushed on the stack ends with it.
  private let container: any Presenting

  init(_ path: PathState, name: String, in container: any Presenting) {
    let source = container.presentationSource
    driver = PathDriver(path, name: name, from: source.binding, destination: source.navigator.destination)
    presentationSource = PresentationSource(
      navigator: source.navigator, binding: source.binding, stack: name, parent: source.parent)
    self.container = container
  }

  /// Presences on the stack live as long as its parent.
  public func keep(_ presence: Presence) { container.keep(presence) }
}

extension Presenting {
  /// Registers the screens for values of a type on the stack that contains this. If a type is registered twice, the last
  /// registration counts. It ends with the screen that made it. Values that are already in the path are shown now.
  public func navigationDestination<Element: Hashable & Codable>(
    for type: Element.Type, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor (Element) -> (any Screen)?
  ) {
    let source = presentationSource
    guard let stack = source.stack, let driver = source.navigator.path(named: stack) else {
      return reportMisuse(
        "a destination for \(type) was declared, but there is no stack with a path here", file: file, line: line)
    }
    let name = TypeName.of(type)
    let maker = PathDriver.Maker { $0.decoded(type).flatMap(content) }
    driver.makers[name, default: []].append(maker)
    let presence = Presence(nil, source.navigator)
    presence.atEnd { [weak driver] in driver?.makers[name]?.removeAll { $0 === maker } }
    keep(presence)
    source.navigator.schedule(driver, in: Transaction.current)
  }

  /// Appends a value to the path of the stack that contains this screen, like a link.
  public func push(value: some Hashable & Codable, file: StaticString = #fileID, line: UInt = #line) {
    let source = presentationSource
    guard let stack = source.stack, let driver = source.navigator.path(named: stack) else {
      return reportMisuse(
        "a \(type(of: value)) was pushed, but there is no stack with a path here", file: file, line: line)
    }
    guard driver.path.append(value) else {
      return reportMisuse(
        "a \(type(of: value)) was pushed on a path of another type; use a NavigationPath for several types", file: file,
        line: line)
    }
  }
}

/// Keeps a stack of the coordinator and a path in agreement. Screens that others push on the stack are left alone (S8).
@MainActor
final class PathDriver: Driver {
  let path: PathState
  let name: String
  /// Makes the screens of a type.
  final class Maker {
    let make: @MainActor (NavigationPath.Element) -> (any Screen)?
    init(_ make: @escaping @MainActor (NavigationPath.Element) -> (any Screen)?) { self.make = make }
  }

  /// Makers by the name of the type; the last one counts.
  var makers: [String: [Maker]] = [:]
  let ownDestination: String?
  let noted = NotedTransaction()

  /// A screen of the path. Its handle is nil until the coordinator has accepted the request.
  private struct Place {
    let element: NavigationPath.Element
    var presentation: PresentationHandle?
  }

  /// A request without an answer yet.
  private struct Asked {
    /// The path before the request.
    var former: [Place]
    /// Number of screens that are kept.
    let kept: Int
    let removals: Int
  }

  private var places: [Place] = []
  /// Former screens of the path that have not ended, with their positions.
  private var leaving: [PresentationHandle: (index: Int, element: NavigationPath.Element)] = [:]
  private var asked: Asked?
  /// The transaction of the last requests.
  private var transaction: Transaction?
  /// The serial of the state after the last answer.
  private var acceptedSerial: UInt64 = 0
  private var endedEarly: Set<PresentationHandle> = []
  /// The lowest screen of this program in the coordinator's stack that is unknown here, because an answer was lost.
  private var stray: Int?
  /// Requests that dismiss screens that were accepted when they were no longer wanted.
  private var unwanted: Coordinator.Request?
  private var isRetired = false
  private let from: String?
  /// The mistakes that were reported, so that each is reported once.
  private var reports: Set<String> = []

  /// - Parameters:
  ///   - from: the binding of the stack's parent; nil if there is none.
  ///   - destination: the destination that this program registers.
  init(_ path: PathState, name: String, from: String?, destination: String) {
    ownDestination = destination
    self.path = path
    self.name = name
    self.from = from
  }

  var root: BindingRoot { path.root }

  func drives(_ binding: String) -> Bool { index(of: binding) != nil }

  private func binding(_ index: Int) -> String { "\(name)[\(index)]" }

  private func index(of binding: String) -> Int? {
    guard binding.hasPrefix(name + "["), binding.last == "]" else { return nil }
    return Int(binding.dropFirst(name.count + 1).dropLast())
  }

  // MARK: State to coordinator

  func changes(
    _ transaction: Transaction, onChange: @escaping @Sendable (Transaction) -> Void
  ) -> [Coordinator.Request] {
    let elements = track(path.read, onChange: onChange)
    let wanted = elements.prefix { !$0.value.isEmpty && makers[$0.type]?.isEmpty == false }
    if wanted.count < elements.count { report(elements[wanted.count]) }
    let kept = zip(places, wanted).prefix { $0.element == $1 }.count
    // Screens above it end with it (S2); screens that others pushed below it stay (S8).
    let first = kept < places.count ? kept : stray.flatMap { $0 >= wanted.count ? $0 : nil }
    stray = nil
    let removals =
      first.map {
        [Coordinator.Request.dismiss(binding($0), animated: transaction.animated, force: transaction.isForced)]
      } ?? []
    guard !removals.isEmpty || kept < wanted.count else { return [] }
    self.transaction = transaction
    asked = Asked(former: places, kept: kept, removals: removals.count)
    leave(to: kept)
    places += wanted[kept...].map { Place(element: $0) }
    return removals
      + places.indices[kept...].map { index in
        let element = places[index].element
        var options = PresentationOptions(destination: ownDestination)
        options.value = (try? JSON.parse(element.value)).flatMap(Coding.properties)
        if options.value == nil {
          report(element, "is shown without a value on the bus, since it has a null, which D-Bus has not")
        }
        options.stack = name
        // The screen below may have been closed in the meantime; then the request is refused.
        options.from = index > 0 ? binding(index - 1) : from
        return .present(binding(index), id: path.id(element), options.owned(in: transaction))
      }
  }

  func watch(onChange: @escaping @Sendable (Transaction) -> Void) {
    _ = track(path.read, onChange: onChange)
  }

  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction? {
    let isRequested =
      isEnding ? leaving[presentation] != nil : asked != nil || places.contains { $0.presentation == presentation }
    return isRequested ? transaction : nil
  }

  /// Reports a value that is not shown.
  private func report(_ element: NavigationPath.Element) {
    if element.value.isEmpty {
      report(element, "cannot be encoded, so it is not shown, and what is above it neither")
    } else {
      report(element, "has no navigationDestination(for:), so it is not shown, and what is above it neither")
    }
  }

  /// Reports a type of values once.
  private func report(_ element: NavigationPath.Element, _ what: String) {
    let message = "a \(element.type) in the path “\(name)” \(what)"
    if reports.insert(message).inserted { reportMisuse(message, of: root) }
  }

  /// Removes the screens at a position and above it, which are dismissed.
  private func leave(to count: Int) {
    for index in places.indices[count...] {
      if let presentation = places[index].presentation { leaving[presentation] = (index, places[index].element) }
    }
    places.removeSubrange(count...)
  }

  func retire() -> [Coordinator.Request] {
    isRetired = true
    guard !places.isEmpty else { return [] }
    places = []
    return [.dismiss(binding(0))]
  }

  var isOver: Bool { asked == nil }

  // MARK: Answers

  func accepted(_ replies: [[Value]], serial: UInt64) {
    acceptedSerial = serial
    guard let asked else { return }
    for (index, reply) in replies.dropFirst(asked.removals).enumerated() {
      let index = asked.kept + index
      guard let presentation = reply.first.flatMap(ObjectPath.init(value:)).flatMap(Handle.init(path:))
      else {
        // Its parent was dismissed in the same turn.
        if places.indices.contains(index) {
          cut(to: index, where: places[index].element)
          places.removeSubrange(index...)
        }
        break
      }
      // Screens that are gone ended with a screen below them.
      if places.indices.contains(index) { places[index].presentation = presentation }
      if isRetired, unwanted == nil {
        unwanted = .dismiss(binding(index), expecting: Expectation(presentation: presentation))
      }
    }
    answered()
  }

  func leftovers() -> [Coordinator.Request] {
    defer { unwanted = nil }
    return unwanted.map { [$0] } ?? []
  }

  func refused(_ name: CoordinatorError.Name) -> Bool {
    guard let asked else { return false }
    let refused = places.indices.contains(asked.kept) ? places[asked.kept].element : nil
    postponed()
    cut(to: asked.kept, where: refused)
    return name != .notPresented
  }

  func postponed() {
    if let asked {
      places = asked.former
      for presentation in places.compactMap(\.presentation) { leaving[presentation] = nil }
    }
    answered()
  }

  private func answered() {
    asked = nil
    let ended = endedEarly
    endedEarly = []
    for presentation in ended { self.ended(presentation, Dismissal(reason: .closed, error: nil)) }
  }

  /// Removes the value at a position and all values above it, if it is still this value.
  private func cut(to count: Int, where element: NavigationPath.Element?) {
    let elements = path.read()
    if !isRetired, elements.indices.contains(count), elements[count] == element { path.truncate(count) }
  }

  // MARK: Coordinator to state

  func appeared(_ presentation: PresentationHandle, id: String, destination: String?) {}

  func ended(_ presentation: PresentationHandle, _ end: Dismissal) {
    leaving[presentation] = nil
    if let index = asked?.former.firstIndex(where: { $0.presentation == presentation }) {
      asked?.former.removeSubrange(index...)
    }
    guard let index = places.firstIndex(where: { $0.presentation == presentation }) else {
      if asked != nil { endedEarly.insert(presentation) }
      return
    }
    let gone = places[index].element
    places.removeSubrange(index...)
    cut(to: index, where: gone)
  }

  func hasGivenUp(_ presentation: PresentationHandle) -> Bool { leaving[presentation] != nil }

  func declined(_ presentation: PresentationHandle) {
    guard let (index, element) = leaving[presentation], !isRetired, asked == nil, places.count >= index else { return }
    leaving[presentation] = nil
    leave(to: index)
    places.append(Place(element: element, presentation: presentation))
    path.truncate(index)
    path.putBack(element)
  }

  func updated(_ presentation: PresentationHandle, value: Properties, serial: UInt64) {}

  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties) {}

  func forgetSerials() { acceptedSerial = 0 }

  func reconcile(
    _ state: NavigationState, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle] {
    guard state.serial >= acceptedSerial else { return [] }
    let there = Set(state.presentations.map(\.presentation))
    let known = Set(places.compactMap(\.presentation))
    let lost = places.compactMap(\.presentation).filter { !there.contains($0) }
    for presentation in lost { ended(presentation, Dismissal(reason: .lost, error: nil)) }
    if asked == nil {
      // The answer to the request was lost.
      stray =
        state.presentations.filter {
          $0.phase != .dismissing && $0.isOwned(by: client) && !known.contains($0.presentation)
        }.compactMap { index(of: $0.binding) }.min()
    }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)? {
    let elements = path.read()
    guard let index = index(of: binding), elements.indices.contains(index), path.id(elements[index]) == id else {
      return nil
    }
    guard let screen = makers[elements[index].type]?.last?.make(elements[index]) else {
      let why = "\(elements[index].value) is no \(elements[index].type), or the program makes no screen for it"
      reportMisuse("the path “\(name)” is cut where it has a value without a screen: \(why)", of: root)
      throw ShowingError(why: why)
    }
    return screen
  }
}
