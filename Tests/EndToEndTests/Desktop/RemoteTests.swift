import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The option -H of navctl, which reaches the session of another machine by ssh.

private typealias Rows = CoordinatorInterface

/// A private sshd, by which one session reaches another as if that were on another machine.
private final class SSHServer {
  let port: UInt16
  private let sshd: Program

  /// - Parameters:
  ///   - session: the session to be reached.
  ///   - desk: the session that connects; there the host is called `kiosk`.
  init(_ session: Session, reachedFrom desk: Session) throws {
    port = try #require(freePort())
    for (key, place) in [("host_key", session), ("key", desk), ("other_key", desk)] {
      let arguments = ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", place.path(key)]
      #expect(try place.run(program: "/usr/bin/ssh-keygen", arguments).exitCode == 0)
    }
    func text(_ path: String) -> String { String(decoding: Files.contents(of: path), as: UTF8.self) }
    try session.write(text(desk.path("key.pub")), to: "authorized_keys")
    try session.write(
      """
      Port \(port)
      ListenAddress 127.0.0.1
      HostKey \(session.path("host_key"))
      AuthorizedKeysFile \(session.path("authorized_keys"))
      PidFile none
      StrictModes no
      UsePAM no
      PasswordAuthentication no
      KbdInteractiveAuthentication no
      PermitRootLogin prohibit-password
      SetEnv XDG_RUNTIME_DIR=\(session.bus.directory)
      """, to: "sshd_config")
    try desk.write("[127.0.0.1]:\(port) \(text(session.path("host_key.pub")))", to: "known_hosts")
    try desk.write(
      """
      Host stranger
        IdentityFile \(desk.path("other_key"))
      Host kiosk stranger
        HostName 127.0.0.1
        Port \(port)
      Host * !stranger
        IdentityFile \(desk.path("key"))
      Host *
        IdentitiesOnly yes
        IdentityAgent none
        BatchMode yes
        UserKnownHostsFile \(desk.path("known_hosts"))
      """, to: "ssh_config")
    // ssh looks for its files in the home directory of the password database, whatever $HOME is.
    try desk.write("#!/bin/sh\nexec /usr/bin/ssh -F '\(desk.path("ssh_config"))' \"$@\"\n", to: "bin/ssh")
    desk.environment["PATH"] = "\(desk.path("bin")):/usr/bin:/bin"
    // This directory is usually made at boot.
    if getuid() == 0 { mkdir("/run/sshd", 0o755) }
    let sshd = try desk.start(program: "/usr/sbin/sshd", ["-D", "-e", "-f", session.path("sshd_config")])
    self.sshd = sshd
    try desk.wait("sshd is listening: \(sshd.errorText)") {
      sshd.errorText.contains("Server listening") || sshd.hasEnded
    }
    #expect(!sshd.hasEnded, "\(sshd.errorText)")
  }
}

@Test(
  "-H: navctl asks, changes and watches the session of another machine by ssh, and sends it nothing of this session")
func remote_session_isAskedDrivenAndWatched() throws {
  let kiosk = try Session()
  let desk = try Session(starting: false)
  let server = try SSHServer(kiosk, reachedFrom: desk)
  desk.environment["WAYLAND_DISPLAY"] = "the-desk's"
  desk.environment["XDG_ACTIVATION_TOKEN"] = "the-desk's"

  let watch = try desk.startNavctl("-H", "kiosk", "watch", "--events", "--format", "{event} {binding} {id}")
  try desk.wait("the watcher has the state; \(watch.errorText)") { !watch.lines.isEmpty || watch.hasEnded }

  let present = try desk.navctl(
    "present", "fact", "1", "--output", "HDMI-1", "--wait", "-H", "kiosk", "--", "sh", "-c", "env; echo done")
  #expect(present.exitCode == 0, "\(present.errorText)")
  #expect(present.lines.last == "done")
  #expect(present.lines.contains("NAVD_BINDING=fact"))
  #expect(present.lines.contains("NAVD_OUTPUT=HDMI-1"))
  #expect(!present.outputText.contains("the-desk's"))
  try desk.wait("the watcher prints the end") { watch.lines.contains("dismissed fact 1") }

  #expect(try desk.navctl("--host=127.0.0.1:\(server.port)", "present", "--state", "note").exitCode == 0)
  #expect(try kiosk.call(Rows.get, "note").0 != .root)
  let list = try desk.navctl("-H", "kiosk", "list", "--json")
  #expect(try list.json == kiosk.navctl("list", "--json").json)
  #expect(list.exitCode == 0)
  let doctor = try desk.navctl("doctor", "-H", "kiosk").lines
  #expect(doctor.contains("ok\tbus\tthat of kiosk"), "\(doctor)")
  #expect(doctor.contains { $0.hasPrefix("ok\tnavd\tnavd \(Release.version), process ") }, "\(doctor)")
  #expect(!doctor.contains { $0.contains("\tvariables\t") }, "\(doctor)")
  // This session has no navd.
  #expect(try desk.navctl("list").exitCode == 8)

  // The bus of the other session ends, and the connection ends with it.
  try desk.wait("the watcher prints the presentation") { watch.lines.last == "presented note " }
  kill(kiosk.bus.processID, SIGKILL)
  try desk.wait("the watcher ends") { watch.hasEnded }
  #expect(watch.exitCode == 8, "\(watch.errorText)")
  let late = try desk.navctl("-H", "kiosk", "list")
  #expect(late.exitCode == 8)
  #expect(late.errorText.contains("navctl: list: cannot reach the session bus of kiosk by ssh"))

  // The error of ssh is printed first, and the advice after it.
  let stranger = try desk.navctl("-H", "stranger", "list")
  #expect(stranger.exitCode == 8)
  #expect(stranger.errorText.contains("Permission denied (publickey)"), "\(stranger.errorText)")
  #expect(stranger.errorText.contains("check that “ssh stranger systemd-stdio-bridge --version” works"))
  let refused = try desk.navctl("-H", "127.0.0.1:1", "dismiss", "fact")
  #expect(refused.exitCode == 8)
  #expect(refused.errorText.contains("port 1: Connection refused"), "\(refused.errorText)")
  #expect(refused.errorText.contains("“ssh -p 1 127.0.0.1 systemd-stdio-bridge --version”"))
}

@Test("-H: an invalid host is wrong usage; it reaches ssh neither as an option nor through a shell")
func remote_invalidHost_isRefused() throws {
  let desk = try Session(starting: false)
  try desk.write("#!/bin/sh\ntouch \"$HOME/ran\"\n", to: "bin/ssh")
  desk.environment["PATH"] = "\(desk.path("bin")):/usr/bin:/bin"
  for host in [
    "-oProxyCommand=true", "ann@-oProxyCommand=true", "a b", "kiosk;true", "$(true)", "@kiosk", "ann@", "kiosk:0",
    "kiosk:99999", "[::1]x", "a,b=c", "kiosk:",
  ] {
    let run = try desk.navctl("--host=\(host)", "list")
    #expect(run.exitCode == 2, "\(host)")
    #expect(run.errorText.contains("found “\(host)”: "), "\(run.errorText)")
  }
  #expect(try desk.navctl("-H", "-oProxyCommand=true", "list").exitCode == 2)
  #expect(try desk.navctl("-H", "kiosk", "--address", "unix:path=/x", "list").exitCode == 2)
  let check = try desk.navctl("-H", "kiosk", "check-config")
  #expect(check.exitCode == 2)
  #expect(check.errorText.contains("use “ssh kiosk navd --check-config”"), "\(check.errorText)")
  #expect(access(desk.path("ran"), F_OK) != 0)
}
