import DBusValues
import EventLoops
import PresentationModel
import PresentationRules
import Processes
import TestSupport
import Testing

@testable import CoordinatorDaemon

// Hooks of destination files: what they get, their order, their limits and their ends (D14).

/// A launcher that starts nothing; the test ends what it has launched.
private final class NoLauncher: CommandLauncher {
  private(set) var launches: [(launch: Launch, observer: any LaunchObserver)] = []
  var error: String?
  /// Whether a launch is complete at once.
  var isQuick = true
  /// The calls of commands.
  fileprivate(set) var calls: [String] = []

  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)? {
    launches.append((launch, observer))
    if isQuick { observer.started(launch.handle, error: error) }
    return error == nil ? NoCommand(self) : nil
  }

  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void
  ) { found([:]) }

  func end(_ index: Int, _ status: ProcessStatus) {
    let (launch, observer) = launches[index]
    observer.ended(launch.handle, ProcessResult(status: status, output: nil), nil)
  }
}

private final class NoCommand: RunningCommand {
  func includes(_ process: ProcessOrigin) -> Bool { false }
  private unowned let launcher: NoLauncher
  init(_ launcher: NoLauncher) { self.launcher = launcher }
  func terminate() { launcher.calls.append("terminate") }
  func kill() { launcher.calls.append("kill") }
  func abandon() -> String { "" }
  var remembered: RememberedLaunch { RememberedLaunch(marker: "m", output: OutputCapture(path: "/nowhere", limit: 0)) }
  var platform: Properties { [:] }
}

private final class HookFixture {
  let bus: BusFixture
  let launcher = NoLauncher()
  private let directory = TemporaryDirectory()
  private(set) var hooks: HookRunner!
  var isManagerKnown = true
  private let item: Item

  init(maxCount: Int = 1024) throws {
    bus = try BusFixture()
    var settings = ItemSettings()
    settings.onPresent = [Array("~/hook".utf8), Array("{title}".utf8)]
    settings.onDismiss = [Array("bye".utf8)]
    var item = Item(id: "7")
    item.title = "Volume"
    item.destination = Shared(
      Destination(name: "osd", presenter: .none, source: .file(path: "/osd.toml"), itemSettings: Shared(settings)))
    self.item = item
    hooks = HookRunner(
      loop: bus.loop, runtime: try RuntimeDirectory(directory.path, bus: ("", "")), token: "t", maxCount: maxCount,
      log: bus.logger, launcher: { [unowned self] in isManagerKnown ? launcher : nil }, environment: { [:] })
  }

  func presented(_ number: UInt64, to destination: String = "osd") throws {
    var item = item
    item.destination?.name = destination
    hooks.note(.presented(Handle(number), try BindingID("osd"), id: "7", Shared(item)))
  }

  func dismissed(_ number: UInt64) throws {
    hooks.note(.dismissed(Handle(number), try BindingID("osd"), id: "7", .expired, result: [:]))
  }

  /// Finishes turns until no more hooks start.
  func startAll() { for _ in 0..<200 { hooks.startSome() } }
}

@Test("D14: a hook gets the item, and the reason of its end")
func hook_ofAnItem_getsTheItem() throws {
  let fixture = try HookFixture()
  try fixture.presented(1)
  #expect(fixture.launcher.launches.isEmpty, "it waits for the record")
  fixture.startAll()
  fixture.launcher.end(0, .exited(code: 0))
  try fixture.dismissed(1)
  fixture.startAll()
  let launches = fixture.launcher.launches.map(\.launch)
  try #require(launches.map(\.occasion) == ["on-present", "on-dismiss"])
  #expect(launches[0].command.arguments.last == "Volume")
  #expect(launches[0].command.arguments[0].description.hasSuffix("/hook"))
  #expect(launches[0].scope == .process)
  #expect(launches[0].command.environment["NAVD_ID"] == "7")
  #expect(launches[0].command.environment["NAVD_REASON"] == nil)
  #expect(launches[1].command.arguments == ["bye"])
  #expect(launches[1].command.environment["NAVD_REASON"] == "expired")
  #expect(Set(launches.map(\.marker)).count == 2)
  #expect(
    launches[1].unit.text == "app-navd-osd@1-on-dismiss.service"
  )
}

@Test("D14: an item that was never presented starts no hook at its end")
func hook_neverPresented_none() throws {
  let fixture = try HookFixture()
  try fixture.dismissed(1)
  fixture.startAll()
  #expect(fixture.launcher.launches.isEmpty)
}

@Test("D14: navd does not quit before its hooks were started")
func hook_starting_isNotIdle() throws {
  let fixture = try HookFixture()
  fixture.launcher.isQuick = false
  try fixture.presented(1)
  #expect(!fixture.hooks.isIdle)
  fixture.startAll()
  #expect(!fixture.hooks.isIdle)
  fixture.launcher.launches[0].observer.started(Handle(1), error: nil)
  #expect(fixture.hooks.isIdle)
}

@Test("D14: the error of a hook is in the log")
func hook_failing_isLogged() throws {
  let fixture = try HookFixture()
  try fixture.presented(1)
  try fixture.presented(2, to: "other")
  fixture.startAll()
  fixture.launcher.end(0, .exited(code: 3))
  fixture.launcher.end(1, .signaled(signal: 9))
  fixture.launcher.error = "bye: not found"
  try fixture.dismissed(1)
  fixture.startAll()
  #expect(
    fixture.bus.log.lines.map { String($0.split(separator: ": ", maxSplits: 1).last ?? "") }.suffix(3) == [
      "exit status 3", "ended by SIGKILL", "could not be started: bye: not found",
    ])
}

@Test("D14: a hook that does not end is ended after 30 seconds")
func hook_endless_isEnded() throws {
  let fixture = try HookFixture()
  try fixture.presented(1)
  fixture.startAll()
  try fixture.bus.advance(by: .seconds(29))
  #expect(fixture.launcher.calls == [])
  try fixture.bus.advance(by: .seconds(1))
  #expect(fixture.launcher.calls == ["terminate"])
  try fixture.bus.advance(by: .seconds(2))
  #expect(fixture.launcher.calls == ["terminate", "kill"])
  fixture.launcher.end(0, .signaled(signal: 9))
  #expect(fixture.bus.log.lines.last?.hasSuffix("ended after 30 s, the longest that it may take") == true)
}

@Test("D14: the hooks of one destination run one after the other, in the order of the events")
func hook_ofOneDestination_runsAfterTheOther() throws {
  let fixture = try HookFixture()
  try fixture.presented(1)
  try fixture.dismissed(1)
  try fixture.presented(2)
  try fixture.presented(3, to: "other")
  func occasions() -> [String] { fixture.launcher.launches.map { "\($0.launch.occasion) \($0.launch.handle)" } }
  fixture.startAll()
  #expect(occasions() == ["on-present 1", "on-present 3"])
  fixture.launcher.end(0, .exited(code: 0))
  fixture.startAll()
  #expect(occasions().last == "on-dismiss 1")
  // A navd that quits waits for no hook to end.
  #expect(!fixture.hooks.isIdle)
  fixture.hooks.startSome(isLast: true)
  #expect(occasions().last == "on-present 2")
  #expect(fixture.hooks.isIdle)
}

@Test("L1: hooks past 64 at once wait, a turn starts few, and those past the limit are left out")
func hook_many_waitOrAreLeftOut() throws {
  let fixture = try HookFixture(maxCount: 100)
  fixture.isManagerKnown = false
  for number in 1...150 { try fixture.presented(UInt64(number), to: "osd\(number)") }
  #expect(fixture.bus.log.lines.count { $0.contains("limit “entries”") } == 1)
  fixture.startAll()
  #expect(fixture.launcher.launches.isEmpty)
  fixture.isManagerKnown = true
  fixture.hooks.startSome()
  #expect(fixture.launcher.launches.count == 8)
  fixture.startAll()
  #expect(fixture.launcher.launches.count == 64)
  #expect(!fixture.hooks.isIdle)
  for index in 0..<64 { fixture.launcher.end(index, .exited(code: 0)) }
  fixture.startAll()
  #expect(fixture.launcher.launches.count == 100)
  #expect(fixture.hooks.isIdle)
}
