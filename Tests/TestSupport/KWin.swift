import DBus
import DBusValues
import EventLoops
import Glibc
public import TextFormats

/// KWin on Wayland as a desktop of the tests, and its report about its windows, by a script that it runs.
public enum KWin {
  fileprivate static let bus: BusName = "org.kde.KWin"
  fileprivate static let scripting: ObjectPath = "/Scripting"
  private static let interface: InterfaceName = "org.kde.kwin.Scripting"
  fileprivate static let loadScript = Method(
    interface, "loadScript", in: Arg<String>("path"), Arg<String>("name"), out: Arg<Int32>("number"))
  fileprivate static let start = Method(interface, "start")
  fileprivate static let unloadScript = Method(
    interface, "unloadScript", in: Arg<String>("name"), out: Arg<Bool>("isUnloaded"))

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
}

extension Session {
  /// Allows a program in the session's `bin` to know the windows of KWin.
  public func allowWindows(to program: String) throws { try KWin.allowWindows(in: home, to: program) }

  /// Runs an expression in a script of KWin, which sends the value by a D-Bus call.
  /// - Returns: the value of the expression.
  @discardableResult
  public func askKWin(_ expression: String) throws -> JSON {
    let tell = Method("org.navd.Test" as InterfaceName, "Tell", in: Arg<String>("value"))
    var said: String?
    let object = ImplementedInterface(Interface("org.navd.Test", members: [tell]))
    object.implement(tell) { text, call in
      said = text
      call.reply(())
    }
    let path = "/org/navd/Test" as ObjectPath
    client.export(path, [object])
    defer { client.unexport(path) }

    // KWin knows a script by its name for a moment longer than it is loaded.
    let name = "asked-\(UInt32.random(in: 0 ... .max)).js"
    let script = self.path(name)
    try write(
      """
      const said = (() => \(expression))();
      callDBus("\(client.uniqueName.text)", "\(path.text)", "org.navd.Test", "Tell", JSON.stringify(said) || "null");
      """, to: name)
    defer { unlink(script) }
    try call(KWin.loadScript, (script, script), at: KWin.scripting, on: KWin.bus)
    try call(KWin.start, (), at: KWin.scripting, on: KWin.bus)
    try wait("KWin says: \(expression)") { said != nil }
    try call(KWin.unloadScript, script, at: KWin.scripting, on: KWin.bus)
    return try JSON.parse(said ?? "")
  }
}
