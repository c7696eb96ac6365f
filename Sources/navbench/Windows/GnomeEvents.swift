import DBus
import DBusValues
import EventLoops

/// The window events of GNOME Shell. Only a script in the shell receives them, so the bare subscriber is a script, and its signals
/// bring them here. The shell must be started with `--unsafe-mode`, in which it runs scripts.
final class GnomeEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private var subscriptions: [Subscription] = []

  private let connection: Connection

  let backend = "gnome"

  /// Starts the bare subscriber in the shell.
  init(_ connection: Connection) throws {
    self.connection = connection
    subscriptions = [
      connection.subscribe(to: BareWindows.opened, from: BareWindows.name, at: BareWindows.path) {
        [unowned self] opened, _ in
        onTitle?(opened.0, opened.1, opened.1, MonotonicInstant(nanoseconds: opened.2))
      },
      connection.subscribe(to: BareWindows.closed, from: BareWindows.name, at: BareWindows.path) {
        [unowned self] window, _ in onClosed?(window)
      },
    ]
    _ = try evaluate(Self.script)
  }

  deinit { for subscription in subscriptions { subscription.cancel() } }

  /// The times for which the extension kept the shell from drawing, in nanoseconds.
  func work() throws -> [Double] {
    try evaluate("global.navbenchWork").split { !$0.isNumber }.compactMap { Double(String($0)) }
  }

  private func evaluate(_ script: String) throws -> String {
    let eval = Method(
      "org.gnome.Shell" as InterfaceName, "Eval", in: Arg<String>("script"), out: Arg<Bool>("success"),
      Arg<String>("result"))
    let (success, result) = try connection.callAndWait(eval, on: "org.gnome.Shell", at: "/org/gnome/Shell", script)
    guard success else {
      throw BenchmarkError(
        description:
          "expected a GNOME Shell that was started with --unsafe-mode, found one that runs no script: \(result)")
    }
    return result
  }

  /// A window has no place before its first frame.
  private static let script = """
    (() => {
      const {Gio, GLib} = imports.gi;
      const emit = (name, type, ...values) => Gio.DBus.session.emit_signal(
        null, '\(BareWindows.path)', '\(BareWindows.opened.interface)', name, new GLib.Variant(type, values));
      global.display.connect('window-created', (_, window) => {
        const id = `${window.get_stable_sequence()}`;
        const actor = window.get_compositor_private();
        const frame = actor.connect('first-frame', () => {
          actor.disconnect(frame);
          emit('Opened', '(ssx)', id, window.get_wm_class() ?? '', GLib.get_monotonic_time() * 1000);
        });
        window.connect('unmanaged', () => emit('Closed', '(s)', id));
      });
      const service = Main.extensionManager.lookup('navd-windows@navd.org').stateObj._adapter._parts[0];
      const tell = service._tell;
      global.navbenchWork = [];
      service._tell = limit => {
        const start = GLib.get_monotonic_time();
        tell.call(service, limit);
        global.navbenchWork.push((GLib.get_monotonic_time() - start) * 1000);
      };
      Gio.bus_own_name_on_connection(Gio.DBus.session, '\(BareWindows.name)', 0, null, null);
    })()
    """
}
