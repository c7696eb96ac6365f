import CWayland
import EventLoops
import Glibc

/// Takes what a Wayland compositor reports of its global objects.
protocol WaylandReader: AnyObject {
  func found(_ global: WaylandConnection.Global)
  /// - Parameter number: the number of a removed global object.
  func lost(_ number: UInt32)
  /// Called once, with the reason of the end.
  func compositorEnded(_ reason: String)
}

/// A connection to the Wayland compositor of the environment, with its global objects.
final class WaylandConnection {
  /// A global object of the compositor.
  struct Global {
    /// The object's number in the registry.
    let number: UInt32
    let interface: String
    let version: UInt32
  }

  private let display: OpaquePointer
  private(set) var registry: OpaquePointer?
  private var watch: Watch?
  /// The process of the compositor; nil if it cannot be known.
  let peer: pid_t?
  /// The reason to end after the events that have arrived; nil if there is none.
  var ending: String?
  weak var reader: (any WaylandReader)?

  init() throws(BackendFailure) {
    guard let display = wl_display_connect(nil) else {
      throw BackendFailure(description: "no compositor at \(Environment["WAYLAND_DISPLAY"] ?? "")")
    }
    self.display = display
    peer = peerProcess(of: wl_display_get_fd(display))
    registry = wl_display_get_registry(display)
    wl_registry_add_listener(registry, Self.listener, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    watch?.cancel()
    wl_display_disconnect(display)
  }

  /// Waits until the compositor has answered all requests.
  /// - Returns: false if the connection has ended.
  func finishRequests() -> Bool { wl_display_roundtrip(display) >= 0 }

  /// Waits for the global objects.
  func readGlobals() throws(BackendFailure) {
    guard finishRequests() else { throw BackendFailure(description: "the compositor has ended the connection") }
  }

  /// Follows changes from now on.
  func follow(_ loop: EventLoop) throws(SystemError) {
    watch = try loop.watch(wl_display_get_fd(display), .read, of: self) { connection, _ in connection.read() }
    loop.atEndOfTurn(of: self) { $0.flush() }
  }

  private func read() {
    while wl_display_prepare_read(display) != 0 {
      if wl_display_dispatch_pending(display) < 0 { return fail() }
    }
    // The descriptor is ready, so this does not block.
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
      // After EPIPE, the reason may still be readable.
      fail()
    }
  }

  /// Ends the connection, by default for the reason that the connection itself reports.
  func fail(_ reason: String? = nil) {
    guard watch?.isCancelled != true else { return }
    watch?.cancel()
    let code = wl_display_get_error(display)
    reader?.compositorEnded(
      reason ?? "the compositor has ended the connection: \(SystemError(code: code, operation: "Wayland").reason)")
  }

  /// A table of handlers, which libwayland reads as long as a connection exists.
  static func table<T>(_ listener: T) -> UnsafeMutablePointer<T> {
    let pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
    pointer.initialize(to: listener)
    return pointer
  }

  /// The object that was given to a listener.
  static func object<T: AnyObject>(_ data: UnsafeMutableRawPointer?) -> T {
    Unmanaged<T>.fromOpaque(data!).takeUnretainedValue()
  }

  nonisolated(unsafe) private static let listener = table(
    wl_registry_listener(
      global: { data, _, number, interface, version in
        let name = interface.map { String(cString: $0) } ?? ""
        connection(data).reader?.found(Global(number: number, interface: name, version: version))
      },
      global_remove: { data, _, number in connection(data).reader?.lost(number) }))

  private static func connection(_ data: UnsafeMutableRawPointer?) -> WaylandConnection { object(data) }
}
