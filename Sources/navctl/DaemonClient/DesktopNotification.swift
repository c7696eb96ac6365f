import DBus
import DBusValues
import EventLoops

/// Shows failures to users without a terminal, as after a key press (`--notify`), by `org.freedesktop.Notifications`.
enum DesktopNotification {
  static let option = "notify"

  private static let notify = Method(
    "org.freedesktop.Notifications", "Notify", in: Arg<String>("app_name"), Arg<UInt32>("replaces_id"),
    Arg<String>("app_icon"), Arg<String>("summary"), Arg<String>("body"), Arg<[String]>("actions"),
    Arg<Properties>("hints"), Arg<Int32>("expire_timeout"), out: Arg<UInt32>("id"))

  /// - Parameter application: the id of the application to be shown; nil for none.
  ///
  /// Does nothing on a desktop without notifications, because standard error has the failure, too.
  static func show(_ failure: Failure, application: String? = nil) {
    guard let loop = try? EventLoop(), let connection = try? Connection.session(loop: loop) else { return }
    let summary = ["navctl", UsageText.abridged(failure.operation)].filter { !$0.isEmpty }.joined(separator: " ")
    let body = failure.why + (failure.hint.map { "; \($0)" } ?? "")
    _ = try? connection.callAndWait(
      notify, on: "org.freedesktop.Notifications", at: "/org/freedesktop/Notifications",
      (
        "navctl", 0, "dialog-error", summary,
        UsageText.abridged(body).escapedForMarkup, [],
        application.map { ["desktop-entry": .string($0)] } ?? [:], -1
      ), timeout: .seconds(2), autoStart: true)
  }
}
