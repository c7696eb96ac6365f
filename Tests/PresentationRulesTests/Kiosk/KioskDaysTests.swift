import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Two days of a kiosk on the test's clock: fallbacks, interruptions and restarts together (K1, K2, K3).
struct KioskDaysTests {
  private static let hour: UInt64 = 3_600_000_000_000

  private static let destinations: [Destination] = {
    func destination(_ name: String, restart: RestartRule? = nil) -> Destination {
      var settings = ItemSettings()
      settings.restart = restart
      return Destination(
        name: name, presenter: .command([Array(name.utf8)]), source: RulesFixture.file(name),
        itemSettings: restart == nil ? nil : Shared(settings))
    }
    return [destination("dashboard", restart: RestartRule(.always)), destination("film"), destination("alarm")]
  }()

  /// A navd with a record, and with presenters that show and end what they are asked to.
  private struct Kiosk: ~Copyable {
    var machine: StateMachine
    var disk = RecordedState()
    var now = Instant(nanoseconds: 1_000_000_000)
    /// The presentations on the screen.
    var screen: Set<Handle> = []
    var inputs = 0

    init() throws {
      machine = StateMachine()
      try start()
    }

    mutating func start() throws {
      machine = try StateMachine(restoring: disk, destinations: destinations)
      machine.load(groups: ["main": GroupSettings(fallback: "dashboard")])
      let survivals = Dictionary(
        uniqueKeysWithValues: machine.survivors.map {
          ($0.handle, screen.contains($0.handle) ? Survival.shown : .gone(result: [:]))
        })
      take(machine.resume(survivals, absent: [], at: now))
    }

    mutating func take(_ outcome: Outcome) {
      inputs += 1
      for command in outcome.commands {
        switch command {
        case .present(let handle):
          screen.insert(handle)
          take(machine.report(.presentAnswered(handle, error: nil), at: now))
        case .dismiss(let handle, _, _, _):
          screen.remove(handle)
          take(machine.report(.dismissAnswered(handle, result: [:]), at: now))
        default: break
        }
      }
      disk.apply(machine.takeUnrecorded())
    }

    mutating func pass(to end: Instant) {
      while let due = machine.nextDeadline, due <= end {
        now = max(now, due)
        take(machine.expire(at: now))
      }
      now = end
    }

    mutating func present(_ name: String, _ ifBusy: BusyPolicy, minutes: UInt64) throws {
      let options = ItemOptions.with(to: name, group: "main", timeout: minutes * 60_000, ifBusy: ifBusy)
      let (_, outcome) = try machine.perform(
        Request(.present(BindingID(stringLiteral: name), id: "", options)), by: nil, at: now)
      take(outcome)
    }

    mutating func crash() {
      guard let handle = screen.first else { return }
      screen.remove(handle)
      take(machine.report(.ended(handle, failed: true, result: ["signal": .string("SIGSEGV")]), at: now))
    }
  }

  @Test(
    "K1, K2, K3: for two days of films, alarms, crashes and nightly restarts, the screen is empty for no longer than a delay"
  )
  func kiosk_twoDays_isNeverEmptyForLong() throws {
    var kiosk = try Kiosk()
    var crashes = 0
    for hour in UInt64(0)..<48 {
      let start = Instant(nanoseconds: hour * Self.hour + 2_000_000_000)
      func at(_ minute: UInt64) -> Instant { start.after(milliseconds: minute * 60_000) }
      func check(_ expected: String, _ kiosk: borrowing Kiosk) {
        let (selection, count) = (kiosk.machine.selection(of: "main"), kiosk.screen.count)
        #expect(selection == expected && count == 1, "hour \(hour)")
      }
      kiosk.pass(to: start)
      check("dashboard", kiosk)
      // A film runs for forty minutes, and an alarm of three minutes in it.
      try kiosk.present("film", .replace, minutes: 40)
      kiosk.pass(to: at(10))
      check("film", kiosk)
      try kiosk.present("alarm", .interrupt, minutes: 3)
      check("alarm", kiosk)
      if hour % 24 == 3 {
        // At the nightly restart navd ends, and no program ends with it; the program on the screen has crashed meanwhile.
        kiosk.screen = []
        try kiosk.start()
      }
      kiosk.pass(to: at(14))
      check("film", kiosk)
      kiosk.pass(to: at(44))
      check("dashboard", kiosk)
      // The dashboard crashes a few times.
      for minute in 0..<(hour % 4) {
        kiosk.pass(to: at(45 + 3 * minute))
        kiosk.crash()
        crashes += 1
        let empty = kiosk.screen.isEmpty
        #expect(empty)
        kiosk.pass(to: kiosk.now.after(milliseconds: 1000))
        check("dashboard", kiosk)
      }
    }
    #expect(crashes == 72)
    // The number of inputs and of lines in the log stays small.
    let inputs = kiosk.inputs
    #expect(inputs < 48 * 40)
  }
}
