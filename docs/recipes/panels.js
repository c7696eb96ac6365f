#!/usr/bin/gjs -m
// A shell in JavaScript: two panels that slide in and out, and a display of the volume, drawn with GTK and gtk-layer-shell.
//
//   $ sudo apt install gjs gir1.2-gtk-3.0 gir1.2-gtklayershell-0.1
//   $ gjs -m panels.js                                 # beside navd.js
//   $ navctl toggle calendar                           # a second one slides in when the first has slid out
//   $ navctl open osd --timeout 2s --value text=40%
import Gtk from "gi://Gtk?version=3.0"
import Gdk from "gi://Gdk?version=3.0"
import GtkLayerShell from "gi://GtkLayerShell?version=0.1"
import * as navd from "./navd.js"

const { Edge, Layer } = GtkLayerShell
const style = `
  window { background: transparent }
  .calendar { background: #b03030 }
  .mixer { background: #3050b0 }
  .osd { background: #30a050 }
`

/** A window at an edge of the screen, whose content slides. */
class Panel {
  constructor(name, edges, transition) {
    this.shown = null // the number of the presentation
    this.window = new Gtk.Window()
    GtkLayerShell.init_for_window(this.window)
    GtkLayerShell.set_layer(this.window, Layer.TOP)
    for (const edge of edges) GtkLayerShell.set_anchor(this.window, edge, true)
    this.window.set_visual(Gdk.Screen.get_default().get_rgba_visual())
    this.window.set_size_request(300, 200)
    this.label = new Gtk.Label({ label: name, width_request: 300, height_request: 200 })
    this.label.get_style_context().add_class(name)
    this.revealer = new Gtk.Revealer({ child: this.label, transition_type: transition, transition_duration: 250 })
    // Only as large as what has slid in.
    this.revealer.halign = this.revealer.valign = Gtk.Align.END
    this.revealer.connect("notify::child-revealed", () => this.settled())
    this.window.add(this.revealer)
  }

  call(call, shell) {
    this.shell = shell
    const text = call.item?.value?.text
    if (text) this.label.label = text
    if (call.call === "present") {
      if (this.revealer.child_revealed) return this.settled() // navd was restarted
      this.window.show_all()
      this.revealer.reveal_child = true
    } else if (call.call === "dismiss") {
      if (!call.animated) this.revealer.transition_duration = 0
      this.revealer.reveal_child = false
    }
  }

  /** Answers when it has slid in or out. */
  settled() {
    if (this.revealer.reveal_child) return this.shell.say({ presented: this.shown })
    this.window.hide()
    this.window.get_display().sync() // the compositor has removed it
    this.revealer.transition_duration = 250
    this.shell.say({ dismissed: this.shown })
  }
}

/** Shows what is opened under the names of these panels. */
function serve(panels, ...options) {
  const shell = navd.presenter(Object.keys(panels), (call) => {
    if (call.call === "present") panels[call.destination].shown = call.presentation
    Object.values(panels).find((panel) => panel.shown === call.presentation)?.call(call, shell)
  }, ...options)
}

Gtk.init(null)
const css = new Gtk.CssProvider()
css.load_from_data(style)
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)
const { SLIDE_LEFT, SLIDE_UP } = Gtk.RevealerTransitionType
const corner = [Edge.TOP, Edge.RIGHT]
serve({ calendar: new Panel("calendar", corner, SLIDE_LEFT), mixer: new Panel("mixer", corner, SLIDE_LEFT) }, "--group", "panels")
serve({ osd: new Panel("osd", [Edge.BOTTOM], SLIDE_UP) })
Gtk.main()
