import CWayland
import EventLoops
import Glibc
import Logging
import PresentationModel

/// Windows of a Wayland compositor with `wlr-foreign-toplevel-management-unstable-v1`.
///
/// The protocol tells no process, and no parent on wlroots 0.15; it cannot move a window. It can minimize one, which sway
/// accepts and ignores, so hiding is not offered.
final class WlrBackend: Backend {
  let name = "wlr"
  var onEnd: ((String) -> Void)?
  private(set) var state = WindowSystemState()

  private let loop: EventLoop
  private let display: OpaquePointer
  private var registry: OpaquePointer?
  private var manager: OpaquePointer?
  private var seat: OpaquePointer?
  /// By the number in the registry, in the compositor's order.
  private var outputs: [(number: UInt32, proxy: OpaquePointer, name: String)] = []
  private var toplevels: [OpaquePointer: Toplevel] = [:]
  private var lastKey: WindowTable.Key = 0
  private let ids = WindowIDs()
  private var watch: Watch?
  private var ending: String?
  /// Whether all windows are known that were there before.
  private var isStarted = false

  /// Connects to the compositor of the environment.
  init(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    guard let display = wl_display_connect(nil) else {
      throw BackendFailure(description: "no compositor at \(Environment["WAYLAND_DISPLAY"] ?? "")")
    }
    self.display = display
    self.loop = loop
    let own = Unmanaged.passUnretained(self).toOpaque()
    registry = wl_display_get_registry(display)
    wl_registry_add_listener(registry, Listeners.registry, own)
    // What there is, and then its names and windows.
    guard wl_display_roundtrip(display) >= 0 else {
      throw BackendFailure(description: "the compositor has ended the connection")
    }
    guard manager != nil else {
      throw BackendFailure(
        description: "the compositor does not offer wlr-foreign-toplevel-management-unstable-v1", isFinal: true)
    }
  }

  deinit {
    watch?.cancel()
    wl_display_disconnect(display)
  }

  func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }
  func announceDue(now: MonotonicInstant) { state.windows.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    guard wl_display_roundtrip(display) >= 0, wl_display_roundtrip(display) >= 0 else { return fail() }
    state.capabilities = seat == nil ? [.close, .focus] : [.close, .activate, .focus]
    if !state.outputs.isEmpty { offer(.output) }
    isStarted = true
    // wlroots tells those that were there before from the newest to the oldest.
    for toplevel in toplevels.values.sorted(by: { $0.key > $1.key }) where toplevel.isKnown { see(toplevel) }
    state.inferFocusedOutput()
    state.windows.announceAll()
    do throws(SystemError) {
      watch = try loop.watch(wl_display_get_fd(display), .read) { [unowned self] _ in read() }
    } catch {
      return onEnd?("\(error)") ?? ()
    }
    loop.atEndOfTurn { [weak self] in self?.flush() }
    ready()
  }

  // MARK: The connection

  private func read() {
    while wl_display_prepare_read(display) != 0 {
      if wl_display_dispatch_pending(display) < 0 { return fail() }
    }
    // The descriptor is ready, so this does not wait.
    if wl_display_read_events(display) < 0 || wl_display_dispatch_pending(display) < 0 { return fail() }
    if let ending { fail(ending) }
  }

  private func flush() {
    guard let watch, !watch.isCancelled else { return }
    if wl_display_flush(display) >= 0 {
      watch.interest = .read
    } else if errno == EAGAIN {
      watch.interest = [.read, .write]
    } else if errno != EPIPE {
      // After EPIPE, the reason may still be read.
      fail()
    }
  }

  private func fail(_ reason: String? = nil) {
    guard watch?.isCancelled != true else { return }
    watch?.cancel()
    let code = wl_display_get_error(display)
    onEnd?(
      reason ?? "the compositor has ended the connection: \(SystemError(code: code, operation: "Wayland").reason)")
  }

  // MARK: What there is

  fileprivate func found(_ number: UInt32, _ interface: String, version: UInt32) {
    switch interface {
    case "zwlr_foreign_toplevel_manager_v1" where manager == nil:
      manager = wlr_bind_manager(registry, number, min(version, UInt32(WLR_TOPLEVEL_VERSION)))
      wlr_listen_to_manager(manager, Listeners.manager, Unmanaged.passUnretained(self).toOpaque())
    case "wl_seat" where seat == nil: seat = wlr_bind_seat(registry, number)
    case "wl_output":
      // Outputs have names since version 4.
      guard let output = wlr_bind_output(registry, number, min(version, 4)) else { return }
      outputs.append((number, output, ""))
      wl_output_add_listener(output, Listeners.output, Unmanaged.passUnretained(self).toOpaque())
    default: break
    }
  }

  fileprivate func lost(_ number: UInt32) {
    guard let index = outputs.firstIndex(where: { $0.number == number }) else { return }
    let output = outputs.remove(at: index)
    for toplevel in toplevels.values { toplevel.outputs.removeAll { $0 == output.proxy } }
    // Not released: a leaving event may still name it.
    outputsChanged()
  }

  fileprivate func named(_ proxy: OpaquePointer, _ name: String) {
    guard let index = outputs.firstIndex(where: { $0.proxy == proxy }) else { return }
    outputs[index].name = name
    outputsChanged()
  }

  private func outputsChanged() {
    state.outputs = outputs.map(\.name).filter { !$0.isEmpty }
    if isStarted, !state.outputs.isEmpty { offer(.output) }
    for toplevel in toplevels.values where toplevel.isKnown { see(toplevel) }
    state.inferFocusedOutput()
  }

  /// Adds a capability that may be found after the start, such as outputs where there was none.
  private func offer(_ capability: WindowCapability) {
    guard !state.capabilities.contains(capability) else { return }
    state.capabilities = WindowCapability.allCases.filter { state.capabilities.contains($0) || $0 == capability }
  }

  // MARK: Windows

  fileprivate func opened(_ proxy: OpaquePointer) {
    lastKey += 1
    let toplevel = Toplevel(lastKey, self)
    toplevels[proxy] = toplevel
    wlr_listen_to_toplevel(proxy, Listeners.toplevel, Unmanaged.passUnretained(toplevel).toOpaque())
  }

  fileprivate func done(_ toplevel: Toplevel) {
    toplevel.isKnown = true
    see(toplevel)
    state.inferFocusedOutput()
  }

  private func see(_ toplevel: Toplevel) {
    guard isStarted else { return }
    var sighting = WindowTable.Sighting(properties: toplevel.properties)
    let named = toplevel.outputs.compactMap { proxy in outputs.first { $0.proxy == proxy }?.name }
    if let output = named.last {
      sighting.properties.output = output
    } else if state.windows.properties(of: toplevel.key)?.output != nil {
      // It was on one, and has left it.
      sighting.properties.output = ""
    }
    if let parent = toplevel.parent {
      sighting.parent = toplevels[parent].map { .window($0.key) } ?? WindowTable.Sighting.Parent.none
      // Some compositors send “no parent” for every window; the first parent shows that this one knows parents.
      offer(.parent)
    }
    state.windows.see(toplevel.key, sighting, now: loop.now, id: ids.next())
  }

  fileprivate func closed(_ proxy: OpaquePointer) {
    guard let toplevel = toplevels.removeValue(forKey: proxy) else { return }
    state.windows.close(toplevel.key)
    // Another window may get its pointer.
    for child in toplevels.values where child.parent == proxy { child.parent = nil }
    wlr_toplevel_destroy(proxy)
    seeLeftOut()
    state.inferFocusedOutput()
  }

  /// Has the table take the oldest window that was left out, if there is one: a window that does not change is not seen again.
  private func seeLeftOut() {
    guard toplevels.count > state.windows.allKeys.count else { return }
    let leftOut = toplevels.values.filter { $0.isKnown && !state.windows.contains($0.key) }
    if let oldest = leftOut.min(by: { $0.key < $1.key }) { see(oldest) }
  }

  fileprivate func finished() { ending = "the compositor tells windows no longer" }

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    guard let proxy = toplevels.first(where: { $0.value.key == key })?.key else {
      return completion(.failure(Refusal(.unknownWindow, "the window has closed")))
    }
    switch request {
    case .close: wlr_toplevel_close(proxy)
    case .activate: wlr_toplevel_activate(proxy, seat)
    case .hide, .show, .move, .summon: preconditionFailure("the capability is not offered")
    }
    completion(.success(()))
  }
}

/// A window as the compositor tells it, from one `done` to the next.
private final class Toplevel {
  let key: WindowTable.Key
  unowned let backend: WlrBackend
  var properties = WindowProperties()
  /// The outputs that it has entered and not left, the last one last.
  var outputs: [OpaquePointer] = []
  var parent: OpaquePointer?
  /// Whether its first `done` has come.
  var isKnown = false

  init(_ key: WindowTable.Key, _ backend: WlrBackend) { (self.key, self.backend) = (key, backend) }
}

/// The tables of handlers, which libwayland reads as long as the connection exists.
private enum Listeners {
  private static func allocated<T>(_ listener: T) -> UnsafeMutablePointer<T> {
    let pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
    pointer.initialize(to: listener)
    return pointer
  }

  private static func backend(_ data: UnsafeMutableRawPointer?) -> WlrBackend {
    Unmanaged<WlrBackend>.fromOpaque(data!).takeUnretainedValue()
  }

  private static func toplevel(_ data: UnsafeMutableRawPointer?) -> Toplevel {
    Unmanaged<Toplevel>.fromOpaque(data!).takeUnretainedValue()
  }

  nonisolated(unsafe) static let registry = allocated(
    wl_registry_listener(
      global: { data, _, number, interface, version in
        backend(data).found(number, interface.map { String(cString: $0) } ?? "", version: version)
      },
      global_remove: { data, _, number in backend(data).lost(number) }))

  nonisolated(unsafe) static let output = allocated(
    wl_output_listener(
      geometry: { _, _, _, _, _, _, _, _, _, _ in }, mode: { _, _, _, _, _, _ in }, done: { _, _ in },
      scale: { _, _, _ in },
      name: { data, output, name in
        if let output, let name { backend(data).named(output, String(cString: name)) }
      }, description: { _, _, _ in }))

  nonisolated(unsafe) static let manager = allocated(
    wlr_manager_listener(
      toplevel: { data, _, toplevel in if let toplevel { backend(data).opened(toplevel) } },
      finished: { data, _ in backend(data).finished() }))

  nonisolated(unsafe) static let toplevel = allocated(
    wlr_toplevel_listener(
      title: { data, _, title in toplevel(data).properties.title = title.map { String(cString: $0) } },
      app_id: { data, _, id in toplevel(data).properties.appID = id.map { String(cString: $0) } },
      output_enter: { data, _, output in if let output { toplevel(data).outputs.append(output) } },
      output_leave: { data, _, output in toplevel(data).outputs.removeAll { $0 == output } },
      state: { data, _, state in
        guard let state = state?.pointee else { return }
        let words = UnsafeRawBufferPointer(start: state.data, count: state.size)
        let states = (0..<(words.count / 4)).map { words.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
        let window = toplevel(data)
        window.properties.minimized = states.contains(WLR_TOPLEVEL_MINIMIZED.rawValue)
        window.properties.focused = states.contains(WLR_TOPLEVEL_ACTIVATED.rawValue)
        window.properties.fullscreen = states.contains(WLR_TOPLEVEL_FULLSCREEN.rawValue)
      },
      done: { data, _ in
        let toplevel = toplevel(data)
        toplevel.backend.done(toplevel)
      },
      closed: { data, proxy in if let proxy { toplevel(data).backend.closed(proxy) } },
      parent: { data, _, parent in toplevel(data).parent = parent }))
}
