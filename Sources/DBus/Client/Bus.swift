import DBusValues

/// The object of the message bus itself ("D-Bus Specification", *Message Bus Messages*), with the members used here.
public enum Bus {
  public static let name: BusName = "org.freedesktop.DBus"
  public static let path: ObjectPath = "/org/freedesktop/DBus"
  private static let interface: InterfaceName = "org.freedesktop.DBus"

  public static let requestName = Method(
    interface, "RequestName", in: Arg<String>("name"), Arg<UInt32>("flags"), out: Arg<UInt32>("reply"))
  public static let releaseName = Method(
    interface, "ReleaseName", in: Arg<String>("name"), out: Arg<UInt32>("reply"))
  public static let getNameOwner = Method(
    interface, "GetNameOwner", in: Arg<String>("name"), out: Arg<String>("owner"))
  public static let nameHasOwner = Method(
    interface, "NameHasOwner", in: Arg<String>("name"), out: Arg<Bool>("has-owner"))
  public static let startServiceByName = Method(
    interface, "StartServiceByName", in: Arg<String>("name"), Arg<UInt32>("flags"), out: Arg<UInt32>("reply"))
  public static let listNames = Method(interface, "ListNames", out: Arg<[String]>("names"))
  public static let listActivatableNames = Method(
    interface, "ListActivatableNames", out: Arg<[String]>("activatable-names"))
  public static let getConnectionCredentials = Method(
    interface, "GetConnectionCredentials", in: Arg<String>("name"), out: Arg<Properties>("credentials"))
  /// Returns the id of the bus, which is unique among all buses.
  public static let getID = Method(interface, "GetId", out: Arg<String>("id"))
  /// Returns what dbus-daemon counts of a connection.
  package static let getConnectionStats = Method(
    "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", in: Arg<String>("name"), out: Arg<Properties>("stats"))
  static let addMatch = Method(interface, "AddMatch", in: Arg<String>("rule"))
  static let removeMatch = Method(interface, "RemoveMatch", in: Arg<String>("rule"))

  public static let nameOwnerChanged = Signal(
    interface, "NameOwnerChanged", Arg<String>("name"), Arg<String>("old"), Arg<String>("new"))
  static let nameLost = Signal(interface, "NameLost", Arg<String>("name"))
}
