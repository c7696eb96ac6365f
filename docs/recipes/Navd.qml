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
// What others may open by a name alone, with the types of ids and values. navd refuses everything else, and says what was expected:
//
//   Navd {
//     names: ["shop"]
//     serves: ({ "shop.item": { id: "Int", value: "{count: Int}" }, "shop.tab.list": { group: "shop.tab" } })
//     onRefused: message => …                // “present shop.item: “shop.item”: expected count: Int, found “many””
//   }
//
// navd waits for each answer, so a panel slides in when the one before it has slid out. `navctl help presenter` lists all lines. If
// `navctl presenter` ends, what is shown is dismissed at once (forced, not animated), since navd ends it, too.
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
  /** What others may open here by a name alone: the keys of Serve in docs/dbus.md, by names. */
  property var serves: ({})

  /** The state as navctl prints it: an object with presentations, groups and stacks. */
  property var state: ({ presentations: [], groups: {}, stacks: {} })
  /** The open member of the group; empty if none is. */
  readonly property string selection: state.groups?.[group]?.selection ?? ""

  /** Calls of navd: objects with presentation, and for presented binding, id, destination and item. Answer each with say. */
  signal presented(var call)
  signal updated(var call)
  signal dismissed(var call)
  /** A request of this shell was refused: why, and what was expected. */
  signal refused(string message)

  /** Writes an answer or a report, such as { presented: 17 } or { closed: 17 }. */
  function say(line) {
    if (line.closed) delete presenter.shown[line.closed]
    if (presenter.runs) presenter.write(JSON.stringify(line) + "\n")
  }

  /** Runs navctl, and does not wait for it. If it fails, `refused` says why. */
  function navctl(args) { request.createObject(root, { command: ["navctl", ...args] }) }

  /** Opens what has this name, or closes it. */
  function toggle(name) { navctl(["toggle", name]) }

  Component {
    id: request
    Process {
      id: process
      running: true
      stderr: SplitParser { onRead: line => root.refused(line.replace("navctl: ", "")) }
      onExited: Qt.callLater(() => process.destroy())
    }
  }

  Process {
    running: true
    command: ["navctl", "watch"].concat(root.group ? ["--group", root.group] : [])
    stdout: SplitParser { onRead: line => root.state = JSON.parse(line) }
  }

  Process {
    id: presenter
    property var shown: ({})
    property bool runs: true
    running: root.names.length > 0
    command: [
      "navctl", "presenter", ...root.names, ...root.options,
      ...[].concat(...Object.keys(root.serves).map(name => ["--serve", `${name}:=${JSON.stringify(root.serves[name])}`]))
    ]
    stdinEnabled: true
    stdout: SplitParser {
      onRead: line => {
        const call = JSON.parse(line)
        if (call.call === "present") {
          presenter.shown[call.presentation] = true
          root.presented(call)
        } else if (call.call === "update") {
          root.updated(call)
        } else {
          delete presenter.shown[call.presentation]
          root.dismissed(call)
        }
      }
    }
    onExited: {
      runs = false
      for (const number of Object.keys(shown)) {
        root.dismissed({ call: "dismiss", presentation: Number(number), reason: "failed", animated: false, forced: true })
      }
    }
  }
}
