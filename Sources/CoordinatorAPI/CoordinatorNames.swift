import DBusValues
import PresentationModel

/// The names and paths of the coordinator on the bus.
public enum CoordinatorNames {
  /// The bus name, on the session bus.
  public static let bus: BusName = "org.navd.Coordinator1"
  /// The coordinator's object, which is also the ObjectManager of the presentations.
  public static let object: ObjectPath = "/org/navd/Coordinator1"
  /// The parent of the presentations' objects.
  public static let presentations = Handle.pathPrefix

  /// The variable that gives a command the number of its presentation.
  public static let presentationVariable = "NAVD_PRESENTATION"

  /// The path of a presentation's object.
  public static func presentation(_ number: UInt64) -> ObjectPath { Handle(number).path }

  /// The number at the end of the path of a presentation's object; nil for every other path, `/` included.
  public static func number(of presentation: ObjectPath) -> UInt64? { Handle(path: presentation)?.number }
}
