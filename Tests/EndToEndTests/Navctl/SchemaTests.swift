import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The JSON that each verb of navctl prints, beside docs/navctl.schema.json.

private typealias Rows = CoordinatorInterface

/// A program that reads lines with the name of a definition and JSON. It reports lines that do not fit the definition, and lines
/// that still fit with an unknown member, with a value of another type, or without a required member.
private let validator = """
  import copy, itertools, json, sys
  from jsonschema import Draft202012Validator
  schema = json.load(open(sys.argv[1]))
  Draft202012Validator.check_schema(schema)
  open_ones = {"value", "container-values", "parameters", "result", "groups", "stacks", "platform-data"}
  seen = set()
  validators = {}
  def validator(name):
      if name not in validators:
          validators[name] = Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": schema["$defs"]})
      return validators[name]
  def objects(value, path=()):
      if isinstance(value, dict) and not (path and path[-1] in open_ones): yield path
      if path and path[-1] in open_ones - {"groups", "stacks"}: return
      for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []:
          yield from objects(inner, path + (key,))
  def changed(value, path, change):
      value = copy.deepcopy(value)
      inner = value
      for step in path: inner = inner[step]
      change(inner)
      return value
  rejected = 0
  tried = {}
  for line in sys.stdin:
      name, text = line.rstrip("\\n").split("\\t", 1)
      value = json.loads(text)
      seen.add(name)
      for error in validator(name).iter_errors(value): print("%s: %s: %s" % (name, error.message, text))
      if name == "value-get": continue
      kind = (name, value.get("event") if isinstance(value, dict) else None)
      tried[kind] = tried.get(kind, 0) + 1
      if tried[kind] > 1: continue
      def reject(what, wrong):
          global rejected
          rejected += 1
          if validator(name).is_valid(wrong): print("%s: taken with %s: %s" % (name, what, json.dumps(wrong)))
      for path in itertools.islice(objects(value), 12):
          reject("a member too many", changed(value, path, lambda o: o.update({"too-many": 1})))
          inner = value
          for step in path: inner = inner[step]
          for member in ["serial", "presentation", "pid", "binding"]:
              if member in inner:
                  other = "text" if isinstance(inner[member], int) else 7
                  reject("another %s" % member, changed(value, path, lambda o: o.update({member: other})))
          for member in ["changed", "serial", "binding", "phase", "reason", "event", "name", "file"]:
              optional = name == "destinations" and member == "file"
              if member in inner and not optional:
                  reject("no %s" % member, changed(value, path, lambda o: o.pop(member)))
  for name in schema["$defs"]:
      if not name.startswith("_") and name not in seen: print("%s: no line of it was checked" % name)
  print("rejected", rejected)
  """

@Test("docs/navctl.schema.json accepts the output of each verb, and nothing else")
func schema_output_fits() throws {
  let session = try Session(destinations: [
    "mixer": "command = [\"sleep\", \"60\"]\ngroup = \"panels\"\nstyle = \"popover\"\n", "wifi": "group = \"panels\"\n",
    "unit": "unit = \"some@{id}.service\"\n", "each": "group = \"each-{output}\"\n",
    "osd": """
    command = ["true", "{title}"]
    id = "main"
    title = "Volume"
    value = { level = 40 }
    timeout = "3s"
    directory = "~"
    environment = { GTK_THEME = "Adwaita" }
    on-present = ["true"]
    on-dismiss = ["true"]
    restart = "on-failure"
    restore = "login"
    inhibit = ["idle"]
    holds = { dnd = "postpone" }
    """,
  ])
  try session.write("comand = 1\n", toDestination: "wrong")
  let presenter = try BusPresenter(session, destination: "shown")
  var written: [(name: String, line: String)] = []
  func record(_ name: String, _ arguments: String..., input: String = "", status: Int32 = 0) throws {
    // The options must precede “--”.
    var words = arguments
    words.insert("--json", at: words.firstIndex(of: "--") ?? words.endIndex)
    let run = try session.run(program: Session.program("navctl"), words, input: input)
    #expect(run.exitCode == status, "\(arguments): \(run.errorText)")
    #expect(run.lines.count == 1, "\(arguments)")
    written += run.lines.map { (name, $0) }
  }
  let watches = try [
    ("watch", session.startNavctl("watch", "--json")), ("watch-events", session.startNavctl("watch", "--events")),
    ("watch-waybar", session.startNavctl("watch", "--waybar", "--group", "panels")),
    ("watch-events", session.startNavctl("watch", "--events", "--group", "panels")),
    ("watch", session.startNavctl("watch", "--group", "panels")),
  ]
  try session.wait("the watchers have the state") { watches.allSatisfy { !$0.1.lines.isEmpty } }

  try record("list", "list")
  try record("value-declare", "value", "declare", "edge", "s", "top")
  try record("value-declare", "value", "declare", "size", "(ii)", "[1, 2]")
  try record(
    "present", "present", "--state", "fact", "1", "--title", "A\nB", "--style", "sheet", "--output", "DP-1",
    "--timeout", "1h",
    "--priority", "3",
    "--value", "n:=[1, 2.5, {\"a\": true}]", "--container-value", "edge=left")
  try record("present", "present", "--state", "fact", "1")
  try record("present", "present", "fact.child", "--", "sleep", "60")
  try record("present", "present", "mixer")
  try record("present", "present", "--state", "queued", "--group", "panels", "--if-busy", "queue")
  try record("present", "present", "shown", "7", "--to", "shown", "--from", "fact")
  let owned = try session.startNavctl("present", "--state", "owned", "--owned", "--json")
  try session.poll("it is there") { try session.call(Rows.get, "owned").0 != .root }
  try record("wait", "wait", "shown", "--for", "presented")
  try record("show", "show", "fact")
  try record("show", "show", "fact.child")
  try record("show", "show", "shown")
  try record("show", "show", "owned")
  try record("toggle", "toggle", "--state", "note")
  try record("toggle", "toggle", "--state", "note")
  try record("update", "update", "fact", "k=v")
  try record("select", "select", "--state", "panels", "wifi")
  try record("forget", "forget", "panels", "nothing")
  try record("toggle-selection", "toggle-selection", "--state", "panels", "wifi")
  try record("selection", "selection", "panels")
  try record("deselect", "deselect", "panels")
  try record("selection", "selection", "panels", status: 3)
  try record("push", "push", "--state", "main", "settings", "1")
  try record("set-path", "set-path", "--state", "main", "settings=1", "network", "wired=2")
  try record("path", "path", "main")
  try record("members", "members", "--all")
  try record("list", "list")
  try record("list", "list", "--group", "panels")
  try record("pop", "pop", "main")
  try record("pop-to", "pop-to", "main", "settings")
  try record("is-presented", "is-presented", "fact")
  try record("is-presented", "is-presented", "nothing", status: 3)
  try record("value-set", "value", "set", "fact", "edge", "right")
  try record("value-get", "value", "get", "fact", "edge")
  try record("value-get", "value", "get", "fact", "size")
  try session.write("holds = { dnd = \"postpone\" }\nstate = true", toDestination: "memo")
  _ = try session.navctl("reload")
  try record("hold", "hold", "dnd", "--for", "1h", "--message", "a talk")
  try record("present", "present", "memo", "--valid-for", "1h")
  try record("list", "list")
  try record("holds", "holds")
  try record("release", "release", "dnd")
  try record("release", "release", "--all")
  try record("act", "act", "1", "press", "button:=3")
  try record(
    "apply", "apply", "-",
    input: """
      [["Present","a","1",{}],["Toggle","a","1",{}],["Toggle","b","",{}],["Update","b",{"k":1},{}],["Dismiss","b",{}],
       ["Select","panels","wifi",{}],["ToggleSelection","panels","wifi",{}],["Deselect","panels","",{}],
       ["Push","main","top","",{}],["Pop","main",1,{}],["PopTo","main","",{}],["SetPath","main",[["x","1",{}]],{}],
       ["DismissAll",{"stack":"main"}]]
      """)
  try record("present-wait", "present", "asked", "--wait", "--", "sh", "-c", "printf 'A\\377B'; exit 3")
  try record("present-wait", "present", "asked", "--wait", "--", "sh", "-c", "kill -KILL $$", status: 1)
  try record("present-wait", "present", "asked", "--wait", "--", "/none", status: 1)
  try record("present", "present", "--state", "reported")
  let reported = CoordinatorNames.number(of: try session.call(Rows.get, "reported").0)
  try record("closed", "closed", String(try #require(reported)), "answer=yes", "status:=0")
  try record("wait", "wait", "--presentation", String(try #require(reported)))
  try session.write(
    "command = ['/none']\nrestart = 'always'\nrestart-delay-max = '1h'\nrestart-delay = '1h'", toDestination: "again")
  _ = try session.navctl("reload")
  _ = try session.navctl("present", "again")
  try session.poll("it waits") { try session.call(Rows.get, "again").1["restart-at"] != nil }
  try record("list", "list")
  try record("show", "show", "again")
  try record("destinations", "destinations")
  try record("check-config", "check-config", status: 1)
  try record("introspect", "introspect")
  try record("doctor", "doctor", status: 1)
  let adapter = try ScriptedWindowSystem(session, [Window("w0", title: "Terminal", pid: 7, parent: "", focused: true)])
  try session.write("command = ['sleep', '60']\nwindow = { app-id = 'files' }", toDestination: "files")
  _ = try session.navctl("reload")
  let files = try session.present("files")
  try session.poll("it runs") { try session.call(Rows.get, "files").1["windows"] != nil }
  adapter.open(Window("w1", appID: "files", title: "Home"))
  #expect(try session.call(Rows.wait, (files, "presented")).0 == "")
  try record("windows", "windows")
  try record("show", "show", "files")
  try record("list", "list")
  try record("destinations", "destinations")
  try session.call(Rows.closed, (try session.call(Rows.get, "shown").0, [:]), by: presenter.connection)
  // This presenter speaks lines.
  let shell = try LineShell(session, "calendar")
  func say(_ line: String) {
    shell.say(line)
    written.append(("presenter-input", line))
  }
  func called() throws -> UInt64 { try #require(try shell.call()["presentation"]?.unsigned) }
  let first = try session.present("calendar", "1")
  let calendar = try called()
  say(#"{"presented":\#(calendar)}"#)
  #expect(try session.call(Rows.wait, (first, "presented")).0 == "")
  try session.runNavctl("update", "calendar", "k=v")
  _ = try called()
  say(#"{"update":\#(calendar),"value":{"k":1}}"#)
  say(#"{"act":\#(calendar),"action":"open","parameters":{}}"#)
  try session.wait("its reports") { watches[1].1.lines.last?.contains(#""event":"action""#) == true }
  try session.dismiss("calendar")
  _ = try called()
  say(#"{"asking":\#(calendar),"message":"Save?"}"#)
  try session.poll("it asks") { try session.navctl("list").outputText.contains("(asking)") }
  try record("list", "list")
  say(#"{"declined":\#(calendar),"message":"unsaved"}"#)
  try session.poll("it is kept") { try session.call(Rows.get, "calendar").0 == first }
  try session.present("calendar", "2")
  _ = try called()
  say(#"{"dismissed":\#(calendar),"result":{"k":1}}"#)
  say(#"{"failed":\#(try called()),"error":"no screen"}"#)
  #expect(try session.ending(of: first).reason == "replaced")
  try session.poll("it has failed") { try session.call(Rows.get, "calendar").0 == .root }
  let last = try session.present("calendar", "3")
  let shown = try called()
  say(#"{"presented":\#(shown)}"#)
  #expect(try session.call(Rows.wait, (last, "presented")).0 == "")
  say(#"{"closed":\#(shown),"result":{}}"#)
  #expect(try session.ending(of: last).reason == "closed")
  #expect(shell.program.errorText == "")
  written += shell.program.lines.map { ("presenter", $0) }
  try record("dismiss", "dismiss", "fact")
  try record("dismiss", "dismiss", "--all")
  try session.wait("its owner ends") { owned.hasEnded }
  written += owned.lines.map { ("present-wait", $0) }
  try session.write("group = \"panels\"\n", toDestination: "wrong")
  try record("reload", "reload")
  try record("import-environment", "import-environment", "LANG")
  try record("history", "history", "-n", "0")
  let endings = try session.startNavctl("history", "--follow", "--json")
  try session.wait("the endings are there") { !endings.lines.isEmpty }
  written += endings.lines.map { ("history-follow", $0) } + [("history-follow", #"{"gap":{"after":3,"before":9}}"#)]
  try record("list-failed", "list", "--failed")
  for (name, watch) in watches { written += watch.lines.map { (name, $0) } }
  try record("quit", "quit")
  try session.waitForEnd()
  try record("quit", "quit")

  let input = written.map { "\($0.name)\t\($0.line)\n" }.joined()
  let events = Set(written.compactMap { $0.name == "watch-events" ? try? JSON.parse($0.line)["event"]?.string : nil })
  #expect(
    events == [
      "state", "presented", "updated", "phase", "dismissed", "declined", "asking", "action", "selection", "group",
      "path", "hold",
    ])
  let schema = "\(Files.package)/docs/navctl.schema.json"
  let run = try session.run(program: "/usr/bin/python3", ["-c", validator, schema], input: input)
  #expect(run.exitCode == 0 && run.lines.count == 1, "\(run.outputText)\(run.errorText)")
  let rejected = run.lines.last.flatMap { Int($0.dropFirst("rejected ".count)) }
  #expect(rejected ?? 0 > 100, "invalid lines were tried, too")
}
