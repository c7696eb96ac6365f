import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// An adapter on the bus, which knows the windows of one display (N14).
struct WindowAdapter {
  fileprivate let name: BusName
  /// How the adapter knows the windows; nil if it does not answer.
  let backend: String?
  /// The display of its windows; without names if it does not tell.
  let display: DisplayNames

  /// - Parameter properties: what the adapter tells; nil if it does not answer.
  fileprivate init(_ name: BusName, _ properties: Properties?) {
    typealias Rows = WindowSystemInterface
    self.name = name
    backend = properties.map { $0[Rows.backend.name.text].flatMap { String(value: $0) } ?? "" }
    let told = properties?[Rows.displays.name.text].flatMap { [String](value: $0) }
    display = DisplayNames(told ?? Rows.display(of: name).map { [$0] } ?? [])
  }
}

extension [WindowAdapter] {
  /// A sentence about those that do not answer; nil if all do.
  var silence: String? {
    let silent = filter { $0.backend == nil }.map { $0.display.preferred ?? "the first display" }
    if silent.isEmpty { return nil }
    if count == 1 { return "the adapter does not answer" }
    let names = silent.joined(separator: " and ")
    return silent.count == 1 ? "the adapter of \(names) does not answer" : "the adapters of \(names) do not answer"
  }

  static let adviceOnSilence = "start it again, e.g. systemctl --user restart navd-windows"
}

extension DaemonClient {
  /// The time that an adapter has to answer, as navd has it.
  private var patience: Duration { min(timeLeft ?? .seconds(3), .seconds(3)) }

  /// The adapters on the bus, first the one whose windows navd follows without a display.
  /// - Throws: `Failure` if the bus does not answer.
  private func adaptersOnBus() throws(Failure) -> [WindowAdapter] {
    do throws(DBusError) {
      return try WindowSystemInterface.adapters(on: connection, within: patience).map { name, properties in
        WindowAdapter(name, properties)
      }
    } catch {
      throw Failure(operation, error)
    }
  }

  /// The adapters on the bus; none if the bus does not answer.
  func windowAdapters() -> [WindowAdapter] { (try? adaptersOnBus()) ?? [] }

  /// Every window of every display, each with the display of its adapter; those of the first adapter come first. An adapter that does not
  /// answer hides only its own.
  /// - Returns: the windows, and the failure of the adapters that do not answer; nil if all do.
  /// - Throws: `Failure` if there is no adapter, or none answers.
  func windows() throws(Failure) -> (displays: [(display: DisplayNames, windows: [Window])], unanswered: Failure?) {
    typealias Rows = WindowSystemInterface
    var adapters = try adaptersOnBus()
    guard !adapters.isEmpty else {
      throw Failure(
        operation, "nothing on the bus knows the windows", hint: windowAdapterAdvice(), status: .unreachable)
    }
    var displays: [(display: DisplayNames, windows: [Window])] = []
    let living = adapters.filter { $0.backend != nil }.map(\.name)
    let answers = Dictionary(
      uniqueKeysWithValues: Rows.ask(living, Rows.getWindows, (), on: connection, within: patience))
    for (index, adapter) in adapters.enumerated() {
      guard let answer = answers[adapter.name] else { continue }
      if let (windows, _) = answer {
        let all = windows.map { Window(id: $0.fields.0, WindowProperties(reading: $0.fields.1)) }
        displays.append((adapter.display, all))
      } else {
        adapters[index] = WindowAdapter(adapter.name, nil)
      }
    }
    guard let silence = adapters.silence else { return (displays, nil) }
    let failure = Failure(
      operation, silence, hint: [WindowAdapter].adviceOnSilence, status: timeLeft == nil ? .unreachable : .timedOut)
    if displays.isEmpty { throw failure }
    return (displays, failure)
  }
}
