import CoordinatorAPI
public import DBus
import DBusValues
public import PresentationModel
import TextFormats

/// A recording of all signals of navd on one connection, in the order of arrival.
///
/// The watcher keeps the content of the signals and not the messages themselves: a connection stops reading while 16 MiB of its
/// received messages are in use, and would then get no answer.
public final class Watcher {
  public let connection: Connection
  /// The state at the start of the recording.
  public private(set) var start: JSON = .null
  /// Every event since the start, in the order of arrival.
  public private(set) var events: [StateEvent] = []
  /// Every signal, and every answer to a call on the same connection, as text.
  public private(set) var log: [String] = []
  private var serial: UInt64?
  private var subscription: Subscription?

  init(_ connection: Connection) { self.connection = connection }

  func subscribe(ready: @escaping () -> Void) {
    subscription = connection.subscribe(MatchRule(sender: CoordinatorNames.bus), ready: { _ in ready() }) {
      [unowned self] in take($0)
    }
  }

  func begin(with state: JSON, _ serial: UInt64) {
    start = state
    self.serial = serial
    clear()
  }

  /// Adds a line to `log`.
  public func note(_ line: String) { log.append(line) }

  /// Forgets everything recorded so far.
  public func clear() {
    serial = events.last?.serial ?? serial
    events = []
    log = []
  }

  /// Ends the recording.
  public func cancel() { subscription?.cancel() }

  private func take(_ message: Message) {
    guard let event = try? StateEvent(message) else {
      note(message.line)
      return
    }
    // An event that the state at the start contains, and the last event once more (W3), are ignored.
    if let serial, event.serial <= serial || event.serial == events.last?.serial { return }
    events.append(event)
    note(event.line)
  }

  /// The events as text, for example `dismissed fact 1 replaced`.
  public var lines: [String] { events.map(\.line) }

  /// The events of a slot as text, without its binding.
  public func lines(of binding: String) -> [String] {
    events.filter { $0.json["binding"]?.string == binding }.map { $0.line(without: binding) }
  }

  /// Whether the serials are consecutive since the start, or since everything was forgotten.
  public var hasAllSerials: Bool {
    guard let serial else { return false }
    return events.enumerated().allSatisfy { $1.serial == serial + 1 + UInt64($0) }
  }

  deinit { subscription?.cancel() }
}

extension StateEvent {
  /// The event as text, for example `dismissed fact 1 replaced`, `path main one two=1`, `group panels volume wifi ·
  /// wifi`.
  public var line: String { line(without: nil) }

  func line(without binding: String?) -> String {
    var words = [json["event"]?.string ?? "?"]
    for name in ["binding", "id", "phase", "reason", "action", "group", "tag", "stack"] {
      guard let word = json[name]?.string, !word.isEmpty, name != "binding" || word != binding else { continue }
      words.append(word)
    }
    for element in json["path"]?.array ?? [] {
      words.append(
        [element["binding"], element["id"]].compactMap { $0?.string }.filter { !$0.isEmpty }.joined(separator: "="))
    }
    if let tags = json["tags"]?.array, let queue = json["queue"]?.array {
      words += tags.compactMap(\.string) + ["·"] + queue.compactMap(\.string)
    }
    return words.joined(separator: " ")
  }
}

extension Message {
  /// A signal that is not an event, as text: its name and its subject.
  fileprivate var line: String {
    let name = member?.text ?? "?"
    if let (interface, changed, _) = try? PropertyAccessing.propertiesChanged.arguments(of: self) {
      let values = changed.sorted { $0.key < $1.key }.map { "\($0.key)=\(JSON($0.value).text)" }
      return ([name, path?.text ?? "", interface] + values).joined(separator: " ")
    }
    if let (path, interfaces) = try? ObjectManagement.interfacesAdded.arguments(of: self) {
      let phase = interfaces.values.lazy.compactMap { $0["Phase"] }.first.map { JSON($0).string ?? "" } ?? ""
      return "\(name) \(path) \(phase)"
    }
    if let (path, _) = try? ObjectManagement.interfacesRemoved.arguments(of: self) { return "\(name) \(path)" }
    return name
  }
}
