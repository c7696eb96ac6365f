import TestSupport

/// A Wayland compositor that offers only an output and the windows of `wlr-foreign-toplevel-management-unstable-v1`, under the
/// control of a test.
final class FakeWlr: ScriptedServer {
  /// The script for ``tell(_:)``: `opened(title, parent)` opens a window and returns its number, `closed(window)` closes it,
  /// `minimized(window, True)` minimizes it as its user does, and `entered(window)` reports that it is on the output. With
  /// `fills = False`, a request for a fullscreen window is ignored.
  private static let script = """
    import struct
    def event(object, opcode, *arguments):
        body = b""
        for argument in arguments:
            if isinstance(argument, str):
                text = argument.encode() + b"\\0"
                body += struct.pack("=I", len(text)) + text + bytes(-len(text) % 4)
            else:
                body += struct.pack("=I", argument)
        with lock: connection.sendall(struct.pack("=II", object, len(body) + 8 << 16 | opcode) + body)
    last = 0xFEFFFFFF
    fills = True
    def title(window, text):
        event(window, 0, text)
        event(window, 5)
    def opened(text, parent=0):
        global last
        last += 1
        event(manager, 0, last)
        event(last, 1, "fake")
        event(last, 7, parent)
        title(last, text)
        return last
    def closed(window): event(window, 6)
    def minimized(window, isSo):
        event(window, 4, *([4, 1] if isSo else [0]))
        event(window, 5)
    def entered(window):
        event(window, 2, output)
        event(window, 5)
    def serve():
        global manager, output
        registry = 0
        questions = 0
        while head := connection.recv(8, socket.MSG_WAITALL):
            object, length = struct.unpack("=II", head)
            body = connection.recv((length >> 16) - 8, socket.MSG_WAITALL)
            new = struct.unpack("=I", body[-4:])[0] if body else 0
            if object == 1 and length & 0xFFFF == 0:
                questions += 1
                if questions > answers:
                    print("asked", flush=True)
                    continue
                event(new, 0, 0)
                event(1, 1, new)
            elif object == 1:
                registry = new
                event(registry, 0, 1, "zwlr_foreign_toplevel_manager_v1", 3)
                event(registry, 0, 2, "wl_output", 4)
            elif object == registry and body[0] == 1:
                manager = new
            elif object == registry:
                output = new
                event(output, 4, "FAKE-1")
                event(output, 2)
            elif object > 0xFEFFFFFF and length & 0xFFFF in (2, 3):
                minimized(object, length & 0xFFFF == 2)
            elif object > 0xFEFFFFFF and length & 0xFFFF == 8 and fills:
                event(object, 4, 4, 3)
                event(object, 5)
    """

  /// - Parameter answers: the number of requests that are answered; at the next one, the server prints “asked”.
  init(_ session: Session, answers: Int = .max) throws {
    try super.init(session, script: "answers = \(answers)\n" + Self.script)
  }
}
