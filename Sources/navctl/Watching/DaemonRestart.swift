import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel

/// Makes the bus start navd again if it vanished while an item was open, so that a bar does not show an outdated state for hours.
///
/// The user's service manager restarts navd itself, and knows when the user has stopped it. Without a service manager, only the next
/// request would start navd.
final class DaemonRestart {
  /// The pause gives time to a navd that is being updated, and limits the restarts of a navd that crashes at each start.
  private static let pause = Duration.seconds(1)

  private let daemon: DaemonClient
  private var open: Set<UInt64> = []
  private var isPresent = false

  init(_ daemon: DaemonClient) {
    self.daemon = daemon
    _ = daemon.connection.watchName(CoordinatorNames.bus) { [weak self] owner in
      self?.isPresent = owner != nil
      if owner == nil { self?.vanished() }
    }
  }

  func note(_ state: StateSnapshot) { open = Set(state.entries.compactMap(\.presentation)) }

  func note(_ event: StateEvent) {
    switch event.kind {
    case .presented(let subject, _): open.insert(subject.presentation.number)
    case .dismissed(let subject, _): open.remove(subject.presentation.number)
    default: break
    }
  }

  private func vanished() {
    // “navctl quit” has closed every item.
    guard !open.isEmpty else { return }
    open = []
    daemon.loop.timer(after: Self.pause) { [weak self] in self?.startUnlessManaged() }
  }

  private func startUnlessManaged() {
    guard !isPresent else { return }
    daemon.connection.call(Bus.getNameOwner, on: Bus.name, at: Bus.path, "org.freedesktop.systemd1") {
      [weak self] manager in
      guard let self, case .failure(let error) = manager, error.name == .nameHasNoOwner else { return }
      // navctl waits for navd as before if the bus cannot start it.
      try? daemon.connection.send(
        Bus.startServiceByName, on: Bus.name, at: Bus.path, (CoordinatorNames.bus.text, 0))
    }
  }
}
