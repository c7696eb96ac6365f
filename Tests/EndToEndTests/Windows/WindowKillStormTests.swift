import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

/// Kills of navd, the adapter and the window manager at random instants. The manager's own tree of windows is the judge.
@Suite struct WindowKillStormTests {
  /// The window managers, and seeds. On i3, windows outlive the manager; on sway they end with it. The usual run spares the
  /// manager. `NAVD_SEED` chooses another seed.
  private static let storms: [(Desktop.Manager, UInt64)] = {
    if getenv("NAVD_SEED") != nil { return [Desktop.Manager.sway, .i3].map { ($0, SeededNumbers.chosenSeed) } }
    return isThorough ? [(.sway, 13), (.sway, 20), (.i3, 26), (.i3, 33)] : [(.sway, 13), (.sway, 20)]
  }()

  @Test(
    "R2, N1: kills of navd, its adapter and the window manager lose track of no window, and close no stranger's window",
    arguments: storms)
  func killStorm_losesNoWindow(_ manager: Desktop.Manager, seed: UInt64) throws {
    // One item is found by its process, the others by their patterns, after their commands have handed over.
    let names = ["one", "two", "three"]
    func command(_ name: String) -> [String] {
      switch (manager, name) {
      case (.sway, "one"): ["foot", "--app-id=one", "-e", "sleep", "1000"]
      case (.sway, _): ["footclient", "--no-wait", "--app-id=\(name)", "-e", "sleep", "1000"]
      case (_, "one"): ["xterm", "-class", "one", "-e", "sleep", "1000"]
      default: ["sh", "-c", "echo \(name) $NAVD_PRESENTATION >\"$HOME/server\""]
      }
    }
    func destination(_ name: String) -> String {
      let words = command(name).map { "'\($0)'" }.joined(separator: ", ")
      // A window that opens later than the grace, after its dismissal, stays (N2).
      return "command = [\(words)]\ngrace = '15s'\nwindow = \(name == "one" ? "true" : "{ app-id = '\(name)' }")"
    }
    let desktop = try WindowedDesktop(
      manager, destinations: Dictionary(uniqueKeysWithValues: names.map { ($0, destination($0)) }))
    let (session, screen) = (desktop.session, desktop.screen)
    if manager == .i3 {
      // The desktop may be another user's.
      try #require(mkfifo(session.path("server"), 0o600) == 0 && chmod(session.path("server"), 0o666) == 0)
    }
    /// The server, which shows the windows for commands that hand over.
    let serve =
      manager == .sway
      ? "exec foot --server"
      : """
      mkfifo "$HOME/server"
      while read -r name number; do xterm -class "$name" -title "$number" -e sleep 1000 & done <>"$HOME/server"
      """
    let strange =
      manager == .sway
      ? "while footclient --app-id=two --title=stranger -e sleep 1000; [ $? = 220 ]; do sleep 0.05; done"
      : "exec xterm -class two -title stranger -e sleep 1000"
    var strangers: [Program] = []
    /// Starts the server and a stranger's window, which a pattern would match.
    func startStrangers() throws -> ManagersWindows.Window {
      strangers = try [serve, strange].map { try session.start(program: "/bin/sh", ["-c", $0], mayFail: true) }
      var stranger: ManagersWindows.Window?
      try session.poll("the stranger's window is there") {
        stranger = try screen.all().first { $0.title == "stranger" }
        return stranger != nil
      }
      return try #require(stranger)
    }
    var stranger = try startStrangers()
    /// Returns a number of a window that stays. i3 numbers its windows anew after a restart.
    func number(of window: ManagersWindows.Window) -> String { window.xWindow ?? window.id }

    var dice = SeededNumbers(seed: seed)
    var kills = [0, 0, 0]
    /// The events of each round, for a report of a failure.
    var history: [String] = []
    for round in 0..<(isThorough ? 300 : 24) {
      let name = names[Int(dice.next() % 3)]
      // Some requests meet a daemon that has just been killed.
      let verb = dice.next() % 3 == 0 ? "dismiss" : "toggle"
      let request = try session.startNavctl(verb, name)
      var victim = "nothing"
      if dice.next() % 2 == 0 { try session.wait("the request is answered") { request.hasEnded } }
      switch dice.next() % 8 {
      case 0, 1:
        victim = "navd"
        kills[0] += 1
        try session.stop(SIGKILL)
        try session.start()
        // An item that navd presents before it has met an adapter is shown by its processes (N2).
        try session.runNavctl("present", "probe", "--state", "--output", "focused")
        try session.runNavctl("dismiss", "probe")
      case 2, 3:
        victim = "the adapter"
        kills[1] += 1
        try desktop.restartAdapter()
      case 4 where isThorough:
        victim = "the manager"
        kills[2] += 1
        try desktop.restartManager()
        if manager == .sway {
          try session.wait("the stranger has ended with the compositor") { strangers.allSatisfy { $0.status != nil } }
          // An item that still waits for its window would get the stranger's window, which fits and opens later (N1).
          try session.wait("the request is answered") { request.hasEnded }
          try session.runNavctl("dismiss", "--all", "--force")
          try session.poll("nothing is left") { try session.state()["presentations"]?.array?.isEmpty != false }
          stranger = try startStrangers()
        }
      default: break
      }
      try session.wait("the request is answered") { request.hasEnded }
      let windows = try screen.all()
      let items = (try session.state()["presentations"]?.array ?? []).map { item in
        "\(item["binding"]?.string ?? "") \(item["presentation"]?.text ?? "") \(item["phase"]?.string ?? "") "
          + (item["windows"]?.text ?? "")
      }
      history.append(
        "\(round): \(verb) \(name), killed \(victim): \(request.errorText) \(items) \(windows.map { "\($0.name) \($0.title) \(number(of: $0))" })"
      )
      #expect(
        windows.contains { number(of: $0) == number(of: stranger) },
        "a stranger's window was closed\n\(history.suffix(10).joined(separator: "\n"))")
    }

    // Returns whether the screen is as the state says, once all is quiet.
    func agree() throws -> Bool {
      let state = try session.state()["presentations"]?.array ?? []
      let shown = state.compactMap { $0["binding"]?.string }.sorted()
      return try state.allSatisfy { $0["phase"] == "presented" && $0["windows"]?.array?.count == 1 }
        && screen.all().filter { $0.title != "stranger" }.map(\.name).sorted() == shown
    }
    do {
      try session.poll("screen and state agree", until: agree)
    } catch {
      throw Session.Failure("\(error)\n\(try session.state())\n\(try screen.all())\n\(history.joined(separator: "\n"))")
    }
    try session.runNavctl("dismiss", "--all")
    #expect(try screen.wait(for: ["two"]).map(\.title) == ["stranger"])
    #expect(strangers.allSatisfy { $0.status == nil })
    print(
      "kill storm with windows on \(manager): navd \(kills[0]), adapter \(kills[1]), window manager \(kills[2]) times")
  }
}
