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

/// The JSON that navctl prints in one session, each line with the name of its definition in the schema. Each step goes on where the one
/// before has ended.
private final class RecordedOutput {
  private let session: Session
  private let presenter: BusPresenter
  private let watches: [(name: String, program: Program)]
  private var lines: [(name: String, line: String)] = []
  /// The peers that stay until the end.
  private var peers: [AnyObject] = []

  private static let destinations = [
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
  ]

  init() throws {
    let session = try Session(destinations: Self.destinations)
    self.session = session
    try session.write("comand = 1\n", toDestination: "wrong")
    presenter = try BusPresenter(session, destination: "shown")
    let watches: [(name: String, program: Program)] = try [
      ("watch", session.startNavctl("watch", "--json")), ("watch-events", session.startNavctl("watch", "--events")),
      ("watch-waybar", session.startNavctl("watch", "--waybar", "--group", "panels")),
      ("watch-events", session.startNavctl("watch", "--events", "--group", "panels")),
      ("watch", session.startNavctl("watch", "--group", "panels")),
    ]
    self.watches = watches
    try session.wait("the watchers have the state") { watches.allSatisfy { !$0.program.lines.isEmpty } }
  }

  /// Runs navctl with `--json`, and records the line that it prints.
  /// - Parameters:
  ///   - words: the verb and more arguments, with a blank after each.
  ///   - more: the arguments after them, which may have blanks.
  ///   - definition: the line's definition; by default that of the verb.
  private func record(
    _ words: String, _ more: String..., as definition: String? = nil, input: String = "", status: Int32 = 0
  ) throws {
    var arguments = words.split(separator: " ").map(String.init) + more
    let name = definition ?? arguments[0]
    // The options must precede “--”.
    arguments.insert("--json", at: arguments.firstIndex(of: "--") ?? arguments.endIndex)
    let run = try session.run(program: Session.program("navctl"), arguments, input: input)
    #expect(run.exitCode == status, "\(arguments): \(run.errorText)")
    #expect(run.lines.count == 1, "\(arguments)")
    lines += run.lines.map { (name, $0) }
  }

  /// Changes a destination file, and makes navd read it at once.
  private func reload(_ destination: String, _ text: String) throws {
    try session.write(text, toDestination: destination)
    _ = try session.navctl("reload")
  }

  // MARK: Items

  func presentItems() throws {
    try record("list")
    try record("value declare edge s top", as: "value-declare")
    try record("value declare size (ii)", "[1, 2]", as: "value-declare")
    try record(
      "present --state fact 1 --style sheet --output DP-1 --timeout 1h --priority 3 --container-value edge=left",
      "--title", "A\nB", "--value", "n:=[1, 2.5, {\"a\": true}]")
    try record("present --state fact 1")
    try record("present fact.child -- sleep 60")
    try record("present mixer")
    try record("present --state queued --group panels --if-busy queue")
    try record("open --state word")
    for name in ["word", "mixer", "panels"] { try record("status \(name)") }
    try record("status")
    try record("close word")
    try record("present shown 7 --to shown --from fact")
  }

  /// Presents an item that ends with its navctl, which prints when the item has ended.
  func presentOwned() throws -> Program {
    let owned = try session.startNavctl("present", "--state", "owned", "--owned", "--json")
    try session.poll("it is there") { try session.call(Rows.get, "owned").0 != .root }
    return owned
  }

  func showAndChangeItems() throws {
    try record("wait shown --for presented")
    for binding in ["fact", "fact.child", "shown", "owned"] { try record("show \(binding)") }
    for _ in 1...2 { try record("toggle --state note") }
    try record("update fact k=v")
  }

  func askAboutItems() throws {
    try record("is-presented fact")
    try record("is-presented nothing", status: 3)
    try record("value set fact edge right", as: "value-set")
    try record("value get fact edge", as: "value-get")
    try record("value get fact size", as: "value-get")
  }

  // MARK: Containers

  func selectInAGroup() throws {
    try record("select --state panels wifi")
    try record("forget panels nothing")
    try record("play panels wifi")
    try record("toggle-selection --state panels wifi")
    try record("selection panels")
    try record("deselect panels")
    try record("selection panels", status: 3)
  }

  func changeAStack() throws {
    try record("push --state main settings 1")
    try record("set-path --state main settings=1 network wired=2")
    try record("path main")
    try record("members --all")
    try record("list")
    try record("list --group panels")
    try record("pop main")
    try record("pop-to main settings")
  }

  func hold() throws {
    try reload("memo", "holds = { dnd = \"postpone\" }\nstate = true")
    try record("hold dnd --for 1h --message", "a talk")
    try record("present memo --valid-for 1h")
    try record("list")
    try record("holds")
    try record("release dnd")
    try record("release --all")
  }

  func applyEachRequest() throws {
    try record("act 1 press button:=3")
    try record("ready 1")
    try record(
      "apply -",
      input: """
        [["Present","a","1",{"state":true}],["Toggle","a","1",{}],["Toggle","b","",{"state":true}],["Update","b",{"k":1},{}],
         ["Dismiss","b",{}],["Select","panels","wifi",{"state":true}],["ToggleSelection","panels","wifi",{}],
         ["Deselect","panels","",{}],["Push","main","top","",{"state":true}],["Pop","main",1,{}],["PopTo","main","",{}],
         ["SetPath","main",[["x","1",{}]],{"state":true}],
         ["DismissAll",{"stack":"main"}]]
        """)
  }

  // MARK: Ends

  /// Presents items that end with a status, by a signal, before they start, and by a report.
  func presentItemsThatEnd() throws {
    try record("present asked --wait -- sh -c", "printf 'A\\377B'; exit 3", as: "present-wait")
    try record("present asked --wait -- sh -c", "kill -KILL $$", as: "present-wait", status: 1)
    try record("present asked --wait -- /none", as: "present-wait", status: 1)
    try record("present --state reported")
    let reported = try #require(CoordinatorNames.number(of: try session.call(Rows.get, "reported").0))
    try record("closed \(reported) answer=yes status:=0")
    try record("wait --presentation \(reported)")
  }

  func presentAnItemThatIsStartedAgain() throws {
    try reload("again", "command = ['/none']\nrestart = 'always'\nrestart-delay-max = '1h'\nrestart-delay = '1h'")
    _ = try session.navctl("present", "again")
    try session.poll("it waits") { try session.call(Rows.get, "again").1["restart-at"] != nil }
    try record("list")
    try record("show again")
  }

  func dismissAll(with owned: Program) throws {
    try record("dismiss fact")
    try record("dismiss --all")
    try session.wait("its owner ends") { owned.hasEnded }
    lines += owned.lines.map { ("present-wait", $0) }
  }

  // MARK: The session

  func askAboutTheSession() throws {
    try record("destinations")
    try record("check-config", status: 1)
    try record("introspect")
    try record("doctor", status: 1)
  }

  func openAWindow() throws {
    let terminal = Window("w0", title: "Terminal", pid: 7, parent: "", focused: true)
    let adapter = try ScriptedWindowSystem(session, [terminal])
    peers.append(adapter)
    try reload("files", "command = ['sleep', '60']\nwindow = { app-id = 'files' }")
    let files = try session.present("files")
    try session.poll("it runs") { try session.call(Rows.get, "files").1["windows"] != nil }
    adapter.open(Window("w1", appID: "files", title: "Home", pid: 0))
    #expect(try session.call(Rows.wait, (files, "presented")).0 == "")
    try record("windows")
    try record("show files")
    try record("list")
    try record("destinations")
    try session.call(Rows.closed, (try session.call(Rows.get, "shown").0, [:]), by: presenter.connection)
  }

  func endTheSession() throws {
    try session.write("group = \"panels\"\n", toDestination: "wrong")
    try record("reload")
    try record("import-environment LANG")
    try record("history -n 0")
    let endings = try session.startNavctl("history", "--follow", "--json", "--starts")
    try session.wait("the endings are there") { !endings.lines.isEmpty }
    lines +=
      endings.lines.map { ("history-follow", $0) } + [
        ("history-follow", #"{"gap":{"after":3,"before":9,"record":"8f1c"}}"#)
      ]
    try record("list --failed", as: "list-failed")
    for (name, watch) in watches { lines += watch.lines.map { (name, $0) } }
    try record("quit")
    try session.waitForEnd()
    try record("quit")
  }

  // MARK: A presenter that speaks lines

  /// Presents the calendar, by a shell that says each kind of line.
  func presentByLines() throws {
    let shell = try LineShell(session, "calendar")
    peers.append(shell)
    func say(_ line: String) {
      shell.say(line)
      lines.append(("presenter-input", line))
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
    try session.wait("its reports") { watches[1].program.lines.last?.contains(#""event":"action""#) == true }
    try session.dismiss("calendar")
    _ = try called()
    say(#"{"asking":\#(calendar),"message":"Save?"}"#)
    try session.poll("it asks") { try session.navctl("list").outputText.contains("(asking)") }
    try record("list")
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
    lines += shell.program.lines.map { ("presenter", $0) }
  }

  // MARK: The recorded lines

  /// The kinds of events in the lines.
  var events: Set<String> {
    Set(lines.compactMap { $0.name == "watch-events" ? try? JSON.parse($0.line)["event"]?.string : nil })
  }

  /// Compares the lines with the schema.
  /// - Returns: the faults that were found, and the number of wrong lines that the schema rejected.
  func validate() throws -> (faults: [String], rejected: Int) {
    let run = try session.run(
      program: "/usr/bin/python3", ["-c", validator, "\(Files.package)/docs/navctl.schema.json"],
      input: lines.map { "\($0.name)\t\($0.line)\n" }.joined())
    try #require(run.exitCode == 0, "\(run.outputText)\(run.errorText)")
    let rejected = try #require(run.lines.last.flatMap { Int($0.dropFirst("rejected ".count)) }, "\(run.outputText)")
    return (Array(run.lines.dropLast()), rejected)
  }
}

@Test("docs/navctl.schema.json accepts the output of each verb, and nothing else")
func schema_outputOfEachVerb_isAcceptedAndNothingElse() throws {
  let output = try RecordedOutput()
  try output.presentItems()
  let owned = try output.presentOwned()
  try output.showAndChangeItems()
  try output.selectInAGroup()
  try output.changeAStack()
  try output.askAboutItems()
  try output.hold()
  try output.applyEachRequest()
  try output.presentItemsThatEnd()
  try output.presentAnItemThatIsStartedAgain()
  try output.askAboutTheSession()
  try output.openAWindow()
  try output.presentByLines()
  try output.dismissAll(with: owned)
  try output.endTheSession()

  #expect(
    output.events == [
      "state", "presented", "updated", "phase", "dismissed", "declined", "asking", "action", "selection", "group",
      "path", "hold",
    ])
  let (faults, rejected) = try output.validate()
  #expect(faults == [])
  #expect(rejected > 100, "invalid lines were tried, too")
}
