import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Holds on the bus and by navctl: what they postpone, refuse and dismiss, and who ends them (H1 to H6).

private typealias Rows = CoordinatorInterface

/// A session with items that holds postpone, refuse and dismiss.
private func session() throws -> Session {
  try Session(destinations: [
    "note": "state = true\nholds = { dnd = \"postpone\" }\n",
    "offer": "state = true\n[holds]\ndnd = \"refuse\"\n",
    "secret": "command = [\"sleep\", \"60\"]\nholds = { dnd = \"dismiss\" }\n",
  ])
}

extension Session {
  fileprivate func entry(_ binding: String) throws -> JSON? {
    try state()["presentations"]?.array?.first { $0["binding"]?.string == binding }
  }
}

@Test("H1, H3: a hold postpones, refuses and dismisses, and says so on the bus")
func hold_inForce_doesWhatDestinationsSay() throws {
  let session = try session()
  let secret = try session.present("secret")
  try session.call(Rows.wait, (secret, "presented"))
  let cookie = try session.call(Rows.hold, ("dnd", ["message": .string("a talk")]))
  #expect(try session.ending(of: secret).reason == "held")
  #expect(try session.refusal(Rows.present, ("offer", "", [:]))?.name == .held)
  try session.present("note")
  #expect(try session.entry("note")?["phase"]?.string == "waiting")
  #expect(try session.entry("note")?["held-by"] == ["dnd"])
  #expect(try session.state()["holds"] == ["dnd"])
  let holder = HoldEntry(try #require(try session.call(Rows.holds, ()).first))
  #expect(holder.cookie == cookie && holder.name == "dnd" && holder.message == "a talk" && holder.since != nil)
  #expect(try session.call(Rows.releaseHold, ("dnd", cookie)) == 1)
  #expect(try session.entry("note")?["phase"]?.string == "presented")
  #expect(try session.state()["holds"] == nil)
  #expect(try session.call(Rows.releaseHold, ("dnd", cookie)) == 0)
  #expect(try session.refusal(Rows.releaseHold, ("no name", 0))?.name == .invalidArgument)
}

@Test("H1: whoever toggles a hold ends what others hold by its name, and holds if nobody does")
func hold_toggled_isOnePress() throws {
  let session = try session()
  let client = try session.connect()
  let toggling: Properties = ["toggle": .boolean(true)]
  #expect(try session.call(Rows.hold, ("dnd", toggling)) > 0)
  try session.call(Rows.hold, ("dnd", ["owned": .boolean(true)]), by: client)
  try session.call(Rows.hold, ("quiet", [:]))
  #expect(try session.call(Rows.hold, ("dnd", toggling)) == 0)
  #expect(try session.state()["holds"] == ["quiet"])
  try session.call(Rows.hold, ("dnd", [:]), by: client)
  #expect(try session.call(Rows.hold, ("dnd", [:])) > 0)
  #expect(try session.call(Rows.releaseHold, ("dnd", 0)) == 2)
  #expect(try session.call(Rows.releaseHold, ("dnd", 0)) == 0)
  #expect(try session.state()["holds"] == ["quiet"])
}

@Test(
  "H1, H6, R2: holds and the items that wait for them survive a restart; an owned hold whose client has left does not")
func hold_restart_isInForce() throws {
  let session = try session()
  let client = try session.connect()
  let cookie = try session.call(Rows.hold, ("dnd", [:]))
  try session.call(Rows.hold, ("quiet", ["owned": .boolean(true)]), by: client)
  try session.present("note", "", ["within": .uint64(3_600_000)])
  try session.stop(SIGKILL)
  client.close()
  try session.start()
  #expect(try session.state()["holds"] == ["dnd"])
  #expect(try session.entry("note")?["held-by"] == ["dnd"])
  try session.call(Rows.releaseHold, ("dnd", cookie))
  #expect(try session.entry("note")?["phase"]?.string == "presented")
}

@Test("H6: an item that could not be opened in time is dropped")
func present_validFor_isDropped() throws {
  let session = try session()
  try session.call(Rows.hold, ("dnd", [:]))
  #expect(try session.navctl("present", "note", "--valid-for", "50ms").exitCode == 0)
  try session.poll("it has ended") { try session.entry("note") == nil }
  #expect(HoldEntry.keys.name.name == "name")
  let history = try session.navctl("history", "--json").outputText
  #expect(history.contains("\"reason\":\"expired\"") && !history.contains("shown-for"))
}

// MARK: navctl

@Test("navctl hold, holds and release begin, list and end a hold")
func navctl_hold_holdsAndReleases() throws {
  let session = try session()
  #expect(try session.navctl("hold", "dnd", "--for", "1h", "--message", "a talk").exitCode == 0)
  #expect(try session.navctl("hold", "dnd", "--json").outputText.hasPrefix("{\"cookie\":"))
  let holds = try session.navctl("holds").lines
  #expect(holds.count == 2 && holds[0].hasPrefix("dnd") && holds[0].hasSuffix("a talk"))
  let refused = try session.navctl("present", "offer")
  #expect(refused.exitCode == 6)
  #expect(
    refused.errorText == "navctl: present offer: “offer” is held by \"dnd\"; wait until that ends, or release it\n"
      || refused.errorText.contains("is held by"))
  _ = try session.navctl("present", "note")
  #expect(try session.navctl("list").outputText.contains("waiting (held by dnd)"))
  let waybar = try session.startNavctl("watch", "--waybar")
  try session.wait("a line") { !waybar.lines.isEmpty }
  #expect(waybar.lines[0].contains("\"held\"") && waybar.lines[0].contains("\"hold-dnd\""))
  #expect(try session.navctl("release", "dnd", "--json").outputText == "{\"changed\":true}\n")
  #expect(try session.navctl("release", "dnd", "--json").outputText == "{\"changed\":false}\n")
  #expect(try session.navctl("holds").outputText == "")
  #expect(try session.navctl("hold", "a.b").exitCode == 2)
  #expect(try session.navctl("release").exitCode == 2)
}

@Test("navctl hold -- COMMAND holds while the command runs, and ends with its status")
func navctl_holdCommand_holdsWhileItRuns() throws {
  let session = try session()
  let run = try session.navctl(
    "hold", "dnd", "--", "sh", "-c", "\"$0\" holds --json; exit 7", Session.program("navctl"))
  #expect(run.exitCode == 7, "\(run.errorText)")
  #expect(run.outputText.contains("\"owned\":true") && run.outputText.contains("\"message\":\"sh -c"))
  try session.poll("it ends") { try session.state()["holds"] == nil }
  #expect(try session.navctl("hold", "dnd", "--", "sh", "-c", "kill -KILL $$").exitCode == 137)
  let missing = try session.navctl("hold", "dnd", "--", "/none")
  #expect(missing.exitCode == 125 && missing.errorText.contains("No such file"))
}

@Test("navctl hold locked -- LOCKER runs the locker, though the hold is refused or navd hangs or is missing")
func navctl_holdLockedWithoutHold_runsTheLocker() throws {
  let session = try session()
  func lock() throws {
    let run = try session.navctl("hold", "locked", "--within", "0.2", "--", "sh", "-c", "echo locked; exit 7")
    #expect(run.exitCode == 7)
    #expect(run.outputText == "locked\n")
    #expect(run.errorText.contains("the locker runs without the hold"), "\(run.errorText)")
  }
  session.navd?.send(SIGSTOP)
  try lock()
  session.navd?.send(SIGCONT)
  for index in 0..<1024 { try session.call(Rows.hold, ("dnd\(index)", [:])) }
  try lock()
  try session.stop(SIGKILL)
  session.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/none"
  try lock()
}

@Test("navctl hold -- COMMAND holds until the last process of the command has ended, in whatever session it is")
func navctl_holdCommandInBackground_holdsUntilTheTreeHasEnded() throws {
  let session = try session()
  let fifo = session.path("go")
  mkfifo(fifo, 0o600)
  // The process has a session of its own, and a parent that has ended, as a daemon has.
  let script = """
    (setsid sh -c 'while kill -0 "$1"; do sleep 0.01; done 2>/dev/null; echo alone; read line <"$0"' "$0" $$ &); exit 3
    """
  let hold = try session.startNavctl("hold", "dnd", "--", "sh", "-c", script, fifo)
  try session.wait("only the one in the background is left") { hold.lines == ["alone"] }
  #expect(try session.state()["holds"] == ["dnd"])
  let go = open(fifo, O_WRONLY)
  #expect(write(go, "\n", 1) == 1)
  close(go)
  try session.wait("navctl ends") { hold.hasEnded }
  #expect(hold.exitCode == 3)
  try session.poll("it ends") { try session.state()["holds"] == nil }
}

@Test("H1: a hold ends when its navctl is killed, however the command continues")
func navctl_holdKilled_ends() throws {
  let session = try session()
  let hold = try session.startNavctl("hold", "dnd", "--", "sleep", "60")
  try session.poll("it holds") { try session.state()["holds"] == ["dnd"] }
  hold.send(SIGKILL)
  try session.poll("it ends") { try session.state()["holds"] == nil }
}

@Test("H1: navctl hold -- COMMAND holds again if navd comes back without its record, but not what was released")
func navctl_holdCommandAndNavdBackWithoutRecord_holdsAgain() throws {
  let session = try session()
  let holds = try ["dnd", "quiet"].map { try session.startNavctl("hold", $0, "--", "sleep", "1000") }
  defer { for hold in holds { hold.send(SIGTERM) } }
  try session.poll("both hold") { try session.state()["holds"] == ["dnd", "quiet"] }
  func returnWithoutRecord() throws {
    try session.stop(SIGKILL)
    unlink(session.bus.directory + "/navd/record.jsonl")
    try session.start()
  }
  try returnWithoutRecord()
  try session.poll("both hold again") { try session.state()["holds"] == ["dnd", "quiet"] }
  // A navd that comes back with its record has the hold already.
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.call(Rows.holds, ()).count == 2)
  #expect(try session.navctl("release", "quiet").exitCode == 0)
  try session.poll("one is released") { try session.state()["holds"] == ["dnd"] }
  try returnWithoutRecord()
  try session.poll("the other holds again") { try session.state()["holds"] == ["dnd"] }
  #expect(holds.allSatisfy { !$0.hasEnded })
}
