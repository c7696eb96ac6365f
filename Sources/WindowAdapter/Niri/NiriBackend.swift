import CoordinatorAPI
import EventLoops
import Logging
import PresentationModel
import Processes
import TextFormats

/// Windows of niri, by its socket: one connection for events, and another one for each request.
final class NiriBackend: Backend, EventStreamReader {
  let name = "niri"
  var onEnd: ((String) -> Void)?

  private let loop: EventLoop
  private let log: Logger
  private let events: EventStream
  private let requests: RequestQueue
  private let ids = WindowIDs()
  private var model: NiriModel
  private var hasComplained = false
  private var ready: (() -> Void)?
  /// The limit in bytes of an event or an answer.
  private static let limit = 32 << 20

  /// - Parameter path: the path of the socket.
  init(_ path: String, _ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.loop = loop
    self.log = log
    do throws(SystemError) {
      events = try EventStream(path, request: "\"EventStream\"\n", limit: Self.limit, loop)
    } catch {
      throw BackendFailure(description: "no compositor at the socket: \(error)")
    }
    requests = RequestQueue(path, limit: Self.limit, loop)
    let token = events.peer.flatMap(ProcessIdentity.init(of:)).map { "\($0.pid)-\($0.startTime)" } ?? ids.token
    let ids = ids
    model = NiriModel(NumberedIDs(token: token, ids)) { Self.process(of: $0, ids) }
  }

  var state: WindowSystemState { model.state }
  func takeEvents() -> [WindowEvent] { model.takeEvents() }
  func announceDue(now: MonotonicInstant) { model.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    self.ready = ready
    events.start(for: self)
  }

  /// Does nothing: niri begins each connection with the whole state.
  func linesAreMissing() {}

  func streamEnded(_ reason: String) { onEnd?(reason) }

  func take(_ line: LineReader.Line) {
    guard let line else {
      log.error("an event of the compositor is larger than \(Self.limit) bytes; the windows are read again")
      return events.restart()
    }
    guard let event = JSON.repaired(line) else {
      if !hasComplained { log.error("an event of the compositor cannot be read, and is passed over") }
      return hasComplained = true
    }
    if let reason = event["Err"]?.string {
      events.close()
      onEnd?("the compositor tells no events: \(quoted(reason))")
      return
    }
    model.take(event, now: loop.now)
    do throws(Refusal) { try requests.command(model.goOnPlacing(now: loop.now)) { _ in } } catch {
      log.error("\(error.message)")
    }
    guard model.isComplete else { return }
    ready?()
    ready = nil
  }

  /// The process of a window. xwayland-satellite owns all windows of X11, and only its X server knows their processes.
  private static func process(of node: NiriModel.Node, _ ids: WindowIDs) -> UInt32? {
    guard let client = node.client, ProcessName.of(client) == satellite else { return node.client }
    guard let appID = node.properties.appID, let title = node.properties.title else { return nil }
    // The connection is not kept, because it would keep the X server running.
    return (try? XWindowFacts(ids))?.pid(appID: appID, title: title)
  }

  /// The name of xwayland-satellite's process, which the kernel cuts to 15 bytes.
  private static let satellite = "xwayland-satell"

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    do throws(Refusal) {
      try requests.command(try model.actions(request, key, now: loop.now)) { [self] answers in
        completion(outcome(of: answers, request, key))
      }
    } catch {
      completion(.failure(error))
    }
  }

  private func outcome(
    of answers: [[UInt8]?], _ request: WindowRequest, _ key: WindowTable.Key
  ) -> Result<Void, Refusal> {
    let answers = answers.map { $0.flatMap { JSON.repaired($0) } }
    guard let failed = answers.first(where: { $0?["Ok"] == nil }) else { return .success(()) }
    guard model.state.windows.contains(key) else {
      return .failure(.isGone)
    }
    let reason = failed?["Err"]?.string ?? "the compositor does not answer"
    return .failure(Refusal(.notSupported, "\(request.noun): \(reason)"))
  }
}
