// Why this file exists: a drill-down is a path of values, and each type of value has its screen.

import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

/// A stack of screens that follows a path, and can be pushed on from its screens.
@MainActor
public final class NavigationStack: Presenting {
  /// What is presented from here is pushed on it.
  public let presentationSource: PresentationSource
  let driver: PathDriver
  /// What the stack is in: what is pushed on it goes with that.
  private let container: any Presenting

  init(_ path: PathState, name: String, in container: any Presenting) {
    let source = container.presentationSource
    driver = PathDriver(path, name: name, from: source.binding, destination: source.navigator.destination)
    presentationSource = PresentationSource(navigator: source.navigator, binding: source.binding, stack: name)
    self.container = container
  }

  /// The screens of a type of values; where a type is given twice, the last counts. What stands in the path before there are
  /// screens for it is shown when there are.
  public func navigationDestination<Element: Hashable & Codable>(
    for type: Element.Type, content: @escaping @MainActor (Element) -> any Screen
  ) {
    driver.makers[typeName(type)] = { $0.decoded(type).map(content) }
    presentationSource.navigator.mark(driver, Transaction.current)
  }

  /// What is pushed on the stack goes with what the stack is in.
  public func keep(_ presence: Presence) { container.keep(presence) }
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

  /// What was asked for and has no answer yet.
  private struct Asked {
    /// What stood there before.
    var former: [Place]
    /// How many of them stay.
    let kept: Int
    let removals: Int
  }

  private var places: [Place] = []
  private var asked: Asked?
  /// Of the state after the last answer.
  private var acceptedSerial: UInt64 = 0
  private var endedEarly: Set<PresentationHandle> = []
  /// The lowest of those that stand there without anybody here having been told.
  private var stray: Int?
  /// Takes back what was accepted when nobody wanted it any more.
  private var unwanted: Coordinator.Change?
  private var isRetired = false
  private let from: String?

  /// - Parameters:
  ///   - from: the binding of what the stack is in; nil: nothing.
  ///   - destination: the program's own.
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

  // MARK: From the state

  func changes(
    _ transaction: Transaction, onChange: @escaping @MainActor @Sendable (Transaction) -> Void
  ) -> [Coordinator.Change] {
    let wanted = track(path.read, onChange: onChange).prefix { makers[$0.type] != nil }
    let kept = zip(places, wanted).prefix { $0.element == $1 }.count
    // What stands above goes with it (S2); what others pushed below stays (S8).
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
        // It stands on what is below, which may have been closed meanwhile; then it is refused.
        options.from = index > 0 ? binding(index - 1) : from
        return .present(binding(index), id: path.id(element), options.owned(in: transaction))
      }
  }

  func farewell() -> [Coordinator.Change] {
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
        // What it was to stand on was taken away in the same turn.
        if places.indices.contains(index) {
          cut(to: index, where: places[index].element)
          places.removeSubrange(index...)
        }
        break
      }
      // What is not there any more was cut with what it stands on, and goes with that.
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

  /// Takes from the path what stands at a place and above, if it is still this.
  private func cut(to count: Int, where element: NavigationPath.Element?) {
    let elements = path.read()
    if !isRetired, elements.indices.contains(count), elements[count] == element { path.truncate(count) }
  }

  // MARK: To the state

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
      // Where an answer was lost.
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
