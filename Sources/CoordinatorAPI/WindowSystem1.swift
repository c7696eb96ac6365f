import DBus
import DBusValues
import PresentationModel

/// `org.navd.WindowSystem1`, which an adapter for the window system implements. The coordinator is its client.
public enum WindowSystemInterface {
  public static let name: InterfaceName = "org.navd.WindowSystem1"
  /// The bus name of the first adapter, on the session bus.
  public static let bus: BusName = "org.navd.WindowSystem1"

  /// The bus name of a further adapter, which tells the windows of another display. Letters, digits
  /// and `-` stand for themselves, and other bytes for `_` and two hexadecimal digits: `:1` is
  /// `org.navd.WindowSystem1._3a1`.
  /// - Parameter display: what ``DisplayNames/preferred`` says of the display.
  /// - Returns: nil if the name is too long.
  public static func bus(of display: String) -> BusName? {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let element = display.utf8.enumerated().map { index, byte in
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if letters.contains(byte | 0x20) || byte == UInt8(ascii: "-") || isDigit && index > 0 {
        return String(UnicodeScalar(byte))
      }
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "_0\(digits)" : "_\(digits)"
    }
    return BusName("\(bus.text).\(element.joined())")
  }

  /// The display of which an adapter with this name tells the windows: the inverse of ``bus(of:)``.
  /// - Returns: nil for the name of the first adapter, which does not tell it, and for another name.
  package static func display(of bus: BusName) -> String? {
    guard bus.text.hasPrefix(Self.bus.text + ".") else { return nil }
    var (bytes, rest) = ([UInt8](), bus.text.utf8.dropFirst(Self.bus.text.utf8.count + 1))
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The properties of the adapters on a bus, those of the first adapter first.
  /// - Parameter limit: the time that an adapter has to answer.
  /// - Returns: the adapters with their properties, which are nil if an adapter does not answer. One that has left the bus is left out.
  /// - Throws: `DBusError` if the bus does not answer.
  package static func adapters(
    on connection: Connection, within limit: Duration
  ) throws(DBusError) -> [(BusName, Properties?)] {
    let names = try connection.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, (), timeout: limit)
    let adapters = [bus] + names.filter { $0.hasPrefix(bus.text + ".") }.sorted().compactMap { BusName($0) }
    return ask(adapters, PropertyAccessing.getAll, name.text, on: connection, within: limit)
  }

  /// Asks adapters, all at once: several that do not answer take no longer than one.
  /// - Parameter limit: the time that an adapter has to answer.
  /// - Returns: the answers, which are nil if an adapter does not answer. One that has left the bus is left out.
  package static func ask<Input, Output>(
    _ adapters: [BusName], _ method: Method<Input, Output>, _ input: Input, on connection: Connection,
    within limit: Duration
  ) -> [(BusName, Output?)] {
    let answers = connection.callAllAndWait(
      method, on: adapters, at: object, input, timeout: limit, autoStart: false)
    return zip(adapters, answers).compactMap { adapter, answer in
      switch answer {
      case .success(let output): (adapter, output)
      case .failure(let error) where [.serviceUnknown, .nameHasNoOwner, .noReply].contains(error.name): nil
      case .failure: (adapter, nil)
      }
    }
  }

  /// The adapter's object.
  public static let object: ObjectPath = "/org/navd/WindowSystem1"

  public static let interface = Interface(
    name,
    doc: """
      Tells which windows there are, and closes, raises, hides and moves them. A compositor, an extension of a shell, or \
      any program that knows the windows implements it, and owns the bus name; navd-windows is one. The coordinator is \
      its client. If another display of the session has an adapter already, the name ends with a dot and the display of \
      this adapter, as in org.navd.WindowSystem1.wayland-2. The display is WAYLAND_DISPLAY, or else DISPLAY. A character \
      that a name on the bus cannot have is written as _ with two hexadecimal digits.

      Properties of a window; an absent key means “unknown”, an empty text “none”:
      \(WindowProperties.table.doc)

      What is asked twice is done once: a request for what is so already changes nothing, and is no error.

      An id is the adapter's own, and never used for a second window, even if the adapter is started again. A window \
      keeps its id then if the adapter can tell that it is the same. Each signal has a serial, one more than the last; a \
      client that finds a gap calls GetWindows. The signals that a method causes may follow its reply: the reply says that \
      the window system has the request, the signals say what came of it.

      An id without a window has the error org.navd.Error.UnknownWindow. What is not in Capabilities, or not possible for \
      this window, has org.navd.Error.NotSupported. An output that does not exist has org.navd.Error.InvalidArgument.
      """,
    members: [
      getWindows, close, activate, hide, show, moveToOutput, summon, place, expect, opened, changed, closed,
      capabilities, outputs, focusedOutput, backend, displays,
    ])

  private static let window = Arg<String>("id", doc: "The window.")
  private static let serial = Arg<UInt64>("serial")
}

// MARK: Methods

extension WindowSystemInterface {
  public static let getWindows = Method(
    name, "GetWindows",
    out: Arg<[Structure<String, Properties>]>(
      "windows", doc: "The id and the properties of each window.", qtType: "QList<NavdWindow>"),
    Arg<UInt64>("serial", doc: "The serial of the last signal that this answer contains."), isReading: true,
    doc: """
      All windows, in the order in which they were opened. A client subscribes to the signals before, and keeps those that come \
      before the answer: some may be newer.
      """)

  public static let close = Method(
    name, "Close", in: window,
    doc: """
      Asks the window to close, as its close button does. The program may ask its user first, or decline. A window that \
      cannot be asked, but only be killed, is refused with NotSupported.
      """)

  public static let activate = Method(
    name, "Activate", in: window, doc: "Brings the window into view and gives it the focus of the keyboard.")

  public static let hide = Method(
    name, "Hide", in: window, doc: "Takes the window from the screen; its program is not told to do anything.")

  public static let show = Method(
    name, "Show", in: window, doc: "Shows a hidden window again, as it was before: tiled, if it was tiled.")

  public static let moveToOutput = Method(
    name, "MoveToOutput", in: window, Arg<String>("output", doc: "One of Outputs."),
    doc: "Moves the window to what is in view on that output. The focus stays where it is.")

  public static let summon = Method(
    name, "Summon", in: window,
    doc: """
      Brings the window to its user: to the workspace that is in view on the output with the focus. It is shown there if it was \
      hidden, and gets the focus of the keyboard. A floating window stays one.
      """)

  public static let place = Method(
    name, "Place", in: window,
    Arg<Properties>("options", doc: "Where and how it is to be shown; what is left out stays as it is."),
    doc: """
      Shows the window where and as the options say, once: what its user moves later stays. It is wholly in the usable area of its \
      output, if that is large enough. Options:
      \(WindowPlacement.Options.table.doc)
      """)

  public static let expect = Method(
    name, "Expect",
    in: Arg<String>(
      "presentation", doc: "The \(CoordinatorNames.presentationVariable) of a program that is about to start."),
    Arg<Properties>(
      "options", doc: "Those of Place, and what is known of the window; none if it is no longer expected."),
    doc: """
      Announces a window: the first one of a program with this variable in its environment. It is shown as the options say as \
      soon as it opens, before it has a title or is told. So what its user types meanwhile goes where it went before. Place \
      follows, once the coordinator knows that it is the item's. Options besides those of Place:
      \(ExpectedWindow.Options.table.doc)
      """)
}

// MARK: Signals

extension WindowSystemInterface {
  public static let opened = Signal(
    name, "Opened", window, Arg<Properties>("properties", doc: "Its known properties."), serial,
    doc: "A window has opened. It is sent with the first title, or soon without one.")

  public static let changed = Signal(
    name, "Changed", window, Arg<Properties>("changed", doc: "The keys that have changed; the others stay."), serial,
    doc: "Properties of a window have changed.")

  public static let closed = Signal(name, "Closed", window, serial, doc: "The window is gone.")
}

// MARK: Properties

extension WindowSystemInterface {
  public static let capabilities = Property<[String]>(
    name, "Capabilities",
    doc: """
      The requests that work here (close, activate, hide, move, summon, place, expect), fullscreen if Place does that, and the keys of \
      windows that the adapter knows (pid, parent, output, focus, in-view, startup-id). Without place, Place does nothing else. A \
      request that the protocol has but the compositor ignores is not among them. With behind, a window opens behind the one that is \
      fullscreen on its workspace, and stays there until it is raised or fullscreen itself.
      """)
  public static let outputs = Property<[String]>(
    name, "Outputs",
    doc: "The names of the outputs. An unplugged output leaves this list before the windows on it change.")
  public static let focusedOutput = Property<String>(
    name, "FocusedOutput", doc: "The output that has the focus; empty if it is not known.")
  public static let backend = Property<String>(
    name, "Backend",
    doc: "How the windows are known: sway, hyprland, niri, plasma, wlr, x11, or another word of the adapter's.")
  public static let displays = Property<[String]>(
    name, "Displays",
    doc: """
      The display of which the adapter tells the windows, as programs find it: what WAYLAND_DISPLAY and DISPLAY are there. Items \
      that were asked for on another display are followed by the adapter of that display, and shown as without an adapter if \
      there is none. Absent or empty: that of every item.
      """)
}

// MARK: Events

extension WindowEvent {
  /// Reads a signal of ``WindowSystemInterface``. Properties that are not in the contract are left out.
  /// - Returns: nil for any other message.
  /// - Throws: `InvalidArgs` if the arguments are not those of the contract.
  public init?(_ message: Message) throws(DBusError) {
    typealias Rows = WindowSystemInterface
    guard message.kind == .signal, message.interface == Rows.name, let member = message.member else { return nil }
    switch member {
    case Rows.opened.name:
      let (id, properties, serial) = try Rows.opened.arguments(of: message)
      self.init(.opened(Window(id: id, WindowProperties(reading: properties))), serial: serial)
    case Rows.changed.name:
      let (id, changed, serial) = try Rows.changed.arguments(of: message)
      self.init(.changed(id: id, WindowProperties(reading: changed)), serial: serial)
    case Rows.closed.name:
      let (id, serial) = try Rows.closed.arguments(of: message)
      self.init(.closed(id: id), serial: serial)
    default: return nil
    }
  }

  /// Sends the event as its signal.
  package func send(by emitter: borrowing some SignalEmitter) {
    typealias Rows = WindowSystemInterface
    switch kind {
    case .opened(let window): emitter.emit(Rows.opened, (window.id, window.properties.properties, serial))
    case .changed(let id, let changed): emitter.emit(Rows.changed, (id, changed.properties, serial))
    case .closed(let id): emitter.emit(Rows.closed, (id, serial))
    }
  }
}
