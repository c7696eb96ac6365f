import CWayland
import EventLoops
import Glibc
import PresentationModel

/// The windows and outputs that a Wayland compositor reports by `wlr-foreign-toplevel-management-unstable-v1`.
package final class WlrConnection: ToplevelConnection<WlrToplevel> {
  private var manager: OpaquePointer?
  /// Whether the compositor has the request that makes a window fullscreen.
  private(set) var canFill = false
  private(set) var seat: OpaquePointer?
  /// The outputs with their numbers in the registry, in the compositor's order. A name is empty until it is reported.
  private(set) var outputs: [(number: UInt32, proxy: OpaquePointer, name: String)] = []
  /// The middle of the keys: windows from before the connection have lower keys, later windows have higher ones.
  private static let middleKey: WindowTable.Key = 1 << 32
  private var (firstKey, lastKey) = (WlrConnection.middleKey, WlrConnection.middleKey)
  private var isReading = false
  /// The process of the compositor; nil if it cannot be known.
  var peer: pid_t? { connection.peer }

  /// Connects to the compositor of the environment.
  package override init() throws(BackendFailure) {
    try super.init()
    // The first answer contains the global objects, and the later ones their names and windows.
    try connection.readGlobals()
    guard manager != nil else {
      throw BackendFailure(
        description: "the compositor does not offer wlr-foreign-toplevel-management-unstable-v1", isFinal: true)
    }
  }

  override func readAll() -> Bool {
    isReading = true
    defer { isReading = false }
    return super.readAll()
  }

  // MARK: Objects of the compositor

  override func found(_ global: WaylandConnection.Global) {
    let (registry, number) = (connection.registry, global.number)
    switch global.interface {
    case "zwlr_foreign_toplevel_manager_v1" where manager == nil:
      manager = wlr_bind_manager(registry, number, min(global.version, UInt32(WLR_TOPLEVEL_VERSION)))
      canFill = global.version >= UInt32(WLR_TOPLEVEL_FULLSCREEN_VERSION)
      wlr_listen_to_manager(manager, Listeners.manager, Unmanaged.passUnretained(self).toOpaque())
    case "wl_seat" where seat == nil: seat = wlr_bind_seat(registry, number)
    case "wl_output":
      // Outputs have names since version 4.
      guard let output = wlr_bind_output(registry, number, min(global.version, 4)) else { return }
      outputs.append((number, output, ""))
      wl_output_add_listener(output, Listeners.output, Unmanaged.passUnretained(self).toOpaque())
    default: break
    }
  }

  override func lost(_ number: UInt32) {
    guard let index = outputs.firstIndex(where: { $0.number == number }) else { return }
    let output = outputs.remove(at: index)
    for toplevel in toplevels.values { toplevel.outputs.removeAll { $0 == output.proxy } }
    // The output is not released, because a leaving event may still name it.
    reader?.placesChanged()
  }

  fileprivate func named(_ proxy: OpaquePointer, _ name: String) {
    guard let index = outputs.firstIndex(where: { $0.proxy == proxy }) else { return }
    outputs[index].name = name
    reader?.placesChanged()
  }

  /// The key of a new window. wlroots reports the windows from before the connection from the newest to the oldest.
  private func nextKey() -> WindowTable.Key {
    if isReading {
      firstKey -= 1
      return firstKey
    }
    lastKey += 1
    return lastKey
  }

  fileprivate func opened(_ proxy: OpaquePointer) {
    let toplevel = WlrToplevel(nextKey(), proxy, self)
    toplevels[proxy] = toplevel
    wlr_listen_to_toplevel(proxy, Listeners.toplevel, Unmanaged.passUnretained(toplevel).toOpaque())
  }

  fileprivate func done(_ toplevel: WlrToplevel) {
    toplevel.changes = toplevel.told.changes(to: toplevel.properties)
    toplevel.told = toplevel.properties
    toplevel.isKnown = true
    reader?.changed(toplevel)
  }

  fileprivate func closed(_ proxy: OpaquePointer) {
    guard let toplevel = toplevels.removeValue(forKey: proxy) else { return }
    // Another window may get the same pointer.
    for child in toplevels.values where child.parent == proxy { child.parent = nil }
    reader?.closed(toplevel)
    wlr_toplevel_destroy(proxy)
  }

  fileprivate func finished() { connection.ending = "the compositor tells windows no longer" }
}

/// A window as reported by the compositor, from one `done` to the next.
package final class WlrToplevel: Toplevel {
  package let key: WindowTable.Key
  let proxy: OpaquePointer
  fileprivate unowned let connection: WlrConnection
  package fileprivate(set) var properties = WindowProperties()
  /// The outputs that the window has entered and not left, the last one last.
  fileprivate(set) var outputs: [OpaquePointer] = []
  fileprivate(set) var parent: OpaquePointer?
  /// The window's properties at the last `done`, and the changes with it.
  fileprivate var told = WindowProperties()
  fileprivate(set) var changes = WindowProperties()
  /// Whether the window's first `done` has come.
  package fileprivate(set) var isKnown = false
  /// Layer surfaces are not among the windows.
  package var isPartOfTheDesktop: Bool { false }

  fileprivate init(_ key: WindowTable.Key, _ proxy: OpaquePointer, _ connection: WlrConnection) {
    (self.key, self.proxy, self.connection) = (key, proxy, connection)
  }
}

/// The tables of handlers, which libwayland reads as long as the connection exists.
private enum Listeners {
  private static func connection(_ data: UnsafeMutableRawPointer?) -> WlrConnection { WaylandConnection.object(data) }
  private static func toplevel(_ data: UnsafeMutableRawPointer?) -> WlrToplevel { WaylandConnection.object(data) }

  nonisolated(unsafe) static let output = WaylandConnection.table(
    wl_output_listener(
      geometry: { _, _, _, _, _, _, _, _, _, _ in }, mode: { _, _, _, _, _, _ in },
      done: { data, _ in connection(data).reader?.placesChanged() },
      scale: { _, _, _ in },
      name: { data, output, name in
        if let output, let name { connection(data).named(output, String(cString: name)) }
      }, description: { _, _, _ in }))

  nonisolated(unsafe) static let manager = WaylandConnection.table(
    wlr_manager_listener(
      toplevel: { data, _, toplevel in if let toplevel { connection(data).opened(toplevel) } },
      finished: { data, _ in connection(data).finished() }))

  nonisolated(unsafe) static let toplevel = WaylandConnection.table(
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
        toplevel.connection.done(toplevel)
      },
      closed: { data, proxy in if let proxy { toplevel(data).connection.closed(proxy) } },
      parent: { data, _, parent in toplevel(data).parent = parent }))
}
