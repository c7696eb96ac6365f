import TestSupport

/// A window manager that speaks the protocol of sway, as well or as badly as the test asks.
final class FakeI3 {
  let session: Session
  let program: Program
  /// The path of its socket.
  let socket: String

  /// Answers requests with an output, a window with the title `first`, and success.
  private static let script = """
    import json, os, socket, struct, sys, threading
    path = sys.argv[1]
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    os.chmod(path, 0o777)
    print("ready", flush=True)
    def node(id, name, **more):
        return dict(dict(id=id, name=name, type="con", pid=1, app_id="fake", nodes=[], floating_nodes=[]), **more)
    windows = [node(8, "first")]
    def tree():
        workspace = dict(id=4, name="1", type="workspace", nodes=windows, floating_nodes=[])
        output = dict(id=3, name="FAKE-1", type="output", nodes=[workspace], floating_nodes=[])
        return dict(id=1, name="root", type="root", focus=[3], nodes=[output], floating_nodes=[])
    answers = {0: lambda: [dict(success=True)], 2: lambda: dict(success=True), 4: tree,
        3: lambda: [dict(name="FAKE-1", active=True)], 7: lambda: dict(variant="sway")}
    lock = threading.Lock()
    def raw(type, payload):
        with lock: connection.sendall(b"i3-ipc" + struct.pack("=II", len(payload), type) + payload)
    def window(change, container):
        raw(0x80000003, json.dumps(dict(change=change, container=container)).encode())
    def serve():
        while head := connection.recv(14, socket.MSG_WAITALL):
            length, type = struct.unpack("=II", head[6:])
            connection.recv(length, socket.MSG_WAITALL)
            raw(type, json.dumps(answers[type]()).encode())
    connection, _ = server.accept()
    threading.Thread(target=serve, daemon=True).start()
    while True:
        for line in open(sys.argv[2]):
            exec(line)
    """

  init(_ session: Session) throws {
    self.session = session
    socket = session.path("fake.socket")
    let pipe = session.path("fake.pipe")
    let made = try session.run(program: "/usr/bin/mkfifo", [pipe])
    guard made.exitCode == 0 else { throw Session.Failure(made.errorText) }
    let program = try session.start(program: "/usr/bin/python3", ["-c", Self.script, socket, pipe])
    self.program = program
    try session.wait("the window manager listens") { program.lines == ["ready"] || program.hasEnded }
  }

  /// Runs lines of Python in it: `window(change, node(id, title))` is an event, `raw(type, bytes)` any message.
  func tell(_ lines: String...) throws {
    try session.write(lines.map { $0 + "\n" }.joined(), to: "fake.lines")
    let run = try session.run(
      program: "/bin/sh", ["-c", "cat \"$1\" >\"$2\"", "sh", session.path("fake.lines"), session.path("fake.pipe")])
    guard run.exitCode == 0 else { throw Session.Failure(run.errorText) }
  }
}
