import CoordinatorAPI
import DBus
import DBusValues
import Logging
import PresentationModel
import PresentationRules
import TextFormats
import WindowRules

/// The displays of the session. Each has an adapter of its own, and a presenter of the items whose
/// windows are there (N14).
final class WindowDisplays: ReportReceiver {
  private struct Display {
    let system: WindowSystem
    let presenter: WindowPresenter
  }

  /// Cap of the displays. Items of a further one are shown as without an adapter.
  private static let maxDisplays = 8

  private let connection: Connection
  private let maxParked: Int
  private let facts: SessionFacts
  private let log: Logger
  private let reports: any ReportReceiver
  private let focus = SessionFocus()
  private let desktopEntries = DesktopEntries()
  /// The display of the first adapter. Items whose display is not known are there, too.
  private let first: Display
  /// The other displays, by the names of their adapters on the bus.
  private var others: [BusName: Display] = [:]

  /// - Parameters:
  ///   - maxParked: the limit of parked programs of a display (N8).
  ///   - facts: learns whether the focused window of the first display is fullscreen and belongs to
  ///     no presentation (H2).
  ///   - hadAdapter: whether the session has had an adapter before this navd (N13).
  ///   - reports: receives what is not about windows, and what presenters of windows decide.
  ///   - onAdapter: called when the first adapter has told its windows.
  init(
    _ connection: Connection, maxParked: Int, _ facts: SessionFacts, hadAdapter: Bool, log: Logger,
    reports: any ReportReceiver, onAdapter: @escaping () -> Void
  ) {
    self.connection = connection
    self.maxParked = maxParked
    self.facts = facts
    self.log = log
    self.reports = reports
    let system = WindowSystem(
      connection, WindowSystemInterface.bus, session: AdapterOfSession(connection, hadAdapter: hadAdapter),
      desktopEntries,
      log: log)
    system.onArrival = onAdapter
    let presenter = WindowPresenter(
      loop: connection.loop, system, maxParked: maxParked, facts, focus, log: log, reports: reports)
    first = Display(system: system, presenter: presenter)
  }

  /// The window system of the first adapter.
  var firstSystem: WindowSystem { first.system }

  private var all: [Display] { [first] + others.values }

  /// The reasons why destinations cannot work on the displays whose adapters are known.
  func faults(of destinations: [Destination]) -> [FileFault] {
    let known = all.map(\.system).filter(\.isPresent).sorted { $0.name.text < $1.name.text }
    return WindowSystemFacts.faults(of: destinations, on: known.map { ($0.display, $0.facts) }, desktopEntries)
  }

  // MARK: Finding displays

  /// The display with a name.
  /// - Parameter creates: whether a display that is not known yet becomes known. Without that, the
  ///   first one stands for it.
  private func display(_ names: DisplayNames?, creates: Bool = false) -> Display {
    guard let names, names.isOther(than: first.system.display), let name = names.preferred,
      let bus = WindowSystemInterface.bus(of: name)
    else { return first }
    return display(bus, creates: creates)
  }

  private func display(_ bus: BusName, creates: Bool) -> Display {
    if bus == first.system.name { return first }
    if let known = others[bus] { return known }
    guard creates, hasRoom() else { return first }
    let system = WindowSystem(connection, bus, session: nil, desktopEntries, log: log)
    let presenter = WindowPresenter(
      loop: connection.loop, system, maxParked: maxParked, nil, focus, log: log, reports: reports)
    let display = Display(system: system, presenter: presenter)
    others[bus] = display
    return display
  }

  /// Whether one more display may become known. Displays without items make room.
  private func hasRoom() -> Bool {
    guard others.count >= Self.maxDisplays - 1 else { return true }
    for (bus, display) in others where display.presenter.isIdle && display.system.isIdle {
      display.system.end()
      others[bus] = nil
    }
    return others.count < Self.maxDisplays - 1
  }

  /// The presenter that follows the windows of a program, or of the presentation that shows one;
  /// the first one if none does.
  private func presenter(following handle: Handle) -> WindowPresenter {
    others.values.first { $0.presenter.follows(handle) }?.presenter ?? first.presenter
  }

  // MARK: Items

  /// Assigns a presentation to the display of its windows.
  /// - Parameters:
  ///   - presenter: the presenter that runs its program.
  ///   - memory: what the previous navd has recorded of it; nil if this navd has begun it.
  func follow(
    _ presentation: Presentation, runBy presenter: any ProcessPresenter, memory: Properties? = nil
  ) -> WindowPresenter {
    let display: Display
    if let known = all.first(where: { $0.presenter.follows(presentation.program ?? presentation.handle) }) {
      display = known
    } else if let memory {
      display = WindowMemory(memory).display.map { self.display($0, creates: true) } ?? first
    } else {
      display = self.display(presentation.item.content.display, creates: true)
    }
    display.presenter.follow(presentation, runBy: presenter)
    return display.presenter
  }

  func endParked(_ program: Handle, isForced: Bool) {
    presenter(following: program).endParked(program, isForced: isForced)
  }

  func releaseParked(_ program: Handle) { presenter(following: program).releaseParked(program) }

  /// The programs that outlive the last windows of their items, the oldest first (N3).
  var left: [LeftProgram] { all.flatMap(\.presenter.left) }

  // MARK: Reports of programs

  func take(_ report: Report) {
    switch report {
    case .presentAnswered(let handle, _), .dismissAnswered(let handle, _), .ended(let handle, _, _):
      presenter(following: handle).take(report)
    default: reports.take(report)
    }
  }

  func remember(_ memory: Properties, of handle: Handle) { presenter(following: handle).remember(memory, of: handle) }

  /// Records the windows that changed in a turn.
  func recordChanges() { for display in all { display.presenter.recordChanges() } }

  // MARK: Windows that were given up

  /// The windows that the next adapters show again, since their items were given up while there was none (N8): their properties, by
  /// their ids and the names of the adapters.
  var toShow: [String: [String: Properties]] {
    var toShow: [String: [String: Properties]] = [:]
    for display in all {
      let windows = display.presenter.toShow
      if !windows.isEmpty { toShow[display.system.name.text] = windows }
    }
    return toShow
  }

  /// Has the next adapters show windows that the previous navd has given up.
  func show(_ windows: [String: [String: Properties]]) {
    for (name, windows) in windows {
      guard let bus = BusName(name) else { continue }
      display(bus, creates: true).presenter.show(windows)
    }
  }

  // MARK: Requests

  /// The window system that has to be known before requests are carried out; nil if enough is
  /// known.
  /// - Parameters:
  ///   - hides: whether any destination hides its windows.
  ///   - follows: whether a request may start a program that follows windows.
  func systemToBeKnown(
    for requests: [Request], hides: @autoclosure () -> Bool = false, follows: (Request) -> Bool = { _ in false }
  ) -> WindowSystem? {
    if first.system.mustBeKnown(for: requests, hides: hides(), follows: requests.contains(where: follows)) {
      return first.system
    }
    for request in requests where !others.isEmpty || follows(request) {
      let mayFollow = follows(request)
      let system = display(request.display, creates: mayFollow).system
      if system !== first.system, system.mustBeKnown(for: [request], hides: hides(), follows: mayFollow) {
        return system
      }
    }
    return nil
  }

  /// Refuses requests that the window system of their display cannot carry out.
  /// - Throws: `Refusal` with the code `notSupported`.
  func check(_ requests: [Request], inTransaction: Bool) throws(Refusal) {
    _ = try map(requests, inTransaction) { request, system throws(Refusal) in
      try system.check(request)
      return request
    }
  }

  /// Completes requests with what the window system of their display knows.
  /// - Throws: `Refusal` with the code `notSupported` if the output with the focus is needed and
  ///   not known.
  func placing(_ requests: [Request], inTransaction: Bool) throws(Refusal) -> [Request] {
    var places: [Handle: WindowPlaces.Place] = [:]
    if requests.contains(where: { $0.operation.presents { _ in true } }) {
      for display in all { places.merge(display.presenter.places) { $1 } }
    }
    return try map(requests, inTransaction) { [self] request, system throws(Refusal) in
      if !others.isEmpty, request.display != nil { moveFocus(to: system) }
      return try system.placing(request, among: places)
    }
  }

  private func map(
    _ requests: [Request], _ inTransaction: Bool, _ body: (Request, WindowSystem) throws(Refusal) -> Request
  ) throws(Refusal) -> [Request] {
    var mapped: [Request] = []
    for (index, request) in requests.enumerated() {
      do throws(Refusal) {
        mapped.append(try body(request, others.isEmpty ? first.system : display(request.display).system))
      } catch {
        var refusal = error
        refusal.index = inTransaction ? index : nil
        throw refusal
      }
    }
    return mapped
  }

  /// Lets the focus of a display count, since its user has pressed a key there.
  private func moveFocus(to system: WindowSystem) {
    guard system.isPresent, focus.move(to: system.name) else { return }
    reports.take(.focused(all.first { $0.system === system }?.presenter.focused, isOwn: true))
  }

  // MARK: After a restart

  /// Announces presentations of the previous navd, which ``follow(_:runBy:memory:)`` has assigned.
  func prepare(_ remembered: [Remembered]) {
    for (presenter, ofPresenter) in byPresenter(remembered) { presenter.prepare(ofPresenter) }
  }

  /// Takes over the presentations whose programs were taken over.
  /// - Parameters:
  ///   - survivals: the fates of their programs.
  ///   - completion: called once, with the fates of all presentations.
  func adopt(
    _ remembered: [Remembered], _ survivals: [Handle: Survival], _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    let parts = byPresenter(remembered)
    guard !parts.isEmpty else { return completion([:]) }
    var all: [Handle: Survival] = [:]
    var missing = parts.count
    for (presenter, ofPresenter) in parts {
      presenter.adopt(ofPresenter, survivals) { some in
        all.merge(some) { $1 }
        missing -= 1
        if missing == 0 { completion(all) }
      }
    }
  }

  private func byPresenter(_ remembered: [Remembered]) -> [(WindowPresenter, [Remembered])] {
    all.map(\.presenter).compactMap { presenter in
      let own = remembered.filter { presenter.follows($0.presentation.handle) }
      return own.isEmpty ? nil : (presenter, own)
    }
  }
}

extension Item {
  /// The display on which the item's command shows its windows, by the variables of its file and of
  /// the request (N14).
  var display: DisplayNames {
    let file = destination?.itemSettings?.options.environment ?? [:]
    func variable(_ name: String) -> String? { file[name] ?? environment[name] }
    return DisplayNames(wayland: variable("WAYLAND_DISPLAY"), x11: variable("DISPLAY"))
  }
}

extension Request {
  /// The display on which a request was made; nil if it does not say so.
  fileprivate var display: DisplayNames? {
    for options in operation.items {
      guard let variables = options.environment else { continue }
      let names = DisplayNames(wayland: variables["WAYLAND_DISPLAY"], x11: variables["DISPLAY"])
      if names.preferred != nil { return names }
    }
    return nil
  }
}
