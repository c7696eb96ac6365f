import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// An adapter on the bus, which knows the windows of one display (N14).
struct WindowAdapter {
  fileprivate let name: BusName
  let backend: String
  /// The capabilities that the adapter has now.
  let capabilities: Set<WindowCapability>
  /// The display of its windows; without names if it does not tell.
  let display: DisplayNames

  fileprivate init(_ name: BusName, _ properties: Properties) {
    typealias Rows = WindowSystemInterface
    func names(_ property: String) -> [String] { properties[property].flatMap { [String](value: $0) } ?? [] }
    self.name = name
    backend = properties[Rows.backend.name.text].flatMap { String(value: $0) } ?? ""
    capabilities = Set(names(Rows.capabilities.name.text).compactMap(WindowCapability.init))
    display = DisplayNames(names(Rows.displays.name.text))
  }
}

extension DaemonClient {
  /// The adapters on the bus, first the one whose windows navd follows without a display.
  /// - Parameter patience: the time that an adapter has to answer, without `--within`.
  /// - Throws: `Failure` if one of them does not answer.
  func windowAdapters(patience: Duration) throws(Failure) -> [WindowAdapter] {
    typealias Rows = WindowSystemInterface
    do throws(DBusError) {
      let names = try connection.callAndWait(
        Bus.listNames, on: Bus.name, at: Bus.path, (), timeout: timeLeft ?? patience)
      let further = names.filter { $0.hasPrefix(Rows.bus.text + ".") }.sorted()
      return try ([Rows.bus.text] + further).compactMap(BusName.init).map { name throws(DBusError) in
        try ofOwner { () throws(DBusError) in
          WindowAdapter(
            name,
            try connection.callAndWait(
              PropertyAccessing.getAll, on: name, at: Rows.object, Rows.name.text, timeout: timeLeft ?? patience,
              autoStart: false))
        }
      }.compactMap(\.self)
    } catch {
      throw Failure(operation, error)
    }
  }

  /// The adapters on the bus; none if they cannot be asked within three seconds.
  func windowAdapters() -> [WindowAdapter] { (try? windowAdapters(patience: .seconds(3))) ?? [] }

  /// Every window of every display, each with the display of its adapter; those of the first adapter
  /// come first.
  /// - Throws: `Failure` if there is no adapter, or one does not answer.
  func windows() throws(Failure) -> [(display: DisplayNames, windows: [Window])] {
    typealias Rows = WindowSystemInterface
    let adapters = try windowAdapters(patience: defaultTimeout)
    guard !adapters.isEmpty else {
      throw Failure(
        operation, "nothing on the bus knows the windows", hint: windowAdapterAdvice(), status: .unreachable)
    }
    do throws(DBusError) {
      return try adapters.map { adapter throws(DBusError) in
        try ofOwner { () throws(DBusError) -> (display: DisplayNames, windows: [Window]) in
          let (windows, _) = try connection.callAndWait(
            Rows.getWindows, on: adapter.name, at: Rows.object, (), timeout: timeLeft ?? defaultTimeout,
            autoStart: false)
          return (adapter.display, windows.map { Window(id: $0.fields.0, WindowProperties(reading: $0.fields.1)) })
        }
      }.compactMap(\.self)
    } catch {
      throw Failure(operation, error)
    }
  }

  /// The answer of a name's owner; nil if it has left the bus.
  private func ofOwner<Answer>(_ answer: () throws(DBusError) -> Answer) throws(DBusError) -> Answer? {
    do throws(DBusError) { return try answer() } catch {
      if [.serviceUnknown, .nameHasNoOwner, .noReply].contains(error.name) { return nil }
      throw error
    }
  }
}
