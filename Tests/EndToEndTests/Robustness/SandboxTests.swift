// Why this file exists: talking to navd is no way out of a sandbox (L3): programs are shut in as Flatpak and snapd do it,
// and try.

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

extension Session {
  /// A command line in a root of its own that has all that the machine's has, and the mark of Flatpak's: what
  /// `flatpak run` does with the proxy through which its program talks to the bus.
  fileprivate func inFlatpak(_ arguments: [String]) throws -> [String] {
    let mark = path("flatpak-info")
    let file = try #require(fopen(mark, "w"))
    fputs("[Application]\nname=org.example.Confined\n\n[Instance]\ninstance-id=1\n", file)
    fclose(file)
    var wrapped = ["/usr/bin/bwrap", "--tmpfs", "/"]
    let root = try #require(opendir("/"))
    defer { closedir(root) }
    while let entry = readdir(root) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let path = "/" + name
      var status = stat()
      guard name != ".", name != "..", lstat(path, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFLNK {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = target.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
        wrapped += ["--symlink", String(decoding: target.prefix(max(0, count)), as: UTF8.self), path]
      } else if status.st_mode & S_IFMT == S_IFDIR {
        wrapped += ["--dev-bind", path, path]
      }
    }
    return wrapped + ["--ro-bind", mark, "/.flatpak-info", "--die-with-parent", "--"] + arguments
  }

  /// A command line in a cgroup that is called as snapd calls those of its programs. Making it takes root.
  fileprivate func inSnap(_ arguments: [String]) -> [String] {
    let script = """
      set -eu
      user=$1 group=$2
      shift 2
      groups=
      for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
        [ -e "$hierarchy/cgroup.procs" ] || continue
        mkdir "$hierarchy/snap.navdtest.app-$$.scope"
        groups="$groups $hierarchy/snap.navdtest.app-$$.scope"
      done
      for group_ in $groups; do echo $$ >"$group_/cgroup.procs"; done
      set +e
      setpriv --reuid "$user" --regid "$group" --init-groups "$@"
      status=$?
      for group_ in $groups; do echo $$ >"$group_/../cgroup.procs"; rmdir "$group_"; done
      exit $status
      """
    let root = geteuid() == 0 ? [] : ["/usr/bin/sudo", "-n", "-E"]
    return root + ["/bin/sh", "-c", script, "sh", "\(getuid())", "\(getgid())"] + arguments
  }

  fileprivate func run(_ arguments: [String]) throws -> Program {
    try run(program: arguments[0], Array(arguments.dropFirst()))
  }

  /// The arguments of a call by gdbus; it waits for the answer, as programs do.
  fileprivate func gdbus(_ method: String, _ arguments: String...) -> [String] {
    [
      "/usr/bin/gdbus", "call", "--session", "--dest", CoordinatorNames.bus.text, "--object-path",
      CoordinatorNames.object.text, "--method", "org.navd.Coordinator1.\(method)",
    ] + arguments
  }

  /// What a program may and may not do that is shut in.
  fileprivate func expectConfinement(_ sandbox: String, _ wrap: ([String]) throws -> [String]) throws {
    func expectDenied(_ call: [String], _ what: String) throws {
      let run = try run(try wrap(call))
      #expect(run.exitCode == 1, "\(run.outputText)")
      #expect(run.errorText.contains("org.navd.Error.AccessDenied"), "\(run.errorText)")
      #expect(
        run.errorText.contains(
          "\(what): not available to programs in a sandbox, and the sender is in one (\(sandbox))"),
        "\(run.errorText)")
    }
    let before = try state()["serial"]
    let command = "{'command': <['sleep', '60']>}"
    try expectDenied(gdbus("Present", "out", "", command), "option “command”")
    try expectDenied(gdbus("Present", "panel", "", "{'directory': <'/tmp'>}"), "option “directory”")
    try expectDenied(gdbus("Toggle", "panel", "", "{'environment': <{'LD_PRELOAD': 'x.so'}>}"), "option “environment”")
    try expectDenied(gdbus("Push", "stack", "out", "", command), "option “command”")
    try expectDenied(gdbus("Select", "group", "tag", command), "option “command”")
    try expectDenied(gdbus("ToggleSelection", "group", "tag", command), "option “command”")
    try expectDenied(
      gdbus("SetPath", "stack", "[('a', '', @a{sv} {}), ('b', '', \(command))]", "{}"), "element 1: option “command”")
    try expectDenied(
      gdbus(
        "Apply", "[('Present', [<'a'>, <''>, <@a{sv} {}>]), ('Present', [<'b'>, <''>, <\(command)>])]", "{}"),
      "request 1: option “command”")
    try expectDenied(gdbus("RegisterPresenter", "panel", "/p", "{}"), "RegisterPresenter")
    #expect(try state()["serial"] == before)
    #expect(processes() == [])

    // What the user's files know may be shown and taken away; navctl says nothing of how.
    let navctl = Self.program("navctl")
    let present = try run(try wrap([navctl, "present", "panel", "1", "--value", "a=1"]))
    #expect(present.exitCode == 0, "\(present.errorText)")
    try poll("it runs") { processes().map(\.name) == ["sleep"] }
    #expect(try run(try wrap([navctl, "dismiss", "panel"])).exitCode == 0)
    try poll("it has ended") { processes() == [] }
    let refused = try run(try wrap([navctl, "present", "out", "--", "sleep", "60"]))
    #expect(refused.exitCode == 6)
    #expect(
      refused.errorText.hasPrefix("navctl: present out: option “command”: not available to programs in a sandbox"))
    #expect(processes() == [])
  }
}

private let destinations = ["panel": "command = [\"sleep\", \"60\"]\n"]

@Test("L3: a program in a Flatpak says nothing of what is run and presents nothing itself")
func sandbox_flatpak_isRefused() throws {
  let session = try Session(destinations: destinations)
  session.environment["XDG_CURRENT_DESKTOP"] = "test"
  try session.expectConfinement("Flatpak") { try session.inFlatpak($0) }
}

@Test("L3: a program in a Flatpak is known through the proxy by which it talks to the bus")
func sandbox_flatpakThroughItsProxy_isRefused() throws {
  let session = try Session(destinations: destinations)
  let socket = session.path("proxied")
  let words = try session.inFlatpak([
    "/usr/bin/xdg-dbus-proxy", session.bus.address, socket, "--filter", "--talk=\(CoordinatorNames.bus)",
  ])
  let proxy = try session.start(program: words[0], Array(words.dropFirst()))
  try session.poll("the proxy listens") { access(socket, F_OK) == 0 }
  try session.expectConfinement("Flatpak") {
    // Of the bus it has nothing but what the proxy lets through.
    try session.inFlatpak(["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(socket)"] + $0)
  }
  #expect(proxy.status == nil)
}

@Test("L3: a program in a snap says nothing of what is run and presents nothing itself")
func sandbox_snap_isRefused() throws {
  let session = try Session(destinations: destinations)
  // navctl knows a snap by what snapd tells its programs.
  try session.expectConfinement("Snap") { session.inSnap(["/usr/bin/env", "SNAP=/snap/navdtest/1"] + $0) }
}

@Test("L3: of who has left the bus nobody can say where it ran, and what it asked for is not done")
func sandbox_clientThatHasLeft_isRefused() throws {
  let session = try Session()
  let client = try session.connect()
  let options: Properties = ["command": ["sleep", "60"].value]
  // navd hears of it only when the client has left for certain.
  session.navd?.send(SIGSTOP)
  try client.send(Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("gone", "", options))
  try client.send(Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("after", "", [:]))
  client.close()
  try session.poll("the client has left") {
    try !session.client.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()).contains(client.uniqueName.text)
  }
  session.navd?.send(SIGCONT)
  try session.poll("what it asked for later is done") { try session.call(Rows.get, "after").0 != .root }
  #expect(try session.call(Rows.get, "gone").0 == .root)
  #expect(session.processes() == [])
}

@Test("P9: what a client asks for while it is found out who it is, is done in its order")
func sandbox_laterRequests_keepTheirOrder() throws {
  let session = try Session()
  let watcher = try session.watch()
  let client = try session.connect()
  let options: Properties = ["command": ["sleep", "60"].value]
  let first = session.begin(Rows.present, ("fact", "1", options), by: client)
  let toggle = session.begin(Rows.toggle, ("fact", "1", [:]), by: client)
  let note = session.begin(Rows.present, ("note", "", [:]), by: client)
  let last = session.begin(Rows.present, ("fact", "2", [:]), by: client)
  #expect(try session.answer(to: last).1)
  #expect(try session.answer(to: first).1)
  #expect(try !session.answer(to: toggle).0)
  #expect(try session.answer(to: note).1)
  try session.wait("the second is shown") { watcher.lines.last == "presented fact 2" }
  #expect(
    watcher.lines.filter { !$0.hasPrefix("dismissed") } == [
      "phase fact 1 presenting", "phase fact 1 dismissing", "presented note", "phase fact 2 waiting",
      "presented fact 2",
    ])
  #expect(session.processes() == [])
}

@Test("L3: inline commands are switched off and on again by the configuration")
func sandbox_inlineCommandsSwitchedOff_areRefused() throws {
  let session = try Session(destinations: destinations)
  let settings = session.path("config/navd/navd.toml")
  func write(_ text: String) throws {
    let file = try #require(fopen(settings, "w"))
    fputs(text, file)
    fclose(file)
  }
  // From before: it runs on, and what is remembered or waits does not come any more.
  try session.present("running", "", ["command": ["sleep", "60"].value])
  try session.call(Rows.select, ("group", "tag", ["command": ["sleep", "61"].value]))
  try session.call(Rows.deselect, ("group", "", [:]))
  try session.poll("one runs") { session.processes().map(\.binding) == ["running"] }

  try write("inline-commands = false\n")
  #expect(try session.navctl("reload").exitCode == 0)
  let run = try session.navctl("present", "fact", "--", "sleep", "60")
  #expect(run.exitCode == 6)
  #expect(
    run.errorText.hasPrefix(
      "navctl: present fact: commands in requests are switched off by inline-commands in \(settings)"),
    "\(run.errorText)")
  let apply = try session.navctl("apply", "-", input: #"[["Dismiss","x",{}],["Present","y","",{"command":["true"]}]]"#)
  #expect(apply.exitCode == 6)
  #expect(apply.errorText.contains("request 1: commands in requests are switched off"))
  let tag = try session.call(Rows.select, ("group", "tag", [:])).0
  let (reason, result) = try session.ending(of: tag)
  #expect(reason == "failed")
  #expect(result["error"].flatMap { String(value: $0) }?.contains("switched off by inline-commands") == true)
  #expect(session.processes().map(\.binding) == ["running"])
  // What files name is shown all the same, with the directory and the variables that navctl sends.
  #expect(try session.navctl("present", "panel").exitCode == 0)

  // A mistake changes nothing, also not with a restart; then nobody can tell.
  try write("inline-commands = true\nbadge = 1\nbadge = 2\n")
  #expect(try session.navctl("reload").exitCode != 0)
  #expect(try session.navctl("present", "fact", "--", "sleep", "60").exitCode == 6)
  try session.stop()
  try session.start()
  let undecided = try session.navctl("present", "fact", "--", "sleep", "60")
  #expect(undecided.exitCode == 6)
  #expect(undecided.errorText.contains("\(settings) has a mistake"), "\(undecided.errorText)")

  try write("inline-commands = true\n")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.navctl("present", "fact", "--", "sleep", "60").exitCode == 0)
}
