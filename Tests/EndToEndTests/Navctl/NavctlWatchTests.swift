import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl watch: the state and the events as they change, across restarts of navd.

private typealias Rows = CoordinatorInterface

extension Program {
  fileprivate var values: [JSON] { lines.compactMap { try? JSON.parse($0) } }

  /// Whether the last state that navctl watch has written is of a navd that runs.
  fileprivate var isRunning: Bool {
    let state = values.last { $0["presentations"] != nil }
    return state?["serial"] != nil && state?["running"] == nil
  }
}

@Test("navctl watch prints the whole state, and again after every change")
func navctl_watch_printsTheState() throws {
  let session = try Session()
  try session.present("fact", "1")
  let watch = try session.startNavctl("watch")
  try session.wait("the state is written") { watch.lines.count == 1 }
  #expect(watch.values.last == (try session.state()))
  try session.present("note")
  try session.wait("it is written again") { watch.lines.count == 2 }
  #expect(watch.values.last == (try session.state()))
  // A request that changes nothing prints nothing.
  try session.present("note")
  try session.dismiss("fact")
  try session.wait("it is written again") { watch.lines.count == 3 }
  #expect(watch.values.last == (try session.state()))
  #expect(watch.values.last?["presentations"]?.array?.count == 1)
}

@Test("navctl watch tells the titles of a group's tags, and prints the state again when a file has another one")
func navctl_watchTitles_followsFiles() throws {
  func file(_ title: String) -> String { "state = true\ngroup = \"panels\"\ntitle = \"\(title)\"\n" }
  let session = try Session(destinations: ["mixer": file("Sound")])
  let watch = try session.startNavctl("watch", "--group", "panels")
  func titles() -> JSON? { watch.values.last?["groups"]?["panels"]?["titles"] }
  try session.wait("the file's is written") { titles() == ["mixer": "Sound"] }
  try session.write(file("Volume"), toDestination: "mixer")
  try session.call(Rows.reload, ())
  try session.wait("the new one is written") { titles() == ["mixer": "Volume"] }
  try session.present("mixer", "", ["title": .string("Loud")])
  try session.wait("the item's is written") { titles() == ["mixer": "Loud"] }
}

@Test("navctl watch --events prints the state, then every event, or only those of a group or binding")
func navctl_watchEvents_printsEachEvent() throws {
  let session = try Session()
  try session.present("fact", "1")
  let all = try session.startNavctl("watch", "--events")
  let some = try session.startNavctl("watch", "--events", "--binding", "note")
  let panels = try session.startNavctl("watch", "--events", "--group", "panels", "--format", "{event} {binding}{group}")
  try session.wait("the state is written") { all.lines.count == 1 && some.lines.count == 1 && panels.lines.count == 1 }
  try session.present("note", "2")
  try session.present("volume", "", ["group": .string("panels")])
  try session.call(Rows.update, ("note", ["n": .int32(1)], [:]))
  try session.dismiss("volume")
  try session.dismiss("note")
  let serial = try #require(try session.state()["serial"]?.unsigned)
  try session.wait("all is written") { all.values.last?["serial"]?.unsigned == serial }
  let events = all.values
  #expect(events.first?["event"] == "state")
  #expect(events.first?["presentations"]?.array?.count == 1)
  #expect(events.compactMap { $0["serial"]?.unsigned } == (1...serial).map { $0 })
  #expect(
    events.last == [
      "event": "dismissed", "serial": JSON(serial), "binding": "note", "id": "2", "presentation": 2,
      "reason": "dismissed",
    ])
  try session.wait("the note's are written") { some.lines.count == 4 }
  #expect(some.values.dropFirst().map { $0["event"]?.string } == ["presented", "updated", "dismissed"])
  try session.wait("the group's are written") { panels.lines.last == "selection panels" || panels.lines.count > 4 }
  #expect(panels.lines.contains("presented volume"))
  #expect(!panels.lines.contains { $0.contains("note") })
}

@Test("navctl watch continues across restarts of navd, says that it is gone, and waits for it to start")
func navctl_watch_continuesAcrossRestarts() throws {
  let session = try Session(starting: false)
  let states = try session.startNavctl("watch")
  let events = try session.startNavctl("watch", "--events")
  try session.start()
  try session.wait("the state is written") { states.isRunning && events.isRunning }
  for signal in [SIGTERM, SIGKILL] {
    try session.present("fact", "\(signal)")
    try session.wait("the change is written") {
      states.outputText.hasSuffix("\n")
        && states.values.last?["presentations"]?.array?.last?["id"]?.string == "\(signal)"
        && events.values.contains { $0["event"] == "presented" && $0["id"]?.string == "\(signal)" }
    }
    try session.stop(signal)
    for watch in [states, events] { try session.wait("it says that navd is gone") { !watch.isRunning } }
    try session.start()
    for watch in [states, events] { try session.wait("the state is written again") { watch.isRunning } }
    #expect(events.values.last { $0["event"] == "state" }?["serial"] == (try session.state()["serial"]))
    // Later events follow.
    try session.present("after", "\(signal)")
    try session.wait("the event is written") {
      events.values.contains { $0["id"]?.string == "\(signal)" && $0["binding"] == "after" }
    }
  }
  #expect(states.status == nil && events.status == nil)
  #expect(states.errorText == "" && events.errorText == "")
}

@Test("navctl watch has the bus start navd again if it vanished with an open item, but not after navctl quit")
func navctl_watch_startsNavdAgain() throws {
  let session = try Session(starting: false, activatable: true)
  let events = try session.startNavctl("watch", "--events")
  func states() -> Int { events.values.count { $0["event"] == "state" && $0["running"] == nil } }
  func process() throws -> pid_t {
    let credentials = try session.client.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, CoordinatorNames.bus.text)
    return pid_t(try #require(credentials["ProcessID"].flatMap { UInt32(value: $0) }))
  }
  try session.present("fact")
  try session.wait("the state is written") { states() == 1 }
  kill(try process(), SIGKILL)
  try session.wait("navd is back, without another request") { states() == 2 }
  #expect(events.values.last?["presentations"]?.array?.first?["binding"] == "fact")
  let quit = try session.navctl("quit")
  #expect(quit.exitCode == 0)
  try session.wait("it has heard the end") { events.values.last?["reason"] == "shutdown" }
  // Before that, navd refuses requests.
  try session.poll("navd has left the bus") { (try? process()) == nil }
  try session.present("note")
  // This request starts navd, and nothing before it does.
  try session.wait("the state is written") { states() == 3 }
  #expect(events.values.last?["presentations"]?.array?.map { $0["binding"] } == ["note"])
}

@Test(
  "navctl watch ends quietly when its reader ends",
  arguments: [["watch"], ["watch", "--events"], ["watch", "--waybar"]])
func navctl_watch_endsWithItsReader(arguments: [String]) throws {
  let session = try Session()
  let watch = try session.start(program: Session.program("navctl"), arguments)
  try session.wait("the state is written") { watch.lines.count == 1 }
  watch.closeOutput()
  // navctl ends even if there is nothing to write.
  try session.wait("it ends") { watch.status != nil }
  #expect(watch.exitCode == 0)
  #expect(watch.errorText == "")
}

@Test("navctl list into a closed pipe prints no error")
func navctl_list_intoAClosedPipe_isQuiet() throws {
  let session = try Session()
  for number in 0..<200 { try session.present("slot[\(number)]", String(repeating: "x", count: 1000)) }
  let run = try session.run(program: "/bin/sh", ["-c", "\(Session.program("navctl")) list --json | true"])
  #expect(run.exitCode == 0)
  #expect(run.errorText == "")
}

@Test("navctl watch --waybar and --format print a line for the latest item")
func navctl_watch_printsLinesForBars() throws {
  let session = try Session()
  let waybar = try session.startNavctl("watch", "--waybar", "--group", "panels")
  let format = try session.startNavctl("watch", "--format", "{title} {value.level}", "--binding", "volume")
  try session.wait("the first lines are written") { waybar.lines.count == 1 && format.lines.count == 1 }
  #expect(waybar.values.last?["text"] == "")
  #expect(waybar.values.last?["class"] == ["none"])
  try session.present(
    "volume", "",
    [
      "group": .string("panels"), "title": .string("<Volume> & more"),
      "value": ["level": Value.int64(40), "percentage": .int64(40)].value,
    ])
  try session.wait("they are written again") { waybar.lines.count == 2 && format.lines.count == 2 }
  #expect(waybar.values.last?["text"] == "&lt;Volume&gt; &amp; more")
  #expect(waybar.values.last?["alt"] == "volume")
  #expect(waybar.values.last?["percentage"] == 40)
  #expect(waybar.values.last?["class"] == ["presented"])
  #expect(format.lines.last == "<Volume> & more 40")
}
