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
    presentationSource = PresentationSource(navigator: source.navigator, binding: source.binding, stack: name)
    self.container = container
  }

  /// Registers the screens for values of a type. If a type is registered twice, the last registration counts. Values
  /// that are already in the path are shown now.
  public func navigationDestination<Element: Hashable & Codable>(
    for type: Element.Type, content: @escaping @MainActor (Element) -> any Screen
  ) {
    driver.makers[typeName(type)] = { $0.decoded(type).map(content) }
    presentationSource.navigator.schedule(driver, Transaction.current)
  }

  /// Presences on the stack live as long as its parent.
  public func keep(_ presence: Presence) { container.keep(presence) }
}

extension Presenting {
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
  /// Destinations by the name of the type.
  var makers: [String: @MainActor (NavigationPath.Element) -> (any Screen)?] = [:]
  let ownDestination: String?

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
  private var asked: Asked?
  /// The serial of the state after the last answer.
  private var acceptedSerial: UInt64 = 0
  private var endedEarly: Set<PresentationHandle> = []
  /// The lowest screen of this program in the coordinator's stack that is unknown here, because an answer was lost.
  private var stray: Int?
  /// Requests that dismiss screens that were accepted when they were no longer wanted.
  private var unwanted: Coordinator.Change?
  private var isRetired = false
  private let from: String?

  /// - Parameters:
  ///   - from: the binding of the stack's parent; nil if there is none.
  ///   - destination: the destination that this program registers.
  init(_ path: PathState, name: String, from: String?, destination: String) {
    ownDestination = destination
    self.path = path
    self.name = name
    self.from = from
  }

  func drives(_ binding: String) -> Bool { index(of: binding) != nil }

  private func binding(_ index: Int) -> String { "\(name)[\(index)]" }

  private func index(of binding: String) -> Int? {
    guard binding.hasPrefix(name + "["), binding.last == "]" else { return nil }
    return Int(binding.dropFirst(name.count + 1).dropLast())
  }

  // MARK: State to coordinator

  func changes(
    _ transaction: Transaction, onChange: @escaping @MainActor @Sendable (Transaction) -> Void
  ) -> [Coordinator.Change] {
    let wanted = track(path.read, onChange: onChange).prefix { makers[$0.type] != nil }
    let kept = zip(places, wanted).prefix { $0.element == $1 }.count
    // Screens above it end with it (S2); screens that others pushed below it stay (S8).
    let first = kept < places.count ? kept : stray.flatMap { $0 >= wanted.count ? $0 : nil }
    stray = nil
    let removals = first.map { [Coordinator.Change.dismiss(binding($0), animated: transaction.animated)] } ?? []
    guard !removals.isEmpty || kept < wanted.count else { return [] }
    asked = Asked(former: places, kept: kept, removals: removals.count)
    places.removeSubrange(kept...)
    places += wanted[kept...].map { Place(element: $0) }
    return removals
      + places.indices[kept...].map { index in
        let element = places[index].element
        var options = PresentationOptions(destination: ownDestination)
        options.value = (try? JSON.parse(element.value)).flatMap(Coding.properties)
        options.stack = name
        // The screen below may have been closed in the meantime; then the request is refused.
        options.from = index > 0 ? binding(index - 1) : from
        return .present(binding(index), id: path.id(element), options.owned(in: transaction))
      }
  }

  func retire() -> [Coordinator.Change] {
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

  func leftovers() -> [Coordinator.Change] {
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
    if let asked { places = asked.former }
    answered()
  }

  private func answered() {
    asked = nil
    let ended = endedEarly
    endedEarly = []
    for presentation in ended { self.ended(presentation, .closed) }
  }

  /// Removes the value at a position and all values above it, if it is still this value.
  private func cut(to count: Int, where element: NavigationPath.Element?) {
    let elements = path.read()
    if !isRetired, elements.indices.contains(count), elements[count] == element { path.truncate(count) }
  }

  // MARK: Coordinator to state

  func appeared(_ presentation: PresentationHandle, id: String, destination: String?) {}

  func ended(_ presentation: PresentationHandle, _ reason: NavigationReason) {
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

  func updated(_ presentation: PresentationHandle, value: Properties, serial: UInt64) {}

  func forgetSerials() { acceptedSerial = 0 }

  func reconcile(_ state: NavigationState, client: String) -> [PresentationHandle] {
    guard state.serial >= acceptedSerial else { return [] }
    let there = Set(state.presentations.map(\.presentation))
    let known = Set(places.compactMap(\.presentation))
    let lost = places.compactMap(\.presentation).filter { !there.contains($0) }
    for presentation in lost { ended(presentation, .lost) }
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
    guard let screen = makers[elements[index].type]?(elements[index]) else {
      throw ShowingError(why: "\(elements[index].value) is no \(elements[index].type)")
    }
    return screen
  }
}
