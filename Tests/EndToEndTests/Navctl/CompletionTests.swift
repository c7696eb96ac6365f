import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

// Completion of words in bash, zsh and fish.

private typealias Rows = CoordinatorInterface

/// The shells. Each is run with the completion script that `make install` installs for it.
private enum Shell: String, CaseIterable {
  case bash, zsh, fish

  /// The completion script, relative to the directory of data.
  var script: String {
    switch self {
    case .bash: "bash-completion/completions/navctl"
    case .zsh: "zsh/site-functions/_navctl"
    case .fish: "fish/vendor_completions.d/navctl.fish"
    }
  }

  /// The installed completion script.
  func installedScript(in session: Session) -> String { session.path(".local/share/\(script)") }

  /// A bash script that prints the completions of the last word in `$@`, one on each line.
  func listing(_ script: String) -> String {
    switch self {
    case .bash:
      """
      source '\(script)'
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
      function=$(complete -p navctl | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      "$function" navctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    case .zsh:
      Self.typing(
        in: "/usr/bin/zsh", "-f -i",
        "fpath=(\(script.prefix(upTo: script.lastIndex(of: "/")!)) $fpath)",
        "autoload -U compinit; compinit -u -D; bindkey -e")
    case .fish: Self.typing(in: "/usr/bin/fish", "--no-config -i", "source '\(script)'")
    }
  }

  /// A script that types the words and a tab, and prints the last word if the tab has changed it.
  /// - Parameter setup: commands to type before.
  static func typing(in program: String, _ options: String, _ setup: String...) -> String {
    """
    exec python3 - "$@" <<'PYTHON'
    import os, pty, re, select, sys, time
    line = " ".join(sys.argv[1:])
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv("\(program)", ["\(program)"] + "\(options)".split())
    said = b""
    def expect(pattern):
        global said
        end = time.monotonic() + 30
        while not (found := re.search(pattern, said)):
            if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
                sys.exit("waited in vain: " + repr(said[-2000:]))
            said += os.read(terminal, 65536)
        said = said[found.end():]
        return found.group(found.re.groups).decode()
    os.write(terminal, b"\(setup.joined(separator: "; ")); echo REA''DY\\n")
    expect(rb"\\nREADY")
    # The terminal buffers this until the shell has completed the word.
    os.write(terminal, line.encode() + b"\\t\\x01echo GOT \\x05\\n")
    completed = expect(rb"\\nGOT ([^\\r\\n]*)")
    print(completed.rpartition(" ")[2] if completed != line.strip() else "")
    os.write(terminal, b"exit\\n")
    os.waitpid(pid, 0)
    PYTHON
    """
  }
}

extension Session {
  /// Installs the programs, and the completion script of one shell.
  fileprivate func install(for shell: Shell) throws {
    try make("install", Session.noTexts + ["COMPLETIONS=\(shell.script)"])
    environment["PATH"] = "\(path(".local/bin")):/usr/local/bin:/usr/bin:/bin"
    environment["TERM"] = "dumb"
  }

  /// The completions of the last word.
  fileprivate func offered(_ shell: Shell, _ words: String...) throws -> [String] {
    let listing = shell.listing(shell.installedScript(in: self))
    let run = try run(program: "/bin/bash", ["-c", listing, shell.rawValue] + words)
    if run.exitCode != 0 { throw Failure("\(shell): \(run.errorText)") }
    return run.lines.map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
  }
}

@Test("Completion offers the current bindings, groups, tags, stacks and destinations", arguments: Shell.allCases)
private func completion_names_areTheCurrentOnes(shell: Shell) throws {
  let session = try Session(
    destinations: ["mixer": "command = [\"sleep\", \"60\"]\ngroup = \"panels\"\n", "wifi": "group = \"panels\"\n"],
    starting: false)
  try session.install(for: shell)
  #expect(try session.offered(shell, "navctl", "select", "") == [], "nothing is started for it")
  try session.start()
  try session.present("fact", "1")
  try session.present("counter.fact")
  try session.call(Rows.push, ("main", "settings", "", .state))
  try session.call(Rows.select, ("panels", "wifi", [:]))

  #expect(try session.offered(shell, "navctl", "dismiss", "fa") == ["fact"])
  #expect(try session.offered(shell, "navctl", "select", "panels", "wi") == ["wifi"])
  #expect(try session.offered(shell, "navctl", "present", "x", "--to", "mi") == ["mixer"])
  #expect(try session.offered(shell, "navctl", "help", "hist") == ["history"])
  // navctl says the names, the same for each shell; zsh and fish take seconds, and list several completions only interactively.
  guard shell == .bash else { return }
  #expect(try session.offered(shell, "navctl", "present", "mi") == ["mixer"])
  #expect(try session.offered(shell, "navctl", "select", "pan") == ["panels"])
  #expect(try session.offered(shell, "navctl", "pop", "ma") == ["main"])
  try session.write("[Desktop Entry]\n", to: ".local/share/applications/zz.example.Calc.desktop")
  #expect(try session.offered(shell, "navctl", "present", "x", "--desktop", "zz.") == ["zz.example.Calc"])
  let adapter = try ScriptedWindowSystem(session, [Window("w1", appID: "org.gnome.Nautilus")])
  #expect(try session.offered(shell, "navctl", "windows", "--app-id", "org") == ["org.gnome.Nautilus"])
  adapter.connection.close()
  #expect(try session.offered(shell, "navctl", "sel").contains("selection"))
  #expect(try session.offered(shell, "navctl", "gr") == ["graph"])
  #expect(try session.offered(shell, "navctl", "help", "pre") == ["present", "presenter"])
  #expect(try session.offered(shell, "navctl", "rofi", "--group", "") == ["panels"])
  #expect(try session.offered(shell, "navctl", "list", "--fo") == ["--format"])
  #expect(try session.offered(shell, "navctl", "history", "--no-l") == ["--no-legend"])
  let bindings = ["counter.fact", "fact", "settings", "wifi"]
  #expect(Set(try session.offered(shell, "navctl", "dismiss", "")).isSuperset(of: bindings))
  #expect(Set(try session.offered(shell, "navctl", "select", "panels", "")).isSuperset(of: ["mixer", "wifi"]))
}

@Test("D18: completion and show know what a program serves: its bindings, its tags, and the next element of a path")
private func completion_servedBindings_areOffered() throws {
  let (session, shell) = (try Session(), Shell.bash)
  try session.install(for: shell)
  let presenter = try session.startNavctl(
    "presenter", "shop", "--auto-present", "--auto-dismiss", "0s",
    "--serve", #"shop.item:={"id":"Int","value":"{count: Int}"}"#, "--serve", #"shop.tab.list:={"group":"shop.tab"}"#,
    "--serve", #"shop.path:={"elements":true,"id":"Int"}"#)
  try session.poll("it serves") { try session.navctl("destinations").outputText.contains("shop.item") }
  #expect(try session.offered(shell, "navctl", "present", "shop.i") == ["shop.item"])
  #expect(try session.offered(shell, "navctl", "show", "shop.i") == ["shop.item"])
  #expect(try session.offered(shell, "navctl", "select", "shop.") == ["shop.tab"])
  #expect(try session.offered(shell, "navctl", "select", "shop.tab", "l") == ["list"])
  #expect(try session.offered(shell, "navctl", "push", "shop.") == ["shop.path"])
  #expect(try session.offered(shell, "navctl", "push", "shop.path", "shop.p") == ["shop.path[0]"])
  try session.runNavctl("push", "shop.path", "shop.path[0]", "1")
  #expect(
    try session.navctl("show", "shop.path[1]").errorText
      == "navctl: show shop.path[1]: nothing is open under that name; a program shows it when asked (id: Int)\n")
  #expect(presenter.status == nil, "\(presenter.errorText)")
}

@Test(
  "bash completes a name without “/” if there is a directory of that name, and quotes characters that it would expand")
private func completion_nameOfDirectory_staysName() throws {
  let session = try Session(destinations: ["mixer": "command = [\"sleep\", \"60\"]\n"])
  try session.install(for: .bash)
  try session.present("item", "", ["group": .string("panels"), "tag": .string("a$(b")])
  for name in ["mixer", "toggle"] { _ = try session.run(program: "/bin/mkdir", [session.path(name)]) }
  func completed(_ words: String...) throws -> String {
    let typing = Shell.typing(
      in: "/bin/bash", "--norc --noprofile -i", "cd '\(session.path("."))'",
      "source '\(Shell.bash.installedScript(in: session))'")
    return try session.run(program: "/bin/bash", ["-c", typing, "bash"] + words).lines.last ?? ""
  }
  #expect(try completed("navctl", "tog") == "toggle")
  #expect(try completed("navctl", "toggle", "mix") == "mixer")
  #expect(try completed("navctl", "select", "panels", "a") == "a$(b", "bash has quoted it, and the shell printed it")
}

@Test("Completion offers names as they are, and the shell runs nothing that is in them", arguments: Shell.allCases)
private func completion_namesWithCommandsInThem_runNothing(shell: Shell) throws {
  let session = try Session()
  try session.install(for: shell)
  let run = session.path("run")
  for tag in ["a`>\(run)`", "b$(>\(run))", "c:d", "e$HOME", "f\"g", "h\\i", "j k'l"] {
    try session.present("item", "", ["group": .string("panels"), "tag": .string(tag)])
    let offered = try session.offered(shell, "navctl", "select", "panels", String(tag.prefix(1)))
    try session.dismiss("item")
    switch shell {
    case .bash: #expect(offered == [tag])
    // These shells insert the name with a quote before the characters that they would expand, and print the last word.
    case .zsh, .fish: #expect(offered.count == 1, "\(tag)")
    }
  }
  #expect(access(run, F_OK) != 0)
}
