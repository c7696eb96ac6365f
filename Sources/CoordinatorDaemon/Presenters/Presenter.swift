// Why this file exists: there are several ways to show an item, and the coordinator speaks to all of them in the same
// words.

import DBusValues
import Logging
import PresentationModel
import PresentationRules

/// Something that an earlier navd showed, or was about to show or to end.
struct Remembered {
  let presentation: Presentation
  /// What its presenter had put on record; empty where it did not get to that.
  let memory: Properties
}

/// Shows the items of one kind of destination, and says by `Report` what came of it. Every `present` is answered, or
/// followed by `ended`; every `dismiss` is answered, or followed by `ended`; a report that nobody needs does no harm.
protocol Presenter: AnyObject {
  /// Shows an item. `properties` is the item as all presenters are given it.
  func present(_ presentation: Presentation, _ properties: Properties)
  /// The item of something that is shown is another now (D8). `author` made it so.
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?)
  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool)
  /// Takes over what an earlier navd showed (R2): finds out what has become of it, and is from then on as if it had shown
  /// it itself. This is asked once, before anything else.
  /// - Parameter completion: called once, now or later; what it does not name counts as gone.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void)
  /// The dismissal has had its grace (P14).
  func kill(_ handle: Handle)
  /// It counts as gone although it never said so (P14).
  func abandon(_ handle: Handle)
  /// It is gone; whatever is kept for it can go.
  func forget(_ handle: Handle)
  /// What there is to know of how it is shown, by the names that the state uses.
  func platform(of handle: Handle) -> Properties
  /// Whether a client is the one that shows it (D11).
  func shows(_ handle: Handle, as client: Client) -> Bool
}

extension Presenter {
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {}
  func kill(_ handle: Handle) {}
  func abandon(_ handle: Handle) {}
  func forget(_ handle: Handle) {}
  func platform(of handle: Handle) -> Properties { [:] }
  func shows(_ handle: Handle, as client: Client) -> Bool { false }
}

/// Which presenter shows what.
final class PresenterTable {
  private let commands: CommandPresenter
  private let units: UnitPresenter
  private let bus: BusPresenter
  private var shown: [Handle: any Presenter] = [:]

  init(commands: CommandPresenter, units: UnitPresenter, bus: BusPresenter) {
    self.commands = commands
    self.units = units
    self.bus = bus
  }

  /// The presenter of a presentation that is to be shown now; nil for what is nothing but state.
  func presenter(for presentation: Presentation) -> (any Presenter)? {
    let presenter: (any Presenter)? =
      switch presentation.item.destination?.presenter {
      case .command: commands
      case .unit: units
      case .bus: bus
      case .none?, nil: nil
      }
    shown[presentation.handle] = presenter
    return presenter
  }

  /// Has every presenter take over what it showed.
  /// - Parameter completion: called once, when all have.
  func adopt(
    _ survivors: [Presentation], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    var ofPresenters: [ObjectIdentifier: (presenter: any Presenter, remembered: [Remembered])] = [:]
    for presentation in survivors {
      guard let presenter = presenter(for: presentation) else { continue }
      let memory = recovered.memories[presentation.handle] ?? [:]
      ofPresenters[ObjectIdentifier(presenter), default: (presenter, [])].remembered.append(
        Remembered(presentation: presentation, memory: memory))
    }
    var survivals: [Handle: Survival] = [:]
    var missing = ofPresenters.count
    if missing == 0 { completion([:]) }
    for (presenter, remembered) in ofPresenters.values {
      presenter.adopt(remembered, from: recovered) { some in
        survivals.merge(some) { $1 }
        missing -= 1
        if missing == 0 { completion(survivals) }
      }
    }
  }

  /// The presenter of what is shown; nil for what is nothing but state.
  subscript(handle: Handle) -> (any Presenter)? { shown[handle] }

  func forget(_ handle: Handle) { shown.removeValue(forKey: handle)?.forget(handle) }
}
