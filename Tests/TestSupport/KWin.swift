import EventLoops
import Glibc
public import TextFormats

/// KWin on Wayland as a desktop of the tests, and its report about its windows, by a script that it runs.
public enum KWin {
  /// Allows a program of the session to know the windows, like the installed file for navd-windows.
  static func allowWindows(in home: Home, to name: String = "navd-windows") throws {
    // This is the kernel's path of the program.
    guard let path = realpath(home.path(of: "bin/\(name)"), nil) else { throw SystemError("realpath") }
    defer { free(path) }
    let program = String(cString: path)
    let entry = try Files.text(inPackage: "packaging/org.navd.navd-windows.desktop")
      .split(separator: "@BINDIR@/navd-windows", omittingEmptySubsequences: false).joined(separator: program)
    try home.write(entry, to: ".local/share/applications/org.navd.\(name).desktop")
    // KDE Frameworks 6.13 list only programs in a menu, which Plasma provides.
    let menu = "<Menu><Name>Applications</Name><DefaultAppDirs/><Include><All/></Include></Menu>\n"
    try home.write(menu, to: "etc/menus/applications.menu")
  }

  /// The script that starts KWin with four desktops and Xwayland, and reports the displays.
  ///
  /// Debian's file has a capability, with which it does not run in a container; a copy has none. The copy needs KWin's own name.
  static let script = #"""
    directory=$XDG_RUNTIME_DIR
    cp /usr/bin/kwin_wayland "$directory/kwin_wayland"
    export XDG_CURRENT_DESKTOP=KDE KWIN_COMPOSE=${KWIN_COMPOSE:-Q}
    cat >"$directory/started.sh" <<'END'
    add() {
      gdbus call --session --dest org.kde.KWin --object-path /VirtualDesktopManager \
        --method org.kde.KWin.VirtualDesktopManager.createDesktop "$1" "$1"
    }
    until add 1; do sleep 0.02; done
    add 2
    add 3
    echo "$DISPLAY $WAYLAND_DISPLAY" >"$XDG_RUNTIME_DIR/displays.new"
    mv "$XDG_RUNTIME_DIR/displays.new" "$XDG_RUNTIME_DIR/displays"
    END
    exec "$directory/kwin_wayland" --virtual --width 1280 --height 720 --no-lockscreen --no-global-shortcuts --xwayland \
      --socket wayland-0 "sh $directory/started.sh"
    """#

  /// The program that evaluates its argument, an expression, in a script of KWin, and prints the value. The script sends the value to
  /// the program by a D-Bus call.
  static let asking = #"""
    import gi, sys, tempfile
    gi.require_version("Gio", "2.0")
    gi.require_version("GLib", "2.0")
    from gi.repository import Gio, GLib
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    loop = GLib.MainLoop()
    node = '<node><interface name="org.navd.Test"><method name="Tell"><arg type="s"/></method></interface></node>'
    def tell(connection, sender, path, interface, method, arguments, invocation):
        print(arguments.unpack()[0])
        invocation.return_value(None)
        loop.quit()
    bus.register_object("/", Gio.DBusNodeInfo.new_for_xml(node).interfaces[0], tell, None, None)
    def scripting(method, *texts):
        bus.call_sync("org.kde.KWin", "/Scripting", "org.kde.kwin.Scripting", method,
                      GLib.Variant("(" + "s" * len(texts) + ")", texts), None, 0, -1, None)
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write("const said = (() => " + sys.argv[1] + ")();\n")
        script.write(f'callDBus("{bus.get_unique_name()}", "/", "org.navd.Test", "Tell", JSON.stringify(said) || "null");')
        script.flush()
        scripting("loadScript", script.name, script.name)
        scripting("start")
        loop.run()
        scripting("unloadScript", script.name)
    """#
}

extension Session {
  /// Allows a program in the session's `bin` to know the windows of KWin.
  public func allowWindows(to program: String) throws { try KWin.allowWindows(in: home, to: program) }

  /// Runs an expression in a script of KWin.
  /// - Returns: the value of the expression.
  @discardableResult
  public func askKWin(_ expression: String) throws -> JSON {
    let run = try run(program: "/usr/bin/python3", ["-c", KWin.asking, expression])
    guard run.exitCode == 0 else { throw Failure("\(expression): \(run.errorText)") }
    return try JSON.parse(run.outputText)
  }
}
