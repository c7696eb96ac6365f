import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel

/// A hold that lasts as long as its connection (H1). A navd that comes back without it, such as one
/// that has lost its record, gets it again, unless somebody has released it.
final class LastingHold {
  private let daemon: DaemonClient
  private let name: String
  private let options: Properties
  /// The moment at which “--for” ends it; nil for never.
  private let end: EventLoop.Instant?
  private var state = State.absent
  private var wasHeld = false

  private enum State: Equatable {
    /// Not held, or unknown because navd has gone.
    case absent
    case held
    /// Released by somebody, or ended by “--for”.
    case released
  }

  init(_ name: String, _ options: Properties, _ daemon: DaemonClient) {
    (self.name, self.options, self.daemon) = (name, options, daemon)
    let timeout = options[Options.holdTimeout] ?? 0
    end = timeout > 0 ? daemon.loop.now + .milliseconds(timeout) : nil
  }

  var loop: EventLoop { daemon.loop }

  /// Holds for the first time. The bus starts navd if it is not running.
  func begin() throws(Failure) {
    try daemon.call(CoordinatorInterface.hold, (name, options))
    (state, wasHeld) = (.held, true)
  }

  /// Holds again whenever navd comes back without the hold, while the loop runs.
  func follow() {
    daemon.connection.subscribe(
      to: CoordinatorInterface.holdChanged, from: CoordinatorNames.bus, at: CoordinatorNames.object, arg0: name
    ) { [weak self] _, _ in
      guard let self, state == .held else { return }
      look { [weak self] isHeld in if !isHeld { self?.state = .released } }
    }
    _ = daemon.connection.watchName(CoordinatorNames.bus) { [weak self] owner in
      guard let self, state != .released else { return }
      state = .absent
      guard owner != nil else { return }
      look { [weak self] isHeld in
        if isHeld { self?.state = .held } else { self?.holdAgain() }
      }
    }
  }

  /// Asks whether navd knows the hold. No answer comes from a navd that has gone meanwhile.
  private func look(_ completion: @escaping (Bool) -> Void) {
    daemon.connection.call(
      CoordinatorInterface.holds, on: CoordinatorNames.bus, at: CoordinatorNames.object, (), autoStart: false
    ) { [weak self] result in
      guard let self, let holders = try? result.get() else { return }
      let client = daemon.connection.uniqueName.text
      completion(holders.map(HoldEntry.init).contains { $0.name == self.name && $0.client == client })
    }
  }

  private func holdAgain() {
    var options = options
    if let end {
      let left = end - loop.now
      guard left > .zero else { return }
      options[Options.holdTimeout] = max(1, UInt64(left / .milliseconds(1)))
    }
    daemon.connection.call(
      CoordinatorInterface.hold, on: CoordinatorNames.bus, at: CoordinatorNames.object, (name, options),
      autoStart: false
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: (state, wasHeld) = (.held, true)
      case .failure(let error):
        guard wasHeld else { return }
        ErrorOutput.write("\(Failure(daemon.operation, error).line); navd has come back without this hold")
      }
    }
  }
}
