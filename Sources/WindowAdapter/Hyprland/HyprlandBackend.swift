import EventLoops
import Logging
import PresentationModel
import TextFormats

/// Windows of Hyprland, by its two sockets: one sends events, the other answers requests.
///
/// The Wayland protocols of Hyprland are not used. They report no processes, and nothing earlier or better than the sockets do, and
/// their windows would have to be matched with these.
final class HyprlandBackend: Backend, EventStreamReader {
  let name = "hyprland"
  var onEnd: ((String) -> Void)?

  private let loop: EventLoop
  private let log: Logger
  private let events: EventStream
  private let requests: RequestQueue
  private let ids = WindowIDs()
  private var language = HyprlandCommand.Language.words
  private var model: HyprlandModel
  private var isReading = false
  private var hasComplained = false
  private var reading: Timer?
  private var retrying: Timer?
  private var placing: Timer?
  private var ready: (() -> Void)?
  /// The limit in bytes of an answer.
  private static let limit = 32 << 20
  /// The limit in bytes of an event, which has at most a kibibyte of data.
  private static let maxEvent = 64 << 10

  /// - Parameter instance: the signature of the running Hyprland, which names its directory.
  init(instance: String, _ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.loop = loop
    self.log = log
    guard let runtime = Environment["XDG_RUNTIME_DIR"] else {
      throw BackendFailure(description: "XDG_RUNTIME_DIR is not set, where its sockets are")
    }
    let directory = "\(runtime)/hypr/\(instance)"
    do throws(SystemError) {
      events = try EventStream("\(directory)/.socket2.sock", request: "", limit: Self.maxEvent, loop)
    } catch {
      throw BackendFailure(description: "no compositor at the socket: \(error)")
    }
    requests = RequestQueue("\(directory)/.socket.sock", limit: Self.limit, loop)
    // The signature begins with the commit that Hyprland was built from; the time of its start and a random number follow.
    let token = instance.split(separator: "_", maxSplits: 1).last.map(String.init) ?? instance
    let ids = ids
    model = HyprlandModel(NumberedIDs(token: token, ids)) { ids.next() }
  }

  var state: WindowSystemState { model.state }
  func takeEvents() -> [WindowEvent] { model.takeEvents() }
  func announceDue(now: MonotonicInstant) { model.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    self.ready = ready
    events.start(for: self)
    // The version does not tell the language: versions with Lua still read hyprland.conf, too.
    requests.ask("j/status") { [self] answer in
      let status = answer.flatMap { JSON.repaired($0) }
      language = status?["configProvider"] == "lua" ? .lua : .words
      read()
    }
  }

  func take(_ line: LineReader.Line) {
    if let line { model.take(line, now: loop.now) } else { model.takeGap() }
    readSoon()
  }

  func linesAreMissing() {
    model.takeGap()
    readSoon()
  }

  func streamEnded(_ reason: String) { onEnd?(reason) }

  /// Reads once for all events of a change, which come within a millisecond. A new window is read at once, because the compositor
  /// soon draws it, and answers after that.
  private func readSoon() {
    guard ready == nil, model.wantsAnswer else { return }
    if model.hasNewWindow { return read() }
    guard reading?.isPending != true else { return }
    reading = loop.timer(after: .milliseconds(3), of: self) { $0.read() }
  }

  /// Reads all windows again, with one request at a time.
  private func read() {
    guard !isReading, model.wantsAnswer else { return }
    isReading = true
    model.takeWant()
    requests.ask(HyprlandAnswer.request) { [self] bytes in
      isReading = false
      // The events that were sent before the answer come first.
      events.readArrived()
      if let answer = bytes.flatMap(HyprlandAnswer.init) {
        hasComplained = false
        model.take(answer, now: loop.now)
        ready?()
        ready = nil
        goOnPlacing()
      } else if ready != nil, bytes == nil {
        events.close()
        onEnd?("the compositor does not answer at its socket")
      } else {
        askAgain()
      }
      readSoon()
    }
  }

  private func goOnPlacing() {
    let commands = model.placing(now: loop.now)
    do throws(Refusal) {
      try requests.command(commands.map { $0.text(language) }) { _ in }
    } catch {
      log.error("\(error.message)")
    }
    guard model.isPlacing, placing?.isPending != true else { return }
    placing = loop.timer(after: model.pauseOfPlacing(now: loop.now), of: self) { backend in
      backend.model.takeGap()
      backend.read()
    }
  }

  private func askAgain() {
    if !hasComplained {
      log.error("an answer of the compositor cannot be read, and is passed over; it is asked again every second")
    }
    hasComplained = true
    retrying = loop.timer(after: .seconds(1), of: self) { backend in
      backend.model.takeGap()
      backend.read()
    }
  }

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    // The window may have closed, and its address may belong to another one.
    events.readArrived()
    guard model.state.windows.contains(key) else { return completion(.failure(.isGone)) }
    do throws(Refusal) {
      let commands = try model.commands(request, key, now: loop.now)
      try requests.command(commands.map { $0.text(language) }) { [self] answers in
        let failed = zip(commands, answers).first { $0.isEssential && $1?.starts(with: Array("ok".utf8)) != true }
        completion(outcome(of: request, key, failed: failed.map { $1 }))
      }
      readSoon()
    } catch {
      completion(.failure(error))
    }
  }

  /// - Parameter failed: the answer to a refused command, which is nil if there was no answer; nil if all commands succeeded.
  private func outcome(of request: WindowRequest, _ key: WindowTable.Key, failed: [UInt8]??) -> Result<Void, Refusal> {
    guard let failed else { return .success(()) }
    // The window may have closed since; an event then says so.
    events.readArrived()
    guard model.state.windows.contains(key) else {
      return .failure(.isGone)
    }
    let reason = failed.map { quoted(String(decoding: $0, as: UTF8.self)) } ?? "the compositor does not answer"
    return .failure(Refusal(.notSupported, "\(request.noun): \(reason)"))
  }
}
