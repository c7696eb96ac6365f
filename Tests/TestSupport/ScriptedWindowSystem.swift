import CoordinatorAPI
public import DBus
import DBusValues
public import PresentationModel

/// An adapter for the window system (`org.navd.WindowSystem1`) whose windows a test controls. For tests of navd that need no real
/// windows.
public final class ScriptedWindowSystem {
  public let connection: Connection
  public private(set) var windows: [Window] = []
  /// The requests received, such as `close w1`.
  public private(set) var requests: [String] = []
  /// The number of times that a client has read all windows.
  public private(set) var reads = 0
  /// Called when a client reads all windows, once the answer is made. The signals of changes made here are sent before the answer.
  public var onRead: () -> Void = {}
  /// Called before the answer of ``onRead`` is sent.
  public var beforeRead: () -> Void = {}
  /// Whether clients that read all windows get no answer.
  public var isSilent = false
  private var navd: BusName?
  private var unanswered: [Call<([Structure<String, Properties>], UInt64)>] = []
  /// Called with the id of a window that was asked to close, which closes by default.
  public var onClose: (String) -> Void = { _ in }
  /// The error of every request; nil for success.
  public var refusal: DBusError?
  public var serial: UInt64 = 0
  /// The outputs. A change sends the signal.
  public var outputs = ["one", "two"] {
    didSet { connection.propertyChanged(WindowSystemInterface.object, WindowSystemInterface.outputs) }
  }
  /// The output with the focus; empty if unknown. A change sends the signal.
  public var focusedOutput = "one" {
    didSet { connection.propertyChanged(WindowSystemInterface.object, WindowSystemInterface.focusedOutput) }
  }

  public var backend = "scripted"
  /// The display of the windows; empty for that of every item.
  public var displays: [String] = []

  /// - Parameters:
  ///   - windows: the windows that exist from the beginning.
  ///   - display: the display of an adapter beside the first one; nil for the first one.
  public init(
    _ session: Session, _ windows: [Window] = [],
    capabilities: Set<WindowCapability> = Set(WindowCapability.allCases), display: String? = nil
  ) throws {
    typealias Rows = WindowSystemInterface
    displays = display.map { [$0] } ?? []
    connection = try session.connect()
    let object = ImplementedInterface(Rows.interface)
    self.windows = windows
    onClose = { [unowned self] in close($0) }
    object.implement(Rows.getWindows) { [unowned self] _, call in
      reads += 1
      guard !isSilent else { return unanswered.append(call) }
      answer(call)
    }
    for (name, method) in [
      ("close", Rows.close), ("activate", Rows.activate), ("hide", Rows.hide), ("show", Rows.show),
      ("summon", Rows.summon),
    ] {
      object.implement(method) { [unowned self] id, call in
        requests.append("\(name) \(id)")
        if let refusal { return call.fail(refusal) }
        call.reply()
        if name == "close" { onClose(id) }
      }
    }
    object.implement(Rows.moveToOutput) { [unowned self] input, call in
      requests.append("move \(input.0) \(input.1)")
      call.reply()
      change(input.0) { $0.output = input.1 }
    }
    object.implement(Rows.place) { [unowned self] input, call in
      requests.append("place \(input.0) \(input.1.keys.sorted().joined(separator: " "))")
      call.reply()
    }
    object.implement(Rows.expect) { [unowned self] input, call in
      requests.append("expect \(input.0) \(input.1.keys.sorted().joined(separator: " "))")
      call.reply()
    }
    object.implement(Rows.capabilities) { _ in capabilities.map(\.rawValue).sorted() }
    object.implement(Rows.outputs) { [unowned self] _ in outputs }
    object.implement(Rows.focusedOutput) { [unowned self] _ in focusedOutput }
    object.implement(Rows.backend) { [unowned self] _ in backend }
    object.implement(Rows.displays) { [unowned self] _ in displays }
    connection.export(Rows.object, [object])
    var isOwned = false
    connection.requestName(display.flatMap { Rows.bus(of: $0) } ?? Rows.bus) { result in
      if case .success = result { isOwned = true }
    }
    try session.wait("the scripted adapter owns its name") { isOwned }
  }

  private func answer(_ call: Call<([Structure<String, Properties>], UInt64)>) {
    beforeRead()
    call.reply((windows.map { Structure($0.id, $0.properties.properties) }, serial))
    onRead()
  }

  /// Answers no more calls of navd, like a program that is stopped.
  public func stop() throws {
    navd = BusName(
      try connection.callAndWait(Bus.getNameOwner, on: Bus.name, at: Bus.path, CoordinatorNames.bus.text))
    navd.map { connection.suspend($0) }
  }

  /// Answers all calls since ``stop()``, and later ones.
  public func goOn() {
    navd.map(connection.resume)
    navd = nil
  }

  /// Answers the waiting readers, and all later ones.
  public func answer() {
    isSilent = false
    for call in unanswered { answer(call) }
    unanswered = []
  }

  private func send(_ kind: WindowEvent.Kind) {
    serial &+= 1
    WindowEvent(kind, serial: serial).send(by: self)
  }

  public func open(_ window: Window) {
    windows.append(window)
    send(.opened(window))
  }

  public func change(_ id: String, _ edit: (inout WindowProperties) -> Void) {
    guard let index = windows.firstIndex(where: { $0.id == id }) else { return }
    let before = windows[index].properties
    edit(&windows[index].properties)
    send(.changed(id: id, before.changes(to: windows[index].properties)))
  }

  public func close(_ id: String) {
    windows.removeAll { $0.id == id }
    send(.closed(id: id))
  }

  /// Changes the windows without a signal, as if signals had been lost.
  public func lose(_ edit: (inout [Window]) -> Void) {
    edit(&windows)
    serial += 1
  }

  /// Sends a signal about a window that does not exist.
  public func lie() {
    send(.changed(id: "nobody", WindowProperties()))
    send(.closed(id: "nobody"))
  }
}

extension ScriptedWindowSystem: SignalEmitter {
  package func emit<Arguments>(_ signal: Signal<Arguments>, _ arguments: consuming Arguments) {
    try? connection.emit(signal, from: WindowSystemInterface.object, arguments)
  }
}

extension Window {
  public init(
    _ id: String, appID: String? = nil, title: String? = nil, pid: UInt64? = nil, parent: String? = nil,
    focused: Bool? = nil, output: String? = nil
  ) {
    var properties = WindowProperties()
    properties.appID = appID
    properties.title = title
    properties.pid = pid.map { UInt32($0) }
    properties.parent = parent
    properties.focused = focused
    properties.output = output
    self.init(id: id, properties)
  }
}
