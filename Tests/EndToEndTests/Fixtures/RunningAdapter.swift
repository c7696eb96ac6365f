import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

private typealias Rows = WindowSystemInterface

/// A window manager, and the backend by which the adapter knows its windows. Tests of the adapter run once with each setup.
struct AdapterSetup: CustomTestStringConvertible {
  let manager: Desktop.Manager
  let backend: String
  var testDescription: String { "\(backend) on \(manager)" }

  static let all =
    [
      AdapterSetup(manager: .sway, backend: "sway"), AdapterSetup(manager: .i3, backend: "sway"),
      AdapterSetup(manager: .sway, backend: "wlr"),
      AdapterSetup(manager: .openbox, backend: "x11"),
      AdapterSetup(manager: .gnome, backend: "gnome"), AdapterSetup(manager: .kwin, backend: "plasma"),
    ] + (isEverywhere ? onRequest : [])

  /// Whether tests run on all desktops that they are written for (`NAVD_TEST_DESKTOPS`, set by `make check-desktops`). `make test` has one
  /// desktop for each way to know windows.
  static let isEverywhere = getenv("NAVD_TEST_DESKTOPS") != nil

  /// The setups that only `make check-desktops` runs: other X window managers.
  private static let onRequest =
    [
      Desktop.Manager.i3, .dwm, .xfwm4, .mutter, .metacity, .fluxbox, .awesome, .bspwm, .herbstluftwm, .kwinX11,
    ].map { AdapterSetup(manager: $0, backend: "x11") }

  /// The setups with navd-windows.
  static let programs = all.filter { $0.manager != .gnome }

  /// The setups with a capability, according to docs/windows.md.
  static func able(_ capability: String) -> [AdapterSetup] {
    all.filter { (try? $0.capabilities().contains(capability)) == true }
  }

  /// Whether the window manager tiles windows.
  var tiles: Bool { manager == .sway || manager == .i3 }

  /// The capabilities that were found to work, from the row of the table in docs/windows.md.
  func capabilities() throws -> [String] {
    try documentedCapabilities(backend, on: manager.rawValue).filter { $0.cell.hasPrefix("yes") }.map(\.capability)
  }
}

/// The row of the table in docs/windows.md, without spaces.
func documentedCapabilities(_ backend: String, on manager: String) throws -> [(capability: String, cell: String)] {
  let row = try Markdown("windows.md").lines.map { $0.split(separator: "|").map { $0.filter { !"` ".contains($0) } } }
    .first { $0.count > WindowCapability.allCases.count && $0[0] == backend && $0[1].hasPrefix(manager) }
  let cells = try #require(row, "docs/windows.md has no row for \(backend) on \(manager)").dropFirst(2)
  return zip(WindowCapability.allCases, cells).map { ($0.rawValue, $1) }
}

/// A program with a window, controlled by the lines that it reads: `title TEXT`, `dialog`, `window TITLE`. After `unsaved`, it asks
/// with a dialog before it closes; `cancel` and `discard` answer the dialog.
let editorProgram = """
  import gi, os, sys
  gi.require_version("Gdk", "3.0")
  gi.require_version("GLib", "2.0")
  gi.require_version("Gtk", "3.0")
  from gi.repository import Gdk, GLib, Gtk
  name, pipe = sys.argv[1:]
  GLib.set_prgname(name)
  Gdk.set_program_class(name)
  window = Gtk.Window(title="one")
  window.set_default_size(300, 200)
  window.connect("destroy", Gtk.main_quit)
  window.show_all()
  question = []
  def ask(*_):
      if not question:
          question.append(Gtk.Dialog(title="Save?", transient_for=window, modal=True))
          question[0].set_default_size(100, 100)
          question[0].show_all()
      return True
  def do(source, condition):
      verb, _, text = os.read(source, 4096).decode().strip().partition(" ")
      if verb == "title":
          window.set_title(text)
      if verb == "dialog":
          dialog = Gtk.Dialog(title="dialog", transient_for=window, modal=True)
          dialog.set_default_size(100, 100)
          dialog.connect("delete-event", lambda *_: dialog.destroy())
          dialog.show_all()
      if verb == "window":
          other = Gtk.Window(title=text)
          other.show_all()
      if verb == "unsaved":
          window.connect("delete-event", ask)
          print("unsaved", flush=True)
      if verb == "cancel":
          question.pop().destroy()
      if verb == "discard":
          window.destroy()
      return True
  os.path.exists(pipe) or os.mkfifo(pipe)
  GLib.io_add_watch(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), GLib.IO_IN, do)
  Gtk.main()
  """

/// The adapter on a session's desktop, and the windows according to its signals. On GNOME Shell, the adapter is the extension.
final class RunningAdapter {
  let session: Session
  private let running: Program?
  private(set) var windows: [Window] = []
  /// The log of windows: `opened editor`, `closed editor`.
  private(set) var log: [String] = []
  private(set) var serial: UInt64 = 0
  private(set) var properties: Properties = [:]
  /// Whether no serial was left out.
  private(set) var isGapless = true
  private var subscriptions: [Subscription] = []

  /// - Parameter variables: variables that replace those of the session.
  init(_ session: Session, _ arguments: String..., variables: [String: String] = [:]) throws {
    self.session = session
    var owner: BusName?
    let watch = session.client.watchName(Rows.bus) { owner = $0 }
    defer { watch.cancel() }
    var isReady = false
    let isExtension = session.desktop?.manager == .gnome
    let command =
      session.desktop?.manager == .described
      ? [session.path(DescribedDesktop.program), "adapter"] : [session.executable("navd-windows")] + arguments
    running =
      try isExtension
      ? nil : session.start(program: "/usr/bin/env", variables.map { "\($0.key)=\($0.value)" } + command)
    subscriptions = [
      session.client.subscribe(MatchRule(path: Rows.object), ready: { _ in isReady = true }) { [unowned self] in
        take($0)
      }
    ]
    if isExtension { try session.enableExtension() }
    let program = running
    try session.wait("the adapter owns its name") { isReady && owner != nil || program?.hasEnded == true }
    try #require(program?.status == nil, "\(program?.errorText ?? "")")
    let (windows, serial) = try call(Rows.getWindows, ())
    self.windows = windows.map { Window(id: $0.fields.0, WindowProperties($0.fields.1)) }
    self.serial = serial
    log = []
    properties = try call(PropertyAccessing.getAll, Rows.name.text)
  }

  /// The process of the adapter. An extension has none.
  var program: Program { running! }

  /// Ends the adapter as a crash does.
  func kill() throws {
    guard let running else { return try session.disableExtension() }
    running.send(SIGKILL)
    try session.wait("the adapter ends") { running.status != nil }
  }

  deinit { for subscription in subscriptions { subscription.cancel() } }

  private func take(_ message: Message) {
    if let (interface, changed, _) = try? PropertyAccessing.propertiesChanged.arguments(of: message),
      interface == Rows.name.text
    {
      properties.merge(changed) { $1 }
    }
    guard let event = try? WindowEvent(message), event.serial > serial else { return }
    if event.serial != serial + 1 { isGapless = false }
    serial = event.serial
    switch event.kind {
    case .opened(let window):
      windows.append(window)
      log.append("opened \(window.properties.appID ?? "?") \(window.properties.title ?? "?")")
    case .changed(let id, let changed):
      guard let index = windows.firstIndex(where: { $0.id == id }) else { return isGapless = false }
      windows[index].properties.merge(changed)
    case .closed(let id):
      log.append("closed \(windows.first { $0.id == id }?.properties.appID ?? "?")")
      windows.removeAll { $0.id == id }
    }
  }

  func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws -> Output {
    try session.call(method, input, at: Rows.object, on: Rows.bus)
  }

  /// Makes as many requests as may be unanswered, and one that is refused, while the window system does not answer.
  /// - Returns: the requests that wait for their answers.
  func makeRequestsUntilRefused(for window: Window) throws -> [Session.Pending<Void>] {
    let requests = (0...1024).map { _ in session.begin(Rows.activate, window.id, at: Rows.object, on: Rows.bus) }
    try session.wait("one is refused") { requests.count { $0.result != nil } == 1 }
    let refused = try #require(requests.first { $0.result != nil })
    #expect(throws: DBusError.self) { try session.answer(to: refused) }
    return requests.filter { $0 !== refused }
  }

  /// Calls a method that the adapter refuses, and returns the code of the refusal.
  func refusal<Input>(_ method: Method<Input, Void>, _ input: Input) throws -> ErrorCode? {
    do {
      try call(method, input)
      return nil
    } catch let error as DBusError {
      return ErrorCode(error.name)
    }
  }

  func window(_ appID: String, _ title: String? = nil) -> Window? {
    windows.first { $0.properties.appID == appID && (title == nil || $0.properties.title == title) }
  }

  func wait(_ what: String, until condition: () -> Bool) throws {
    do {
      try session.wait(what, until: condition)
    } catch {
      throw Session.Failure("\(error)\n\(windows)\n\(log)\n\(running?.errorText ?? "")")
    }
  }

  /// Waits for a window with the application id.
  func open(_ appID: String, _ title: String? = nil) throws -> Window {
    try wait("there is the window \(appID)") { window(appID, title) != nil }
    return try #require(window(appID, title))
  }
}

extension Session {
  /// Starts the editor with a window of an application id.
  /// - Parameter variables: more variables of its environment.
  func edit(_ name: String, _ variables: [String: String] = [:]) throws -> Program {
    try start(
      program: "/usr/bin/env",
      variables.map { "\($0.key)=\($0.value)" }
        + ["/usr/bin/python3", "-c", editorProgram, name, path("bin/\(name).pipe")])
  }

  /// Makes an editor do something.
  func tell(_ name: String, _ line: String) throws {
    let run = try run(program: "/bin/sh", ["-c", "echo \"$1\" >\"$2\"", "sh", line, path("bin/\(name).pipe")])
    #expect(run.exitCode == 0, "\(run.errorText)")
  }
}
