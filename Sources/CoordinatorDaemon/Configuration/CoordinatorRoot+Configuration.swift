import CoordinatorAPI
import CoordinatorCore
import DBusValues
import Logging
import PresentationModel
import PresentationRules
import TextFormats

extension CoordinatorRoot {
  /// Reads the files. The last valid version of a file with a mistake stays in effect.
  /// - Parameters:
  ///   - isStart: whether no client has been served yet. Then recorded declarations are from an earlier navd.
  ///   - isSettled: as for ``Configuration/reload(isSettled:)``.
  func loadConfiguration(isStart: Bool = false, isSettled: Bool = true) {
    let loaded = configuration.reload(isSettled: isSettled) { declare($0, isStart: isStart) }
    service.load(
      loaded.destinations, mistakes: configuration.files.mistakes.mapValues { "\($0)" }, holds: loaded.holds)
    followWindows(for: loaded.destinations, loaded.holds)
    if !isStart { loadGroups() }
    authorization.inlineCommands = loaded.inlineCommands
  }

  /// Follows windows if a hold for fullscreen windows has an effect (H2).
  private func followWindows(for destinations: [Destination], _ holds: [String: HoldAction]) {
    let all = [holds] + destinations.compactMap { $0.itemSettings?.holds }
    let windowSystem = windows.firstSystem
    guard !windowSystem.isNeededForFullscreen, all.contains(where: { $0[SessionFact.fullscreen.rawValue] != nil })
    else { return }
    windowSystem.isNeededForFullscreen = true
    facts.expect([.fullscreen], from: .windows)
    windowSystem.whenKnown { [self, unowned windowSystem] in
      if !windowSystem.isPresent {
        log.notice(
          "no adapter for the window system is on the bus, so it cannot say whether a window is fullscreen; start navd-windows"
        )
      }
      facts.answered(.windows)
    }
  }

  func loadGroups() {
    fallbackClock.groups = configuration.files.groups
    chooseFallbacks()
  }

  /// Puts the fallbacks in force whose time it is (K7).
  func chooseFallbacks() {
    guard let groups = fallbackClock.look() else { return }
    service.load(groups: groups)
    service.expire()
  }

  /// Declares the container values of a file: all, or none if one contradicts an earlier declaration (V1). At the start the
  /// file's declarations replace the recorded ones.
  private func declare(_ values: [DeclaredContainerValue], isStart: Bool) -> [FileFault] {
    let refusals = service.declareContainerValues(
      values.map { (key: $0.key, defaultValue: $0.defaultValue) }, overridingRecord: isStart)
    return refusals.sorted { $0.key < $1.key }.map { index, refusal in
      let value = values[index]
      let known =
        isStart
        ? nil
        : service.machine.containerValueDefaults[value.key].map {
          "“\(value.key)” is declared with the type “\($0.type.signature)” and the default \(JSON($0).text) as long as "
            + "navd runs; use the same, or another key"
        }
      return FileFault(value.file, value.position, known ?? refusal.message)
    }
  }
}
