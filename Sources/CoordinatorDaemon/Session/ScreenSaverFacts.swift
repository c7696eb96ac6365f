import DBus
import DBusValues
import PresentationModel

/// Reports whether a screen saver of the desktop says that the screen is locked (H2).
final class ScreenSaverFacts {
  private unowned let facts: SessionFacts
  private let session: Connection
  private var owners: [BusName: BusName] = [:]
  private var watches: [NameWatch] = []
  private var subscriptions: [Subscription] = []

  init(_ facts: SessionFacts, on session: Connection) {
    self.facts = facts
    self.session = session
  }

  /// Asks all screen savers.
  func begin() {
    for saver in ScreenSaverInterface.all { facts.expect([.locked], from: .screenSaver(saver.bus)) }
    for saver in ScreenSaverInterface.all { follow(saver) }
  }

  private func follow(_ saver: ScreenSaverInterface) {
    for path in saver.paths {
      subscriptions.append(
        session.subscribe(to: saver.activeChanged, from: saver.bus, at: path) { [unowned self] isActive, _ in
          facts.set(.locked, isActive, by: .screenSaver(saver.bus))
        })
    }
    watches.append(
      session.watchName(saver.bus) { [unowned self] owner in
        owners[saver.bus] = owner
        // The former owner's answer counts until the new one has answered.
        if owner == nil { isUnlocked(saver) } else { ask(saver, saver.paths[...]) }
      })
  }

  private func isUnlocked(_ saver: ScreenSaverInterface) {
    facts.set(.locked, false, by: .screenSaver(saver.bus))
    facts.answered(.screenSaver(saver.bus))
  }

  private func ask(_ saver: ScreenSaverInterface, _ paths: ArraySlice<ObjectPath>) {
    guard let path = paths.first else { return isUnlocked(saver) }
    let owner = owners[saver.bus]
    session.call(saver.getActive, on: saver.bus, at: path, (), autoStart: false) { [weak self] result in
      guard let self, owners[saver.bus] == owner else { return }
      guard case .success(let isActive) = result else { return ask(saver, paths.dropFirst()) }
      facts.set(.locked, isActive, by: .screenSaver(saver.bus))
      facts.answered(.screenSaver(saver.bus))
    }
  }
}
