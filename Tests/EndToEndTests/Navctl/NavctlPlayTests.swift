import CoordinatorAPI
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// navctl play: items that take turns in the queue of a group.

private typealias Rows = CoordinatorInterface

private let sign = ["config/navd/navd.toml": "[groups.sign]\nreplacement = 'overlap'\nfallback = 'home'\n"]

/// Destinations that run a command, and one that fails.
private let pages = Dictionary(
  uniqueKeysWithValues: ["a", "b", "c", "home"].map { ($0, "command = ['sleep', '1000']\n") }
    + [("broken", "command = ['/nonexistent']\n"), ("slide", "command = ['sleep', '1000', '{id}']\n")])

extension Watcher {
  /// The items that were presented, in their order.
  fileprivate var presented: [String] {
    lines.filter { $0.hasPrefix("presented ") }.map { String($0.dropFirst("presented ".count)) }
  }
}

extension Session {
  fileprivate func wait(_ watcher: Watcher, presents items: [String]) throws {
    try wait("\(items) were presented; \(watcher.lines)") { watcher.presented.starts(with: items) }
  }
}

@Suite struct NavctlPlayTests {
  @Test("G9: play shows items one after the other, each for its time, and then the fallback")
  func play_items_haveTurns() throws {
    let session = try Session(destinations: pages, files: sign)
    let watcher = try session.watch()
    let play = try session.navctl("play", "sign", "a", "b", "c", "--for", "100ms", "--json")
    #expect(play.exitCode == 0, "\(play.errorText)")
    #expect(play.json?["changed"] == true && play.json?["presentations"]?.array?.count == 3)
    try session.wait(watcher, presents: ["a", "b", "c", "home"])
    #expect(
      watcher.lines.filter { $0.hasPrefix("dismissed ") }.prefix(3).map(\.self).suffix(2) == [
        "dismissed a expired", "dismissed b expired",
      ])
    let ids = try session.navctl("play", "sign", "1", "2", "--to", "slide", "--for", "100ms")
    #expect(ids.exitCode == 0, "\(ids.errorText)")
    try session.wait("both were there; \(watcher.lines)") {
      watcher.presented.suffix(3) == ["slide[0] 1", "slide[1] 2", "home"]
    }
  }

  @Test("play with a mistake says which item it is about, and changes nothing")
  func play_mistake_changesNothing() throws {
    let session = try Session(destinations: pages)
    func refused(_ words: String, _ status: Int32, _ why: String) throws {
      let run = try session.run(program: Session.program("navctl"), words.split(separator: " ").map(String.init))
      #expect(run.exitCode == status, "\(words)")
      #expect(run.errorText.contains(why), "\(run.errorText)")
    }
    try refused("play sign a nowhere b", 4, "navctl: play sign: nowhere: there is no destination “nowhere”")
    try refused("play 9 a", 2, "group “9”")
    try refused("play sign a b a", 2, "“a” is in the list twice")
    try refused("play sign a --for 0s", 2, "--for: expected more than 0")
    try refused("play sign", 2, "item")
    try refused("play sign 1 2 --to nowhere", 4, "1: there is no destination “nowhere”")
    #expect(try session.state()["serial"] == 0)
  }

  @Test("play --loop goes on through a restart of navd, and Ctrl-C closes its items")
  func play_loop_goesOnUntilStopped() throws {
    let session = try Session(destinations: pages, files: sign)
    let watcher = try session.watch()
    let play = try session.startNavctl("play", "sign", "a", "b", "c", "--for", "150ms", "--loop")
    try session.wait(watcher, presents: ["a", "b", "c", "a", "b"])
    try session.stop(SIGKILL)
    try session.start()
    let after = try session.watch()
    try session.wait("it goes on; \(after.lines)") { after.presented.count > 4 }
    for (one, next) in zip(after.presented, after.presented.dropFirst()) {
      #expect(["a b", "b c", "c a"].contains("\(one) \(next)"))
    }
    play.send(SIGINT)
    try session.wait("it ends") { play.hasEnded }
    #expect(play.exitCode == 0, "\(play.errorText)")
    try session.poll("only the fallback is left") {
      try session.state()["presentations"]?.array?.map { $0["binding"]?.string } == ["home"]
    }
  }

  @Test("A navctl that is killed leaves the rest of the queue, which has its turn")
  func play_killed_queueEnds() throws {
    let session = try Session(destinations: pages, files: sign)
    let watcher = try session.watch()
    let play = try session.startNavctl("play", "sign", "a", "b", "c", "--for", "200ms", "--loop")
    try session.wait(watcher, presents: ["a"])
    play.send(SIGKILL)
    try session.wait("the fallback is back; \(watcher.lines)") {
      watcher.presented.suffix(4) == ["a", "b", "c", "home"]
    }
  }

  @Test("What interrupts a playlist has its turn, and what replaces it, or dismisses its group, ends it")
  func play_loop_endsByOthers() throws {
    let session = try Session(destinations: pages, files: sign)
    let watcher = try session.watch()
    func start() throws -> Program { try session.startNavctl("play", "sign", "a", "b", "--for", "10s", "--loop") }
    func ends(_ play: Program) throws {
      try session.wait("it ends") { play.hasEnded }
      #expect(play.exitCode == 0, "\(play.errorText)")
    }
    let first = try start()
    try session.wait(watcher, presents: ["a"])
    try session.runNavctl("present", "c", "--group", "sign", "--if-busy", "interrupt", "--timeout", "100ms")
    try session.wait(watcher, presents: ["a", "c", "a"])
    try session.runNavctl("select", "sign", "b")
    try session.wait(watcher, presents: ["a", "c", "a", "b"])
    #expect(!first.hasEnded)
    try session.runNavctl("present", "c", "--group", "sign")
    try ends(first)
    try session.poll("only the other one is left") {
      try session.state()["presentations"]?.array?.map { $0["binding"]?.string } == ["c"]
    }
    let second = try start()
    try session.poll("it plays") { try session.navctl("selection", "sign").outputText == "a\n" }
    try session.runNavctl("dismiss", "--group", "sign")
    try ends(second)
  }

  @Test("A playlist leaves out what cannot be shown, and has failed if nothing can")
  func play_itemsFail_goesOnWithOthers() throws {
    let session = try Session(destinations: pages, files: sign)
    let watcher = try session.watch()
    let play = try session.startNavctl("play", "sign", "a", "broken", "b", "--for", "150ms", "--loop")
    try session.wait(watcher, presents: ["a", "b", "a", "b", "a"])
    play.send(SIGTERM)
    try session.wait("it ends") { play.hasEnded }
    let alone = try session.navctl("play", "sign", "broken", "--loop")
    #expect(alone.exitCode == 1)
    #expect(alone.errorText.hasPrefix("navctl: play sign: none of the items can be shown"))
  }

  @Test(
    "G10: windows of a playlist hand over without a gap, and the next one is there when the time of the one before is over"
  )
  func play_windows_haveNoGap() throws {
    func page(_ name: String) -> String {
      "command = ['sh', '-c', 'sleep 0.7; exec foot --app-id=\(name) -e sleep 1000']\nwindow = { app-id = '\(name)', fullscreen = true }\n"
    }
    let desktop = try WindowedDesktop(
      .sway, destinations: ["a": page("a"), "b": page("b")],
      files: ["config/navd/navd.toml": "[groups.sign]\nreplacement = 'overlap'\n"])
    let (session, screen) = (desktop.session, desktop.screen)
    let watcher = try session.watch()
    let play = try session.startNavctl("play", "sign", "a", "b", "--for", "1500ms", "--loop")
    try screen.wait(for: ["a"])
    try session.poll("two rounds are over; \(watcher.lines)") {
      let names = try screen.all().map(\.name)
      #expect(!names.isEmpty, "there is a gap")
      #expect(Set(names).count == names.count, "\(names) has one twice")
      return watcher.presented.count > 4
    }
    #expect(watcher.presented == ["a", "b", "a", "b", "a"])
    play.send(SIGINT)
    try session.wait("it ends") { play.hasEnded }
    try screen.wait(for: [])
    // In the first round it takes 700 ms longer until the next one is there.
    let history = try session.navctl("history", "--json").json?.array ?? []
    let shown = history.compactMap { $0["shown-for"]?.unsigned }
    #expect(
      shown.count == 5 && shown[1...2].allSatisfy { $0 < 2000 } && shown[3...4].allSatisfy { $0 > 2100 }, "\(shown)")
  }
}
