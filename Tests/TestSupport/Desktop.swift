import EventLoops
import Glibc

/// A private desktop with a private bus that exists while this object is held: headless sway, GNOME Shell or KWin, or an X window manager
/// on a headless X server. Its end kills every program on it.
///
/// The desktop runs as the user of the tests, or as `nobody` if that user is root, because sway refuses to run as root.
public final class Desktop: SessionBus {
  /// The window manager.
  public enum Manager: String, Sendable {
    case sway, i3, openbox, dwm, xfwm4, mutter, metacity, fluxbox, awesome, bspwm, herbstluftwm
    case kwinX11 = "kwin_x11"
    case gnome = "gnome-shell"
    case kwin = "kwin_wayland"
    /// A desktop of another project: ``DescribedDesktop``.
    case described

    /// The command line tool that sends requests to the manager, for sway and i3.
    public var messenger: String { self == .sway ? "/usr/bin/swaymsg" : "/usr/bin/i3-msg" }

    /// Whether the manager reports the windows only in properties of X11 (EWMH).
    public var saysByX11: Bool { ![.sway, .i3, .gnome, .kwin, .described].contains(self) }
  }

  /// The owner of the desktop.
  struct User {
    let id: uid_t
    let group: gid_t
    /// The command line prefix that runs a program as this user.
    let prefix: [String]

    init() throws(SetupFailure) {
      guard geteuid() == 0 else {
        (id, group, prefix) = (geteuid(), getegid(), [])
        return
      }
      guard let entry = getpwnam("nobody") else { throw SetupFailure(description: "there is no user “nobody”") }
      (id, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
      prefix = ["/usr/bin/setpriv", "--reuid", String(id), "--regid", String(group), "--clear-groups", "--"]
    }
  }

  public let manager: Manager
  public let address: String
  /// The process ID of the bus daemon.
  public let processID: pid_t
  public var directory: String { temporary.path }
  /// The environment variables of programs on the desktop, in addition to those of the bus. The bus was started before the displays
  /// existed.
  public let displays: [String: String]

  let user: User
  fileprivate let temporary: TemporaryDirectory
  private let supervised: SupervisedScript

  /// - Parameters:
  ///   - environment: the whole environment of every program on the desktop; `NAVD_TEST_SESSION` identifies the programs when the
  ///     desktop ends.
  ///   - configuration: additional lines of the manager's configuration file; options of its command for all managers but sway, i3
  ///     and openbox. The screen is 1280×720.
  /// - Throws: `SetupFailure` with the reason, if the desktop cannot be set up.
  init(
    _ manager: Manager, of user: User, environment: [String: String], configuration: String,
    limit: Duration = .seconds(30)
  ) throws {
    self.manager = manager
    self.user = user
    temporary = TemporaryDirectory()
    let directory = temporary.path
    chown(directory, user.id, user.group)
    // The bus also admits the user who runs the tests.
    let bus = """
      <busconfig>
        <include>/usr/share/dbus-1/session.conf</include>
        <policy context="default"><allow user="*"/></policy>
      </busconfig>
      """
    try Files.write(bus, to: temporary.path(of: "bus.conf"))
    let told = "echo \"$DISPLAY $WAYLAND_DISPLAY\" >\(directory)/displays"
    // A window that opens before there is a keyboard misses its first keys. This keyboard exists as long as the desktop.
    let keyboard = """
      wtype -s 86400000 -k n &
      until swaymsg -t get_inputs | grep -q keyboard; do sleep 0.02; done
      \(told)
      """
    try Files.write(keyboard, to: temporary.path(of: "keyboard.sh"))
    let own =
      switch manager {
      case .sway: "output HEADLESS-1 resolution 1280x720\nexec sh \(directory)/keyboard.sh\n"
      case .i3: "# i3 config file (v4)\nipc-socket \(directory)/manager\nexec --no-startup-id \(told)\n"
      // openbox has the system's configuration; this is the command that it starts.
      case .openbox: "\(told)\n"
      case .gnome: "\(GnomeShell.script) "
      case .kwin: "\(KWin.script) "
      case .described: try DescribedDesktop.script() + " "
      default: "\(manager.xScript) "
      }
    try Files.write(own + configuration, to: temporary.path(of: "manager.conf"))

    let script = """
      directory=$1 manager=$2 mark=$3
      shift 3
      exec 3<&0 </dev/null 4>&1 >"$directory/log" 2>&1
      everything() { grep -lsxzF "NAVD_TEST_SESSION=$mark" /proc/[0-9]*/environ | tr -dc '0-9\\n'; }
      finish() {
        kill $pid $server
        for try in 1 2 3 4 5 6 7 8 9 10; do [ -n "$pid" ] && kill -0 $pid || break; sleep 0.1; done
        while all=$(everything) && [ -n "$all" ]; do kill -KILL $all; sleep 0.01; done
        wait
      }
      cd "$mark"
      [ -d /tmp/.X11-unix ] || mkdir -m 1777 /tmp/.X11-unix
      mkfifo "$directory/bus.said" "$directory/server.said"
      (exec 3<&- 4>&-; exec "$@" dbus-daemon --config-file="$directory/bus.conf" --nofork --nopidfile \\
        --address="unix:path=$directory/bus" --print-address=1 --print-pid=1) >"$directory/bus.said" &
      { read -r address; read -r bus; } <"$directory/bus.said"
      pid= server= display=
      fail() { finish; { echo "$1:"; tr '\\n' ' ' <"$directory/log"; echo; } >&4; exit 1; }
      [ -n "$bus" ] || fail "there is no bus"
      case $manager in
        sway | gnome-shell | kwin_wayland | described) ;;
        *)
          # It does not begin anew when its last client leaves, such as one that asks whether there is a manager.
          (exec 3<&- 4>&-; exec "$@" Xvfb -displayfd 1 -noreset -screen 0 1280x720x24 -nolisten tcp \\
            -fbdir "$directory") >"$directory/server.said" &
          server=$!
          read -r display <"$directory/server.said" || fail "there is no X server"
          ;;
      esac
      program=$manager option=-c file=$directory/manager.conf pause=0.02
      case $manager in
        sway | i3) ;;
        # These take seconds, and each look starts a program.
        gnome-shell | kwin_wayland) program=sh option= pause=0.1 ;;
        openbox) option=--startup file="sh $file" ;;
        *) program=sh option= ;;
      esac
      (exec 3<&- 4>&-; exec "$@" ${display:+"DISPLAY=:$display"} "$program" ${option:+"$option"} "$file") &
      pid=$!
      until [ -s "$directory/displays" ]; do
        kill -0 $pid || fail "there is no $manager"
        sleep $pause
      done
      { echo "$address"; echo "$bus"; cat "$directory/displays"; } >&4
      exec 4>&-
      read -r _ <&3
      finish
      """
    var variables = environment
    variables["XDG_RUNTIME_DIR"] = directory
    variables["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(directory)/bus"
    // Run wlroots without hardware.
    variables.merge([
      "LIBSEAT_BACKEND": "noop", "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
      manager == .sway ? "SWAYSOCK" : "I3SOCK": temporary.path(of: "manager"),
    ]) { $1 }
    if manager == .gnome { variables["MESA_SHADER_CACHE_DIR"] = Shaders.directory(of: user) }
    // KWin shows its screen to others only if it draws with OpenGL, which is slow without hardware.
    if getenv("NAVD_SCREENSHOT_PLACES") != nil {
      variables.merge(["KWIN_COMPOSE": "O2", "KWIN_SCREENSHOT_NO_PERMISSION_CHECKS": "1"]) { $1 }
    }
    let mark = environment["NAVD_TEST_SESSION"] ?? ""
    let asUser = user.prefix + ["/usr/bin/env", "-i"] + variables.map { "\($0.key)=\($0.value)" }
    supervised = try SupervisedScript(
      ["/bin/sh", "-c", script, "sh", directory, manager.rawValue, mark] + asUser,
      environment: ["PATH=/usr/local/bin:/usr/bin:/bin"])
    let lines = try supervised.readLines(3, limit: limit)
    guard let processID = pid_t(lines[1]) else { throw SetupFailure(description: "\(lines)") }
    address = lines[0]
    self.processID = processID
    let names = lines[2].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    displays =
      switch manager {
      case .sway: ["DISPLAY": names[0], "WAYLAND_DISPLAY": names[1], "SWAYSOCK": temporary.path(of: "manager")]
      case .i3: ["DISPLAY": names[0], "I3SOCK": temporary.path(of: "manager")]
      case .gnome: ["DISPLAY": names[0], "WAYLAND_DISPLAY": names[1], "XAUTHORITY": names[2]]
      case .kwin: ["DISPLAY": names[0], "WAYLAND_DISPLAY": names[1]]
      case .described: try DescribedDesktop.variables(lines[2])
      default: ["DISPLAY": names[0]]
      }
  }

  deinit { supervised.end() }
}

/// Cache of the shaders that the software renderer has compiled, for all desktops of this process. To compile them is a third of the work of
/// GNOME Shell's start.
private enum Shaders {
  private static let temporary = TemporaryDirectory()

  /// The directory, which is deleted when this process ends.
  static func directory(of user: Desktop.User) -> String {
    _ = isPrepared
    chown(temporary.path, user.id, user.group)
    return temporary.path
  }

  private static let isPrepared: Void = { atexit { temporary.delete() } }()
}

extension Desktop {
  /// The topmost and the bottommost rows of an X screen as raw pixels: four bytes per pixel, 1280 pixels per row.
  public func rows(top: Int, bottom: Int) -> (top: [UInt8], bottom: [UInt8]) {
    let screen = Files.contents(of: temporary.path(of: "Xvfb_screen0")).suffix(1280 * 720 * 4)
    return (Array(screen.prefix(1280 * 4 * top)), Array(screen.suffix(1280 * 4 * bottom)))
  }
}
