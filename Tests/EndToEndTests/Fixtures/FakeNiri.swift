import TestSupport

/// A server that imitates niri's socket under the control of a test.
final class FakeNiri: ScriptedServer, ScriptedCompositor {
  /// The script reports one output, a workspace on it, and a window with the title `first`; all requests succeed, and each action is
  /// printed. For ``tell(_:)``: `window(id, title)` describes a window, `event(name, content)` is an event, `send(bytes)` sends any
  /// bytes.
  private static let script = """
    import json
    def window(id, title, **more):
        return dict(dict(id=id, title=title, app_id="fake", pid=1, workspace_id=1, is_focused=False, is_floating=False,
            is_urgent=False, layout=dict(tile_size=[1.5, 2.0], pos_in_scrolling_layout=[1, 1])), **more)
    def workspace(id, output, **more):
        return dict(dict(id=id, idx=1, name=None, output=output, is_urgent=False, is_active=True, is_focused=False,
            active_window_id=None), **more)
    windows = [window(8, "first")]
    workspaces = [workspace(1, "FAKE-1", is_focused=True)]
    streams = []
    answer = lambda action: dict(Ok="Handled")
    def send(bytes):
        with lock:
            for stream in streams: stream.sendall(bytes)
    def event(name, **content): send(json.dumps({name: content}).encode() + b"\\n")
    def handle(connection):
        line = connection.makefile().readline()
        request = json.loads(line)
        if request == "EventStream":
            lines = [dict(Ok="Handled"), dict(WorkspacesChanged=dict(workspaces=workspaces)),
                dict(WindowsChanged=dict(windows=windows)), dict(ConfigLoaded=dict(failed=False))]
            with lock:
                for line in lines: connection.sendall(json.dumps(line).encode() + b"\\n")
                streams.append(connection)
        else:
            print(json.dumps(request["Action"]), flush=True)
            connection.sendall(json.dumps(answer(request["Action"])).encode() + b"\\n")
            connection.close()
    def serve():
        handle(connection)
        while True: threading.Thread(target=handle, args=server.accept()[:1], daemon=True).start()
    """

  /// - Parameter lines: more lines of Python, which run before the server serves.
  init(_ session: Session, _ lines: String = "") throws {
    try super.init(session, script: Self.script + "\n" + lines)
  }

  /// The variables by which the adapter finds the server.
  var variables: [String: String] { ["NIRI_SOCKET": socket] }
}
