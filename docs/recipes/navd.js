// navd for a shell that runs on gjs: AGS, or one of your own like panels.js. Copy this file; it needs navctl, and nothing else.
//
//   import * as navd from "./navd.js"
//
//   navd.toggle("calendar")                            // for a button or a key
//   navd.watch((state) => …, "--group", "panels")      // the state as navctl prints it: now, and after each change
//
//   const shell = navd.presenter(["calendar", "mixer"], (call) => {
//     if (call.call === "present") slideIn(call, () => shell.say({ presented: call.presentation }))
//     if (call.call === "update") draw(call.item)
//     if (call.call === "dismiss") slideOut(call, () => shell.say({ dismissed: call.presentation }))
//   }, "--group", "panels")
//
//   shell.say({ closed: 17 })                          // its user has closed it
//
// navd waits for each answer, so a panel slides in when the one before it has slid out. `navctl help presenter` lists all lines. If
// `navctl presenter` ends, what is shown is dismissed at once (`forced`, not `animated`), since navd ends it, too.
import Gio from "gi://Gio?version=2.0"
import GLib from "gi://GLib?version=2.0"

const { STDIN_PIPE, STDOUT_PIPE } = Gio.SubprocessFlags

/** Runs navctl, and does not wait for it. Its errors are lines on standard error. */
export function navctl(...args) {
  Gio.Subprocess.new(["navctl", ...args], Gio.SubprocessFlags.NONE).wait_async(null, null)
}

/** Opens what has this name, or closes it. */
export const toggle = (name, ...options) => navctl("toggle", name, ...options)

/** Opens a member of a group, and so closes the one that is open. */
export const select = (group, tag, ...options) => navctl("select", group, tag, ...options)

/** Calls `changed` with the state: an object with `presentations`, `groups` and `stacks`; `running` is false without navd. */
export function watch(changed, ...filter) {
  read(Gio.Subprocess.new(["navctl", "watch", ...filter], STDOUT_PIPE), changed)
}

/**
 * Shows what is opened under these names. Calls `called` with each call of navd, an object with `call`, `presentation`, and for
 * "present" `binding`, `id`, `destination` and `item`. Answer with `say` of the result.
 */
export function presenter(names, called, ...options) {
  const process = Gio.Subprocess.new(["navctl", "presenter", ...names, ...options], STDIN_PIPE | STDOUT_PIPE)
  const output = process.get_stdin_pipe()
  const shown = new Set()
  let runs = true
  read(process, (call) => {
    if (call.call === "present") shown.add(call.presentation)
    if (call.call === "dismiss") shown.delete(call.presentation)
    called(call)
  }, () => {
    runs = false
    for (const presentation of shown) {
      called({ call: "dismiss", presentation, reason: "failed", animated: false, forced: true })
    }
  })
  return {
    say(line) {
      if (line.closed) shown.delete(line.closed)
      if (runs) output.write_all(new TextEncoder().encode(JSON.stringify(line) + "\n"), null)
    },
  }
}

/** Calls `take` with each line of a program, parsed, and `ended` after the last one. */
function read(process, take, ended = () => {}) {
  const input = new Gio.DataInputStream({ base_stream: process.get_stdout_pipe() })
  const next = () =>
    input.read_line_async(GLib.PRIORITY_DEFAULT, null, (_, result) => {
      const [line] = input.read_line_finish_utf8(result)
      if (line === null) return ended()
      next()
      take(JSON.parse(line))
    })
  next()
}
