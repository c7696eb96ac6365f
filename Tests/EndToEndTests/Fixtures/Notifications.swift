import DBus
import DBusValues
import TestSupport

/// A desktop's notifications, which a test reads.
final class Notifications {
  /// The notifications since the test has looked: title and text.
  var shown: [String] = []
  private let connection: Connection

  init(of session: Session) throws {
    connection = try session.connect()
    let name: InterfaceName = "org.freedesktop.Notifications"
    let notify = Method(
      name, "Notify", in: Arg<String>("app_name"), Arg<UInt32>("replaces_id"), Arg<String>("app_icon"),
      Arg<String>("summary"), Arg<String>("body"), Arg<[String]>("actions"), Arg<Properties>("hints"),
      Arg<Int32>("expire_timeout"), out: Arg<UInt32>("id"))
    let object = ImplementedInterface(Interface(name, members: [notify]))
    object.implement(notify) { [unowned self] input, call in
      shown.append("\(input.3): \(input.4)")
      call.reply(1)
    }
    connection.export("/org/freedesktop/Notifications", [object])
    var isOwner = false
    connection.requestName("org.freedesktop.Notifications") { isOwner = (try? $0.get()) != nil }
    try session.wait("notifications can be shown") { isOwner }
  }
}
