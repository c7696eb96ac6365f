#!/usr/bin/python3
"""A presenter: a program that shows items itself. It needs only Gio, and the interface file that navd installs.

    $ sudo apt install python3-gi
    $ python3 presenter.py board                             # shows the items of “board”: as lines, where you would draw
    $ navctl open note 1 --to board --value text=Hello    # in another terminal
    $ navctl update note text=Bye
    $ navctl close note

With --serve NAME:=JSON others need to know only the name: the JSON says what the program accepts there (Serve in docs/dbus.md), navd
refuses everything else and says what was expected, and gives each tag of a group and each element of a path its place.

    $ python3 presenter.py board --serve 'board.note:={"id": "Int", "value": "{text: String}"}'
    $ navctl open board.note 1 --value text=Hello
    $ navctl open board.note 2 --value text:=7            # expected text: String, found 7

Enter closes the last item, as its user would. Without an argument it waits for calls: then a destination file names
it (bus = { name = "org.example.Board", path = "/presenter" }), and the bus starts it.
"""
import json
import os
import sys

import gi

gi.require_version("Gio", "2.0")
gi.require_version("GLib", "2.0")
from gi.repository import Gio, GLib

COORDINATOR = ("org.navd.Coordinator1", "/org/navd/Coordinator1", "org.navd.Coordinator1")
shown = {}  # the items on the screen, by handle


def present(handle, binding, id, item):
    if item.get("value", {}).get("text") == "":
        raise ValueError("expected a text that is not empty")
    shown[handle] = f"{binding} {id}"
    # After a restart navd presents items again that are still on the screen.
    print("=" if item.get("restored") else "+", shown[handle], item.get("value", {}), flush=True)


def update(handle, item):
    if handle in shown:  # its user may just have closed it
        print("~", shown[handle], item.get("value", {}), flush=True)


def dismiss(handle, reason, options):  # options: animated, forced; see editor.py for one that declines
    if handle in shown:
        print("-", shown.pop(handle), reason, flush=True)
    return {"answer": GLib.Variant("s", "bye")}  # for clients that wait


def called(connection, sender, path, interface, method, arguments, invocation):
    try:
        answer = {"Present": present, "Update": update, "Dismiss": dismiss}[method](*arguments.unpack())
    except ValueError as error:  # what the types do not tell: the item fails, with this reason
        return invocation.return_dbus_error("org.example.Board.Error", str(error))
    # navd waits for this reply: the item is on the screen, or it is gone.
    invocation.return_value(None if answer is None else GLib.Variant("(a{sv})", (answer,)))


def close_last(source, condition, connection):
    line = sys.stdin.readline()
    if line and shown:
        handle, what = shown.popitem()
        print("x", what, flush=True)
        connection.call_sync(*COORDINATOR, "Closed", GLib.Variant("(oa{sv})", (handle, {})), None, 0, -1, None)
    return bool(line)


def variant(value):
    """The types of a declaration: text, a truth value, or a dictionary of texts."""
    if isinstance(value, dict):
        return GLib.Variant("a{ss}", value)
    return GLib.Variant("b" if isinstance(value, bool) else "s", value)


def ask(connection, method, arguments):
    """Calls navd, and writes why it refuses, and what it expected."""

    def answered(connection, result):
        try:
            taken = connection.call_finish(result).unpack()
            for binding in taken[0] if taken else []:
                print(f"{binding}: another program shows it already", file=sys.stderr, flush=True)
        except GLib.Error as error:
            why = error.message.removeprefix(f"GDBus.Error:{Gio.DBusError.get_remote_error(error)}: ")
            print(f"refused: {why}", file=sys.stderr, flush=True)

    connection.call(*COORDINATOR, method, arguments, None, 0, -1, None, answered)


def main():
    data = [GLib.get_user_data_dir(), *GLib.get_system_data_dirs()]
    files = [f"{directory}/dbus-1/interfaces/org.navd.Presenter1.xml" for directory in data]
    xml = open(next(filter(os.path.exists, files))).read()
    connection = Gio.bus_get_sync(Gio.BusType.SESSION)
    connection.register_object("/presenter", Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], called)
    Gio.bus_own_name_on_connection(connection, "org.example.Board", Gio.BusNameOwnerFlags.NONE)
    words = sys.argv[1:]
    options = words.index("--serve") if "--serve" in words else len(words)
    destinations, served = words[:options], {}
    for text in words[options + 1 :: 2]:
        binding, accepts = text.split(":=", 1)
        served[binding] = {key: variant(value) for key, value in json.loads(accepts).items()}

    def register(*_):
        for destination in destinations:
            ask(connection, "RegisterPresenter", GLib.Variant("(soa{sv})", (destination, "/presenter", {})))
        if served:
            ask(connection, "Serve", GLib.Variant("(sa(sa{sv}))", (destinations[0], list(served.items()))))

    # Registers with each navd, also after a restart.
    Gio.bus_watch_name_on_connection(
        connection, COORDINATOR[0], Gio.BusNameWatcherFlags.AUTO_START, register, None)
    GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, close_last, connection)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
