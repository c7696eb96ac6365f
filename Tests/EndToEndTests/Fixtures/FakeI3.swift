import TestSupport

/// A server that speaks the protocol of sway, correctly or not, under the control of a test.
final class FakeI3: ScriptedServer {
  /// The script answers requests with an output, a window with the title `first`, and success. For ``tell(_:)``:
  /// `window(change, node(id, title))` is an event, `raw(type, bytes)` is any message.
  private static let script = """
    import json, struct
    def node(id, name, **more):
        return dict(dict(id=id, name=name, type="con", pid=1, app_id="fake", nodes=[], floating_nodes=[]), **more)
    windows = [node(8, "first")]
    def tree():
        workspace = dict(id=4, name="1", type="workspace", nodes=windows, floating_nodes=[])
        output = dict(id=3, name="FAKE-1", type="output", nodes=[workspace], floating_nodes=[])
        return dict(id=1, name="root", type="root", focus=[3], nodes=[output], floating_nodes=[])
    answers = {0: lambda: [dict(success=True)], 2: lambda: dict(success=True), 4: tree,
        3: lambda: [dict(name="FAKE-1", active=True)], 7: lambda: dict(variant="sway")}
    def raw(type, payload):
        with lock: connection.sendall(b"i3-ipc" + struct.pack("=II", len(payload), type) + payload)
    def window(change, container):
        raw(0x80000003, json.dumps(dict(change=change, container=container)).encode())
    def serve():
        while head := connection.recv(14, socket.MSG_WAITALL):
            length, type = struct.unpack("=II", head[6:])
            connection.recv(length, socket.MSG_WAITALL)
            raw(type, json.dumps(answers[type]()).encode())
    """

  init(_ session: Session) throws { try super.init(session, script: Self.script) }
}
