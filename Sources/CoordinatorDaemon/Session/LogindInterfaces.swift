import DBus
import DBusValues

/// The members of logind that navd uses (`org.freedesktop.login1(5)`).
enum Logind {
  static let name: BusName = "org.freedesktop.login1"
  static let path: ObjectPath = "/org/freedesktop/login1"
  /// The path for the calling user.
  static let ownUser: ObjectPath = "/org/freedesktop/login1/user/self"

  enum Manager {
    static let name: InterfaceName = "org.freedesktop.login1.Manager"
    static let getSession = Method(
      name, "GetSession", in: Arg<String>("session_id"), out: Arg<ObjectPath>("object_path"))
    static let inhibit = Method(
      name, "Inhibit", in: Arg<String>("what"), Arg<String>("who"), Arg<String>("why"), Arg<String>("mode"),
      out: Arg<Descriptor>("pipe_fd"))
    static let sessionNew = Signal(name, "SessionNew", Arg<String>("session_id"), Arg<ObjectPath>("object_path"))
    static let sessionRemoved = Signal(
      name, "SessionRemoved", Arg<String>("session_id"), Arg<ObjectPath>("object_path"))
    static let prepareForSleep = Signal(name, "PrepareForSleep", Arg<Bool>("start"))
    static let preparingForSleep = "PreparingForSleep"
  }

  /// The interface of users, with the property `Display`: the id and the path of the graphical session.
  static let user: InterfaceName = "org.freedesktop.login1.User"

  /// The interface of sessions, with the properties `LockedHint` and `IdleHint`.
  enum Session {
    static let name: InterfaceName = "org.freedesktop.login1.Session"
    static let lock = Signal(name, "Lock")
    static let unlock = Signal(name, "Unlock")
  }
}

/// The interface of a program on the session bus that reports whether the screen is locked.
struct ScreenSaverInterface: Hashable {
  let bus: BusName
  let paths: [ObjectPath]
  let interface: InterfaceName

  static let all = [
    ScreenSaverInterface(
      bus: "org.freedesktop.ScreenSaver", paths: ["/org/freedesktop/ScreenSaver", "/ScreenSaver"],
      interface: "org.freedesktop.ScreenSaver"),
    ScreenSaverInterface(
      bus: "org.gnome.ScreenSaver", paths: ["/org/gnome/ScreenSaver"], interface: "org.gnome.ScreenSaver"),
  ]

  var getActive: Method<Void, Bool> { Method(interface, "GetActive", out: Arg<Bool>("active")) }
  var activeChanged: Signal<Bool> { Signal(interface, "ActiveChanged", Arg<Bool>("active")) }
}
