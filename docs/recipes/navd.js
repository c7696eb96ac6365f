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
// What others may open by a name alone, with the types of ids and values. navd refuses everything else, and says what was expected:
//
//   const serves = { "shop.item": { id: "Int", value: "{count: Int}" }, "shop.tab.list": { group: "shop.tab" } }
//   const shell = navd.presenter(["shop"], called, ...navd.serving(serves))
//   navd.navctl("present", "shop.item", "3", "--value", "count=many")
//     .catch((refusal) => print(refusal.message))      // present shop.item: “shop.item”: expected count: Int, found “many”
//
// A value that the types do not tell is refused by the program: shell.say({ failed: 17, error: "expected a name" }).
//
// navd waits for each answer, so a panel slides in when the one before it has slid out. `navctl help presenter` lists all lines. If
// `navctl presenter` ends, what is shown is dismissed at once (`forced`, not `animated`), since navd ends it, too.
import Gio from "gi://Gio?version=2.0"
import GLib from "gi://GLib?version=2.0"

const { STDERR_PIPE, STDIN_PIPE, STDOUT_PIPE } = Gio.SubprocessFlags

/** A request has failed. The message says why, and what was expected; status is that of navctl. */
export class Refused extends Error {
  constructor(message, status) {
    super(message)
    this.status = status
  }
}

/** Runs navctl. The promise is of what it prints, and fails with Refused; of one that nothing catches, gjs logs no reason. */
export function navctl(...args) {
  const process = Gio.Subprocess.new(["navctl", ...args], STDOUT_PIPE | STDERR_PIPE)
  return new Promise((resolve, reject) => {
    process.communicate_utf8_async(null, null, (_, result) => {
      const [, output, error] = process.communicate_utf8_finish(result)
      const status = process.get_if_exited() ? process.get_exit_status() : null
      if (status === 0) resolve(output)
      else reject(new Refused(error.trim().replace("navctl: ", ""), status))
    })
  })
}

/** Opens what has this name, or closes it. If that fails, a line on standard error says why. */
export const toggle = (name, ...options) => navctl("toggle", name, ...options).catch(report)

/** Opens a member of a group, and so closes the one that is open. If that fails, a line on standard error says why. */
export const select = (group, tag, ...options) => navctl("select", group, tag, ...options).catch(report)

const report = (refusal) => printerr(`navctl: ${refusal.message}`)

/** Calls `changed` with the state: an object with `presentations`, `groups` and `stacks`; `running` is false without navd. */
export function watch(changed, ...filter) {
  read(Gio.Subprocess.new(["navctl", "watch", ...filter], STDOUT_PIPE), changed)
}

/** The options of `presenter` for what others may open by a name alone: the keys of Serve in docs/dbus.md, by names. */
export const serving = (serves) =>
  Object.entries(serves).flatMap(([name, accepts]) => ["--serve", `${name}:=${JSON.stringify(accepts)}`])

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
