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
    let storm = try KillStorm(manager, seed: seed)
    for round in 0..<(isThorough ? 300 : 24) {
      let request = try storm.makeRequest()
      let victim = try storm.killSomething(during: request)
      try storm.expectStranger(inRound: "\(round): \(request.what), killed \(victim)", after: request)
    }
    try storm.waitUntilScreenAndStateAgree()
    try storm.session.runNavctl("dismiss", "--all")
    try storm.waitUntilScreenAndStateAgree()
    #expect(try storm.session.state()["presentations"]?.array?.isEmpty != false)
    #expect(storm.strangers.allSatisfy { $0.status == nil })
    print("kill storm with windows on \(manager): \(storm.kills)")
  }
}

/// A desktop with three items and a stranger's window, and the dice that choose what happens to them.
private final class KillStorm {
  /// A request that may be under way.
  struct Request {
    let what: String
    let navctl: Program
  }

  /// The programs that were killed, and how often each.
  struct Kills: CustomStringConvertible {
    var navd = 0
    var adapter = 0
    var manager = 0
    var description: String { "navd \(navd), adapter \(adapter), window manager \(manager) times" }
  }

  let session: Session
  let screen: ManagersWindows
  private(set) var kills = Kills()
  /// The server of windows, and the owner of the stranger's window.
  private(set) var strangers: [Program] = []
  private let desktop: WindowedDesktop
  private let manager: Desktop.Manager
  private var dice: SeededNumbers
  /// The number of the stranger's window.
  private var stranger = ""
  /// The items that were being dismissed when navd was killed, by their names. A window that one of them opened before navd was there
  /// again may be its user's, and stays. So may one of the item that the stranger's window fits, if it was dismissed before it had one (N1).
  private var maybeLeft: [String] = []
  /// Whether the item “two”, which the stranger's window fits, had no window after the last round.
  private var isWithoutWindow = false
  /// The events of each round, for a report of a failure.
  private var history: [String] = []

  /// The items: one is found by its process, the others by their patterns, after their commands have handed over.
  private static let names = ["one", "two", "three"]

  init(_ manager: Desktop.Manager, seed: UInt64) throws {
    self.manager = manager
    dice = SeededNumbers(seed: seed)
    let destinations = Self.names.map { ($0, Self.destination($0, on: manager)) }
    desktop = try WindowedDesktop(manager, destinations: Dictionary(uniqueKeysWithValues: destinations))
    (session, screen) = (desktop.session, desktop.screen)
    if manager == .i3 {
      // The desktop may be another user's.
      try #require(mkfifo(session.path("server"), 0o600) == 0 && chmod(session.path("server"), 0o666) == 0)
    }
    try startStrangers()
  }

  private static func destination(_ name: String, on manager: Desktop.Manager) -> String {
    let command =
      switch (manager, name) {
      case (.sway, "one"): ["foot", "--app-id=one", "-e", "sleep", "1000"]
      case (.sway, _): ["footclient", "--no-wait", "--app-id=\(name)", "-e", "sleep", "1000"]
      case (_, "one"): ["xterm", "-class", "one", "-e", "sleep", "1000"]
      default: ["sh", "-c", "echo \(name) $NAVD_PRESENTATION >\"$HOME/server\""]
      }
    let words = command.map { "'\($0)'" }.joined(separator: ", ")
    // A window that opens later than the grace, after its dismissal, stays (N2).
    return "command = [\(words)]\ngrace = '15s'\nwindow = \(name == "one" ? "true" : "{ app-id = '\(name)' }")"
  }

  /// Starts the server, which shows the windows for commands that hand over, and a stranger's window, which a pattern would match.
  private func startStrangers() throws {
    let (server, owner) =
      manager == .sway
      ? (
        "exec foot --server",
        "while footclient --app-id=two --title=stranger -e sleep 1000; [ $? = 220 ]; do sleep 0.05; done"
      )
      : (
        """
        mkfifo "$HOME/server"
        while read -r name number; do xterm -class "$name" -title "$number" -e sleep 1000 & done <>"$HOME/server"
        """, "exec xterm -class two -title stranger -e sleep 1000"
      )
    strangers = try [server, owner].map { try session.start(program: "/bin/sh", ["-c", $0], mayFail: true) }
    try session.poll("the stranger's window is there") {
      guard let window = try screen.all().first(where: { $0.title == "stranger" }) else { return false }
      stranger = number(of: window)
      return true
    }
  }

  /// Returns a number of a window that stays. i3 numbers its windows anew after a restart.
  private func number(of window: ManagersWindows.Window) -> String { window.xWindow ?? window.id }

  // MARK: What happens

  /// Toggles or dismisses an item. Some requests meet a daemon that has just been killed, and some are waited for.
  func makeRequest() throws -> Request {
    let name = Self.names[Int(dice.next() % 3)]
    let verb = dice.next() % 3 == 0 ? "dismiss" : "toggle"
    let request = Request(what: "\(verb) \(name)", navctl: try session.startNavctl(verb, name))
    if dice.next() % 2 == 0 { try waitForAnswer(to: request) }
    return request
  }

  private func waitForAnswer(to request: Request) throws {
    try session.wait("the request is answered") { request.navctl.hasEnded }
  }

  /// Kills something, or nothing, and starts it again.
  /// - Returns: what was killed.
  func killSomething(during request: Request) throws -> String {
    switch dice.next() % 8 {
    case 0, 1:
      kills.navd += 1
      try restartNavd()
      return "navd"
    case 2, 3:
      kills.adapter += 1
      try desktop.restartAdapter()
      return "the adapter"
    case 4 where isThorough:
      kills.manager += 1
      try desktop.restartManager()
      if manager == .sway { try restartStrangers(after: request) }
      return "the manager"
    default: return "nothing"
    }
  }

  private func restartNavd() throws {
    try session.stop(SIGKILL)
    try session.start()
    maybeLeft +=
      try session.state()["presentations"]?.array?.filter { $0["phase"] == "dismissing" }
      .compactMap { $0["binding"]?.string } ?? []
    // An item that navd presents before it has met an adapter is shown by its processes (N2).
    try session.runNavctl("present", "probe", "--state", "--output", "focused")
    try session.runNavctl("dismiss", "probe")
  }

  /// Starts the strangers again, which have ended with the compositor.
  private func restartStrangers(after request: Request) throws {
    try session.wait("the stranger has ended with the compositor") { strangers.allSatisfy { $0.status != nil } }
    // An item that still waits for its window would get the stranger's window, which fits and opens later (N1).
    try waitForAnswer(to: request)
    try session.runNavctl("dismiss", "--all", "--force")
    try session.poll("nothing is left") { try session.state()["presentations"]?.array?.isEmpty != false }
    try startStrangers()
  }

  // MARK: Expectations

  /// Requires that the stranger's window is there, once the request is answered.
  func expectStranger(inRound round: String, after request: Request) throws {
    try waitForAnswer(to: request)
    let windows = try screen.all()
    let presentations = try session.state()["presentations"]?.array ?? []
    if isWithoutWindow, request.what.hasSuffix(" two") { maybeLeft.append("two") }
    isWithoutWindow = presentations.contains { $0["binding"] == "two" && $0["windows"]?.array?.isEmpty != false }
    let items = presentations.map { item in
      "\(item["binding"]?.string ?? "") \(item["presentation"]?.text ?? "") \(item["phase"]?.string ?? "") "
        + (item["windows"]?.text ?? "")
    }
    let shown = windows.map { "\($0.name) \($0.title) \(number(of: $0))" }
    history.append("\(round): \(request.navctl.errorText) \(items) \(shown)")
    #expect(
      windows.contains { number(of: $0) == stranger },
      "a stranger's window was closed\n\(history.suffix(10).joined(separator: "\n"))")
  }

  /// Whether each item has a window, and all others may be left.
  private func fit(_ windows: [String], _ items: [String]) -> Bool {
    Set(windows + items).allSatisfy { name in
      let others = windows.count { $0 == name } - items.count { $0 == name }
      return (0...maybeLeft.count { $0 == name }).contains(others)
    }
  }

  /// Waits until each item is presented with one window, and no other window is there but the stranger's, and those that may be left.
  func waitUntilScreenAndStateAgree() throws {
    do {
      try session.poll("screen and state agree") {
        let state = try session.state()["presentations"]?.array ?? []
        let shown = state.compactMap { $0["binding"]?.string }
        let windows = try screen.all()
        return state.allSatisfy { $0["phase"] == "presented" && $0["windows"]?.array?.count == 1 }
          && windows.count { $0.title == "stranger" } == 1
          && fit(windows.filter { $0.title != "stranger" }.map(\.name), shown)
      }
    } catch {
      throw Session.Failure("\(error)\n\(try session.state())\n\(try screen.all())\n\(history.joined(separator: "\n"))")
    }
  }
}
