import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

/// A stack of screens that follows a path. Its screens can push further screens.
///
///     let stack = navigator.stack(path: $model.path)
///     stack.navigationDestination(for: Note.ID.self) { id in Window("Note \(id)") }
@MainActor
public final class ScreenStack: Presenting {
  /// The source of presentations from the stack, which are pushed on it.
  public let presentationSource: PresentationSource
  let driver: PathDriver
  /// The parent of the stack: screens on the stack end with it.
  private let container: any Presenting

  init(_ path: PathState, name: String, in container: any Presenting) {
    let source = container.presentationSource
    driver = PathDriver(path, name: name, from: source.binding, destination: source.navigator.destination)
    driver.parent = source.parent
    presentationSource = PresentationSource(
      navigator: source.navigator, binding: source.binding, stack: name, parent: source.parent)
    self.container = container
  }

  /// Presences on the stack live as long as its parent.
  public func keep(_ presence: Presence) { container.keep(presence) }
}

extension Presenting {
  /// Registers the screens for values of a type on the stack that contains this screen. If a type is registered twice, the last
  /// registration counts. A registration ends with the screen that made it. Values that are already in the path are shown now.
  ///
  ///     stack.navigationDestination(for: Note.ID.self) { id in
  ///       Binding($model.notes[id: id]).map { note in Window(note.wrappedValue.text) }
  ///     }
  public func navigationDestination<Element: Hashable & Codable>(
    for type: Element.Type, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor (Element) -> (any Screen)?
  ) {
    declare(type, file, line) { path, index in path.read().value(index, of: type).flatMap(content) }
  }

  /// Registers screens that edit their values, of one type, in the path:
  /// `navigationDestination(for: Binding<Note>.self) { $note in … }`. An `Identifiable` value of an array keeps its screen while
  /// it keeps its `id`. Any other edited value, and each edited value of a ``NavigationPath``, gets a new screen.
  ///
  ///     let stack = navigator.stack(path: $model.openNotes)
  ///     stack.navigationDestination(for: Binding<Note>.self) { note in
  ///       note.isDone.wrappedValue = true
  ///       return Window(note.wrappedValue.text)
  ///     }
  public func navigationDestination<Element: Hashable & Codable>(
    for type: Binding<Element>.Type, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping (Binding<Element>) -> (any Screen)?
  ) {
    declare(Element.self, file, line) { path, index in path.binding(index, of: Element.self).flatMap(content) }
  }

  private func declare<Element: Hashable & Codable>(
    _ type: Element.Type, _ file: StaticString, _ line: UInt,
    _ make: @escaping @MainActor (_ path: PathState, _ index: Int) -> (any Screen)?
  ) {
    let source = presentationSource
    if source.isOver { return }
    guard let stack = source.stack, let driver = source.navigator.path(named: stack) else {
      return reportMisuse(
        "a destination for \(type) was declared, but there is no stack with a path here", file: file, line: line)
    }
    let name = TypeName.of(type)
    let maker = PathScreens.Maker(type, make)
    driver.screens.declare(name, maker)
    let presence = Presence(nil, source.navigator)
    presence.atEnd { [weak driver, weak navigator = source.navigator] in
      guard let driver else { return }
      driver.screens.remove(maker, for: name)
      navigator?.declare(driver)
    }
    keep(presence)
    source.navigator.declare(driver)
    source.navigator.schedule(driver, in: Transaction.current)
  }

  /// Appends a value to the path of the stack that contains this screen, as a link does.
  ///
  ///     showing.push(value: 7)
  public func push(value: some Hashable & Codable, file: StaticString = #fileID, line: UInt = #line) {
    let source = presentationSource
    if source.isOver { return }
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

/// Keeps a stack of the coordinator and a path in agreement. Screens that others push on the stack are left unchanged (S8).
@MainActor
final class PathDriver: Driver {
  let path: PathState
  let name: String
  let screens: PathScreens
  let ownDestination: String?
  let noted = NotedTransaction()

  /// A screen of the path. Its handle is nil until the coordinator has accepted the request.
  private struct Place {
    var element: NavigationPath.Element
    var presentation: PresentationHandle?
  }

  /// The screens of a path, from the bottom to the top.
  private struct Places {
    private(set) var all: [Place] = []
    /// The values of the path when it was last read. The lowest ones belong to the screens.
    var values: any PathValues = MixedValues(elements: [])
    /// The positions of the elements whose last edits the coordinator has not accepted, with the path in which they were read.
    var edited: [Int: any PathValues] = [:]
    private var positions: [PresentationHandle: Int] = [:]

    var count: Int { all.count }

    /// The position of a presentation; nil if the path does not contain it.
    func position(of presentation: PresentationHandle) -> Int? { positions[presentation] }

    mutating func append(_ place: Place) {
      if let presentation = place.presentation { positions[presentation] = all.count }
      all.append(place)
    }

    mutating func set(_ presentation: PresentationHandle, at index: Int) {
      all[index].presentation = presentation
      positions[presentation] = index
    }

    mutating func set(_ element: NavigationPath.Element, at index: Int) { all[index].element = element }

    mutating func removeAll(from count: Int) {
      guard count < all.count else { return }
      for place in all[count...] { if let presentation = place.presentation { positions[presentation] = nil } }
      all.removeSubrange(count...)
      edited = edited.filter { $0.key < count }
    }
  }

  /// A request that was not answered yet.
  private struct Asked {
    /// The stray screens. The request ends those that are above the path.
    let strays: [Stray]
    /// The number of screens that are kept.
    let kept: Int
    let removals: Int
    /// The number of screens that are presented, from `kept` upwards.
    let additions: Int
    /// The lower screens that are updated, with their former values.
    let edits: [(index: Int, former: NavigationPath.Element)]
    /// The path before the request, and its screens above those that are kept, as far as they have not ended.
    let formerValues: any PathValues
    var removed: [Place]
    /// The presentations that have ended before the answer came, and those that have declined.
    var endedEarly: Set<PresentationHandle> = []
    var declinedEarly: [PresentationHandle] = []

    /// Notes that a presentation and all above it have ended.
    mutating func ended(_ presentation: PresentationHandle) {
      if let index = removed.lastIndex(where: { $0.presentation == presentation }) { removed.removeSubrange(index...) }
    }
  }

  /// The end of the connection to the state.
  private struct Retirement {
    /// A request to dismiss screens that were no longer wanted when they were accepted.
    var unwanted: Coordinator.Request?
  }

  private var places = Places()
  /// A former screen of the path that has not ended.
  private struct Leaving {
    let index: Int
    /// The path as the coordinator knows it.
    let values: any PathValues
    /// The path in which an edit of the element was read that the coordinator has not accepted; nil if there is none.
    let edited: (any PathValues)?
  }

  private var leaving: [PresentationHandle: Leaving] = [:]
  private var asked: Asked?
  private var retirement: Retirement?
  /// The transaction of the last requests.
  private var transaction: Transaction?
  private(set) var acceptance = Moment()
  /// The positions of this program's screens in the coordinator's stack that are not in the path, because an answer was lost, or
  /// because they were requested above a screen that has left its place again. A handle is nil if it is unknown here.
  private var strays: [Stray] = []
  private typealias Stray = (index: Int, presentation: PresentationHandle?)
  /// The path that the coordinator has refused. It is requested again after a change.
  private var refused: (any PathValues)?
  /// The values that other clients have written into elements, until their screens have answered.
  private var proposed: [PresentationHandle: Properties] = [:]
  /// The elements whose values other clients have written against the path.
  private var overwritten: Set<PresentationHandle> = []
  var onDifference: (() -> Void)?
  /// Asks the screen of a presentation whether its value may be changed, and calls a function with the answer.
  var askChange: AskChange?
  private let from: String?
  /// The screen that the stack belongs to, if this program shows it.
  weak var parent: Showing?

  /// - Parameters:
  ///   - from: the binding of the stack's parent; nil if there is none.
  ///   - destination: the destination that this program registers.
  init(_ path: PathState, name: String, from: String?, destination: String) {
    ownDestination = destination
    self.path = path
    self.name = name
    self.from = from
    screens = PathScreens(of: name, root: path.route.root)
  }

  var root: BindingRoot { path.route.root }

  var subject: DrivenSubject { .stack(name) }

  var served: (binding: String, accepts: ServedEntry)? {
    var accepts = path.accepts(screens)
    accepts.from = from
    return (name, accepts)
  }

  /// Whether the driver presents the same path as another driver, and not only a path with the same name.
  func hasState(of other: PathDriver) -> Bool { path.route.place == other.path.route.place }

  private func binding(_ index: Int) -> String { StackElement.binding(name, index) }

  // MARK: State to coordinator

  func changes(_ transaction: Transaction, _ tracking: Tracking) -> [Coordinator.Request] {
    let values = tracking.begin(path.read)
    let same = values.kept(of: places.values, places.count)
    let kept = screens.countOfDeclared(values, upTo: same.count)
    path.forgetWritten(values, below: kept)
    let isRefused =
      refused.map { values.count == $0.count && values.kept(of: $0, $0.count) == (values.count, []) } ?? false
    if !isRefused { refused = nil }
    var added: [NavigationPath.Element] = []
    for index in kept..<values.count where !isRefused {
      let element = values.element(index)
      let below = index > 0 && index <= places.count ? places.all[index - 1].presentation : nil
      let isShowable = screens.isShowable(element, at: index, above: below)
      if isShowable == .never { cut(at: index, element) }
      guard isShowable == .now else { break }
      added.append(element)
    }
    // A later edit of the program or its user has priority over what others propose.
    for index in same.edited { if let presentation = places.all[index].presentation { proposed[presentation] = nil } }
    let restored = overwritten.compactMap { places.position(of: $0) }
    // An edit of a value that others do not get is no request.
    let edits = path.isPublished ? Set(same.edited + restored).filter { $0 < kept }.sorted() : []
    overwritten = []
    let edited = isRefused ? [] : edits
    let unsent = Dictionary(uniqueKeysWithValues: edits.map { ($0, values) })
    // Screens above this position end with its screen (S2); lower screens that others pushed stay (S8).
    strays.removeAll { stray in stray.presentation.map { leaving[$0] == nil } ?? (stray.index < kept + added.count) }
    let stray = strays.filter { $0.index >= kept + added.count }.min { $0.index < $1.index }
    let first: Stray? = kept < places.count ? (kept, nil) : stray
    let removals =
      first.map { index, presentation in
        [
          Coordinator.Request.dismiss(
            binding(index), animated: transaction.animated, force: transaction.isForced,
            expecting: presentation.map { Expectation(presentation: $0) } ?? Expectation())
        ]
      } ?? []
    guard !removals.isEmpty || !added.isEmpty || !edited.isEmpty else {
      // Refused edits are requested again after a change.
      if edits.isEmpty { places.values = values }
      places.edited = unsent
      return []
    }
    self.transaction = transaction
    asked = Asked(
      strays: strays, kept: kept, removals: removals.count, additions: added.count,
      edits: edited.map { ($0, places.all[$0].element) }, formerValues: places.values,
      removed: Array(places.all.dropFirst(kept)))
    strays = []
    leave(to: kept)
    places.edited = unsent
    for element in added { places.append(Place(element: element)) }
    for index in edited { places.set(values.element(index), at: index) }
    places.values = values
    let additions = (kept..<places.count).map { index in
      var options = options(of: places.all[index].element)
      options.destination = ownDestination
      options.stack = name
      // The screen below may have been closed meanwhile; then the request is refused.
      options.from = index > 0 ? binding(index - 1) : from
      return Coordinator.Request.present(binding(index), id: values.id(index), options.owned(in: transaction))
    }
    let updates = edited.compactMap { index in
      // The presentation may have been closed meanwhile; then the request is refused.
      places.all[index].presentation.map { presentation in
        var options = options(of: places.all[index].element)
        options.destination = ownDestination
        return Coordinator.Request.present(
          binding(index), id: values.id(index), options, expecting: Expectation(presentation: presentation))
      }
    }
    return removals + additions + updates
  }

  /// The value of an element, if others get it.
  private func options(of element: NavigationPath.Element) -> PresentationOptions {
    guard path.isPublished else { return PresentationOptions() }
    let value = (try? JSON.parse(element.value)).flatMap(Coding.properties)
    if value == nil { screens.reportUntold(element) }
    return PresentationOptions(value: value)
  }

  func watch(_ tracking: Tracking) -> Bool {
    let values = tracking.begin(path.read)
    return values.count != places.count || values.kept(of: places.values, places.count).count != places.count
  }

  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction? {
    let isRequested =
      isEnding ? leaving[presentation] != nil : asked != nil || places.position(of: presentation) != nil
    return isRequested ? transaction : nil
  }

  /// Notes that the screen of a presentation has appeared, and has registered its destinations.
  func hasShown(_ presentation: PresentationHandle) {
    guard let position = places.position(of: presentation),
      let (index, element) = screens.appeared(presentation, at: position)
    else { return }
    let values = path.read()
    if index < values.count, values.element(index) == element { cut(at: index, element) }
  }

  /// Removes a value without a screen from the path, with all above it: nothing that is appended later would be shown.
  private func cut(at index: Int, _ element: NavigationPath.Element) {
    screens.reportCut(at: element)
    path.truncate(index)
  }

  /// Removes the screens at a position and above it, which are dismissed.
  private func leave(to count: Int) {
    for index in places.all.indices.dropFirst(count) {
      if let presentation = places.all[index].presentation {
        leaving[presentation] = Leaving(index: index, values: places.values, edited: places.edited[index])
      }
    }
    places.removeAll(from: count)
  }

  func retire() -> [Coordinator.Request] {
    retirement = Retirement()
    guard places.count > 0 else { return [] }
    places = Places()
    return [.dismiss(binding(0))]
  }

  var isOver: Bool { asked == nil }

  var isIdle: Bool {
    asked == nil && places.count == 0 && leaving.isEmpty && (refused != nil || path.read().count == 0)
  }

  // MARK: Answers

  func accepted(_ replies: [[Value]], at moment: Moment) {
    acceptance = moment
    guard let asked else { return }
    places.edited = [:]
    for (index, reply) in replies.dropFirst(asked.removals).prefix(asked.additions).enumerated() {
      let index = asked.kept + index
      guard let presentation = reply.first.flatMap(ObjectPath.init(value:)).flatMap(Handle.init(path:))
      else {
        // The parent was dismissed in the same turn.
        if index < places.count {
          cut(to: index, where: places.values.id(index))
          places.removeAll(from: index)
        }
        break
      }
      // Missing screens ended with a screen below them.
      if index < places.count { places.set(presentation, at: index) }
      // A coordinator that has lost its record may give the handle of a screen that it does not know.
      leaving[presentation] = nil
      if let retirement, retirement.unwanted == nil {
        self.retirement?.unwanted = .dismiss(binding(index), expecting: Expectation(presentation: presentation))
      }
    }
    answered()
  }

  func leftovers() -> [Coordinator.Request] {
    defer { retirement?.unwanted = nil }
    return retirement?.unwanted.map { [$0] } ?? []
  }

  func refused(_ error: CoordinatorError) -> Bool {
    guard let asked else { return false }
    let name = error.name
    let lowest = asked.kept < places.count ? places.values.id(asked.kept) : nil
    let values = places.values
    postponed()
    // A lower screen was closed meanwhile, and the state follows its end. If the screen that the stack belongs to was closed, the path
    // stays: that screen may come back (P15).
    if name == .notPresented {
      if asked.kept > 0 || parent == nil { cut(to: asked.kept, where: lowest) }
      parent?.refused { [weak self] in self?.onDifference?() }
    }
    guard name != .notPresented, name != .stale else { return false }
    // The state stays unchanged. Screens whose values it no longer contains are still dismissed.
    refused = values
    if asked.additions > 0 || !asked.edits.isEmpty { onDifference?() }
    return true
  }

  func postponed() {
    if let asked {
      places.removeAll(from: asked.kept)
      for (index, former) in asked.edits where index < places.count { places.set(former, at: index) }
      for place in asked.removed {
        places.append(place)
        guard let left = place.presentation.flatMap({ leaving.removeValue(forKey: $0) }) else { continue }
        places.edited[left.index] = left.edited
      }
      places.values = asked.formerValues
      strays = asked.strays
    }
    answered()
  }

  private func answered() {
    let (ended, declined) = (asked?.endedEarly ?? [], asked?.declinedEarly ?? [])
    asked = nil
    for presentation in ended { self.ended(presentation, Dismissal(reason: .closed, error: nil)) }
    for presentation in declined { self.declined(presentation) }
  }

  /// Removes the value at a position and all values above it, if it still has this identity.
  private func cut(to count: Int, where id: String?) {
    // What is out of view comes back with its parent.
    if parent?.isHidden == true { return }
    let values = path.read()
    if retirement == nil, count < values.count, values.id(count) == id { path.truncate(count) }
  }

  // MARK: Coordinator to state

  func appeared(_ presentation: PresentationHandle, id: String, value: Properties, destination: String?) {}

  func isUnknown(_ presentation: PresentationHandle) -> Bool {
    retirement == nil && asked == nil && places.position(of: presentation) == nil && leaving[presentation] == nil
  }

  /// Writes the elements that other clients have pushed above those that the path has, in one change.
  func adopt(_ entries: [PresentationState]) {
    guard retirement == nil, asked == nil else { return }
    let held = Dictionary(
      entries.filter { $0.phase != .dismissing && leaving[$0.presentation] == nil }.compactMap { entry in
        StackElement.parts(of: entry.binding).map { ($0.index, entry) }
      }, uniquingKeysWith: { $1 })
    var kept = 0
    while kept < places.count, let entry = held[kept], places.all[kept].presentation == entry.presentation { kept += 1 }
    var added: [PresentationState] = []
    while let entry = held[kept + added.count], entry.destination == ownDestination { added.append(entry) }
    let values = path.read()
    // A change of the path that was not requested yet has priority.
    guard !added.isEmpty, values.count == places.count,
      values.kept(of: places.values, places.count) == (places.count, [])
    else { return }
    let written = path.splice(kept, added.map { ($0.id, $0.value) })
    guard written > 0 else { return }
    leave(to: kept)
    places.values = path.read()
    for (index, entry) in added.prefix(written).enumerated() {
      places.append(Place(element: places.values.element(kept + index), presentation: entry.presentation))
    }
  }

  func request(_ items: [RequestedEntry]) {
    if retirement == nil { path.adopt(items) }
  }

  /// Takes over the presentations of elements that were requested before the stack was there.
  /// - Parameter waiting: the presentations by their bindings.
  func inherit(_ waiting: [String: PresentationState]) {
    let values = path.read()
    while let entry = waiting[binding(places.count)], places.count < values.count, values.id(places.count) == entry.id {
      places.append(Place(element: values.element(places.count), presentation: entry.presentation))
    }
    places.values = values
  }

  func parent(of presentation: PresentationHandle) -> String? {
    places.position(of: presentation).flatMap { $0 > 0 ? binding($0 - 1) : from }
  }

  @discardableResult
  func ended(_ presentation: PresentationHandle, _ end: Dismissal) -> (@MainActor () -> Void)? {
    screens.ended(presentation)
    asked?.ended(presentation)
    proposed[presentation] = nil
    if let left = leaving.removeValue(forKey: presentation) {
      // A request may have been refused because of this end.
      if strays.contains(where: { $0.presentation == presentation }) { onDifference?() }
      path.forgetWritten(left.values, at: left.index)
      return nil
    }
    guard let index = places.position(of: presentation) else {
      asked?.endedEarly.insert(presentation)
      return nil
    }
    let values = path.read()
    path.forgetWritten(places.values, at: index)
    let gone = places.values.id(index)
    places.removeAll(from: index)
    // The screens above it have ended, too.
    asked?.removed = []
    cut(to: index, where: gone)
    // The request for the next element at this position may have been refused because of this end.
    if parent?.isHidden != true, path.read().count > index { onDifference?() }
    guard end.followsAnother, retirement == nil, index < values.count,
      values.id(index) == gone
    else { return nil }
    return { [weak self, path] in
      let now = path.read()
      if now.count == index, now.kept(of: values, index).count == index { _ = path.putBack(index, of: values) }
      self?.onDifference?()
    }
  }

  func hasGivenUp(_ presentation: PresentationHandle) -> Bool { leaving[presentation] != nil }

  func isHidden(_ presentation: PresentationHandle) -> Bool { parent?.isHidden == true }

  func declined(_ presentation: PresentationHandle) {
    guard asked == nil else {
      asked?.declinedEarly.append(presentation)
      return
    }
    guard let left = leaving[presentation] else {
      // A request may have been refused while the screen was asked.
      onDifference?()
      return
    }
    guard retirement == nil, places.count >= left.index else { return }
    let index = left.index
    leaving[presentation] = nil
    // The coordinator has ended the screen that took the place of this one, but none that was requested above it later.
    strays += places.all.indices.dropFirst(index + 1).compactMap { above in
      places.all[above].presentation.map { (above, $0) }
    }
    leave(to: index)
    let isSame = path.read().kept(of: places.values, index).count == index
    places.append(Place(element: left.values.element(index), presentation: presentation))
    places.values = left.values
    places.edited[index] = left.edited
    // The path gets the value back only if it has not changed below it since it was last read; a change is requested next.
    guard isSame else { return }
    path.truncate(index)
    let isWritten = path.putBack(index, of: left.edited ?? left.values)
    let values = path.read()
    // The coordinator knows neither the edit nor what the screen has written since.
    if isWritten || left.edited != nil {
      places.edited[index] = values
    } else if values.count > index {
      places.values = values
    }
  }

  func updated(_ presentation: PresentationHandle, value: Properties, at moment: Moment) {
    guard moment > acceptance, let index = editable(presentation) else { return }
    if path.isPublished, options(of: places.all[index].element).value == value { return }
    proposed[presentation] = value
    guard let askChange else { return edited(presentation, value, isAllowed: true) }
    askChange(presentation, value) { [weak self] in self?.edited(presentation, value, isAllowed: $0) }
  }

  /// The position of an element that another client may edit. A later request has priority, and so has a change of the path that was not
  /// requested yet.
  private func editable(_ presentation: PresentationHandle) -> Int? {
    guard retirement == nil, asked == nil, let index = places.position(of: presentation), index < path.read().count,
      path.read().kept(of: places.values, places.count) == (places.count, [])
    else { return nil }
    return index
  }

  /// Writes the value of an element that another client has edited, or has that client's value replaced by that of the path.
  private func edited(_ presentation: PresentationHandle, _ value: Properties, isAllowed: Bool) {
    // A later edit has priority.
    guard proposed[presentation] == value else { return }
    proposed[presentation] = nil
    guard let index = editable(presentation) else { return }
    guard isAllowed, path.edit(index, value) else {
      overwritten.insert(presentation)
      onDifference?()
      return
    }
    places.values = path.read()
    places.set(places.values.element(index), at: index)
  }

  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties) {}

  func forgetRefusal() { refused = nil }

  func reconcile(
    _ state: StateIndex, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle] {
    let known = places
    let shown = places.all.indices.compactMap { index in
      places.all[index].presentation.map { ($0, places.values.id(index)) }
    }
    let former = leaving.sorted { $0.key < $1.key }.map { ($0.key, $0.value.values.id($0.value.index)) }
    let lost = (shown + former).filter { !state.contains($0.0, of: $0.1, at: subject) }.map(\.0)
    for presentation in lost { ended(presentation, Dismissal(reason: .lost, error: nil)) }
    adopt(state[subject])
    if asked == nil {
      // The answer to the request was lost.
      strays = state[subject].filter {
        $0.phase != .dismissing && $0.isOwned(by: client) && known.position(of: $0.presentation) == nil
          && places.position(of: $0.presentation) == nil
      }.compactMap { entry in StackElement.parts(of: entry.binding).map { ($0.index, nil) } }
    }
    return lost
  }

  func screen(
    for presentation: PresentationHandle, binding: String, id: String, value: Properties, isGivenUp: Bool
  ) throws(ShowingError) -> (any Screen)? {
    let values = path.read()
    guard let index = StackElement.parts(of: binding)?.index, index >= 0, index < values.count, values.id(index) == id
    else {
      guard isUnknown(presentation), !isGivenUp else { return nil }
      throw ShowingError(why: "“\(id)” is no element of the path “\(name)”; expected \(path.accepts(screens).summary)")
    }
    let element = values.element(index)
    // The former screen at this position has ended.
    path.forgetWritten(values, at: index)
    guard let screen = screens.maker(for: element.type)?.make(path, index) else {
      let why = "\(element.value) is no \(element.type), or the program makes no screen for it"
      reportMisuse("the path “\(name)” is cut where it has a value without a screen: \(why)", of: root)
      throw ShowingError(why: why)
    }
    return screen
  }
}
