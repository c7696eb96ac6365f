// Why this file exists: there are several ways to show an item, and the coordinator speaks to all of them in the same
// words.

import DBusValues
import Logging
import Presentation

/// Shows the items of one kind of destination, and says by `Report` what came of it. Every `present` is answered, or
/// followed by `ended`; every `dismiss` is answered, or followed by `ended`; a report that nobody needs does no harm.
protocol Presenter: AnyObject {
  /// Shows an item. `properties` is the item as all presenters are given it.
  func present(_ presentation: Presentation, _ properties: Properties)
  /// The item of something that is shown is another now (D8). `author` made it so.
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?)
  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool)
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

  /// The presenter of what is shown; nil for what is nothing but state.
  subscript(handle: Handle) -> (any Presenter)? { shown[handle] }

  func forget(_ handle: Handle) { shown.removeValue(forKey: handle)?.forget(handle) }
}
