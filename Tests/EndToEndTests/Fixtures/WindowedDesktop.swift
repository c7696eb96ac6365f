import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

private typealias Rows = CoordinatorInterface

/// A desktop with navd and navd-windows. Tests of one adapter without navd use ``RunningAdapter``; tests of navd that need no real
/// windows use ``FollowedCommand``.
final class WindowedDesktop {
  let session: Session
  /// The windows, as the manager knows them.
  let screen: ManagersWindows
  /// The adapter; nil if it is an extension of the window manager.
  private(set) var adapter: Program?
  private var nextManager: Program?

  init(
    _ manager: Desktop.Manager, destinations: [String: String], configuration: String = "",
    files: [String: String] = [:]
  ) throws {
    session = try Session(
      destinations: destinations, desktop: manager, configuration: configuration, files: files)
    screen = ManagersWindows(session: session)
    adapter = try Self.startAdapter(session)
  }

  /// Ends the adapter, and starts it again, as its unit does.
  func restartAdapter() throws {
    if let adapter {
      kill(adapter.processID, SIGKILL)
      try session.wait("the adapter has ended") { adapter.hasEnded }
    } else {
      try session.disableExtension()
    }
    adapter = try Self.startAdapter(session)
  }

  /// Kills the window manager; waits until the adapter has ended with it, and starts both again.
  func restartManager() throws {
    guard let desktop = session.desktop, let adapter else { return }
    let managers = session.managers()
    for pid in managers { kill(pid, SIGKILL) }
    try session.poll("the manager has ended") { session.managers().isEmpty }
    try session.wait("the adapter has ended") { adapter.hasEnded }
    #expect(adapter.exitCode == 1, "\(adapter.errorText)")
    let socket = "\(desktop.directory)/manager"
    unlink(socket)
    nextManager = try session.start(
      program: "/usr/bin/env",
      [
        "-u", "WAYLAND_DISPLAY", "LIBSEAT_BACKEND=noop", "WLR_BACKENDS=headless", "WLR_RENDERER=pixman",
        "WLR_LIBINPUT_NO_DEVICES=1", desktop.manager.rawValue, "-c", "\(desktop.directory)/manager.conf",
      ])
    try session.poll("the manager answers") {
      try session.run(program: desktop.manager.messenger, ["-t", "get_version"]).exitCode == 0
    }
    self.adapter = try Self.startAdapter(session)
  }

  /// Starts the adapter on the desktop of a session, and waits until it knows the windows.
  static func startAdapter(_ session: Session) throws -> Program? {
    if session.desktop?.manager == .gnome {
      try session.enableExtension()
      return nil
    }
    var owner: BusName?
    let watch = session.client.watchName(WindowSystemInterface.bus) { owner = $0 }
    defer { watch.cancel() }
    let adapter = try session.start(program: session.executable("navd-windows"), [])
    try session.wait("the adapter is there") { owner == nil ? adapter.hasEnded : true }
    try #require(!adapter.hasEnded, "\(adapter.errorText)")
    return adapter
  }
}

extension Session {
  /// Presents an item as a key binding does, and waits until it is on the screen.
  func open(_ binding: String) throws -> ObjectPath {
    try runNavctl("present", binding)
    let path = try call(Rows.get, binding).0
    let (reason, outcome) = try call(Rows.wait, (path, "presented"))
    try #require(reason == "", "\(outcome) \(navd?.errorText ?? "")")
    return path
  }
}
