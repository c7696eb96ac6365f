import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import TextFormats

/// Windows of KWin on Wayland, by scripts that KWin runs, for when KWin does not offer the protocol of the task bar.
final class KWinBackend: Backend {
  let name = "kwin"
  var onEnd: ((String) -> Void)?

  private let loop: EventLoop
  private let log: Logger
  private let connection: Connection
  private let scripting: KWinScripting
  /// The source of the outputs, whose names scripts of KWin 5 do not know.
  private let compositor: PlasmaConnection
  private var model = KWinModel()
  /// Whether the script that follows the windows was started.
  private var isFollowing = false
  private var ready: (() -> Void)?
  private var hasComplained = false
  /// Requests that KWin has not carried out; it is working on the first one.
  private var requests: [(script: String, completion: (Result<Void, Refusal>) -> Void)] = []

  private static let tell = Method("org.navd.KWin", "Tell", in: Arg<String>("event"))
  private static let object: ObjectPath = "/org/navd/KWin"
  private static let following = "org.navd.navd-windows"
  private static let requesting = "org.navd.navd-windows.request"
  /// The limit of waiting requests, as in the other backends.
  private static let limit = 1024

  init(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.loop = loop
    self.log = log
    compositor = try PlasmaConnection(tellsWindows: false)
    do throws(DBusError) {
      connection = try Connection.session(loop: loop)
      guard try connection.callAndWait(Bus.nameHasOwner, on: Bus.name, at: Bus.path, KWinScripting.bus.text) else {
        throw DBusError(name: .serviceUnknown, message: "\(KWinScripting.bus) is not on the bus")
      }
    } catch {
      throw BackendFailure(description: "KWin runs no scripts: \(error.message)", isFinal: true)
    }
    scripting = KWinScripting(connection)
  }

  var state: WindowSystemState { model.state }
  func takeEvents() -> [WindowEvent] { model.takeEvents() }
  func announceDue(now: MonotonicInstant) { model.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    self.ready = ready
    connection.handlers.onDisconnected = { [unowned self] in onEnd?("the connection to the bus is lost") }
    compositor.onEnd = { [unowned self] in onEnd?($0) }
    compositor.onPlaces = { [unowned self] in takeOutputs() }
    guard compositor.readAll() else { return }
    takeOutputs()
    do throws(SystemError) {
      try compositor.follow(loop)
    } catch {
      return onEnd?("\(error)") ?? ()
    }
    let object = ImplementedInterface(
      Interface("org.navd.KWin", doc: "What scripts of KWin call.", members: [Self.tell]),
      // Other programs may know the name of the connection.
      calledBy: KWinScripting.bus)
    object.implement(Self.tell) { [unowned self] event, call in
      call.reply()
      take(event)
    }
    connection.export(Self.object, [object])
    _ = connection.watchName(KWinScripting.bus) { [unowned self] owner in
      guard owner != nil else { return onEnd?("KWin has left the bus") ?? () }
      guard !isFollowing else { return }
      isFollowing = true
      scripting.start(KWinScript.following(connection.uniqueName.text), as: Self.following) { [unowned self] in
        if case .failure(let error) = $0 { onEnd?("KWin runs no scripts: \(error.message)") }
      }
    }
  }

  private func takeOutputs() {
    model.take(compositor.outputs.filter(\.isKnown).map { Monitor(name: $0.name, area: $0.area) }, now: loop.now)
  }

  private func take(_ text: String) {
    guard let event = try? JSON.parse(text) else {
      if !hasComplained { log.error("an event of the script cannot be read, and is passed over") }
      return hasComplained = true
    }
    if model.take(event, now: loop.now) { return answer(.success(())) }
    guard model.isReady, let ready else { return }
    self.ready = nil
    scripting.forgetFile(of: Self.following)
    ready()
  }

  func end() {
    scripting.end(Self.following)
    connection.close()
  }

  // MARK: Requests

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    guard let id = model.state.windows.id(of: key) else {
      return completion(.failure(.isGone))
    }
    guard requests.count < Self.limit else {
      return completion(.failure(Refusal(.limitExceeded, "\(Self.limit) requests wait for KWin")))
    }
    let place = model.place(for: request, key).map { (x: $0.x, y: $0.y) }
    let script = KWinScript.request(request, id, place: place, connection.uniqueName.text)
    requests.append((script, completion))
    if requests.count == 1 { carryOut() }
  }

  private func carryOut() {
    guard let request = requests.first else { return }
    scripting.start(request.script, as: Self.requesting) { [unowned self] in
      if case .failure(let error) = $0 { answer(.failure(Refusal(.notSupported, "KWin: \(error.message)"))) }
    }
  }

  private func answer(_ result: Result<Void, Refusal>) {
    guard !requests.isEmpty else { return }
    scripting.end(Self.requesting)
    requests.removeFirst().completion(result)
    carryOut()
  }
}
