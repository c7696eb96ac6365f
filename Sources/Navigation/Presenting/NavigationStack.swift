// Why this file exists: a drill-down is a path of values, and each type of value has its screen.

import CoordinatorAPI
import DBusValues

/// A stack of screens that follows a path, and can be pushed on from its screens.
@MainActor
public final class NavigationStack: Presenting {
  /// What is presented from here is pushed on it.
  public let presentationSource: PresentationSource
  let driver: PathDriver
  private var children: [Presence] = []

  init(_ path: PathState, name: String, from source: PresentationSource) {
    driver = PathDriver(path, name: name, destination: source.navigator.destination)
    presentationSource = PresentationSource(navigator: source.navigator, binding: source.binding, stack: name)
  }

  /// The screens of a type of values; where a type is given twice, the last counts. What stands in the path before there are
  /// screens for it is shown when there are.
  public func navigationDestination<Element: Hashable & Codable>(
    for type: Element.Type, content: @escaping @MainActor (Element) -> any Screen
  ) {
    driver.makers[typeName(type)] = { $0.decoded(type).map(content) }
    presentationSource.navigator.mark(driver, Transaction.current)
  }

  public func keep(_ presence: Presence) { children.append(presence) }
}

extension Presenting {
  /// Puts a value on the path of the stack that this stands in, as a link does.
  public func push(value: some Hashable & Codable, file: StaticString = #fileID, line: UInt = #line) {
    let source = presentationSource
    guard let stack = source.stack, let driver = source.navigator.path(named: stack) else {
      return reportMisuse(
        "a \(type(of: value)) was pushed, but there is no stack with a path here", file: file, line: line)
    }
    guard driver.path.append(value) else {
      return reportMisuse(
        "a \(type(of: value)) was pushed on a path of another type; a NavigationPath would do", file: file, line: line)
    }
  }
}

/// Keeps a stack of the coordinator and a path the same. What others push on the stack is theirs (S8).
@MainActor
final class PathDriver: Driver {
  let path: PathState
  let name: String
  /// By the type's name.
  var makers: [String: @MainActor (NavigationPath.Element) -> (any Screen)?] = [:]
  let ownDestination: String?

  /// One screen of the path, as the coordinator has it; nil until it is accepted.
  private struct Place {
    let element: NavigationPath.Element
    var presentation: PresentationHandle?
  }

  private var places: [Place] = []
  /// How many stood there before what was asked for, and has no answer yet.
  private var asked: (kept: Int, removals: Int)?
  /// Of the state after the last answer.
  private var acceptedSerial: UInt64 = 0
  private var endedEarly: Set<PresentationHandle> = []

  /// - Parameter destination: the program's own.
  init(_ path: PathState, name: String, destination: String) {
    ownDestination = destination
    self.path = path
    self.name = name
  }

  func drives(_ binding: String) -> Bool { index(of: binding) != nil }

  private func binding(_ index: Int) -> String { "\(name)[\(index)]" }

  private func index(of binding: String) -> Int? {
    guard binding.hasPrefix(name + "["), binding.last == "]" else { return nil }
    return Int(binding.dropFirst(name.count + 1).dropLast())
  }

  private func id(of element: NavigationPath.Element) -> String {
    (try? JSON.parse(element.value)).map { $0.string ?? $0.text } ?? element.value
  }

  // MARK: From the state

  func changes(
    _ transaction: Transaction, onChange: @escaping @MainActor @Sendable (Transaction) -> Void
  ) -> [Coordinator.Change] {
    let wanted = track(path.read, onChange: onChange).prefix { makers[$0.type] != nil }
    let kept = zip(places, wanted).prefix { $0.element == $1 }.count
    guard kept < places.count || kept < wanted.count else { return [] }
    // What stands above goes with it (S2); what others pushed below stays (S8).
    let removals =
      places.count > kept ? [Coordinator.Change.dismiss(binding(kept), animated: transaction.animated)] : []
    places.removeSubrange(kept...)
    places += wanted[kept...].map { Place(element: $0) }
    asked = (kept, removals.count)
    return removals
      + places.indices[kept...].map { index in
        let element = places[index].element
        var options = PresentationOptions(destination: ownDestination)
        options.value = Properties(path: element.value)
        options.stack = name
        return .present(binding(index), id: id(of: element), options.owned(in: transaction))
      }
  }

  func farewell() -> [Coordinator.Change] {
    guard !places.isEmpty else { return [] }
    places = []
    return [.dismiss(binding(0))]
  }

  // MARK: Answers

  func accepted(_ replies: [[Value]], serial: UInt64) {
    acceptedSerial = serial
    guard let (kept, removals) = asked else { return }
    asked = nil
    for (index, reply) in replies.dropFirst(removals).enumerated() where places.indices.contains(kept + index) {
      places[kept + index].presentation =
        reply.first.flatMap(ObjectPath.init(value:)).flatMap(PresentationHandle.init(optional:))
    }
    for presentation in endedEarly { ended(presentation, .closed) }
    endedEarly = []
  }

  func refused() {
    guard let (kept, _) = asked else { return }
    asked = nil
    endedEarly = []
    places.removeSubrange(kept...)
    path.truncate(kept)
  }

  func postponed() {
    guard let (kept, _) = asked else { return }
    asked = nil
    endedEarly = []
    places.removeSubrange(kept...)
  }

  // MARK: To the state

  func ended(_ presentation: PresentationHandle, _ reason: NavigationReason) {
    guard let index = places.firstIndex(where: { $0.presentation == presentation }) else {
      if asked != nil { endedEarly.insert(presentation) }
      return
    }
    let gone = places[index].element
    places.removeSubrange(index...)
    let elements = path.read()
    // Only if it is still the one.
    if elements.indices.contains(index), elements[index] == gone { path.truncate(index) }
  }

  func updated(_ presentation: PresentationHandle, value: Properties) {}

  func reconcile(_ state: NavigationState) -> [PresentationHandle] {
    guard state.serial >= acceptedSerial else { return [] }
    let there = Set(state.presentations.map(\.presentation))
    let lost = places.compactMap(\.presentation).filter { !there.contains($0) }
    for presentation in lost { ended(presentation, .lost) }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)? {
    let elements = path.read()
    guard let index = index(of: binding), elements.indices.contains(index), self.id(of: elements[index]) == id else {
      return nil
    }
    guard let screen = makers[elements[index].type]?(elements[index]) else {
      throw ShowingError(why: "\(elements[index].value) is no \(elements[index].type)")
    }
    return screen
  }
}

extension Properties {
  /// The value of a path's element.
  fileprivate init?(path json: String) {
    guard let json = try? JSON.parse(json) else { return nil }
    let members = json.object ?? ["value": json]
    guard let value = try? Value(.object(members), as: Properties.valueType) else { return nil }
    self.init(value: value)
  }
}
