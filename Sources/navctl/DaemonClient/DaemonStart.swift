import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

extension DaemonClient {
  /// The error of a call for which navd was not started.
  static let givenUp = DBusError(
    name: "org.freedesktop.DBus.Error.Spawn.Failed", message: "systemd no longer starts it, since it ended too often")
  /// The time in which systemd begins to start a unit. After it, the unit's state tells whether systemd does.
  private static let timeToStart = Duration.seconds(1)
  private static let checkInterval = Duration.milliseconds(500)

  /// Asks whether systemd has given up navd because it ended too often (`StartLimitBurst=`). A unit that is restarted after each
  /// failure is `failed` only then.
  private func askWhetherGivenUp(_ completion: @escaping (Bool) -> Void) {
    connection.call(
      PropertyAccessing.get, on: "org.freedesktop.systemd1", at: "/org/freedesktop/systemd1/unit/navd_2eservice",
      ("org.freedesktop.systemd1.Unit", "ActiveState"), timeout: Self.timeToStart, autoStart: false
    ) { completion((try? $0.get()).flatMap { String(value: $0) } == "failed") }
  }

  /// Whether systemd has given up navd.
  var isGivenUp: Bool {
    var answer: Bool?
    askWhetherGivenUp { [loop] in
      answer = $0
      loop.stop()
    }
    while answer == nil { loop.run() }
    return answer!
  }

  /// Calls a method while navd does not run, so that the bus starts it.
  ///
  /// The bus waits half a minute for navd, even if systemd has given it up. So this checks systemd's state of the unit meanwhile.
  func callStarting<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(DBusError) -> Output {
    var result: Result<Output, DBusError>?
    func finish(_ outcome: Result<Output, DBusError>) {
      if result == nil { result = outcome }
      loop.stop()
    }
    connection.call(
      method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: timeLeft ?? defaultTimeout
    ) { finish($0) }
    func check() {
      askWhetherGivenUp { [loop] isGivenUp in
        if isGivenUp { return finish(.failure(Self.givenUp)) }
        loop.timer(after: Self.checkInterval) { check() }
      }
    }
    loop.timer(after: Self.timeToStart) { check() }
    while result == nil { loop.run() }
    return try result!.get()
  }
}
