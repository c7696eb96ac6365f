import TestSupport

/// A server that imitates Hyprland's two sockets under the control of a test.
final class FakeHyprland: ScriptedServer, ScriptedCompositor {
  /// The script has one monitor and a window with the title `first`; all requests succeed, and each command is printed. Like versions
  /// before 0.56, it serves one request after the other, and waits for the end of each. For ``tell(_:)``: `window(address, title)`
  /// describes a window, `event(name, data)` is an event, `send(bytes)` sends any bytes.
  private static let script = """
    import json
    def workspace(number): return dict(address=str(number), id=number, type="normal", name=str(number))
    special = dict(address="special:navd", type="special", name="special:navd")
    def window(address, title, **more):
        return {**dict(address=hex(address), mapped=True, workspace=workspace(1), floating=False, monitor=0, title=title, pid=1,
            pinned=False, fullscreen=0, grouped=[], tags=[], stableId=format(0x18000000 + address, "x"), at=[0.5, 1], size=[640, 480]),
            "class": "fake", **more}
    def monitor(number, name, **more):
        return dict(dict(id=number, name=name, activeWorkspace=workspace(number + 1), focused=number == 0,
            specialWorkspace=dict(address="", type="", name=""), refreshRate=60.00000,
            width=2560, height=1440, x=1280 * number, y=0, scale=2.00, transform=0, reserved=[0, 30, 0, 0]), **more)
    windows = [window(8, "first")]
    monitors = [monitor(0, "FAKE-1"), monitor(1, "FAKE-2")]
    active = lambda: {}
    status = lambda: json.dumps(dict(configProvider="lua" if lua else "hyprlang"))
    dispatched = lambda command: "ok"
    clients = lambda: json.dumps(windows, indent=4)
    streams = []
    def send(bytes):
        with lock:
            for stream in streams: stream.sendall(bytes)
    def event(name, data): send(f"{name}>>{data}".encode()[:1024 + len(name) + 2].replace(b"\\n", b" ") + b"\\n")
    def answer(request):
        if request.startswith("[[BATCH]]"): return "\\n\\n\\n".join(answer(part) for part in request[9:].split(";"))
        if request == "j/status": return status()
        if request == "j/monitors": return json.dumps(monitors, indent=4)
        if request == "j/clients": return clients()
        if request == "j/activewindow": return json.dumps(active())
        print(request.removeprefix("/dispatch "), flush=True)
        return dispatched(request)
    def handle(connection):
        request = b""
        while len(part := connection.recv(1023)) > 0:
            request += part
            if len(part) < 1023: break
        connection.sendall(answer(request.decode()).encode())
        connection.close()
    events = socket.socket(socket.AF_UNIX)
    events.bind(sys.argv[1].replace(".socket.", ".socket2."))
    events.listen()
    def follow():
        while True: streams.append(events.accept()[0])
    def serve():
        streams.append(events.accept()[0])
        threading.Thread(target=follow, daemon=True).start()
        handle(connection)
        while True: handle(server.accept()[0])
    """

  private static let instance = "fake_1795710765_731092797"

  /// - Parameters:
  ///   - lua: whether the configuration is in Lua, and not in hyprland.conf.
  ///   - lines: more lines of Python, which run before the server serves.
  init(_ session: Session, lua: Bool = true, _ lines: String = "") throws {
    try super.init(
      session, script: "lua = \(lua ? "True" : "False")\n" + Self.script + "\n" + lines,
      socket: "hypr/\(Self.instance)/.socket.sock")
  }

  /// The variables by which the adapter finds the server.
  var variables: [String: String] {
    ["HYPRLAND_INSTANCE_SIGNATURE": Self.instance, "XDG_RUNTIME_DIR": session.path("")]
  }
}
