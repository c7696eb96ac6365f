import CoordinatorAPI
import DBus
import DBusValues
import Glibc
public import TextFormats

/// GNOME Shell as a desktop of the tests, and its report about its windows, by its method Eval, which runs a script in the shell.
public enum GnomeShell {
  /// The extension, which is installed on the desktop and disabled at first.
  public static let extensionID = "navd-windows@navd.org"

  /// Installs the extension where the shell looks for its user's extensions.
  static func installExtension(in home: Home) throws {
    let directory = ".local/share/gnome-shell/extensions/\(extensionID)"
    home.makeDirectory(directory)
    let assembling = try spawn(
      ["\(Files.package)/gnome-shell/assemble", home.path(of: directory)],
      environment: ["PATH=/usr/local/bin:/usr/bin:/bin"], descriptors: [STDERR_FILENO, STDERR_FILENO, STDERR_FILENO])
    var status: Int32 = 0
    guard waitpid(assembling, &status, 0) == assembling, status == 0 else {
      throw SetupFailure(description: "gnome-shell/assemble has failed: \(status)")
    }
  }

  /// The script that starts GNOME Shell, and reports the displays when the shell shows its desktop.
  ///
  /// GNOME Shell needs a system bus and, on machines with systemd, logind on that bus. It starts in the overview, in which no window
  /// has the focus. Without animations, it carries out requests at once.
  static let script = #"""
    directory=$XDG_RUNTIME_DIR
    dbus-daemon --session --nofork --nopidfile --address="unix:path=$directory/system-bus" &
    export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$directory/system-bus"
    until [ -S "$directory/system-bus" ]; do sleep 0.02; done
    /usr/bin/python3 -m dbusmock --system --template logind >/dev/null &
    DBUS_SESSION_BUS_ADDRESS=$DBUS_SYSTEM_BUS_ADDRESS gdbus wait --session --timeout 20 org.freedesktop.login1
    ready() {
      gdbus call --session --dest org.gnome.Shell --object-path /org/gnome/Shell --method org.gnome.Shell.Eval "
        (() => {
          if (Main.layoutManager._startingUp)
            return '';
          const {Gio, GLib, Meta, St} = imports.gi;
          new Gio.Settings({schema_id: 'org.gnome.mutter'}).set_boolean('dynamic-workspaces', false);
          Meta.prefs_set_num_workspaces(4);
          St.Settings.get().inhibit_animations();
          Main.overview.hide();
          return Main.modalCount > 0 || Main.overview.visible ? '' :
            ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'].map(name => GLib.getenv(name)).join(' ');
        })()"
    }
    {
      # It answers a second after it has its name. Each question starts a program, in the second in which the shell needs the processor.
      gdbus wait --session --timeout 30 org.gnome.Shell
      until said=$(ready 2>/dev/null) && [ "$said" != "(true, '\"\"')" ]; do sleep 0.1; done
      said=${said#*\"}
      echo "${said%\"*}" >"$directory/displays.new"
      mv "$directory/displays.new" "$directory/displays"
    } &
    exec gnome-shell --wayland --headless --unsafe-mode --virtual-monitor 1280x720
    """#
}

extension Session {
  /// Enables the extension, and waits until it knows the windows.
  public func enableExtension() throws { try setExtension(isEnabled: true) }

  /// Disables the extension, and waits until it has left the bus.
  public func disableExtension() throws { try setExtension(isEnabled: false) }

  private func setExtension(isEnabled: Bool) throws {
    var owner: BusName?
    var isKnown = false
    let watch = client.watchName(WindowSystemInterface.bus) {
      owner = $0
      isKnown = true
    }
    defer { watch.cancel() }
    let call = isEnabled ? "enableExtension" : "disableExtension"
    guard try evaluate("Main.extensionManager.\(call)('\(GnomeShell.extensionID)')") == true else {
      throw Failure("GNOME Shell does not know the extension")
    }
    try wait("the extension is enabled: \(isEnabled)") { isKnown && (owner != nil) == isEnabled }
  }

  /// Runs a script in GNOME Shell.
  /// - Returns: the value of its last expression.
  @discardableResult
  public func evaluate(_ script: String) throws -> JSON {
    let eval = Method(
      "org.gnome.Shell" as InterfaceName, "Eval", in: Arg<String>("script"),
      out: Arg<Bool>("success"), Arg<String>("result"))
    var result: Result<(Bool, String), DBusError>?
    client.call(eval, on: "org.gnome.Shell", at: "/org/gnome/Shell", script) { result = $0 }
    try wait("the shell answers") { result != nil }
    guard let (success, text) = try result?.get(), success else {
      throw Failure("\(script): \(String(describing: result))")
    }
    return text.isEmpty ? .null : try JSON.parse(text)
  }
}
