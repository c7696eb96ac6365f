// navd for Quickshell. Copy this file beside your shell.qml; it needs navctl, and nothing else. It was run with
// Quickshell 0.3.2, and is tested on Qt 6.4 with a stand-in for Quickshell's own types.
//
//   Navd {
//     id: navd
//     group: "panels"                        // the state of this group; all of it without
//     names: ["calendar", "mixer"]           // what this shell shows
//     options: ["--group", "panels"]
//     onPresented: call => (call.destination === "calendar" ? calendar : mixer).slideIn(() => say({ presented: call.presentation }))
//     onUpdated: call => …                   // call.item.value, call.item.title, …
//     onDismissed: call => panelOf(call.presentation).slideOut(() => say({ dismissed: call.presentation }))
//   }
//
//   Button { text: navd.selection === "calendar" ? "[Calendar]" : "Calendar"; onClicked: navd.toggle("calendar") }
//
// navd waits for each answer, so a panel slides in when the one before it has slid out. `navctl help presenter` lists all lines.
import QtQuick
import Quickshell
import Quickshell.Io

Scope {
  id: root

  /** The group whose state this is; all groups if it is empty. */
  property string group: ""
  /** What is opened under these names is shown here. */
  property var names: []
  /** Options of navctl presenter, e.g. ["--group", "panels", "--grace", "3s"]. */
  property var options: []

  /** The state as navctl prints it: an object with presentations, groups and stacks. */
  property var state: ({ presentations: [], groups: {}, stacks: {} })
  /** The open member of the group; empty if none is. */
  readonly property string selection: state.groups?.[group]?.selection ?? ""

  /** Calls of navd: objects with presentation, and for presented binding, id, destination and item. Answer each with say. */
  signal presented(var call)
  signal updated(var call)
  signal dismissed(var call)

  /** Writes an answer or a report, such as { presented: 17 } or { closed: 17 }. */
  function say(line) { presenter.write(JSON.stringify(line) + "\n") }

  /** Runs navctl, and does not wait for it. */
  function navctl(args) { Quickshell.execDetached(["navctl", ...args]) }

  /** Opens what has this name, or closes it. */
  function toggle(name) { navctl(["toggle", name]) }

  Process {
    running: true
    command: ["navctl", "watch"].concat(root.group ? ["--group", root.group] : [])
    stdout: SplitParser { onRead: line => root.state = JSON.parse(line) }
  }

  Process {
    id: presenter
    running: root.names.length > 0
    command: ["navctl", "presenter", ...root.names, ...root.options]
    stdinEnabled: true
    stdout: SplitParser {
      onRead: line => {
        const call = JSON.parse(line)
        if (call.call === "present") root.presented(call)
        else if (call.call === "update") root.updated(call)
        else root.dismissed(call)
      }
    }
  }
}
