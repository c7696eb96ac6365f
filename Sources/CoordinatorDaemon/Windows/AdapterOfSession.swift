import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

/// Finds out whether the session starts an adapter for the window system, which may come after the first programs (N13).
final class AdapterOfSession {
  private static let unit = "navd-windows.service"
  private static let fileState = Method(
    "org.freedesktop.systemd1.Manager", "GetUnitFileState", in: Arg<String>("file"), out: Arg<String>("state"))
  private static let extensionInfo = Method(
    "org.gnome.Shell.Extensions", "GetExtensionInfo", in: Arg<String>("uuid"), out: Arg<Properties>("info"))
  /// The states of an extension as GNOME Shell tells them.
  private enum ExtensionState: Double {
    case active = 1
    case failed = 3
    case outOfDate = 4
    case activating = 8
  }
  /// The time that the service manager and the shell have for their answers: programs wait for it.
  private static let timeout = Duration.seconds(1)

  private let connection: Connection
  private let hadAdapter: Bool

  /// - Parameter hadAdapter: whether the session has had an adapter before this navd.
  init(_ connection: Connection, hadAdapter: Bool) {
    self.connection = connection
    self.hadAdapter = hadAdapter
  }

  /// - Parameter completion: called once, with whether there was an adapter, or the unit of `navd-windows` or the extension of GNOME Shell
  ///   is enabled, or GNOME Shell is just starting.
  func isExpected(_ completion: @escaping (Bool) -> Void) {
    if hadAdapter { return completion(true) }
    var (answers, isExpected) = (0, false)
    func take(_ isEnabled: Bool) {
      answers += 1
      isExpected = isExpected || isEnabled
      if answers == 2 { completion(isExpected) }
    }
    connection.call(
      Self.fileState, on: "org.freedesktop.systemd1", at: "/org/freedesktop/systemd1", Self.unit,
      timeout: Self.timeout, autoStart: false
    ) { take((try? $0.get())?.hasPrefix("enabled") == true) }
    connection.call(
      Self.extensionInfo, on: "org.gnome.Shell", at: "/org/gnome/Shell", "navd-windows@navd.org",
      timeout: Self.timeout, autoStart: false
    ) { result in
      switch result {
      case .success(let info): take(Self.isEnabled(info))
      // A shell that is starting answers nobody. Its extensions are not known yet.
      case .failure(let error): take(error.name == .timedOut)
      }
    }
  }

  /// Whether an extension works, or is about to. Since GNOME 46, the shell also tells that one is enabled which it has not loaded yet.
  private static func isEnabled(_ info: Properties) -> Bool {
    let isEnabled = info["enabled"].flatMap { Bool(value: $0) }
    return switch info["state"].flatMap({ Double(value: $0) }).flatMap(ExtensionState.init) {
    case .active?, .activating?: true
    // While the shell loads an enabled extension, since GNOME 45, it tells a failure without an error.
    case .failed?: info["error"].flatMap { String(value: $0) } == "" && isEnabled != false
    case .outOfDate?: false
    case nil: isEnabled ?? false
    }
  }
}
