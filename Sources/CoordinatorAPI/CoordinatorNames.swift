// Why this file exists: where the coordinator is found on the bus is said once, for both ends.

import DBusValues
import PresentationModel

/// The names by which the coordinator is reached.
public enum CoordinatorNames {
  /// On the session bus.
  public static let bus: BusName = "org.navd.Coordinator1"
  /// The coordinator's object, also the ObjectManager of the presentations.
  public static let object: ObjectPath = "/org/navd/Coordinator1"
  /// Below it, one object a presentation.
  public static let presentations = Handle.pathPrefix

  /// The object of the presentation with that number.
  public static func presentation(_ number: UInt64) -> ObjectPath { Handle(number).path }

  /// The number of a presentation's object, nil for every other path (`/`, which stands for none, too).
  public static func number(of presentation: ObjectPath) -> UInt64? { Handle(path: presentation)?.number }
}
