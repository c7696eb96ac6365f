import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import TextFormats

/// The object of `org.navd.WindowSystem1`: serves the state of a backend.
final class WindowService {
  private typealias Rows = WindowSystemInterface

  private let connection: Connection
  private let backend: any Backend
  private var timer: Timer?
  /// The properties as clients know them.
  private var told: (capabilities: [WindowCapability], outputs: [String], focusedOutput: String) = ([], [], "")

  /// Calls of GetWindows that this turn answers.
  private var readers: [Call<([Structure<String, Properties>], UInt64)>] = []
  private var expected = ExpectedWindows()
  private var leftOut = 0
  private var last: WindowEvent?
  private let log: Logger

  init(_ connection: Connection, _ backend: any Backend, _ log: Logger) {
    self.connection = connection
    self.backend = backend
    self.log = log
  }

  /// Serves from now on. The caller takes the bus name.
  func start() {
    told = (backend.state.capabilities, backend.state.outputs, backend.state.focusedOutput)
    let object = ImplementedInterface(Rows.interface)
    object.implement(Rows.getWindows) { [unowned self] _, call in readers.append(call) }
    object.implement(Rows.close) { [unowned self] id, call in perform(.close, id, call) }
    object.implement(Rows.activate) { [unowned self] id, call in perform(.activate, id, call) }
    object.implement(Rows.hide) { [unowned self] id, call in perform(.hide, id, call) }
    object.implement(Rows.show) { [unowned self] id, call in perform(.show, id, call) }
    object.implement(Rows.moveToOutput) { [unowned self] input, call in
      perform(.move(output: input.1), input.0, call)
    }
    object.implement(Rows.summon) { [unowned self] id, call in perform(.summon, id, call) }
    object.implement(Rows.place) { [unowned self] input, call in
      carryOut(call) { () throws(Refusal) in perform(.place(try WindowPlacement(reading: input.1)), input.0, call) }
    }
    object.implement(Rows.expect) { [unowned self] input, call in
      carryOut(call) { () throws(Refusal) in
        try require(.expect, for: "announcing a window")
        expected.expect(input.0, try ExpectedWindow(reading: input.1), besides: backend.state.windows)
        backend.expectWithoutFocus(expected.unfocusedWindows)
        call.reply()
      }
    }
    object.implement(Rows.capabilities) { [unowned self] _ in backend.state.capabilities.map(\.rawValue) }
    object.implement(Rows.outputs) { [unowned self] _ in backend.state.outputs }
    object.implement(Rows.focusedOutput) { [unowned self] _ in backend.state.focusedOutput }
    object.implement(Rows.backend) { [backend] _ in backend.name }
    object.implement(Rows.displays) { _ in Self.displays }
    connection.export(Rows.object, [object])
    connection.handlers.onSignalsMissed = { [weak self] in
      // The serial of the last event shows the gap.
      if let self { last?.send(by: self) }
    }
    connection.handlers.onSignalsDropped = { [log] in
      log.warning("the bus does not read fast enough; signals were dropped", metadata: ["count": "\($0)"])
    }
    connection.handlers.beforeFlush = { [weak self] in
      self?.placeExpected()
      self?.tell()
      self?.answerReaders()
    }
  }

  /// The display of the windows, as programs find it.
  static var displays: [String] { ["WAYLAND_DISPLAY", "DISPLAY"].compactMap { Environment[$0] } }

  /// Answers at the end of the turn, because the signals of the turn precede its answers.
  private func answerReaders() {
    guard !readers.isEmpty else { return }
    let windows = backend.state.windows
    for call in readers {
      call.reply((windows.windows.map { Structure($0.id, $0.properties.properties) }, windows.serial))
    }
    readers = []
  }

  /// Places the expected windows that have opened. A window that is gone meanwhile, or that cannot be placed, is left.
  private func placeExpected() {
    let due = expected.takeDue(backend.state.windows, now: connection.loop.now)
    if !due.isEmpty { backend.expectWithoutFocus(expected.unfocusedWindows) }
    for (key, placement) in due {
      backend.perform(.place(placement), key) { _ in }
    }
  }

  /// Sends the changes to clients.
  private func tell() {
    let events = backend.takeEvents()
    let state = backend.state
    if state.outputs != told.outputs {
      told.outputs = state.outputs
      // The outputs come before the windows that have moved from an output that is gone.
      emit(
        PropertyAccessing.propertiesChanged, (Rows.name.text, [Rows.outputs.name.text: told.outputs.value], []))
    }
    for event in events { event.send(by: self) }
    if let event = events.last { last = event }
    if state.windows.leftOut > 0, leftOut == 0 {
      log.warning(
        "expected at most \(state.windows.limits.windows) windows, found more; they are left out until others close")
    }
    leftOut = state.windows.leftOut
    let now = (state.capabilities, state.outputs, state.focusedOutput)
    if now.0 != told.capabilities { connection.propertyChanged(Rows.object, Rows.capabilities) }
    if now.2 != told.focusedOutput { connection.propertyChanged(Rows.object, Rows.focusedOutput) }
    told = now
    let deadline = state.windows.nextDeadline
    let pending = timer.flatMap { $0.isPending ? $0.deadline : nil }
    guard pending != deadline else { return }
    timer?.cancel()
    timer = deadline.map { deadline in
      connection.loop.timer(at: deadline) { [unowned self] in
        backend.announceDue(now: connection.loop.now)
      }
    }
  }

  /// Carries out a request, or tells its caller why it is refused.
  private func carryOut(_ call: Call<Void>, _ body: () throws(Refusal) -> Void) {
    do throws(Refusal) { try body() } catch { call.fail(DBusError(error)) }
  }

  private func require(_ capability: WindowCapability, for noun: String) throws(Refusal) {
    guard backend.state.capabilities.contains(capability) else {
      throw Refusal(
        .notSupported,
        "\(noun) needs the capability “\(capability.rawValue)”, which the backend “\(backend.name)” does not "
          + "offer with this window manager")
    }
  }

  private func perform(_ request: WindowRequest, _ id: String, _ call: Call<Void>) {
    carryOut(call) { () throws(Refusal) in
      guard let key = backend.state.windows.key(of: id) else {
        throw Refusal(.unknownWindow, "there is no window with the id \(quoted(id)); GetWindows lists all")
      }
      for capability in WindowCapability.allCases where request.needs.contains(capability) {
        try require(capability, for: request.noun)
      }
      if case .move(let output) = request, !backend.state.outputs.contains(output) {
        let outputs = backend.state.outputs.map { quoted($0) }.joined(separator: ", ")
        throw Refusal(.invalidArgument, "output: expected \(outputs), found \(quoted(output))")
      }
      if case .move = request { expected.leaveOutput(key) }
      if case .place(let placement) = request,
        expected.take(key, placement, backend.state.windows, now: connection.loop.now)
      {
        return call.reply()
      }
      backend.perform(request, key) { result in
        switch result {
        case .success: call.reply()
        case .failure(let refusal): call.fail(DBusError(refusal))
        }
      }
    }
  }
}

extension WindowService: SignalEmitter {
  func emit<Arguments>(_ signal: Signal<Arguments>, _ arguments: consuming Arguments) {
    // This fails only for values that the bus cannot carry; the table keeps them out.
    try? connection.emit(signal, from: Rows.object, arguments)
  }
}
