"""Requests to wayfire by its socket: messages of JSON, each after its length."""
import json
import os
import socket
import struct
import sys


def ask(method, **data):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ["WAYFIRE_SOCKET"])
        text = json.dumps({"method": method, "data": data}).encode()
        connection.sendall(struct.pack("<I", len(text)) + text)
        with connection.makefile("rb") as stream:
            return json.loads(stream.read(struct.unpack("<I", stream.read(4))[0]))


verb, *words = sys.argv[1:]
if verb == "windows":
    for view in ask("window-rules/list-views"):
        if view["role"] == "toplevel" and view["mapped"]:
            print(json.dumps({
                "id": str(view["id"]), "app-id": view["app-id"], "title": view["title"], "output": view["output-name"],
                "focused": view["activated"], "hidden": view["minimized"], "pid": view["pid"]}))
elif verb == "close":
    ask("window-rules/close-view", id=int(words[0]))
elif verb == "focus":
    ask("window-rules/focus-view", id=int(words[0]))
elif verb == "minimize":
    if words:
        ask("wm-actions/set-minimized", view_id=int(words[0]), state=True)
elif verb == "workspace":
    output = ask("window-rules/get-focused-output")["info"]
    if words:
        ask("vswitch/set-workspace", **{"x": int(words[0]) - 1, "y": 0, "output-id": output["id"]})
        output = ask("window-rules/get-focused-output")["info"]
    print(output["workspace"]["x"] + 1)
else:
    sys.exit(3)
