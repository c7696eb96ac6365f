#!/usr/bin/python3
"""A presenter: a program that shows items itself. It needs only Gio, and the interface file that navd installs.

    $ sudo apt install python3-gi
    $ python3 presenter.py board                             # shows the items of “board”: as lines, where you would draw
    $ navctl present note 1 --to board --value text=Hello    # in another terminal
    $ navctl update note text=Bye
    $ navctl dismiss note

Enter closes the last item, as its user would. Without an argument it waits for calls: then a destination file names
it (bus = { name = "org.example.Board", path = "/presenter" }), and the bus starts it.
"""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
gi.require_version("GLib", "2.0")
from gi.repository import Gio, GLib

COORDINATOR = ("org.navd.Coordinator1", "/org/navd/Coordinator1", "org.navd.Coordinator1")
shown = {}  # the items on the screen, by handle


def present(handle, binding, id, item):
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
    answer = {"Present": present, "Update": update, "Dismiss": dismiss}[method](*arguments.unpack())
    # navd waits for this reply: the item is on the screen, or it is gone.
    invocation.return_value(None if answer is None else GLib.Variant("(a{sv})", (answer,)))


def close_last(source, condition, connection):
    line = sys.stdin.readline()
    if line and shown:
        handle, what = shown.popitem()
        print("x", what, flush=True)
        connection.call_sync(*COORDINATOR, "Closed", GLib.Variant("(oa{sv})", (handle, {})), None, 0, -1, None)
    return bool(line)


def main():
    data = [GLib.get_user_data_dir(), *GLib.get_system_data_dirs()]
    files = [f"{directory}/dbus-1/interfaces/org.navd.Presenter1.xml" for directory in data]
    xml = open(next(filter(os.path.exists, files))).read()
    connection = Gio.bus_get_sync(Gio.BusType.SESSION)
    connection.register_object("/presenter", Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], called)
    Gio.bus_own_name_on_connection(connection, "org.example.Board", Gio.BusNameOwnerFlags.NONE)
    for destination in sys.argv[1:]:
        registration = GLib.Variant("(soa{sv})", (destination, "/presenter", {}))
        Gio.bus_watch_name_on_connection(  # registers with each navd, also after a restart
            connection, COORDINATOR[0], Gio.BusNameWatcherFlags.AUTO_START,
            lambda *_: connection.call(*COORDINATOR, "RegisterPresenter", registration, None, 0, -1), None)
    GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, close_last, connection)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
