import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// Clients in sandboxes of Flatpak and Snap, and what they may not do (L3).

private typealias Rows = CoordinatorInterface

extension Session {
  /// A command line that runs in a root directory like Flatpak's: with the machine's files, and with the file by which
  /// programs in a Flatpak are recognized.
  fileprivate func inFlatpak(_ arguments: [String]) throws -> [String] {
    let mark = path("flatpak-info")
    try write("[Application]\nname=org.example.Confined\n\n[Instance]\ninstance-id=1\n", to: "flatpak-info")
    var wrapped = ["/usr/bin/bwrap", "--tmpfs", "/"]
    for name in try Files.names(in: "/") {
      let path = "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFLNK {
        wrapped += ["--symlink", try #require(Files.target(of: path)), path]
      } else if status.st_mode & S_IFMT == S_IFDIR {
        wrapped += ["--dev-bind", path, path]
      }
    }
    return wrapped + ["--ro-bind", mark, "/.flatpak-info", "--die-with-parent", "--"] + arguments
  }

  /// A command line that runs in a cgroup named like those of snapd. Needs root.
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

  /// The arguments of gdbus for a call that waits for the answer.
  fileprivate func gdbus(_ method: String, _ arguments: String...) -> [String] {
    [
      "/usr/bin/gdbus", "call", "--session", "--dest", CoordinatorNames.bus.text, "--object-path",
      CoordinatorNames.object.text, "--method", "org.navd.Coordinator1.\(method)",
    ] + arguments
  }

  /// Expects that a sandboxed program may do what the rules allow, and nothing else.
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
    try expectDenied(gdbus("Hold", "dnd", "{}"), "holds")
    try expectDenied(gdbus("ReleaseHold", "dnd", "0"), "holds")
    try expectDenied(gdbus("ImportEnvironment", "{'LD_PRELOAD': 'x.so'}"), "ImportEnvironment")
    #expect(try state()["serial"] == before)
    #expect(processes() == [])

    // Destinations of the user's files are allowed, because navctl sends no command.
    let navctl = Self.program("navctl")
    let present = try run(try wrap([navctl, "present", "--state", "panel", "1", "--value", "a=1"]))
    #expect(present.exitCode == 0, "\(present.errorText)")
    try poll("the command runs") { processes().map(\.name) == ["sleep"] }
    // A toggle that ends an item runs no program.
    let toggle = gdbus("Toggle", "panel", "1", "{'environment': <{'LD_PRELOAD': 'x.so'}>}")
    let ended = try run(try wrap(toggle))
    #expect(ended.exitCode == 0, "\(ended.errorText)")
    try poll("the command has ended") { processes() == [] }
    try expectDenied(toggle, "option “environment”")
    #expect(try run(try wrap([navctl, "present", "--state", "panel", "1"])).exitCode == 0)
    try poll("the command runs again") { processes().map(\.name) == ["sleep"] }
    #expect(try run(try wrap([navctl, "dismiss", "panel"])).exitCode == 0)
    try poll("the command has ended") { processes() == [] }
    let refused = try run(try wrap([navctl, "present", "out", "--", "sleep", "60"]))
    #expect(refused.exitCode == 6)
    #expect(
      refused.errorText.hasPrefix("navctl: present out: option “command”: not available to programs in a sandbox"))
    #expect(processes() == [])
  }
}

private let destinations = ["panel": "command = [\"sleep\", \"60\"]\n"]

@Test("L3: a program in a Flatpak may not present commands or register presenters")
func sandbox_flatpak_isRefused() throws {
  let session = try Session(destinations: destinations)
  session.environment["XDG_CURRENT_DESKTOP"] = "test"
  try session.expectConfinement("Flatpak") { try session.inFlatpak($0) }
}

@Test("L3: a program in a Flatpak is also recognized behind its D-Bus proxy")
func sandbox_flatpakThroughItsProxy_isRefused() throws {
  let session = try Session(destinations: destinations)
  let socket = session.path("proxied")
  let words = try session.inFlatpak([
    "/usr/bin/xdg-dbus-proxy", session.bus.address, socket, "--filter", "--talk=\(CoordinatorNames.bus)",
  ])
  let proxy = try session.start(program: words[0], Array(words.dropFirst()))
  try session.poll("the proxy is listening") { access(socket, F_OK) == 0 }
  try session.expectConfinement("Flatpak") {
    // The program can use only the names that the proxy allows.
    try session.inFlatpak(["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(socket)"] + $0)
  }
  #expect(proxy.status == nil)
}

@Test("navctl in a sandbox that permits Present alone presents, and says that it has")
func sandbox_thatPermitsPresentAlone_succeeds() throws {
  let session = try Session(destinations: destinations)
  let socket = session.path("proxied")
  let rule = try #require(try Markdown("sandboxes.md").lines.first { $0.hasPrefix("--call=") })
  let proxy = try session.start(
    program: "/usr/bin/xdg-dbus-proxy", [session.bus.address, socket, "--filter", rule])
  try session.poll("the proxy is listening") { access(socket, F_OK) == 0 }
  func navctl(_ arguments: String...) throws -> Program {
    try session.run(
      program: "/usr/bin/env", ["DBUS_SESSION_BUS_ADDRESS=unix:path=\(socket)", Session.program("navctl")] + arguments)
  }
  for option in ["--json", "--notify"] {
    let present = try navctl("present", "panel", "1", option)
    #expect(present.exitCode == 0 && present.errorText == "", "\(present.errorText)")
  }
  #expect(try session.state()["presentations"]?.array?.count == 1)
  // Calls that the proxy does not permit are refused.
  #expect(try navctl("history").exitCode == 6)
  #expect(try navctl("present", "panel", "1", "--wait").exitCode == 6)
  #expect(proxy.status == nil)
}

@Test("L3: a program in a snap may not present commands or register presenters")
func sandbox_snap_isRefused() throws {
  let session = try Session(destinations: destinations)
  // navctl recognizes a snap by the environment variables of snapd.
  try session.expectConfinement("Snap") { session.inSnap(["/usr/bin/env", "SNAP=/snap/navdtest/1"] + $0) }
}

/// Two commands of a client outside of any sandbox: one that a group remembers, and one that waits in the queue of another group.
private struct TrustedCommands {
  let session: Session
  private let notes: String

  init() throws {
    session = try Session()
    notes = session.path("notes")
    // The commands write down their ids and their inputs: two lines for each start.
    let command = ["sh", "-c", "echo \"$NAVD_ID\" >>'\(notes)'; cat >>'\(notes)'; exec sleep 60"]
    var options: Properties = ["command": command.value, "value": ["text": Value.string("trusted")].value]
    try remember(options)
    options["group"] = .string("other")
    options["if-busy"] = .string("queue")
    try session.present("member", "", ["group": .string("other")])
    try session.present("queued", "trusted", options)
  }

  /// Selects a tag and deselects it, so that the group remembers its command.
  private func remember(_ options: Properties) throws {
    let options = options.merging(["id": .string("trusted")]) { $1 }
    let first = try session.call(Rows.select, ("group", "tag", options)).0
    try waitForStarts(1, "it has started")
    try session.call(Rows.deselect, ("group", "", [:]))
    _ = try session.ending(of: first)
  }

  /// The output that the commands have written.
  var written: String { String(decoding: Files.contents(of: notes), as: UTF8.self) }

  func waitForStarts(_ count: Int, _ what: String) throws {
    try session.poll(what) { written.split(separator: "\n").count == 2 * count }
  }

  /// The calls that would change the commands, and what their refusals name.
  func forbidden() throws -> [(call: [String], what: String)] {
    let value = "'value': <{'text': <'evil'>}>"
    let queued = try session.call(Rows.get, "queued").0
    var update = session.gdbus("Update", "{'text': <'evil'>}", "{}")
    update[update.firstIndex(of: CoordinatorNames.object.text)!] = queued.text
    update[update.firstIndex(of: "org.navd.Coordinator1.Update")!] = "org.navd.Presentation1.Update"
    return [
      (session.gdbus("Select", "group", "tag", "{'id': <'evil'>, \(value)}"), "for the tag “tag”"),
      (session.gdbus("Select", "group", "tag", "{\(value)}"), "for the tag “tag”"),
      (session.gdbus("ToggleSelection", "group", "tag", "{'binding': <'evil'>}"), "for the tag “tag”"),
      (
        session.gdbus("Apply", "[('Select', [<'group'>, <'tag'>, <{\(value)}>])]", "{}"),
        "request 0: another binding"
      ),
      (session.gdbus("Present", "queued", "trusted", "{\(value)}"), "for the command at “queued”"),
      (session.gdbus("Update", "queued", "{'text': <'evil'>}", "{}"), "for the command at “queued”"),
      (update, "for the command at “queued”"),
    ]
  }

  /// Requires that calls in a sandbox are refused, and change and start nothing.
  func expectDenied(_ calls: [(call: [String], what: String)]) throws {
    let before = try session.state()["serial"]
    for (call, what) in calls {
      let run = try session.run(try session.inFlatpak(call))
      let error = run.errorText
      #expect(run.exitCode == 1 && error.contains("org.navd.Error.AccessDenied"), "\(run.outputText) \(error)")
      #expect(error.contains(what) && error.contains("the sender is in one (Flatpak)"), "\(error)")
    }
    #expect(try session.state()["serial"] == before)
    #expect(session.processes() == [])
  }
}

@Test("L3: a program in a sandbox runs a remembered or waiting command only as its client has left it")
func sandbox_commandOfAnotherClient_isRunOnlyAsItWas() throws {
  let commands = try TrustedCommands()
  let session = commands.session
  try commands.expectDenied(commands.forbidden())

  // These requests leave the items as they were.
  let selected = try session.run(try session.inFlatpak(session.gdbus("Select", "group", "tag", "{}")))
  #expect(selected.exitCode == 0, "\(selected.errorText)")
  try commands.waitForStarts(2, "it has started again")
  try session.dismiss("member")
  try commands.waitForStarts(3, "the queued one has started")
  #expect(!commands.written.contains("evil"))

  // A client outside of any sandbox may change the item.
  try session.dismiss("group.tag")
  try session.call(Rows.select, ("group", "tag", ["id": .string("2"), "environment": ["A": "b"].value]))
  try session.poll("it has started with another id") { commands.written.contains("\n2\n") }
}

@Test("L3: the request of a client that has left before it was authorized is refused")
func sandbox_clientThatHasLeft_isRefused() throws {
  let session = try Session()
  let client = try session.connect()
  let options: Properties = ["command": ["sleep", "60"].value]
  // navd continues only when the client has certainly left.
  session.navd?.send(SIGSTOP)
  try client.send(Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("gone", "", options))
  try client.send(Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("after", "", .state))
  client.close()
  try session.poll("the client has left") {
    try !session.client.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()).contains(client.uniqueName.text)
  }
  session.navd?.send(SIGCONT)
  try session.poll("a later request is executed") { try session.call(Rows.get, "after").0 != .root }
  #expect(try session.call(Rows.get, "gone").0 == .root)
  #expect(session.processes() == [])
}

@Test("P9: the requests of a client are executed in its order, even while it is being authorized")
func sandbox_laterRequests_keepTheirOrder() throws {
  let session = try Session()
  let watcher = try session.watch()
  let client = try session.connect()
  let options: Properties = ["command": ["sleep", "60"].value]
  let first = session.begin(Rows.present, ("fact", "1", options), by: client)
  let toggle = session.begin(Rows.toggle, ("fact", "1", [:]), by: client)
  let note = session.begin(Rows.present, ("note", "", .state), by: client)
  let last = session.begin(Rows.present, ("fact", "2", .state), by: client)
  #expect(try session.answer(to: last).2)
  #expect(try session.answer(to: first).2)
  #expect(try !session.answer(to: toggle).0)
  #expect(try session.answer(to: note).2)
  try session.wait("the second is presented") { watcher.lines.last == "presented fact 2" }
  #expect(
    watcher.lines.filter { !$0.hasPrefix("dismissed") } == [
      "phase fact 1 presenting", "phase fact 1 dismissing", "presented note", "phase fact 2 waiting",
      "presented fact 2",
    ])
  #expect(session.processes() == [])
}

@Test("P4: a remembered command that is switched off, and dismissed before it was to start, is gone at once")
func sandbox_commandSwitchedOffAndDismissed_isGoneAtOnce() throws {
  let session = try Session(destinations: destinations)
  let former = try session.call(Rows.select, ("group", "tag", ["command": ["sleep", "61"].value])).0
  try session.call(Rows.deselect, ("group", "", [:]))
  _ = try session.ending(of: former)
  try session.write("inline-commands = false\n", to: "config/navd/navd.toml")
  try session.call(Rows.reload, ())
  // On a busy machine, navd may serve the second request in a later turn, when the start was refused already. Then they are made again.
  var reason = ""
  for _ in 1...50 where reason != "dismissed" {
    let selection = session.begin(Rows.select, ("group", "tag", [:]))
    let end = session.begin(Rows.dismiss, ("group.tag", [:]))
    let path = try session.answer(to: selection).0
    let isDismissed = try session.answer(to: end).0
    let ending = try session.ending(of: path)
    reason = ending.reason
    #expect(reason == (isDismissed ? "dismissed" : "failed"))
    let error = ending.result["error"].flatMap { String(value: $0) } ?? ""
    #expect(error.contains("switched off by inline-commands"), "\(error)")
  }
  #expect(reason == "dismissed")
}

@Test("L3: the configuration can disable and enable inline commands")
func sandbox_inlineCommandsSwitchedOff_areRefused() throws {
  let session = try Session(destinations: destinations)
  let settings = session.path("config/navd/navd.toml")
  func write(_ text: String) throws { try session.write(text, to: "config/navd/navd.toml") }
  // An inline command from before keeps running, but a remembered or queued one is not started.
  try session.present("running", "", ["command": ["sleep", "60"].value])
  try session.call(Rows.select, ("group", "tag", ["command": ["sleep", "61"].value]))
  try session.call(Rows.deselect, ("group", "", [:]))
  try session.poll("one command runs") { session.processes().map(\.binding) == ["running"] }

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
  // Destinations of files are still allowed, with the directory and the variables that navctl sends.
  #expect(try session.navctl("present", "--state", "panel").exitCode == 0)

  // A mistake in the file changes nothing, not even at a restart; after that, the setting is unknown.
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
