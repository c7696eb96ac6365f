// Why this file exists: what people see is judged by a real compositor with real windows, which is no other test's and
// nobody's who runs the tests.

import EventLoops
import Glibc

/// A desktop of its own, with a bus of its own, for as long as this object is held: headless sway, or i3 on an X server
/// without a screen. Of what runs on it nothing is left then.
///
/// It is an ordinary user's: that of the tests, or `nobody` where they are root's, since sway does not want to be root's.
public final class Desktop: SessionBus {
  /// What manages the windows.
  public enum Manager: String, Sendable {
    case sway, i3

    /// The program that asks it.
    public var messenger: String { self == .sway ? "/usr/bin/swaymsg" : "/usr/bin/i3-msg" }
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// Whose desktop it is.
  struct User {
    let id: uid_t
    let group: gid_t
    /// What comes before a program's path and arguments to run it as this user's.
    let prefix: [String]

    init() throws(Failure) {
      guard geteuid() == 0 else {
        (id, group, prefix) = (geteuid(), getegid(), [])
        return
      }
      guard let entry = getpwnam("nobody") else { throw Failure(description: "there is no user “nobody”") }
      (id, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
      prefix = ["/usr/bin/setpriv", "--reuid", String(id), "--regid", String(group), "--clear-groups", "--"]
    }
  }

  public let manager: Manager
  public let address: String
  /// Of the bus itself.
  public let processID: pid_t
  public var directory: String { temporary.path }
  /// What programs on the desktop have in their environment beside the bus's, which was there before the displays were.
  public let displays: [String: String]

  let user: User
  fileprivate let temporary: TemporaryDirectory
  private let guardian: Guardian

  /// - Parameters:
  ///   - environment: what all that runs there has, and nothing else; it is found by `NAVD_TEST_SESSION` in the end.
  ///   - configuration: the manager's, in its own words, but for how big the screen is (1280×720).
  /// - Throws: `Failure`, if it cannot be set up; it says why.
  init(
    _ manager: Manager, of user: User, environment: [String: String], configuration: String,
    limit: Duration = .seconds(30)
  ) throws {
    self.manager = manager
    self.user = user
    temporary = TemporaryDirectory()
    let directory = temporary.path
    chown(directory, user.id, user.group)
    // Who runs the tests may talk to the bus, too.
    let bus = """
      <busconfig>
        <include>/usr/share/dbus-1/session.conf</include>
        <policy context="default"><allow user="*"/></policy>
      </busconfig>
      """
    try write(bus, toFile: temporary.path(of: "bus.conf"))
    let told = "echo \"$DISPLAY $WAYLAND_DISPLAY\" >\(directory)/displays"
    let own =
      switch manager {
      case .sway: "output HEADLESS-1 resolution 1280x720\nexec \(told)\n"
      case .i3: "# i3 config file (v4)\nipc-socket \(directory)/manager\nexec --no-startup-id \(told)\n"
      }
    try write(own + configuration, toFile: temporary.path(of: "manager.conf"))

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
      if [ "$manager" = i3 ]; then
        (exec 3<&- 4>&-; exec "$@" Xvfb -displayfd 1 -screen 0 1280x720x24 -nolisten tcp \\
          -fbdir "$directory") >"$directory/server.said" &
        server=$!
        read -r display <"$directory/server.said" || fail "there is no X server"
      fi
      (exec 3<&- 4>&-; exec "$@" ${display:+"DISPLAY=:$display"} "$manager" -c "$directory/manager.conf") &
      pid=$!
      until [ -s "$directory/displays" ]; do
        kill -0 $pid || fail "there is no $manager"
        sleep 0.02
      done
      { echo "$address"; echo "$bus"; cat "$directory/displays"; } >&4
      exec 4>&-
      read -r _ <&3
      finish
      """
    var variables = environment
    variables["XDG_RUNTIME_DIR"] = directory
    variables["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(directory)/bus"
    // wlroots is to do without hardware.
    variables.merge([
      "LIBSEAT_BACKEND": "noop", "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
      manager == .sway ? "SWAYSOCK" : "I3SOCK": temporary.path(of: "manager"),
    ]) { $1 }
    let mark = environment["NAVD_TEST_SESSION"] ?? ""
    let asUser = user.prefix + ["/usr/bin/env", "-i"] + variables.map { "\($0.key)=\($0.value)" }
    guardian = try Guardian(
      ["/bin/sh", "-c", script, "sh", directory, manager.rawValue, mark] + asUser,
      environment: ["PATH=/usr/local/bin:/usr/bin:/bin"])
    let lines = try guardian.readLines(3, limit: limit)
    guard let processID = pid_t(lines[1]) else { throw Failure(description: "\(lines)") }
    address = lines[0]
    self.processID = processID
    let names = lines[2].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    displays =
      manager == .sway
      ? ["DISPLAY": names[0], "WAYLAND_DISPLAY": names[1], "SWAYSOCK": temporary.path(of: "manager")]
      : ["DISPLAY": names[0], "I3SOCK": temporary.path(of: "manager")]
  }

  deinit { guardian.end() }
}

extension Desktop {
  /// The lowest and the highest rows of an X screen, as they are: four bytes a pixel, 1280 pixels a row.
  public func rows(top: Int, bottom: Int) -> (top: [UInt8], bottom: [UInt8]) {
    let screen = Session.contents(of: temporary.path(of: "Xvfb_screen0")).suffix(1280 * 720 * 4)
    return (Array(screen.prefix(1280 * 4 * top)), Array(screen.suffix(1280 * 4 * bottom)))
  }
}

/// Makes a file of a text, or puts another one there.
/// - Throws: `SystemError`.
func write(_ text: String, toFile path: String) throws {
  let file = try check("open \(path)") { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
  defer { close(file) }
  _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
}
