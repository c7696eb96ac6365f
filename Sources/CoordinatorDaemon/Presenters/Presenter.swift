import DBusValues
import Logging
import PresentationModel
import PresentationRules

/// A live presentation of the previous navd.
struct Remembered {
  let presentation: Presentation
  /// The data that its presenter had recorded; empty if it had recorded nothing.
  let memory: Properties
}

/// Shows the items of one kind of destination, and sends each result as a `Report`. Every `present` and every `dismiss` is
/// answered or followed by `ended`. Superfluous reports are harmless.
protocol Presenter: AnyObject {
  /// Shows an item. `properties` is the item as every presenter receives it.
  func present(_ presentation: Presentation, _ properties: Properties)
  /// Updates a shown item (D8). `author` has changed it.
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?)
  /// Ends a presentation.
  /// - Parameter isForced: whether it must not be declined (P15). It may follow a call that was not forced.
  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool, isForced: Bool)
  /// Takes over the presentations of the previous navd (R2), as if this presenter had shown them. Called once, before
  /// anything else.
  /// - Parameter completion: called once, now or later; presentations that it does not name count as gone.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void)
  /// Ends a presentation by force, after its grace time (P14).
  func kill(_ handle: Handle)
  /// Gives up a presentation that did not end even by force (P14).
  func abandon(_ handle: Handle)
  /// Releases everything kept for a presentation whose end is on record.
  func forget(_ handle: Handle)
  /// How the presentation is shown (its unit, its process), by the keys of the state.
  func platform(of handle: Handle) -> Properties
  /// Whether a client is the presenter of the presentation (D11).
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

/// Finds the presenter of each presentation.
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

  /// How commands run, and why so.
  var commandSummary: String { commands.summary }

  /// Assigns a presenter to a presentation; nil if the item is state only.
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

  /// Has every presenter take over its presentations of the previous navd.
  /// - Parameter completion: called once, when all presenters have.
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

  /// The presenter assigned; nil if the item is state only.
  subscript(handle: Handle) -> (any Presenter)? { shown[handle] }

  func forget(_ handle: Handle) { shown.removeValue(forKey: handle)?.forget(handle) }
}
