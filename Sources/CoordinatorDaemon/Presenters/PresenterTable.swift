import DBusValues
import PresentationModel
import PresentationRules

/// Finds the presenter of each presentation.
final class PresenterTable {
  let commands: CommandPresenter
  private let units: UnitPresenter
  private let bus: BusPresenter
  let windows: WindowDisplays
  private var shown: [Handle: any Presenter] = [:]

  /// - Parameter windows: shows items whose commands or units have windows to follow.
  init(commands: CommandPresenter, units: UnitPresenter, bus: BusPresenter, windows: WindowDisplays) {
    self.commands = commands
    self.units = units
    self.bus = bus
    self.windows = windows
  }

  /// Assigns a presenter to a presentation; nil if the item is state only.
  /// - Parameter memory: what the previous navd has recorded of its program; nil if this navd
  ///   starts it.
  func presenter(for presentation: Presentation, memory: Properties? = nil) -> (any Presenter)? {
    guard let program = program(for: presentation) else { return nil }
    let presenter: any Presenter
    if let process = program as? any ProcessPresenter, presentation.item.destination?.window != nil {
      presenter = windows.follow(presentation, runBy: process, memory: memory)
    } else {
      presenter = program
    }
    shown[presentation.handle] = presenter
    return presenter
  }

  private func program(for presentation: Presentation) -> (any ProgramPresenter)? {
    switch presentation.item.destination?.presenter {
    case .command: commands
    case .unit: units
    case .bus: bus
    case .none?, nil: nil
    }
  }

  /// Whether a client shows a presentation as its presenter (D11).
  func isPresenter(_ client: Client, of handle: Handle) -> Bool { bus.shows(handle, as: client) }

  /// Makes every presenter take over its presentations of the previous navd.
  /// - Parameters:
  ///   - parked: the parked programs (N8).
  ///   - completion: called once, when every presenter has finished.
  func adopt(
    _ survivors: [Presentation], parked: [Presentation], from recovered: RecoveredSession,
    _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    // The command presenter is called even without presentations: files of commands whose ends are on record may be left.
    var ofPrograms: [ObjectIdentifier: (program: any ProgramPresenter, remembered: [Remembered])] = [
      ObjectIdentifier(commands): (commands, [])
    ]
    var ofWindows: [Remembered] = []
    func remember(_ presentation: Presentation, as shownAs: Handle?, by program: any ProgramPresenter) -> Remembered {
      let started = presentation.ofProgram
      let memory = recovered.memories[presentation.handle] ?? recovered.memories[started.handle] ?? [:]
      let one = Remembered(presentation: started, memory: memory, shownAs: shownAs)
      ofPrograms[ObjectIdentifier(program), default: (program, [])].remembered.append(one)
      return one
    }
    for presentation in survivors {
      guard let program = program(for: presentation) else { continue }
      let isParked = presentation.program != nil && presentation.presentedAt == nil
      let one = remember(presentation, as: isParked ? nil : presentation.handle, by: program)
      if presenter(for: presentation, memory: one.memory) is WindowPresenter { ofWindows.append(one) }
    }
    for presentation in parked {
      guard let program = program(for: presentation) as? any ProcessPresenter else { continue }
      let one = remember(presentation, as: nil, by: program)
      _ = windows.follow(presentation, runBy: program, memory: one.memory)
      ofWindows.append(one)
    }
    windows.prepare(ofWindows)
    var survivals: [Handle: Survival] = [:]
    var missing = ofPrograms.count
    func finish() {
      windows.adopt(ofWindows, survivals) { ofWindows in
        var all = survivals.merging(ofWindows) { $1 }
        for presentation in survivors { all[presentation.handle] = all[presentation.ofProgram.handle] }
        completion(all)
      }
    }
    for (program, remembered) in ofPrograms.values {
      program.adopt(remembered, from: recovered) { some in
        survivals.merge(some) { $1 }
        missing -= 1
        if missing == 0 { finish() }
      }
    }
  }

  /// The presenter assigned to a presentation; nil if the item is state only.
  subscript(handle: Handle) -> (any Presenter)? { shown[handle] }

  /// The presenter that arranges the windows of a presentation; nil if none does.
  func arranger(of handle: Handle) -> (any WindowArranger)? { shown[handle] as? any WindowArranger }

  func forget(_ handle: Handle) { shown.removeValue(forKey: handle)?.forget(handle) }
}
