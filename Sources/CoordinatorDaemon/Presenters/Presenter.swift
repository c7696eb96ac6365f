import DBusValues
import Logging
import PresentationModel
import PresentationRules
import Processes

/// A live presentation of the previous navd.
struct Remembered {
  let presentation: Presentation
  /// The data that its presenter has recorded; empty if there is none.
  let memory: Properties
  /// The presentation that the program shows; nil if the program is parked, or was parked and does not show an item again yet (N8).
  let shownAs: Handle?
}

/// Shows the items of one kind of destination, and sends each result as a `Report`. Every `present` and every `dismiss` is
/// answered or followed by `ended`. Superfluous reports are harmless.
protocol Presenter: AnyObject {
  /// Shows an item.
  /// - Parameter properties: the item as every presenter receives it.
  func present(_ presentation: Presentation, _ properties: Properties)
  /// Updates a shown item (D8).
  /// - Parameter author: the client that has changed the item.
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?)
  /// Ends a presentation.
  /// - Parameter isForced: whether the presenter must not decline (P15). A forced call may follow one that was not forced.
  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool, isForced: Bool)
  /// Ends a presentation by force, after its grace time (P14).
  func kill(_ handle: Handle)
  /// Gives up a presentation that did not end even by force (P14).
  func abandon(_ handle: Handle)
  /// Brings the presentation to the front (N7).
  func raise(_ handle: Handle)
  /// Brings the presentation's windows to their user's place, with the focus (N11).
  /// - Parameter output: the output that the request names; nil for the place in use.
  func bring(_ handle: Handle, to output: String?)
  /// Moves the presentation to another output (U2).
  func move(_ presentation: Presentation)
  /// Releases all data of a presentation whose end is on record.
  func forget(_ handle: Handle)
  /// The facts about the program that shows the presentation (its unit, its process), by the keys of the state.
  func platform(of handle: Handle) -> Properties
  /// Whether a client is the presenter of the presentation (D11).
  func shows(_ handle: Handle, as client: Client) -> Bool
  /// Whether a process belongs to the program that shows the presentation (N1).
  func runs(_ handle: Handle, _ process: ProcessOrigin) -> Bool
  /// Whether a process descends from the program that was started for the presentation, whatever the command's scope (N1).
  func hasStarted(_ handle: Handle, _ process: ProcessOrigin) -> Bool
  /// The startup id that the program gets; nil if it gets none (N1).
  func startupID(of presentation: Presentation) -> String?
}

/// A presenter that shows items by running programs or calling them.
protocol ProgramPresenter: Presenter {
  /// Takes over the presentations of the previous navd (R2), as if this presenter had shown them. Called once, before
  /// anything else.
  /// - Parameter completion: called once, now or later; presentations that it does not name count as gone.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void)
}

extension Presenter {
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {}
  func kill(_ handle: Handle) {}
  func abandon(_ handle: Handle) {}
  func raise(_ handle: Handle) {}
  func bring(_ handle: Handle, to output: String?) {}
  func move(_ presentation: Presentation) {}
  func forget(_ handle: Handle) {}
  func platform(of handle: Handle) -> Properties { [:] }
  func shows(_ handle: Handle, as client: Client) -> Bool { false }
  func runs(_ handle: Handle, _ process: ProcessOrigin) -> Bool { false }
  func hasStarted(_ handle: Handle, _ process: ProcessOrigin) -> Bool { runs(handle, process) }
  func startupID(of presentation: Presentation) -> String? { nil }
}

/// Finds the presenter of each presentation.
final class PresenterTable {
  let commands: CommandPresenter
  private let units: UnitPresenter
  private let bus: BusPresenter
  let windows: WindowPresenter
  private var shown: [Handle: any Presenter] = [:]

  /// - Parameter windows: shows items whose commands or units have windows to follow.
  init(commands: CommandPresenter, units: UnitPresenter, bus: BusPresenter, windows: WindowPresenter) {
    self.commands = commands
    self.units = units
    self.bus = bus
    self.windows = windows
  }

  /// Assigns a presenter to a presentation; nil if the item is state only.
  func presenter(for presentation: Presentation) -> (any Presenter)? {
    guard let program = program(for: presentation) else { return nil }
    let followsWindows = presentation.item.destination?.window != nil
    if followsWindows { windows.follow(presentation, runBy: program) }
    let presenter: any Presenter = followsWindows ? windows : program
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
      if presenter(for: presentation) === windows { ofWindows.append(one) }
    }
    for presentation in parked {
      guard let program = program(for: presentation) else { continue }
      windows.follow(presentation, runBy: program)
      ofWindows.append(remember(presentation, as: nil, by: program))
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

  func forget(_ handle: Handle) { shown.removeValue(forKey: handle)?.forget(handle) }
}
