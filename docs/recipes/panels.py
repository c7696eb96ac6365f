#!/usr/bin/python3
"""A shell in Python: two panels that slide in and out, and a display of the volume, drawn with GTK and gtk-layer-shell.

    $ sudo apt install python3-gi gir1.2-gtk-3.0 gir1.2-gtklayershell-0.1
    $ python3 panels.py                                 # beside navd.py
    $ navctl toggle calendar                            # a second one slides in when the first has slid out
    $ navctl open osd --timeout 2s --value text=40%
"""
import gi

gi.require_version("Gdk", "3.0")
gi.require_version("GLib", "2.0")
gi.require_version("Gtk", "3.0")
gi.require_version("GtkLayerShell", "0.1")
from gi.repository import Gdk, GLib, Gtk, GtkLayerShell

import navd

Edge, Slide = GtkLayerShell.Edge, Gtk.RevealerTransitionType
STYLE = b"""
  window { background: transparent }
  .calendar { background: #b03030 }
  .mixer { background: #3050b0 }
  .osd { background: #30a050 }
"""


class Panel:
    """A window at an edge of the screen, whose content slides."""

    def __init__(self, name, edges, transition):
        self.shown = self.shell = None  # the number of the presentation, and who wants an answer
        self.window = Gtk.Window()
        GtkLayerShell.init_for_window(self.window)
        GtkLayerShell.set_layer(self.window, GtkLayerShell.Layer.TOP)
        for edge in edges:
            GtkLayerShell.set_anchor(self.window, edge, True)
        self.window.set_visual(Gdk.Screen.get_default().get_rgba_visual())
        self.window.set_size_request(300, 200)
        self.label = Gtk.Label(label=name, width_request=300, height_request=200)
        self.label.get_style_context().add_class(name)
        self.revealer = Gtk.Revealer(child=self.label, transition_type=transition, transition_duration=250)
        # Only as large as what has slid in.
        self.revealer.set_halign(Gtk.Align.END)
        self.revealer.set_valign(Gtk.Align.END)
        self.revealer.connect("notify::child-revealed", lambda *_: self.settled())
        self.window.add(self.revealer)

    def call(self, call, shell=None):
        self.shell = shell
        text = call.get("item", {}).get("value", {}).get("text")
        if text:
            self.label.set_label(text)
        if call["call"] == "present":
            if self.revealer.get_child_revealed():  # navd was restarted
                return self.settled()
            self.window.show_all()
            self.revealer.set_reveal_child(True)
        elif call["call"] == "dismiss":
            if not call["animated"]:
                self.revealer.set_transition_duration(0)
            self.revealer.set_reveal_child(False)

    def settled(self):
        """Answers when it has slid in or out."""
        if self.revealer.get_reveal_child():
            return self.say(presented=self.shown)
        self.window.hide()
        self.window.get_display().sync()  # the compositor has removed it
        self.revealer.set_transition_duration(250)
        self.say(dismissed=self.shown)

    def say(self, **line):
        if self.shell:
            self.shell.say(**line)


def serve(panels, *options):
    """Shows what is opened under the names of these panels."""

    def called(call):
        if call["call"] == "present":
            panels[call["destination"]].shown = call["presentation"]
        for panel in panels.values():
            if panel.shown == call["presentation"]:
                panel.call(call, shell)

    shell = navd.Presenter(list(panels), called, *options)


def make_panels():
    css = Gtk.CssProvider()
    css.load_from_data(STYLE)
    Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)
    corner = [Edge.TOP, Edge.RIGHT]
    return {name: Panel(name, corner, Slide.SLIDE_LEFT) for name in ["calendar", "mixer"]}


if __name__ == "__main__":
    navd.run = GLib.idle_add
    serve(make_panels(), "--group", "panels")
    serve({"osd": Panel("osd", [Edge.BOTTOM], Slide.SLIDE_UP)})
    Gtk.main()
