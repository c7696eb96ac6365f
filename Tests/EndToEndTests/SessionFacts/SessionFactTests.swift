import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Facts of the session that are holds: logind, screen savers and fullscreen windows, and locks for items (H2, H5, H7).

private typealias Rows = CoordinatorInterface

/// The templates of python3-dbusmock, and functions to control them.
private enum Mock {
  static let interface: InterfaceName = "org.freedesktop.DBus.Mock"
  static let emitSignal = Method(
    interface, "EmitSignal", in: Arg<String>("interface"), Arg<String>("name"), Arg<String>("signature"),
    Arg<[Value]>("arguments"))
  static let updateProperties = Method(
    interface, "UpdateProperties", in: Arg<String>("interface"), Arg<Properties>("properties"))
  static let listInhibitors = Method(
    "org.freedesktop.login1.Manager", "ListInhibitors",
    out: Arg<[Structure<String, String, String, String, UInt32, UInt32>]>("inhibitors"))
  static let addMethods = Method(
    interface, "AddMethods", in: Arg<String>("interface"),
    Arg<[Structure<String, String, String, String>]>("methods"))
  static let methodCalls = Method(
    interface, "GetMethodCalls", in: Arg<String>("method"), out: Arg<[Structure<UInt64, [Value]>]>("calls"))
  static let addSession = Method(
    interface, "AddSession", in: Arg<String>("id"), Arg<String>("seat"), Arg<UInt32>("user"), Arg<String>("name"),
    Arg<Bool>("active"), out: Arg<String>("path"))
  static func setActive(_ interface: InterfaceName) -> Method<Bool, Void> {
    Method(interface, "SetActive", in: Arg<Bool>("active"))
  }
}

/// A session with logind on a system bus of its own.
private final class LogindSession {
  static let name: BusName = "org.freedesktop.login1"
  static let manager: ObjectPath = "/org/freedesktop/login1"
  static let path: ObjectPath = "/org/freedesktop/login1/session/c1"
  let session: Session
  let bus: PrivateBus
  let client: Connection
  private(set) var logind: Program!

  /// The script of a template with a session, which is there as soon as logind is.
  private static let script = """
    import dbusmock.templates.logind as template, runpy, sys
    load = template.load
    def with_session(mock, parameters):
        load(mock, parameters)
        template.AddSession(mock, "c1", "seat0", 1000, "anna", True)
    template.load = with_session
    sys.argv = ["dbusmock", "--template", "logind"]
    runpy.run_module("dbusmock", run_name="__main__")
    """

  /// - Parameter isRunning: whether logind and navd run.
  init(_ destinations: [String: String], isRunning: Bool = true) throws {
    session = try Session(destinations: destinations, starting: false)
    bus = try PrivateBus()
    session.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
    session.environment["XDG_SESSION_ID"] = "c1"
    client = try Connection.open(address: bus.address, loop: session.loop)
    guard isRunning else { return }
    try startLogind()
    try session.start()
  }

  func startLogind() throws {
    logind = try session.start(program: "/usr/bin/python3", ["-c", Self.script])
    try session.poll("logind is there; \(logind.errorText)") { [client] in
      (try? client.callAndWait(Mock.listInhibitors, on: Self.name, at: Self.manager, (), autoStart: false)) != nil
    }
  }

  /// Ends logind, as a crash does.
  func stopLogind() throws {
    logind.send(SIGKILL)
    try session.wait("logind has ended") { [logind] in logind!.hasEnded }
  }

  func set(_ hint: String, _ isTrue: Bool, at path: ObjectPath = LogindSession.path) throws {
    try client.callAndWait(
      Mock.updateProperties, on: Self.name, at: path, ("org.freedesktop.login1.Session", [hint: .boolean(isTrue)]))
  }

  func emit(
    _ name: String, at path: ObjectPath = LogindSession.path, _ signature: String = "", _ arguments: [Value] = []
  ) throws {
    let interface = path == Self.path ? "org.freedesktop.login1.Session" : "org.freedesktop.login1.Manager"
    try client.callAndWait(Mock.emitSignal, on: Self.name, at: path, (interface, name, signature, arguments))
  }

  /// Announces that the computer sleeps soon, even to a navd that starts now.
  func prepareForSleep() throws {
    try client.callAndWait(
      Mock.updateProperties, on: Self.name, at: Self.manager,
      ("org.freedesktop.login1.Manager", ["PreparingForSleep": .boolean(true)]))
    try emit("PrepareForSleep", at: Self.manager, "b", [.boolean(true)])
  }

  /// The inhibitors, each with its kind, its program and its mode.
  func inhibitors() throws -> [String] {
    try client.callAndWait(Mock.listInhibitors, on: Self.name, at: Self.manager, ()).map {
      "\($0.fields.0) \($0.fields.1) \($0.fields.3)"
    }.sorted()
  }

  /// The number of match rules that navd has on the system bus.
  func rulesOfNavd() throws -> UInt32 {
    func ask<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws -> Output {
      try client.callAndWait(method, on: Bus.name, at: Bus.path, input)
    }
    let others = [client.uniqueName.text, try ask(Bus.getNameOwner, Self.name.text)]
    let names = try ask(Bus.listNames, ()).filter { $0.hasPrefix(":") && !others.contains($0) }
    let navd = try #require(names.first)
    #expect(names.count == 1)
    return try #require(try ask(Bus.getConnectionStats, navd)["MatchRules"].flatMap { UInt32(value: $0) })
  }

  func waitForHolds(_ names: String...) throws {
    try session.poll("\(names) hold") {
      (try session.state()["holds"]?.array?.compactMap(\.string) ?? []) == names
    }
  }
}

/// A screen saver in this process, which says and answers what a test has it say.
private final class ScreenSaver {
  private static let bus: BusName = "org.gnome.ScreenSaver"
  private static let path: ObjectPath = "/org/gnome/ScreenSaver"
  private static let interface: InterfaceName = "org.gnome.ScreenSaver"
  private static let getActive = Method(interface, "GetActive", out: Arg<Bool>("active"))
  private static let activeChanged = Signal(interface, "ActiveChanged", Arg<Bool>("active"))
  let connection: Connection
  /// Whether it leaves navd's question open until ``answer(_:)``.
  var isSilent = false
  private let session: Session
  private var asked: [Call<Bool>] = []

  init(_ session: Session) throws {
    self.session = session
    connection = try session.connect()
    let object = ImplementedInterface(Interface(Self.interface, members: [Self.getActive, Self.activeChanged]))
    object.implement(Self.getActive) { [unowned self] _, call in
      asked.append(call)
      if !isSilent { call.reply(false) }
    }
    connection.export(Self.path, [object])
  }

  /// Takes the name, also from another one, and waits until navd asks.
  func take() throws {
    let mayBeReplacedAndReplaces: UInt32 = 1 | 2
    _ = try connection.callAndWait(
      Bus.requestName, on: Bus.name, at: Bus.path, (Self.bus.text, mayBeReplacedAndReplaces))
    try session.wait("navd asks") { !asked.isEmpty }
  }

  /// Sends the signal before any later call of its connection.
  func say(_ isActive: Bool) throws {
    try connection.emit(Self.activeChanged, from: Self.path, isActive)
    connection.flush()
  }

  func answer(_ isActive: Bool) {
    asked.last?.reply(isActive)
    connection.flush()
  }
}

@Test("H2: logind says whether the session is locked, idle or about to sleep")
func logind_facts_areHolds() throws {
  let logind = try LogindSession([:])
  #expect(try logind.session.state()["holds"] == nil)
  try logind.set("LockedHint", true)
  try logind.waitForHolds("locked")
  try logind.set("IdleHint", true)
  try logind.waitForHolds("idle", "locked")
  #expect(try logind.session.call(Rows.holds, ()).allSatisfy { HoldEntry($0).cookie == nil })
  #expect(try logind.session.navctl("release", "locked").exitCode == 6)
  try logind.set("LockedHint", false)
  try logind.waitForHolds("idle")
  try logind.set("IdleHint", false)
  try logind.emit("PrepareForSleep", at: LogindSession.manager, "b", [.boolean(true)])
  try logind.waitForHolds("sleep")
  try logind.emit("PrepareForSleep", at: LogindSession.manager, "b", [.boolean(false)])
  try logind.waitForHolds()
  // A request to lock counts until the locker says what it has done.
  try logind.emit("Lock")
  try logind.waitForHolds("locked")
  try logind.emit("Unlock")
  try logind.waitForHolds()
}

@Test("H5: after a restart navd knows that the session is locked before it presents anything")
func logind_lockedMeanwhile_isKnownAtStart() throws {
  let logind = try LogindSession(["secret": "state = true\nholds = { locked = \"dismiss\" }\n"])
  let session = logind.session
  try session.present("secret")
  try session.stop(SIGKILL)
  try logind.set("LockedHint", true)
  try session.start()
  #expect(try session.state()["holds"] == ["locked"])
  #expect(try session.call(Rows.get, "secret").0 == .root)
  try session.present("secret")
  #expect(try session.state()["presentations"]?.array?.first?["phase"]?.string == "waiting")
  try session.stop(SIGKILL)
  try logind.set("LockedHint", false)
  try session.start()
  #expect(try session.state()["presentations"]?.array?.first?["phase"]?.string == "presented")
}

@Test("H2: a screen saver of the desktop says whether the screen is locked, until it leaves the bus")
func screenSaver_active_isHold() throws {
  let session = try Session()
  let saver = try session.start(program: "/usr/bin/python3", ["-m", "dbusmock", "--template", "gnome_screensaver"])
  let (name, path): (BusName, ObjectPath) = ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver")
  try session.poll("it is active") {
    (try? session.client.callAndWait(
      Mock.setActive("org.gnome.ScreenSaver"), on: name, at: path, true, autoStart: false)) != nil
  }
  try session.poll("it holds") { try session.state()["holds"] == ["locked"] }
  saver.send(SIGKILL)
  try session.poll("it holds no more") { try session.state()["holds"] == nil }
}

@Test(
  "H2: the freedesktop screen saver is asked, too, at either path; the screen is locked while either saver says so",
  arguments: ["/org/freedesktop/ScreenSaver", "/ScreenSaver"])
func screenSaver_freedesktop_isHold(path: String) throws {
  let session = try Session()
  let name: BusName = "org.freedesktop.ScreenSaver"
  let interface: InterfaceName = "org.freedesktop.ScreenSaver"
  let object = try #require(ObjectPath(path))
  let saver = try session.start(
    program: "/usr/bin/python3", ["-m", "dbusmock", "--session", name.text, path, interface.text])
  let methods = [
    Structure("GetActive", "", "b", "ret = getattr(self, 'is_active', False)"),
    Structure(
      "SetActive", "b", "", "self.is_active = args[0]; self.EmitSignal('', 'ActiveChanged', 'b', [self.is_active])"),
  ]
  try session.poll("it is there; \(saver.errorText)") {
    (try? session.client.callAndWait(
      Mock.addMethods, on: name, at: object, (interface.text, methods), autoStart: false)) != nil
  }
  func set(_ isActive: Bool) throws {
    try session.client.callAndWait(Mock.setActive(interface), on: name, at: object, isActive)
  }
  func waitForHolds(_ names: JSON?) throws {
    try session.poll("it holds: \(String(describing: names))") { try session.state()["holds"] == names }
  }
  try set(true)
  try waitForHolds(["locked"])
  // A navd that starts asks the screen saver.
  try session.call(Rows.quit, ())
  try session.waitForEnd()
  unlink(session.bus.directory + "/navd/record.jsonl")
  try session.start()
  #expect(try session.state()["holds"] == ["locked"])
  // The screen saver of GNOME says the same, and then it alone says so.
  let gnome = try session.start(program: "/usr/bin/python3", ["-m", "dbusmock", "--template", "gnome_screensaver"])
  let gnomeName: BusName = "org.gnome.ScreenSaver"
  try session.poll("GNOME's is active") {
    (try? session.client.callAndWait(
      Mock.setActive("org.gnome.ScreenSaver"), on: gnomeName, at: "/org/gnome/ScreenSaver", true, autoStart: false))
      != nil
  }
  try set(false)
  #expect(try session.state()["holds"] == ["locked"])
  gnome.send(SIGKILL)
  try waitForHolds(nil)
  try set(true)
  try waitForHolds(["locked"])
  saver.send(SIGKILL)
  try waitForHolds(nil)
}

@Test("H2: an answer of the former owner of a screen saver's name does not count")
func screenSaver_formerOwner_isNotBelieved() throws {
  let session = try Session()
  let (name, interface): (BusName, InterfaceName) = ("org.gnome.ScreenSaver", "org.gnome.ScreenSaver")
  let getActive = Method(interface, "GetActive", out: Arg<Bool>("active"))
  var asked: [Call<Bool>] = []
  /// Takes the name, and waits until navd asks.
  func takeName() throws -> Connection {
    let connection = try session.connect()
    let saver = ImplementedInterface(Interface(interface, members: [getActive]))
    saver.implement(getActive) { _, call in asked.append(call) }
    connection.export("/org/gnome/ScreenSaver", [saver])
    connection.requestName(name) { _ in }
    let count = asked.count
    try session.wait("navd asks") { asked.count > count }
    return connection
  }
  let former = try takeName()
  former.releaseName(name)
  // The bus has taken in the change of the name before this call.
  _ = try session.call(Rows.holds, (), by: former)
  let saver = try takeName()
  // navd has received each answer before the call that follows it.
  asked[1].reply(false)
  #expect(try session.call(Rows.holds, (), by: saver).isEmpty)
  asked[0].reply(true)
  #expect(try session.call(Rows.holds, (), by: former).isEmpty)
  #expect(try session.state()["holds"] == nil)
}

@Test("H5: a logind that does not answer delays navd for a second at most; until it does, facts count as recorded")
func logind_silent_delaysForASecond() throws {
  let logind = try LogindSession(["secret": "state = true\nholds = { locked = \"postpone\" }\n"])
  let session = logind.session
  try logind.set("LockedHint", true)
  try logind.waitForHolds("locked")
  try session.present("secret")
  try session.stop(SIGKILL)
  try logind.set("LockedHint", false)
  logind.logind.send(SIGSTOP)
  let begin = session.loop.now
  try session.start()
  let pause = (session.loop.now - begin) / .milliseconds(1)
  print("navd starts in \(Int(pause)) ms beside a logind that does not answer")
  #expect(pause >= 900)
  expectSpeed(pause < 2000, "\(pause) ms")
  #expect(try session.state()["holds"] == ["locked"])
  #expect(try session.state()["presentations"]?.array?.first?["phase"]?.string == "waiting")
  // The answer of logind is late, and counts.
  logind.logind.send(SIGCONT)
  try logind.waitForHolds()
  try session.poll("it is presented") {
    try session.state()["presentations"]?.array?.first?["phase"]?.string == "presented"
  }
  try logind.set("LockedHint", true)
  try logind.waitForHolds("locked")
}

@Test("H5: a system bus that does not answer delays navd for a second at most; when it does, logind is followed")
func systemBus_silent_delaysForASecond() throws {
  let logind = try LogindSession([:], isRunning: false)
  try logind.startLogind()
  try logind.set("LockedHint", true)
  kill(logind.bus.processID, SIGSTOP)
  defer { kill(logind.bus.processID, SIGCONT) }
  try logind.session.start()
  #expect(try logind.session.state()["holds"] == nil)
  kill(logind.bus.processID, SIGCONT)
  try logind.waitForHolds("locked")
}

@Test("H5: until logind has answered, a screen saver does not end the lock that the record says")
func logind_silent_screenSaverDoesNotUnlock() throws {
  let logind = try LogindSession([:])
  let session = logind.session
  try logind.set("LockedHint", true)
  try logind.waitForHolds("locked")
  try session.stop(SIGKILL)
  logind.logind.send(SIGSTOP)
  try session.start()
  let saver = try ScreenSaver(session)
  try saver.take()
  try saver.say(true)
  try saver.say(false)
  #expect(try session.call(Rows.holds, (), by: saver.connection).count == 1)
  logind.logind.send(SIGCONT)
  try logind.set("LockedHint", false)
  try logind.waitForHolds()
}

@Test("H2: a session that logind begins later is followed, and so is the next one after its end")
func logind_sessionLater_isFollowed() throws {
  let logind = try LogindSession([:], isRunning: false)
  let session = logind.session
  session.environment["XDG_SESSION_ID"] = "c2"
  try logind.startLogind()
  try session.start()
  let name = "/org/freedesktop/login1/session/c2"
  let path = try #require(ObjectPath(name))
  let call = { (method: Method<(String, String, UInt32, String, Bool), String>) in
    try logind.client.callAndWait(
      method, on: LogindSession.name, at: LogindSession.manager, ("c2", "seat0", 1000, "anna", true))
  }
  #expect(try call(Mock.addSession) == name)
  for _ in 0..<2 {
    try logind.emit("SessionNew", at: LogindSession.manager, "so", [.string("c2"), .objectPath(path)])
    try logind.set("LockedHint", true, at: path)
    try logind.waitForHolds("locked")
    try logind.set("LockedHint", false, at: path)
    try logind.waitForHolds()
    try logind.emit("SessionRemoved", at: LogindSession.manager, "so", [.string("c2"), .objectPath(path)])
  }
}

@Test("H2: while the name of a screen saver changes hands, the screen counts as locked until the new owner answers")
func screenSaver_changesHands_staysLocked() throws {
  let session = try Session()
  let (former, next) = (try ScreenSaver(session), try ScreenSaver(session))
  try former.take()
  try former.say(true)
  #expect(try session.call(Rows.holds, (), by: former.connection).count == 1)
  next.isSilent = true
  try next.take()
  #expect(try session.call(Rows.holds, (), by: next.connection).count == 1)
  next.answer(false)
  #expect(try session.call(Rows.holds, (), by: next.connection).isEmpty)
}

@Test("L2: a screen saver that changes its mind without end changes the hold once in a turn")
func screenSaver_flood_isToldOnceInATurn() throws {
  let session = try Session()
  let saver = try ScreenSaver(session)
  try saver.take()
  let before = try session.call(Rows.getState, ()).1
  // All signals are there when navd goes on.
  session.navd?.send(SIGSTOP)
  for index in 0..<5000 { try saver.say(index % 2 == 1) }
  _ = try saver.connection.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ())
  session.navd?.send(SIGCONT)
  try session.poll("it holds") { try session.call(Rows.holds, ()).count == 1 }
  _ = try session.call(Rows.holds, (), by: saver.connection)
  #expect(try session.call(Rows.getState, ()).1 - before < 1000)
}

@Test("H2, H7: a logind that comes later, or comes back, is asked for the facts, and for the inhibitor locks again")
func logind_late_isFollowed() throws {
  let logind = try LogindSession(
    ["film": "command = [\"sleep\", \"60\"]\ntitle = \"Film\"\ninhibit = [\"idle\"]\n"], isRunning: false)
  let session = logind.session
  try session.start()
  #expect(session.navd?.errorText.contains("logind is not on the system bus") == true)
  try session.present("film")
  for _ in 0..<2 {
    try logind.startLogind()
    try session.poll("it inhibits") { try logind.inhibitors() == ["idle Film block"] }
    try logind.waitForHolds()
    try logind.set("LockedHint", true)
    try logind.waitForHolds("locked")
    // A logind that has left the bus counts for nothing.
    try logind.stopLogind()
    try logind.waitForHolds()
  }
  let lines = session.navd?.errorText.split(separator: "\n").filter { $0.contains("logind is not on the system bus") }
  #expect(lines?.count == 1)
}

@Test("H2: navd receives each signal once from every logind that comes back")
func logind_restarted_isFollowedOnce() throws {
  let logind = try LogindSession([:], isRunning: false)
  try logind.session.start()
  var rules: [UInt32] = []
  for _ in 0..<3 {
    try logind.startLogind()
    try logind.set("LockedHint", true)
    try logind.waitForHolds("locked")
    rules.append(try logind.rulesOfNavd())
    try logind.stopLogind()
    try logind.waitForHolds()
  }
  #expect(Set(rules).count == 1, "match rules: \(rules)")
}

@Test("H2: without a system bus nothing happens, and the log says so once")
func logind_absent_isLoggedOnce() throws {
  let session = try Session()
  try session.call(Rows.reload, ())
  let lines = (session.navd?.errorText ?? "").split(separator: "\n").filter {
    $0.contains("cannot say whether the session is locked")
  }
  #expect(lines.count == 1)
  #expect(try session.state()["holds"] == nil)
}

@Test("H2: a fullscreen window with the focus is a hold, unless a presentation shows it")
func windows_fullscreen_isHold() throws {
  let session = try Session(
    destinations: [
      "note": "state = true\nholds = { fullscreen = \"postpone\" }\n",
      "film": "command = [\"sleep\", \"60\"]\nwindow = { app-id = \"film\" }\n",
    ], starting: false)
  let adapter = try ScriptedWindowSystem(session, [Window("w0", title: "Talk", pid: 7, parent: "", focused: true)])
  try session.start()
  adapter.change("w0") { $0.fullscreen = true }
  try session.poll("it holds") { try session.state()["holds"] == ["fullscreen"] }
  try session.present("note")
  #expect(try session.state()["presentations"]?.array?.first?["held-by"] == ["fullscreen"])
  adapter.change("w0") { $0.focused = false }
  try session.poll("it holds no more") { try session.state()["holds"] == nil }
  let film = try session.present("film")
  try session.poll("it runs") { try session.call(Rows.get, "film").1["windows"] != nil }
  adapter.open(Window("w1", appID: "film", title: "Film", pid: 0))
  #expect(try session.call(Rows.wait, (film, "presented")).0 == "")
  adapter.change("w1") {
    $0.fullscreen = true
    $0.focused = true
  }
  try session.poll("navd knows it") {
    try session.call(Rows.get, "film").1["windows"].map { "\($0)" }?.contains("focused") == true
  }
  #expect(try session.state()["holds"] == nil)
}

// MARK: The reverse

@Test(
  "H7: an item inhibits what its destination says while it is presented, even after a restart of navd, and no longer")
func inhibit_presented_isHeld() throws {
  let logind = try LogindSession([
    "film": "command = [\"sleep\", \"60\"]\ntitle = \"Film\"\ninhibit = [\"sleep\", \"idle\"]\n"
  ])
  let session = logind.session
  func waitForInhibitors(_ expected: String...) throws {
    try session.poll("\(expected) inhibit") { try logind.inhibitors() == expected }
  }
  try session.present("film")
  try waitForInhibitors("idle:sleep Film block")
  try session.stop(SIGKILL)
  try waitForInhibitors()
  try session.start()
  try waitForInhibitors("idle:sleep Film block")
  try session.dismiss("film")
  try waitForInhibitors()
}

@Test("H7: a lock that logind refuses is asked for again")
func inhibit_refused_isAskedForAgain() throws {
  let logind = try LogindSession(["film": "command = [\"sleep\", \"60\"]\ninhibit = [\"idle\"]\n"])
  let refusing = Structure(
    "Inhibit", "ssss", "h",
    "raise dbus.exceptions.DBusException('too many', name='org.freedesktop.DBus.Error.LimitsExceeded')")
  try logind.client.callAndWait(
    Mock.addMethods, on: LogindSession.name, at: LogindSession.manager, ("org.freedesktop.login1.Manager", [refusing]))
  try logind.session.present("film")
  try logind.session.poll("it asks twice") {
    try logind.client.callAndWait(
      Mock.methodCalls, on: LogindSession.name, at: LogindSession.manager, "Inhibit"
    ).count >= 2
  }
  #expect(logind.session.navd?.errorText.contains("gives no inhibitor lock, and is asked again: too many") == true)
}

@Test("H5: navd delays the sleep of the computer until the items that it dismisses have ended")
func sleep_dismissing_isDelayed() throws {
  let logind = try LogindSession(["secret": "command = [\"sleep\", \"60\"]\nholds = { sleep = \"dismiss\" }\n"])
  let session = logind.session
  let secret = try session.present("secret")
  try session.poll("it delays") { try logind.inhibitors() == ["sleep navd delay"] }
  try logind.emit("PrepareForSleep", at: LogindSession.manager, "b", [.boolean(true)])
  #expect(try session.ending(of: secret).reason == "held")
  try session.poll("it no longer delays") { try logind.inhibitors() == [] }
}

@Test("H5: an item that declines to end after a restart of navd delays the sleep of the computer no longer")
func sleep_declinedAfterARestart_isNotDelayed() throws {
  let logind = try LogindSession([:])
  let session = logind.session
  try session.write("[holds]\nsleep = \"dismiss\"\n", to: "config/navd/navd.toml")
  try session.call(Rows.reload, ())
  let presenter = try BusPresenter(session, destination: "editor")
  let note = try session.present("note", "", ["destination": .string("editor")])
  _ = try session.call(Rows.wait, (note, "presented"))
  try session.poll("it delays") { try logind.inhibitors() == ["sleep navd delay"] }
  presenter.isAnswering = false
  try logind.prepareForSleep()
  try session.wait("it is to end") { presenter.log.contains { $0.hasPrefix("dismiss") } }
  try session.stop(SIGKILL)
  presenter.refusedEnd = DBusError(name: "org.navd.Error.Declined", message: "not saved")
  let calls = presenter.log.count
  try session.start()
  try session.wait("it is to end again") { presenter.log.count > calls }
  try session.poll("it delays again") { try logind.inhibitors() == ["sleep navd delay"] }
  presenter.isAnswering = true
  try session.poll("it is kept") { try session.state()["presentations"]?.array?.first?["phase"]?.string == "presented" }
  try session.poll("it no longer delays") { try logind.inhibitors() == [] }
}
