import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// A window of the session. Every key of the contract is a property: `window.properties.title`.
///
///     let windows: [SessionWindow] = try await coordinator.windowSystem.windows().windows
///     for window in windows { print(window.id, window.properties.title ?? "") }
public typealias SessionWindow = PresentationModel.Window

/// An event: a window was opened, changed or closed.
///
///     func log(_ event: WindowEvent) { if case .closed(let id) = event.kind { print("\(id) is gone") } }
public typealias WindowEvent = PresentationModel.WindowEvent

/// A capability of the window-system adapter: a request that it can carry out, or a fact that it can report about windows.
///
///     let needed: Set<WindowCapability> = [.place, .activate]
///     let isEnough = try await coordinator.windowSystem.capabilities().isSuperset(of: needed)
public typealias WindowCapability = PresentationModel.WindowCapability

/// The place, the size and the appearance of a window on its output (N15).
///
///     let placement = WindowPlacement(.anchor(.topRight), size: .init(width: .pixels(400), height: .percent(50)), margin: 8)
public typealias WindowPlacement = PresentationModel.WindowPlacement

extension Coordinator {
  /// The windows and outputs of the session, whether navd presents them or not. An adapter, such as
  /// `navd-windows`, reports them. ``PresentationState/windows`` contains the windows of a
  /// presentation (N4).
  ///
  /// Every method throws `refused`: with `notSupported` if there is no adapter or the coordinator
  /// is embedded, and with `unknownWindow` for an id without a window.
  ///
  ///     for window in try await coordinator.windowSystem.windows().windows { print(window.id, window.properties.title ?? "") }
  public struct WindowSystem: Sendable {
    let backend: any CoordinatorBackend

    /// Reads all windows, in the order in which they were opened, and the serial of the last event in this answer.
    ///
    ///     let (windows, serial) = try await coordinator.windowSystem.windows()
    public func windows() async throws(NavigationError) -> (windows: [SessionWindow], serial: UInt64) {
      let (windows, serial) = try await backend.callWindowSystem(Rows.getWindows, ())
      return (windows.map { SessionWindow(id: $0.fields.0, WindowState(reading: $0.fields.1)) }, serial)
    }

    /// Receives all events from now on, with consecutive serials. A reader that falls behind misses some events, sees a gap, and
    /// reads ``windows()`` again. The events end with the connection.
    ///
    ///     for await event in try await coordinator.windowSystem.events() { print(event) }
    public func events() async throws(NavigationError) -> AsyncStream<WindowEvent> {
      try await backend.windowEvents()
    }

    /// Asks a window to close, as its close button does.
    ///
    ///     try await coordinator.windowSystem.close("7")
    public func close(_ id: String) async throws(NavigationError) { try await backend.callWindowSystem(Rows.close, id) }

    /// Brings a window into view and gives it the keyboard focus.
    ///
    ///     try await coordinator.windowSystem.activate("7")
    public func activate(_ id: String) async throws(NavigationError) {
      try await backend.callWindowSystem(Rows.activate, id)
    }

    /// Removes a window from the screen without the knowledge of its program.
    ///
    ///     try await coordinator.windowSystem.hide("7")
    public func hide(_ id: String) async throws(NavigationError) { try await backend.callWindowSystem(Rows.hide, id) }

    /// Shows a hidden window again.
    ///
    ///     try await coordinator.windowSystem.show("7")
    public func show(_ id: String) async throws(NavigationError) { try await backend.callWindowSystem(Rows.show, id) }

    /// Moves a window to an output; the focus stays.
    ///
    ///     try await coordinator.windowSystem.move("7", to: "DP-1")
    public func move(_ id: String, to output: String) async throws(NavigationError) {
      try await backend.callWindowSystem(Rows.moveToOutput, (id, output))
    }

    /// Brings a window to the user's workspace, and gives it the keyboard focus.
    ///
    ///     try await coordinator.windowSystem.summon("7")
    public func summon(_ id: String) async throws(NavigationError) {
      try await backend.callWindowSystem(Rows.summon, id)
    }

    /// Shows a window where and as a placement says.
    ///
    ///     try await coordinator.windowSystem.place("7", WindowPlacement(.anchor(.bottom), isAbove: true))
    public func place(_ id: String, _ placement: WindowPlacement) async throws(NavigationError) {
      try await backend.callWindowSystem(Rows.place, (id, placement.options.properties))
    }

    /// Reads the names of the outputs, for ``PresentationOptions/Window/output``.
    ///
    ///     let outputs = try await coordinator.windowSystem.outputs()
    public func outputs() async throws(NavigationError) -> [String] { try await property(Rows.outputs) }

    /// Reads the output with the focus; nil if it is not known.
    ///
    ///     let output = try await coordinator.windowSystem.focusedOutput()
    public func focusedOutput() async throws(NavigationError) -> String? {
      let output = try await property(Rows.focusedOutput)
      return output.isEmpty ? nil : output
    }

    /// Reads the capabilities here. Words that this library does not know are left out.
    ///
    ///     let canHide = try await coordinator.windowSystem.capabilities().contains(.hide)
    public func capabilities() async throws(NavigationError) -> Set<WindowCapability> {
      Set(try await property(Rows.capabilities).compactMap(WindowCapability.init))
    }

    private typealias Rows = WindowSystemInterface

    private func property<T>(_ property: Property<T>) async throws(NavigationError) -> T {
      try property.read(try await backend.callWindowSystem(PropertyAccessing.get, (Rows.name.text, property.name.text)))
    }
  }

  /// The windows and outputs of the session.
  ///
  ///     let system = coordinator.windowSystem
  ///     if let first = try await system.windows().windows.first { try await system.activate(first.id) }
  public var windowSystem: WindowSystem { WindowSystem(backend: backend) }
}

extension Property {
  /// Converts a value returned by `Get`.
  func read(_ value: Value) throws(NavigationError) -> T {
    guard let read = T(value: value) else {
      throw .refused(
        CoordinatorError(
          .invalidArgument, "\(name): expected the type \(T.valueType.signature), found \(value.type.signature)"))
    }
    return read
  }
}
