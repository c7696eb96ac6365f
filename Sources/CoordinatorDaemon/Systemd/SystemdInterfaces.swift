import DBus
import DBusValues

/// The members of systemd's manager that navd uses (`org.freedesktop.systemd1(5)`).
enum Systemd {
  static let name: BusName = "org.freedesktop.systemd1"
  static let path: ObjectPath = "/org/freedesktop/systemd1"
  /// The path above the objects of units.
  static let units: ObjectPath = "/org/freedesktop/systemd1/unit"

  enum Manager {
    static let name: InterfaceName = "org.freedesktop.systemd1.Manager"

    /// The manager sends signals of jobs and units only after a subscription.
    static let subscribe = Method(name, "Subscribe")
    static let startUnit = Method(
      name, "StartUnit", in: Arg<String>("name"), Arg<String>("mode"), out: Arg<ObjectPath>("job"))
    static let stopUnit = Method(
      name, "StopUnit", in: Arg<String>("name"), Arg<String>("mode"), out: Arg<ObjectPath>("job"))
    static let startTransientUnit = Method(
      name, "StartTransientUnit", in: Arg<String>("name"), Arg<String>("mode"),
      Arg<[Structure<String, Value>]>("properties"),
      Arg<[Structure<String, [Structure<String, Value>]>]>("aux"), out: Arg<ObjectPath>("job"))
    static let killUnit = Method(
      name, "KillUnit", in: Arg<String>("name"), Arg<String>("whom"), Arg<Int32>("signal"))
    static let resetFailedUnit = Method(name, "ResetFailedUnit", in: Arg<String>("name"))

    static let jobRemoved = Signal(
      name, "JobRemoved", Arg<UInt32>("id"), Arg<ObjectPath>("job"), Arg<String>("unit"), Arg<String>("result"))
  }

  /// The interface of all jobs, with the property `Unit`.
  static let job: InterfaceName = "org.freedesktop.systemd1.Job"
  /// The interface of all units, with the property `ActiveState`.
  static let unit: InterfaceName = "org.freedesktop.systemd1.Unit"
  /// The interface of services, with `MainPID`, `Result`, `ExecMainCode` and `ExecMainStatus`.
  static let service: InterfaceName = "org.freedesktop.systemd1.Service"

  static let noSuchUnit: ErrorName = "org.freedesktop.systemd1.NoSuchUnit"
  static let unitExists: ErrorName = "org.freedesktop.systemd1.UnitExists"
}
