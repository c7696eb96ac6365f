#!/usr/bin/gjs -m
// Shows the dialogs of Swift programs with GTK, as the command of a destination. docs/swift.md has the file for it.
//
//   $ sudo apt install gjs gir1.2-gtk-3.0
//
// A destructive button looks like one, and the field for text has its prompt. Escape presses no button.
import Gtk from "gi://Gtk?version=3.0"
import Gdk from "gi://Gdk?version=3.0"
import Gio from "gi://Gio?version=2.0"
import GLib from "gi://GLib?version=2.0"

const [, input] = GLib.IOChannel.unix_new(0).read_to_end()
const { title, message, buttons, prompt, text } = JSON.parse(new TextDecoder().decode(input)).value

Gtk.init(null)
GLib.set_prgname("navd-dialog") // its app-id
Gdk.set_program_class("navd-dialog")
const dialog = new Gtk.MessageDialog({ title, text: title, secondary_text: message || null })
buttons.forEach((button, index) => {
  const style = dialog.add_button(button.title, index).get_style_context()
  if (button.role === "destructive") style.add_class("destructive-action")
})
const field = text === undefined ? null : new Gtk.Entry({ text, placeholder_text: prompt, activates_default: true })
if (field) dialog.message_area.pack_start(field, false, false, 0)
// Return presses the first button that does something.
dialog.set_default_response(buttons.findIndex(({ action }) => action !== undefined))
dialog.show_all()

const action = buttons[dialog.run()]?.action
if (action !== undefined) {
  // Before the dialog ends.
  const presentation = GLib.getenv("NAVD_PRESENTATION")
  const command = ["navctl", "act", presentation, action, `text=${field?.text ?? ""}`]
  Gio.Subprocess.new(command, Gio.SubprocessFlags.NONE).wait_check(null)
}
