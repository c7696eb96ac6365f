import CWayland
import EventLoops
import Logging
import PresentationModel

/// Windows of a Wayland compositor with `wlr-foreign-toplevel-management-unstable-v1`.
///
/// The protocol tells no process, and no parent on wlroots 0.15; it cannot move a window. It can minimize one, and tell outputs, which
/// some compositors accept and ignore: so both are offered once a compositor was seen to do it.
final class WlrBackend: Backend {
  let name = "wlr"
  var onEnd: ((String) -> Void)?
  private(set) var state = WindowSystemState()

  private let loop: EventLoop
  private let connection: WlrConnection
  private let ids = WindowIDs()
  /// Whether all windows are known that were there before.
  private var isStarted = false

  /// Connects to the compositor of the environment.
  init(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.loop = loop
    connection = try WlrConnection()
  }

  func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }
  func announceDue(now: MonotonicInstant) { state.windows.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    connection.onEnd = { [unowned self] in onEnd?($0) }
    connection.onOutputs = { [unowned self] in outputsChanged() }
    connection.onChange = { [unowned self] toplevel, _ in
      changed(toplevel)
      state.inferFocusedOutput()
    }
    connection.onClosed = { [unowned self] in closed($0) }
    guard connection.readAll() else { return }
    state.capabilities = connection.seat == nil ? [.close, .focus] : [.close, .activate, .focus]
    outputsChanged()
    isStarted = true
    // wlroots tells those that were there before from the newest to the oldest.
    for toplevel in connection.toplevels.values.sorted(by: { $0.key > $1.key }) where toplevel.isKnown {
      changed(toplevel)
    }
    state.inferFocusedOutput()
    state.windows.announceAll()
    do throws(SystemError) {
      try connection.follow(loop)
    } catch {
      return onEnd?("\(error)") ?? ()
    }
    ready()
  }

  private func outputsChanged() {
    state.outputs = connection.outputs.map(\.name).filter { !$0.isEmpty }
    seeAll()
    state.inferFocusedOutput()
  }

  /// Adds a capability that was found after the start.
  private func offer(_ capability: WindowCapability) {
    guard !state.capabilities.contains(capability) else { return }
    state.capabilities = WindowCapability.allCases.filter { state.capabilities.contains($0) || $0 == capability }
  }

  // MARK: Windows

  private func changed(_ toplevel: WlrToplevel) {
    let canHide = state.capabilities.contains(.hide)
    see(toplevel)
    // From now on, it is told of all windows whether they are hidden.
    if state.capabilities.contains(.hide) != canHide { seeAll() }
  }

  private func seeAll() {
    for toplevel in connection.toplevels.values where toplevel.isKnown { see(toplevel) }
  }

  private func see(_ toplevel: WlrToplevel) {
    guard isStarted else { return }
    var sighting = WindowTable.Sighting(properties: toplevel.properties)
    // Its user has minimized it, or a task bar: the adapter minimizes nothing to find out.
    if toplevel.properties.minimized == true { offer(.hide) }
    if state.capabilities.contains(.hide) { sighting.properties.hidden = toplevel.properties.minimized == true }
    let named = toplevel.outputs.compactMap { proxy in connection.outputs.first { $0.proxy == proxy }?.name }
      .filter { !$0.isEmpty }
    if !named.isEmpty { offer(.output) }
    if let output = named.last, sighting.properties.hidden != true {
      sighting.properties.output = output
    } else if state.windows.properties(of: toplevel.key)?.output != nil {
      // It was on one, and has left it or is hidden.
      sighting.properties.output = ""
    }
    if let parent = toplevel.parent {
      sighting.parent = connection.toplevels[parent].map { .window($0.key) } ?? WindowTable.Sighting.Parent.none
      // Some compositors send “no parent” for every window; the first parent shows that this one knows parents.
      offer(.parent)
    }
    state.windows.see(toplevel.key, sighting, now: loop.now, id: ids.next())
  }

  private func closed(_ toplevel: WlrToplevel) {
    state.windows.close(toplevel.key)
    seeLeftOut()
    state.inferFocusedOutput()
  }

  /// Has the table take the oldest window that was left out, if there is one: a window that does not change is not seen again.
  private func seeLeftOut() {
    guard connection.toplevels.count > state.windows.allKeys.count else { return }
    let leftOut = connection.toplevels.values.filter { $0.isKnown && !state.windows.contains($0.key) }
    if let oldest = leftOut.min(by: { $0.key < $1.key }) { see(oldest) }
  }

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    guard let proxy = connection.toplevels.values.first(where: { $0.key == key })?.proxy else {
      return completion(.failure(Refusal(.unknownWindow, "the window has closed")))
    }
    switch request {
    case .close: wlr_toplevel_close(proxy)
    case .activate:
      // Also one that was asked to hide just now.
      if state.capabilities.contains(.hide) { wlr_toplevel_minimize(proxy, 0) }
      wlr_toplevel_activate(proxy, connection.seat)
    case .hide: wlr_toplevel_minimize(proxy, 1)
    case .show: wlr_toplevel_minimize(proxy, 0)
    case .move, .summon: preconditionFailure("the capability is not offered")
    }
    completion(.success(()))
  }
}
