#!/usr/bin/python3
"""An editor that asks “Save the changes?” before it closes, and may stay: a presenter that declines (rules P15, P16).

    $ sudo apt install python3-gi gir1.2-gtk-3.0
    $ python3 editor.py editor --group panels          # shows the items of “editor”, in the group “panels”
    $ navctl open editor --value file=notes.txt     # in another terminal; type something
    $ navctl select panels mixer                       # it asks: Return saves, Alt+D discards, Escape stays
    $ navctl select panels mixer --force               # it does not ask

It needs GTK 3 and the interface file that navd installs.
"""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
gi.require_version("GLib", "2.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gio, GLib

GLib.set_prgname("editor")  # the name of the windows
from gi.repository import Gtk

COORDINATOR = ("org.navd.Coordinator1", "/org/navd/Coordinator1", "org.navd.Coordinator1")
DECLINED = "org.navd.Error.Declined"


class Editor:
    def __init__(self, connection, handle, item, shown):
        self.connection, self.handle = connection, handle
        self.file = item.get("value", {}).get("file")
        self.question, self.calls = None, []
        self.window = Gtk.Window(title="Editor")
        text = Gtk.TextView()
        self.buffer = text.get_buffer()
        if self.file and os.path.exists(self.file):
            self.buffer.set_text(open(self.file).read())
        self.buffer.set_modified(False)
        self.buffer.connect("modified-changed", lambda buffer: self.window.set_title("Editor (not saved)"))
        self.window.add(text)
        self.window.connect("map-event", lambda *_: shown())
        self.window.connect("delete-event", self.closed)
        self.window.show_all()

    def dismiss(self, call, forced):
        """Answers when the window is gone, or when its user keeps it."""
        self.calls.append(call)
        if forced or not self.buffer.get_modified():
            self.end()
        elif not self.question:
            self.ask()

    def ask(self):
        message = "Save the changes?"
        self.question = Gtk.MessageDialog(transient_for=self.window, modal=True, text=message)
        answers = Gtk.ResponseType
        self.question.add_buttons("_Stay", answers.CANCEL, "_Discard", answers.REJECT, "_Save", answers.ACCEPT)
        self.question.set_default_response(Gtk.ResponseType.ACCEPT)
        self.question.connect("response", self.answered)
        self.question.show()
        # navd waits for as long as its user thinks.
        tell(self.connection, "Asking", GLib.Variant("(os)", (self.handle, message)))

    def answered(self, question, response):
        question.destroy()
        self.question = None
        if response == Gtk.ResponseType.ACCEPT:
            self.save()
            self.end()
        elif response == Gtk.ResponseType.REJECT:
            self.end()
        else:
            for call in self.calls:
                call.return_dbus_error(DECLINED, "The text is not saved.")
            self.calls = []

    def save(self):
        start, end = self.buffer.get_bounds()
        with open(self.file, "w") as file:
            file.write(self.buffer.get_text(start, end, True))

    def end(self):
        if self.question:
            self.question.destroy()
        self.window.destroy()
        for call in self.calls:
            call.return_value(GLib.Variant("(a{sv})", ({},)))
        editors.pop(self.handle, None)

    def closed(self, window, event):
        tell(self.connection, "Closed", GLib.Variant("(oa{sv})", (self.handle, {})))
        editors.pop(self.handle, None)


editors = {}


def tell(connection, method, arguments):
    connection.call(*COORDINATOR, method, arguments, None, 0, -1)


def called(connection, sender, path, interface, method, arguments, call):
    handle, *rest = arguments.unpack()
    if method == "Present":
        if handle in editors:  # navd was restarted, and the window is still there
            return call.return_value(None)
        editors[handle] = Editor(connection, handle, rest[2], lambda: call.return_value(None))
    elif method == "Dismiss":
        if handle in editors:
            editors[handle].dismiss(call, rest[1].get("forced", False))
        else:
            call.return_value(GLib.Variant("(a{sv})", ({},)))
    else:
        call.return_value(None)


def main(destination, group=None):
    data = [GLib.get_user_data_dir(), *GLib.get_system_data_dirs()]
    files = [f"{directory}/dbus-1/interfaces/org.navd.Presenter1.xml" for directory in data]
    xml = open(next(filter(os.path.exists, files))).read()
    connection = Gio.bus_get_sync(Gio.BusType.SESSION)
    connection.register_object("/presenter", Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], called)
    options = {"group": GLib.Variant("s", group)} if group else {}
    registration = GLib.Variant("(soa{sv})", (destination, "/presenter", options))
    Gio.bus_watch_name_on_connection(  # registers with each navd, also after a restart
        connection, COORDINATOR[0], Gio.BusNameWatcherFlags.AUTO_START,
        lambda *_: tell(connection, "RegisterPresenter", registration), None)
    Gtk.main()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3] if sys.argv[2:3] == ["--group"] else None)
