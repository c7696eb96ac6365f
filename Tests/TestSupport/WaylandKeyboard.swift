/// A keyboard with an ordinary layout and a pointer on a Wayland desktop, which exist as long as this object.
///
/// GTK looks up keys such as Return by their place in the layout, and wtype creates a layout of its own for each key.
public final class WaylandKeyboard {
  private let session: Session
  private let program: Program
  private let keys: InputPipe
  private var count = 0

  /// - Throws: `Session.Failure`.
  public init(_ session: Session) throws {
    self.session = session
    try session.write(Self.script, to: "keyboard.py")
    keys = try InputPipe(session, "keys")
    program = try session.start(program: "/bin/sh", ["-c", "exec python3 -u \"$HOME/keyboard.py\" <\"$HOME/keys\""])
    try waitForLines(1)
  }

  /// Presses a key, given by its X name; “alt+” may precede it. Returns when the compositor has received it.
  public func press(_ key: String) throws {
    let codes = ["Return": 28, "Escape": 1, "Tab": 15, "Left": 105, "b": 48, "c": 46, "d": 32]
    let name = key.split(separator: "+").last.map(String.init) ?? ""
    guard let code = codes[name] else { throw Session.Failure("no code of the key \(key)") }
    try send("\(key.hasPrefix("alt+") ? "alt " : "")\(code)")
  }

  /// Moves the pointer to a point of a screen of 1280×720. Returns when the compositor has received it.
  public func point(_ x: Int, _ y: Int) throws { try send("point \(x) \(y)") }

  /// Clicks at the pointer. Returns when the compositor has received it.
  public func click() throws { try send("click") }

  private func send(_ text: String) throws {
    guard keys.write(text) else { throw Session.Failure("the keyboard has not taken “\(text)”") }
    count += 1
    try waitForLines(count + 1)
  }

  private func waitForLines(_ count: Int) throws {
    let program = program
    try session.wait("the keyboard has typed") { program.lines.count >= count || program.hasEnded }
    guard !program.hasEnded else { throw Session.Failure(program.errorText) }
  }

  /// A program that speaks the wire format of Wayland, because no tool in Debian types with an ordinary layout. It reads codes of evdev.
  private static let script = #"""
    import array, os, socket, struct, sys

    KEYMAP = b"""xkb_keymap { xkb_keycodes { include "evdev+aliases(qwerty)" }; xkb_types { include "complete" };
      xkb_compat { include "complete" }; xkb_symbols { include "pc+us+inet(evdev)" }; };\0"""
    DISPLAY = last = 1
    server = socket.socket(socket.AF_UNIX)
    server.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"]))

    def new():
        """The number of the next object; there may be no gaps."""
        global last
        last += 1
        return last

    def text(string):
        string = string.encode() + b"\0"
        return struct.pack("=I", len(string)) + string + b"\0" * (-len(string) % 4)

    def send(target, opcode, arguments=b"", descriptors=[]):
        message = struct.pack("=II", target, (8 + len(arguments)) << 16 | opcode) + arguments
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        server.sendmsg([message], ancillary)

    def sync(take=lambda *_: None):
        """Returns when the compositor has carried out all requests so far."""
        callback, data = new(), b""
        send(DISPLAY, 0, struct.pack("=I", callback))
        while True:
            data += server.recv(65536) or sys.exit("the compositor has left")
            while len(data) >= 8:
                target, word = struct.unpack_from("=II", data)
                size, opcode = word >> 16, word & 0xFFFF
                if len(data) < size:
                    break
                body, data = data[8:size], data[size:]
                if target == DISPLAY and opcode == 0:
                    sys.exit(f"the compositor refuses a request: {body[12:]}")
                if target == callback:
                    return
                take(target, opcode, body)

    names = {}

    def announced(target, opcode, body):
        if target == registry and opcode == 0:
            name, size = struct.unpack_from("=II", body)
            names[body[8 : 7 + size].decode()] = name

    def bind(interface):
        number = new()
        send(registry, 0, struct.pack("=I", names[interface]) + text(interface) + struct.pack("=II", 1, number))
        return number

    registry = new()
    send(DISPLAY, 1, struct.pack("=I", registry))
    sync(announced)
    seat, manager = bind("wl_seat"), bind("zwp_virtual_keyboard_manager_v1")
    keyboard = new()
    send(manager, 0, struct.pack("=II", seat, keyboard))
    pointers, pointer = bind("zwlr_virtual_pointer_manager_v1"), new()
    send(pointers, 0, struct.pack("=II", seat, pointer))
    file = os.memfd_create("keymap")
    os.write(file, KEYMAP)
    send(keyboard, 0, struct.pack("=II", 1, len(KEYMAP)), [file])
    sync()
    print("ready")
    BUTTON = 0x110
    for line in sys.stdin:
        words = line.split()
        if words[0] == "point":
            send(pointer, 1, struct.pack("=IIIII", 0, int(words[1]), int(words[2]), 1280, 720))
            send(pointer, 4)
        elif words[0] == "click":
            for state in (1, 0):
                send(pointer, 2, struct.pack("=III", 0, BUTTON, state))
                send(pointer, 4)
        if words[0] in ("point", "click"):
            sync()
            print("pointed", line.strip())
            continue
        *alt, code = line.split()
        send(keyboard, 2, struct.pack("=IIII", 8 if alt else 0, 0, 0, 0))
        for state in (1, 0):
            send(keyboard, 1, struct.pack("=III", 0, int(code), state))
        send(keyboard, 2, struct.pack("=IIII", 0, 0, 0, 0))
        sync()
        print("typed", line.strip())
    """#
}
