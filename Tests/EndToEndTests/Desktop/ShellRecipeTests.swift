import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The recipes for shells that draw panels themselves, by `navctl presenter`. The frames of the compositor are the judge.

private typealias Rows = CoordinatorInterface

/// A part of the screen as the compositor shows it at one instant.
private struct Frame {
  /// The number of pixels in the plain colour of each panel of `panels.py` and `panels.js`.
  let calendar: Int
  let mixer: Int
  let osd: Int

  init(_ session: Session, _ geometry: String) throws {
    let picture = try session.picture(geometry)
    // Three lines precede the pixels.
    var start = 0
    for _ in 1...3 { start = (picture[start...].firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1 }
    var counts = (calendar: 0, mixer: 0, osd: 0)
    picture.withUnsafeBufferPointer { bytes in
      var index = start
      while index + 2 < bytes.count {
        switch (bytes[index], bytes[index + 1], bytes[index + 2]) {
        case (0xb0, 0x30, 0x30): counts.calendar += 1
        case (0x30, 0x50, 0xb0): counts.mixer += 1
        case (0x30, 0xa0, 0x50): counts.osd += 1
        default: break
        }
        index += 3
      }
    }
    (calendar, mixer, osd) = counts
  }
}

/// A shell on headless sway.
private final class PanelShell {
  let session: Session
  let program: Program

  /// - Parameters:
  ///   - arguments: the command; `~/` in it is the directory of the recipes.
  ///   - names: the destinations that it registers.
  init(_ program: String, _ arguments: String..., names: [String], files: [String: String] = [:]) throws {
    var files = files
    for name in ["navd.js", "navd.py", "panels.js", "panels.py"] {
      files[name] = try Files.text(inPackage: "docs/recipes/\(name)")
    }
    let session = try Session(desktop: .sway, files: files)
    self.session = session
    self.program = try session.start(
      program: program, arguments.map { $0.hasPrefix("~/") ? session.path(String($0.dropFirst(2))) : $0 })
    let shell = self.program
    try session.poll("it is registered; \(shell.errorText)") {
      try Set(names).isSubset(of: session.call(Rows.destinations, ()).map(\.fields.0))
    }
  }

  /// The corner where the panels slide.
  func corner() throws -> Frame { try Frame(session, "980,0 300x200") }

  /// Takes frames while random panels are selected for ten seconds, or longer on a busy machine, until each has slid.
  func record() throws -> [Frame] {
    let seed = SeededNumbers.chosenSeed
    var numbers = SeededNumbers(seed: seed)
    var frames: [Frame] = []
    let start = ContinuousClock.now
    while ContinuousClock.now < start + .seconds(10)
      || !(Self.haveSlid(frames) || ContinuousClock.now > start + Session.limit)
    {
      if numbers.chance(0.1) {
        if numbers.chance(0.2) {
          _ = try session.call(Rows.deselect, ("panels", "", [:]))
        } else {
          _ = try session.call(Rows.select, ("panels", numbers.pick(["calendar", "mixer"]), [:]))
        }
      }
      frames.append(try corner())
    }
    #expect(program.status == nil && program.errorText == "", "NAVD_SEED=\(seed): \(program.errorText)")
    return frames
  }

  /// Whether both panels were seen, and one of them while it slid.
  private static func haveSlid(_ frames: [Frame]) -> Bool {
    let most = frames.map { max($0.calendar, $0.mixer) }.max() ?? 0
    return most > 40_000 && frames.contains { $0.calendar > 0 } && frames.contains { $0.mixer > 0 }
      && frames.contains { (1..<most * 9 / 10).contains(max($0.calendar, $0.mixer)) }
  }

  /// Requires that panels slid in and out, and that no frame has two of them.
  func check(_ frames: [Frame]) {
    let overlapping = frames.count { $0.calendar > 0 && $0.mixer > 0 }
    #expect(overlapping == 0, "of \(frames.count) frames \(overlapping) have two panels")
    #expect(Self.haveSlid(frames), "nothing slides in \(frames.count) frames")
  }

  func waitForPanel(_ tag: String) throws {
    _ = try session.call(Rows.select, ("panels", tag, [:]))
    try session.poll("\(tag) is shown; \(program.errorText)") {
      let frame = try corner()
      return min(frame.calendar, frame.mixer) == 0 && (tag == "calendar" ? frame.calendar : frame.mixer) > 40_000
    }
  }
}

@Test(
  "The recipes for shells in JavaScript and in Python: two panels that slide are never in one frame",
  arguments: [("/usr/bin/gjs", "panels.js"), ("/usr/bin/python3", "panels.py")])
func recipe_shell_panelsNeverOverlap(_ interpreter: String, _ script: String) throws {
  let options = interpreter.hasSuffix("gjs") ? "-m" : "-u"
  let shell = try PanelShell(interpreter, options, "~/\(script)", names: ["calendar", "mixer", "osd"])
  let session = shell.session
  try shell.waitForPanel("calendar")
  shell.check(try shell.record())

  // The volume is above all and in no group; it is drawn again with each value, and expires.
  try shell.waitForPanel("mixer")
  try session.runNavctl("present", "osd", "--value", "text=40%")
  func osd() throws -> Int { try Frame(session, "490,520 300x200").osd }
  try session.poll("the volume is shown; \(shell.program.errorText)") { try osd() > 40_000 }
  let before = try session.picture("490,520 300x200")
  try session.runNavctl("update", "osd", "text=100%")
  try session.poll("it is drawn again") { try session.picture("490,520 300x200") != before }
  try session.runNavctl("present", "osd", "--timeout", "1ms")
  try session.poll("it has expired; \(shell.program.errorText)") { try osd() == 0 }
  #expect(try shell.corner().mixer > 40_000)

  // With another navd, the panel stays, and the next one follows it.
  try session.stop(SIGKILL)
  try session.start()
  try session.poll("it is presented again; \(shell.program.errorText)") {
    try session.state()["presentations"]?.array?.map { $0["phase"]?.string } == ["presented"]
  }
  #expect(try shell.corner().mixer > 40_000)
  try shell.waitForPanel("calendar")
  #expect(shell.program.status == nil && shell.program.errorText == "", "\(shell.program.errorText)")
}

@Test(
  "The recipes for shells in JavaScript and in Python: a shell that stood still for longer than its grace period shows what is selected",
  arguments: [("/usr/bin/gjs", "panels.js"), ("/usr/bin/python3", "panels.py")])
func recipe_shellFrozen_showsTheSelection(_ interpreter: String, _ script: String) throws {
  let options = interpreter.hasSuffix("gjs") ? "-m" : "-u"
  let shell = try PanelShell(interpreter, options, "~/\(script)", names: ["calendar", "mixer", "osd"])
  let session = shell.session
  func waits(_ phases: String...) throws {
    try session.poll("the state has \(phases); \(shell.program.errorText)") {
      try session.state()["presentations"]?.array?.map {
        "\($0["binding"]?.string ?? "") \($0["phase"]?.string ?? "")"
      } == phases
    }
  }
  try shell.waitForPanel("calendar")
  shell.program.send(SIGSTOP)
  try session.call(Rows.select, ("panels", "mixer", [:]))
  try waits("mixer presenting")
  try session.call(Rows.select, ("panels", "calendar", [:]))
  try waits("calendar presenting")
  shell.program.send(SIGCONT)
  try waits("calendar presented")
  try session.poll("only the calendar is shown; \(shell.program.errorText)") {
    let frame = try shell.corner()
    return frame.calendar > 40_000 && frame.mixer == 0
  }
  try shell.waitForPanel("mixer")
  #expect(shell.program.status == nil)
}

@Test(
  "The recipes for shells in JavaScript and in Python: if navctl presenter is killed, its panel closes",
  arguments: [("/usr/bin/gjs", "panels.js"), ("/usr/bin/python3", "panels.py")])
func recipe_shellWithoutPresenter_closesItsPanel(_ interpreter: String, _ script: String) throws {
  let options = interpreter.hasSuffix("gjs") ? "-m" : "-u"
  let shell = try PanelShell(interpreter, options, "~/\(script)", names: ["calendar", "mixer", "osd"])
  try shell.waitForPanel("calendar")
  try shell.session.runTool(
    "/usr/bin/pkill", ["-KILL", "-P", "\(shell.program.processID)", "-f", "presenter.*--group panels"])
  try shell.session.poll("the panel is gone; \(shell.program.errorText)") { try shell.corner().calendar == 0 }
  #expect(shell.program.status == nil, "\(shell.program.errorText)")
}

/// A shell that only listens: it reads as eww does, and draws with the panels of `panels.py`. It is not eww.
private let listener = """
  # Reads as eww's deflisten does: runs a command by sh -c without input, and takes each line as the new value.
  import subprocess, sys
  import navd, panels
  from gi.repository import GLib, Gtk

  def deflisten(command, changed):
      process = subprocess.Popen(
          ["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
      navd._read(process, changed)

  navd.run = GLib.idle_add
  for name, panel in panels.make_panels().items():
      deflisten(
          f"navctl presenter {name} --group panels --auto-present --auto-dismiss {sys.argv[1]}",
          lambda call, panel=panel: panel.call(call))
  Gtk.main()
  """

@Test("A shell that only listens, as with eww's deflisten: two panels that slide are never in one frame")
func recipe_listener_panelsNeverOverlap() throws {
  // The time is much longer than the panels slide, for busy machines.
  let time = getenv("NAVD_TEST_AUTO_DISMISS").map { String(cString: $0) } ?? "2500ms"
  let shell = try PanelShell(
    "/usr/bin/python3", "~/listener.py", time, names: ["calendar", "mixer"], files: ["listener.py": listener])
  try shell.waitForPanel("calendar")
  shell.check(try shell.record())
}

/// A shell without windows, which serves what the description of `navd.py` does, and sends each line of its input as a request.
private let servingShellInPython = """
  import json, sys

  import navd


  def called(call):
      number, value = call["presentation"], call.get("item", {}).get("value", {})
      if call["call"] == "present":
          if value.get("count", 0) < 0:
              return shell.say(failed=number, error="expected a count from 0")
          print("+", call["binding"], call["id"], json.dumps(value, separators=(",", ":")), flush=True)
          shell.say(presented=number)
      elif call["call"] == "dismiss":
          print("-", call["reason"], flush=True)
          shell.say(dismissed=number)


  serves = {"shop.item": {"id": "Int", "value": "{count: Int}"}, "shop.tab.list": {"group": "shop.tab"}}
  shell = navd.Presenter(["shop"], called, serves=serves)
  for line in sys.stdin:
      try:
          navd.navctl(*line.split())
      except navd.Refused as refusal:
          print(refusal, f"[{refusal.status}]", flush=True)
  """

/// The same shell with `navd.js`.
private let servingShellInJavaScript = """
  import Gio from "gi://Gio"
  import GLib from "gi://GLib"
  import * as navd from "./navd.js"

  const serves = { "shop.item": { id: "Int", value: "{count: Int}" }, "shop.tab.list": { group: "shop.tab" } }
  const shell = navd.presenter(["shop"], (call) => {
    const [number, value] = [call.presentation, call.item?.value ?? {}]
    if (call.call === "present") {
      if (value.count < 0) return shell.say({ failed: number, error: "expected a count from 0" })
      print("+", call.binding, call.id, JSON.stringify(value))
      shell.say({ presented: number })
    } else if (call.call === "dismiss") {
      print("-", call.reason)
      shell.say({ dismissed: number })
    }
  }, ...navd.serving(serves))

  const input = new Gio.DataInputStream({ base_stream: new Gio.UnixInputStream({ fd: 0 }) })
  const next = () =>
    input.read_line_async(GLib.PRIORITY_DEFAULT, null, (_, result) => {
      const [line] = input.read_line_finish_utf8(result)
      if (line === null) return
      navd.navctl(...line.split(" ")).catch((refusal) => print(refusal.message, `[${refusal.status}]`))
      next()
    })
  next()
  new GLib.MainLoop(null, false).run()
  """

@Test(
  "The recipes navd.js and navd.py serve what they declare, and get why a request was refused, with what was expected",
  arguments: [
    ("/usr/bin/gjs -m", "navd.js", "shell.js", servingShellInJavaScript),
    ("/usr/bin/python3", "navd.py", "shell.py", servingShellInPython),
  ])
func recipe_navd_serves(_ interpreter: String, _ recipe: String, _ name: String, _ script: String) throws {
  let session = try Session(files: [recipe: Files.text(inPackage: "docs/recipes/\(recipe)"), name: script])
  session.environment["PATH"] = "\(Session.program("").dropLast()):/usr/bin:/bin"
  let requests = try InputPipe(session, "requests")
  let shell = try session.start(
    program: "/bin/sh", ["-c", "exec \(interpreter) \"$HOME/\(name)\" <\"$HOME/requests\""])
  func prints(_ line: String) throws {
    try session.wait("it prints “\(line)”; it has printed \(shell.lines) \(shell.errorText)") {
      shell.lines.last == line
    }
  }
  try session.poll("it serves; \(shell.errorText)") {
    try session.navctl("destinations").outputText.contains("shop.item")
  }
  try session.runNavctl("present", "shop.item", "3", "--value", "count:=2")
  try prints("+ shop.item 3 {\"count\":2}")
  #expect(requests.write("update shop.item count=many"))
  try prints("update shop.item: “shop.item”: expected count: Int, found “many” [2]")
  #expect(requests.write("select shop.tab nothing"))
  try prints(
    "select shop.tab nothing: a program shows the group “shop.tab”, which has no tag “nothing”; expected “list”; "
      + "for a member that a program shows by itself, add --state [4]")
  try session.runNavctl("select", "shop.tab", "list")
  try prints("+ shop.tab.list  {}")
  let failed = try session.present("shop.item", "4", ["value": ["count": Value.int64(-1)].value])
  let (reason, result) = try session.ending(of: failed)
  #expect(reason == "failed" && "\(result)".contains("expected a count from 0"), "\(reason) \(result)")
}
