import DBusValues
import Glibc
import PresentationModel
import PresentationRules
import SessionFiles
import TestSupport
import Testing
import TextFormats

@testable import CoordinatorDaemon

// Destination files: what each key means, and the message for each mistake.

private func read(_ text: String, name: String = "volume") throws -> Destination {
  try DestinationFile.read(Array(text.utf8), name: name, path: "/d/\(name).toml")
}

/// The faults of a text, each as it is shown, without the file's path.
private func faults(_ text: String, name: String = "volume") -> [String] {
  faults(bytes: Array(text.utf8), name: name)
}

private func faults(bytes: [UInt8], name: String = "volume") -> [String] {
  do throws(FileFaults) {
    _ = try DestinationFile.read(bytes, name: name, path: "")
    return []
  } catch {
    return error.all.map { String($0.description.dropFirst()) }
  }
}

@Test func destinationFile_allKeys_areRead() throws {
  let destination = try read(
    """
    # the volume
    command = ["foot", "--app-id=navd", "-e", "pulsemixer", "{{{id}}}"]
    group = "panels"
    style = "popover"
    start-timeout = "1m"
    grace = "500ms"
    """)
  var expected = Destination(
    name: "volume",
    presenter: .command(["foot", "--app-id=navd", "-e", "pulsemixer", "{{{id}}}"].map { Array($0.utf8) }),
    style: "popover", startTimeout: 60_000, grace: 500, source: .file(path: "/d/volume.toml"))
  expected.group = .named(try BindingID("panels"))
  expected.isStartTimeoutWritten = true
  #expect(destination == expected)
}

@Test func destinationFile_whatItsItemsHave_isRead() throws {
  let destination = try read(
    """
    command = ["~/bin/osd", "{title}"]
    id = "main"
    title = "Volume"
    value = { level = 40, names = ["a"] }
    timeout = "3s"
    directory = "$HOME"
    environment = { GTK_THEME = "Adwaita:dark" }
    on-present = ["makoctl", "mode", "-a", "{id}"]
    on-dismiss = ["${HOME}/bin/x"]
    restart = "on-failure"
    restart-delay-max = "5m"
    restart-limit = 1000
    restore = "login"
    """)
  let settings = try #require(destination.itemSettings)
  #expect(settings.id == "main")
  #expect(settings.options.title == "Volume")
  #expect(settings.options.value == ["level": .int64(40), "names": ["a"].map { Value.string($0) }.variants])
  #expect(settings.options.timeout == 3000)
  #expect(settings.options.directory == "$HOME")
  #expect(settings.options.environment == ["GTK_THEME": "Adwaita:dark"])
  #expect(settings.onPresent == ["makoctl", "mode", "-a", "{id}"].map { Array($0.utf8) })
  #expect(settings.onDismiss == ["${HOME}/bin/x"].map { Array($0.utf8) })
  #expect(settings.restart == RestartRule(.onFailure, delay: 1000, maxDelay: 300_000, limit: 1000))
  #expect(settings.restoresAtLogin)
  #expect(try read("command = ['a']\nrestart = 'no'\nrestore = 'no'").itemSettings == nil)
}

extension [Value] {
  fileprivate var variants: Value { .array(element: .variant, map { .variant($0) }) }
}

@Test func destinationFile_empty_isStateOnlyWithTheDefaultTimes() throws {
  let destination = try read("")
  #expect(destination.presenter == .none)
  #expect(destination.startTimeout == Destination.defaultStartTimeout)
  #expect(destination.grace == Destination.defaultGrace)
}

@Test(arguments: [
  #"bus = { name = "org.example.Bar", path = "/presenter" }"#,
  "[bus]\nname = 'org.example.Bar'\npath = '/presenter'",
  "bus.name = 'org.example.Bar'\nbus.path = '/presenter'",
])
func destinationFile_bus_isReadInEverySpellingOfATable(_ text: String) throws {
  #expect(try read(text).presenter == .bus(name: "org.example.Bar", path: "/presenter"))
}

@Test(arguments: [
  ("window = true", WindowFollowing()), ("window = true\nunfocus = 'dismiss'", WindowFollowing(endsUnfocused: true)),
  ("window = true\nhere = true", WindowFollowing(comesHere: true)), ("window = true\nhere = false", WindowFollowing()),
  ("window = true\ndismissal = 'hide'", WindowFollowing(hides: true)),
  ("window = true\noutput-gone = 'dismiss'", WindowFollowing(endsWithOutput: true)),
  ("window = false", nil), ("[window]", WindowFollowing()),
  ("[window]\napp-id = 'org.gnome.*'", WindowFollowing(WindowPattern(appID: "org.gnome.*"))),
  (
    "[window]\ntitle = 'Files*'\nadopt = true\nlinger = '1500ms'\nkill = true",
    WindowFollowing(WindowPattern(title: "Files*"), adopts: true, linger: 1500, endsLeftover: true, kills: true)
  ),
  (
    "[window]\nplace = 'top-right'\nsize = '640 50%'\nmargin = 20\nfocus = false\nsticky = true\nabove = true",
    WindowFollowing(
      placement: WindowPlacement(
        .anchor(.topRight), size: .init(width: .pixels(640), height: .percent(50)), margin: 20, takesFocus: false,
        isSticky: true, isAbove: true))
  ),
  (
    "window = { place = '100 50', float = true, fullscreen = true }",
    WindowFollowing(placement: WindowPlacement(.point(x: 100, y: 50), floats: true, isFullscreen: true))
  ),
  ("[window]\nsettle = '1s300ms'", WindowFollowing(settle: 1300)), ("[window]\nsettle = '0s'", WindowFollowing()),
  ("[window]\nlinger = '0ms'\nleftover = 'end'", WindowFollowing(linger: 0, endsLeftover: true)),
  ("[window]\nwindows = 'first'\nleftover = 'leave'", WindowFollowing(takesAll: false)),
])
func destinationFile_window_isRead(_ text: String, _ window: WindowFollowing?) throws {
  #expect(try read("command = ['nautilus']\n\(text)").window == window)
  #expect(try read("unit = 'nautilus.service'\n\(text)").window == window)
}

@Test("D19: a program may say itself that it is on the screen") func destinationFile_ready_isRead() throws {
  for program in ["command = ['impressive']", "unit = 'impressive.service'"] {
    #expect(try read("\(program)\nready = 'notify'").itemSettings?.awaitsReady == true)
    #expect(try read("\(program)\nready = 'shown'").itemSettings == nil)
  }
}

@Test("U3: a group for each output") func destinationFile_groupPerOutput_isRead() throws {
  #expect(try read("group = 'panels-{output}'").group == .perOutput("panels-{output}"))
  // The destination declares no tag, which would need a binding.
  #expect(faults("group = 'panels-{output}'", name: "9") == [])
  #expect(
    faults("group = 'panels-{id}'") == ["1:1: group “panels-{id}” contains “{”; letters, digits, _ and - are allowed"])
  #expect(try read("unit = 'bar@{output}.service'").presenter == .unit("bar@{output}.service"))
}

@Test func destinationFile_protected_isProtected() throws {
  #expect(try read("command = ['swaylock']\nprotected = true").isProtected)
  #expect(try !read("command = ['swaylock']\nprotected = false").isProtected)
  #expect(
    faults("protected = true") == [
      "1:1: “protected” needs a “command”, “unit” or “bus”: an item without a program never ends by itself"
    ])
}

@Test func destinationFile_state_isStateOnly() throws {
  #expect(try read("state = true\ngroup = 'panels'").presenter == .none)
}

@Test(arguments: [("", .tree), ("scope = 'tree'", .tree), ("scope = 'process'", .process)] as [(String, CommandScope)])
func destinationFile_scope_isThatOfTheCommand(_ line: String, _ scope: CommandScope) throws {
  #expect(try read("command = ['rofi']\n\(line)").presenter == .command([Array("rofi".utf8)], scope: scope))
}

@Test func destinationFile_unit_keepsItsPlaceholder() throws {
  for unit in ["pulsemixer@{id}.service", "a@{id}-{output}.service", "a@x@{value.b}.service", "a.service"] {
    #expect(try read("unit = \"\(unit)\"").presenter == .unit(unit))
  }
}

@Test("L1: the command of a file has the limit of a request's, also that of a desktop file")
func destinationFile_commandBeyondItsLimit_isRefused() throws {
  let most = Limits().value
  let fit = String(repeating: "x", count: most - "true".utf8.count - 2)
  #expect(faults("command = ['true', '\(fit)']") == [])
  for key in ["command", "on-present", "on-dismiss"] {
    let rest = key == "command" ? "" : "command = ['true']\n"
    #expect(
      faults("\(rest)\(key) = ['true', '\(fit)y']").map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        == [
          "“\(key)”: expected a command of at most \(most) bytes (the limit “value”), found \(most + 1)"
        ])
  }
  let directory = TemporaryDirectory()
  let codes = String(repeating: " %c", count: 300_000)
  mkdir(directory.path(of: "applications"), 0o700)
  try Files.write("[Desktop Entry]\nName=abc\nExec=true\(codes)", to: directory.path(of: "applications/long.desktop"))
  let error = #expect(throws: FileFaults.self) {
    try DestinationFile.read(
      Array("desktop = 'long'".utf8), name: "long", path: "",
      applications: InstalledApplications(in: [Array(directory.path.utf8)]))
  }
  #expect(error?.all.first?.description.contains("“desktop”: expected a command of at most \(most) bytes") == true)
}

@Test("G7: a declared tag needs a binding") func destinationFile_groupWithANameThatIsNoBinding_isRefused() {
  #expect(
    faults("group = 'panels'", name: "9") == [
      "1:1: destination “9” has the group “panels”, but neither “9” nor “panels.9” is a binding; give it the name of a "
        + "binding, or no group"
    ])
  #expect(faults("style = 'popover'", name: "9") == [])
}

// Each case is one mistake and its message, the whole line that users read.
@Test(arguments: [
  (
    "state = true\ncommand = ['a']",
    "2:1: expected only one of “state” and “command”: with state = true no program shows the items"
  ),
  ("state = 'yes'", "1:1: “state”: expected true or false, found a string"),
  ("scope = 'all'\ncommand = ['a']", "1:1: “scope”: expected “tree” or “process”, found “all”"),
  (
    "unit = 'a.service'\nscope = 'process'",
    "2:1: “scope” needs a “command”: it says which of its processes belong to the item"
  ),
  ("command = ['a'", "1:15: expected “,” or “]” after an element of an array, found the end of the file"),
  ("\n\ngroup = \"a\"\ngroup = 3", "4:1: “group” is already defined at line 3; define it once"),
  ("\ncomand = ['a']", "2:1: “comand” is not a key of a destination; did you mean “command”?"),
  (
    "place = 'top'",
    "1:1: “place” is not a key of a destination; write it into “window”, such as window = { place = … }"
  ),
  (
    "state = true\napp_id = 'x'",
    "2:1: “app_id” is not a key of a destination; write it into “window”, such as window = { app-id = … }"
  ),
  (
    "exec = 'x'",
    "1:1: “exec” is not a key of a destination; use “command”, such as command = [\"foot\", \"-e\", \"top\"]"
  ),
  ("state = true\n[windows]", "2:2: “windows” is not a key of a destination; did you mean “window”?"),
  (
    "[mixer]\nstate = true",
    "1:2: “mixer” is not a key of a destination; write its keys at the top of the file, without “[mixer]”"
  ),
  (
    "command = ['x']\n[window]\ngroup = 'panels'",
    "3:1: “group” is not a key of window; write it on a line of its own above “window”"
  ),
  (
    "command = ['x']\nwindow = { place = 'topright' }",
    "2:12: “place”: expected center, top, bottom, left, right, top-left, top-right, bottom-left, bottom-right, pointer, or a point of 0 to 16384 such as 100 50, found “topright”; did you mean top-right?"
  ),
  (
    "colour = 'x'",
    "1:1: “colour” is not a key of a destination; use one of desktop-action, command, desktop, unit, bus, scope, state, group, style, protected, window, unfocus, output-gone, dismissal, here, id, title, value, timeout, directory, environment, on-present, on-dismiss, check, hold, holds, inhibit, restart, restart-delay, restart-delay-max, restart-limit, restore, replacement, ready, start-timeout, grace"
  ),
  (
    "command = \"foot -e pulsemixer\"",
    "1:1: “command”: expected an array, found a string, which only a shell can split; use command = [\"foot\", \"-e\", \"pulsemixer\"]"
  ),
  (
    "command = 'cat $HOME/x | less'",
    "1:1: “command”: expected an array, found a string, which only a shell can split; use command = [\"sh\", \"-c\", \"cat $HOME/x | less\"]"
  ),
  ("command = 3", "1:1: “command”: expected an array such as command = [\"foot\", \"-e\", \"top\"], found an integer"),
  ("command = []", "1:1: “command”: expected a program and its arguments, found an empty array"),
  ("command = ['']", "1:12: “command”: expected a program's name or path, found an empty text"),
  ("command = [\n  'a',\n  7,\n]", "3:3: element 1 of “command”: expected a string, found an integer"),
  (
    "command = ['{id}']",
    "1:12: “command”: expected a program's name or path, found a placeholder, which would let clients choose the program"
  ),
  (
    "command = ['a',\n '{ID}']",
    "2:2: element 1 of “command” has “{ID}”, which is not a placeholder of navd; did you mean “{id}”?"
  ),
  (
    "command = ['a', '{value.9}']",
    "1:17: element 1 of “command” has the placeholder “{value.9}”; expected a key of letters, digits, “_” and “-” that begins with a letter or “_”, found “9”"
  ),
  ("command = ['a', '{id']", "1:17: element 1 of “command” has a “{” without its “}”; “{{” stands for a brace"),
  (
    "command = ['awk', '{print}']",
    "1:19: element 1 of “command” has “{print}”, which is not a placeholder of navd; use “{id}”, “{binding}”, “{title}”, “{output}” or “{value.KEY}”, or “{{print}}” for literal braces"
  ),
  (
    "command = ['~ann/x']",
    "1:12: “command”: expected a path, or one that begins with “~/” or “$HOME/”, found “~ann”, which only a shell expands; write the path"
  ),
  (
    "command = ['$XDG_BIN/x']",
    "1:12: “command”: expected a path, or one that begins with “~/” or “$HOME/”, found “$XDG_BIN”, which only a shell expands; write the path"
  ),
  (
    "on-present = 'x'",
    "1:1: “on-present”: expected an array, found a string, which only a shell can split; use on-present = [\"x\"]"
  ),
  ("restart = 'yes'\ncommand = ['a']", "1:1: “restart”: expected “no”, “on-failure” or “always”, found “yes”"),
  (
    "unit = 'a.service'\nrestart = 'always'",
    "2:1: “restart” needs a “command” or a “bus”; a systemd unit has its own Restart="
  ),
  (
    "restart = 'always'",
    "1:1: “restart” needs a “command” or a “bus”: an item without a program never ends by itself"
  ),
  (
    "command = ['a']\nrestart-limit = 3",
    "2:1: “restart-limit” needs “restart”, for example restart = \"on-failure\""
  ),
  (
    "command = ['a']\nrestart = 'always'\nrestart-delay = '99ms'",
    "3:1: “restart-delay”: expected 100ms or more, found “99ms”, for example restart-delay = \"1s\""
  ),
  (
    "command = ['a']\nrestart = 'always'\nrestart-delay = '2m'",
    "3:1: “restart-delay” is longer than “restart-delay-max”; use a longer “restart-delay-max” than its default of 1m, or a shorter delay"
  ),
  (
    "command = ['a']\nrestart = 'always'\nrestart-limit = 0",
    "3:1: “restart-limit”: expected 1 to 4294967295, found 0"
  ),
  (
    "command = ['a']\nrestart = 'always'\nrestart-limit = 'x'",
    "3:1: “restart-limit”: expected a number such as restart-limit = 10, found a string"
  ),
  ("restore = 'boot'", "1:1: “restore”: expected “no” or “login”, found “boot”"),
  ("command = ['a']\nready = 'now'", "2:1: “ready”: expected “shown” or “notify”, found “now”"),
  (
    "ready = 'notify'",
    "1:1: “ready” needs a “command” or a “unit”: a program on the bus says it by its answer"
  ),
  (
    "command = ['a']\n[window]\nsettle = '300'",
    "3:1: “settle”: expected a duration (numbers with ms, s, m or h), found “300”, for example settle = \"300ms\""
  ),
  (
    "command = ['a']\nstart-timeout = '2s'\nwindow = { settle = '2s' }",
    "2:1: “settle” takes all of “start-timeout” (2000 ms), so no item would be presented in time; use a longer “start-timeout”"
  ),
  ("replacement = 'both'", "1:1: “replacement”: expected “sequential” or “overlap”, found “both”"),
  (
    "command = ['a']\nrestore = true",
    "2:1: “restore”: expected a string such as restore = \"login\", found a boolean"
  ),
  ("on-dismiss = []", "1:1: “on-dismiss”: expected a program and its arguments, found an empty array"),
  (
    "on-dismiss = ['sh', '-c', 'echo {id}']",
    "1:27: element 2 of “on-dismiss” is a shell script with a placeholder, so a shell would run the item's text as code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
  ),
  ("id = 7", "1:1: “id”: expected a string such as id = \"main\", found an integer"),
  ("title = ['x']", "1:1: “title”: expected a string such as title = \"Volume\", found an array"),
  ("value = 3", "1:1: “value”: expected a table such as value = { level = 40 }, found an integer"),
  (
    "value = { 'a b' = 1 }",
    " value: the key “a b” is not a valid name; use letters, digits, “_” and “-”, starting with a letter or “_”"
  ),
  (
    "timeout = 3",
    "1:1: “timeout”: expected a string such as timeout = \"3s\", found an integer"
  ),
  (
    "command = ['a']\nprotected = true\ntimeout = '3s'",
    "3:1: “timeout” would end an item that “protected” keeps; use one of them"
  ),
  (
    "command = ['a']\ndirectory = 'src'",
    "2:1: “directory”: expected a path that begins with “/” or “~/”, found “src”"
  ),
  (
    "unit = 'a.service'\ndirectory = '/'",
    "2:1: “directory” needs a “command”: units and programs on the bus have their own"
  ),
  ("command = ['a']\nenvironment = { A = 1 }", "2:17: “environment”: expected a string for “A”, found 1"),
  ("command = ['a']\nenvironment = { '' = 'x' }", " environment: “” is not a variable's name; use a name without “=”"),
  ("command = ['a', 'b}']", "1:17: element 1 of “command” has a “}” without its “{”; “}}” stands for a brace"),
  (
    "command = ['foot', '-e', '/bin/sh', '-ec', 'cat {id}']",
    "1:44: element 4 of “command” is a shell script with a placeholder, so a shell would run the item's text as code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
  ),
  (
    "command = ['bash', '-euo', 'pipefail', '-c', 'cat {id}']",
    "1:46: element 4 of “command” is a shell script with a placeholder, so a shell would run the item's text as code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
  ),
  (
    "command = ['bash', '+o', 'posix', '-oc', 'pipefail', 'cat {id}']",
    "1:54: element 5 of “command” is a shell script with a placeholder, so a shell would run the item's text as code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
  ),
  (
    "unit = 'a.service'\ncommand = ['a']",
    "2:1: expected one of “command”, “desktop”, “unit”, “bus” and “state”, found “command” after “unit” (line 1)"
  ),
  (
    "unit = 'pulsemixer'",
    "1:1: “unit”: expected a unit type such as “.service” at the end, found “pulsemixer”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = '{id}'",
    "1:1: “unit”: expected a unit type such as “.service” at the end, found “{id}”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = '.service'",
    "1:1: “unit”: expected a name before “.service”, found “.service”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a b.service'",
    "1:1: “unit”: expected letters, digits and “:-_.\\@”, found “ ”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a@.service'",
    "1:1: “unit”: expected an instance after “@”, found the template “a@.service”, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = '{id}.service'",
    "1:1: “unit”: expected placeholders after the “@” only, found “{id}.service”, which would let clients choose the unit, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a-{output}@{id}.service'",
    "1:1: “unit”: expected placeholders after the “@” only, found “a-{output}@{id}.service”, which would let clients choose the unit, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "unit = 'a-{id}.scope'",
    "1:1: “unit”: expected a unit that can be started, found a scope, for example unit = \"pulsemixer@{id}.service\""
  ),
  (
    "bus = 'org.example.Bar'",
    "1:1: “bus”: expected a table such as bus = { name = \"org.example.Bar\", path = \"/presenter\" }, found a string"
  ),
  ("bus = { name = 'org.example.Bar' }", "1:1: “bus” has no “path”; add one, for example path = \"/presenter\""),
  (
    "bus = { name = ':1.5', path = '/' }",
    "1:9: “name”: expected a well-known bus name, found “:1.5”, for example name = \"org.example.Bar\""
  ),
  (
    "[bus]\nname = 'org.example.Bar'\npath = 'presenter'",
    "3:1: “path”: expected an object path, found “presenter”, for example path = \"/presenter\""
  ),
  ("bus = { name = 'a.b', paht = '/', path = '/' }", "1:23: “paht” is not a key of bus; did you mean “path”?"),
  ("group = ['panels']", "1:1: “group”: expected a string such as group = \"panels\", found an array"),
  (
    "group = 'a b'",
    "1:1: group “a b” contains a blank; letters, digits, _ and - are allowed"
  ),
  ("style = ''", "1:1: “style”: expected 1 to 4096 bytes, found 0, for example style = \"popover\""),
  ("grace = 2", "1:1: “grace”: expected a string such as grace = \"2s\", found an integer"),
  (
    "start-timeout = '10'",
    "1:1: “start-timeout”: expected a duration (numbers with ms, s, m or h), found “10”, for example start-timeout = \"10s\""
  ),
  (
    "grace = '9999999999999h'",
    "1:1: “grace”: expected at most 5124095576030 hours, found “9999999999999h”, for example grace = \"2s\""
  ),
  ("style = \"a\\u0000b\"", "1:11: U+0000 is not allowed: text on the bus and in commands cannot contain NUL"),
  ("\"gr\\u006fup\" = 3", "1:1: “group”: expected a string such as group = \"panels\", found an integer"),
  ("window = true", "1:1: “window” needs a “command” or a “unit”, whose windows it is about"),
  (
    "command = ['x']\nwindow = 3",
    "2:1: “window”: expected true, or a table such as window = { app-id = \"org.gnome.Nautilus\" }, found an integer"
  ),
  (
    "command = ['x']\n[window]\nclass = 'x'",
    "3:1: “class” is not a key of window; use “app-id”, which is also the class of an X11 window"
  ),
  (
    "command = ['x']\n[window]\nsize = '50%x400'",
    "3:1: “size”: expected a width and a height, each 1 to 16384 pixels or 1% to 100%, such as 640 400 or 50% 400, found “50%x400”, for example size = \"640 400\""
  ),
  (
    "command = ['x']\nwindow = { place = 'top-right', margin = -3 }",
    "2:33: “margin”: expected 0 to 16384, found -3"
  ),
  (
    "command = ['x']\nwindow = { margin = 3 }",
    "2:12: “margin” needs “place”: it is the distance to the edges"
  ),
  (
    "command = ['x']\n[window]\napp-id = ''",
    "3:1: “app-id”: expected a pattern, found an empty text, for example app-id = \"org.gnome.*\""
  ),
  (
    "command = ['x']\n[window]\napp-id = '^mail$'",
    "3:1: “app-id”: expected a shell pattern, found a regular expression; leave out “^” and “$”, for example app-id = \"org.gnome.*\""
  ),
  (
    "holds = 3\nstate = true",
    "1:1: “holds”: expected a table such as holds = { dnd = \"postpone\", locked = \"dismiss\" }, found an integer"
  ),
  (
    "state = true\n[holds]\ndnd = 'pospone'",
    "3:1: “holds”: expected “show”, “postpone”, “dismiss” or “refuse” for “dnd”, found “pospone”"
  ),
  (
    "state = true\ninhibit = 'idle'",
    "2:1: “inhibit”: expected an array such as inhibit = [\"idle\", \"sleep\"], found a string"
  ),
  (
    "state = true\ninhibit = ['idel']",
    "2:12: “inhibit”: expected some of “idle”, “sleep”, “shutdown”, “handle-power-key”, “handle-suspend-key”, “handle-hibernate-key”, “handle-lid-switch”, found “idel”"
  ),
  (
    "state = true\nholds = { dnd = true }",
    "2:11: “holds”: expected “show”, “postpone”, “dismiss” or “refuse” for “dnd”, found a boolean"
  ),
  (
    "command = ['x']\nprotected = true\nholds = { locked = 'dismiss' }",
    "3:1: “holds”: “dismiss” for “locked” would end an item that “protected” keeps; use one of them"
  ),
  ("command = ['x']\nhere = true", "2:1: “here” needs “window”: only windows are on workspaces and outputs"),
  ("command = ['x']\nunfocus = 'dismiss'", "2:1: “unfocus” needs “window”: only windows have the focus"),
  ("command = ['x']\ndismissal = 'hide'", "2:1: “dismissal” needs “window”: only windows can be hidden"),
  ("command = ['x']\nwindow = true\nunfocus = 'hide'", "3:1: “unfocus”: expected “keep” or “dismiss”, found “hide”"),
  ("\u{feff}group = 3", "1:1: “group”: expected a string such as group = \"panels\", found an integer"),
  ("'é' = 1; grace = 3", "1:8: expected the end of the line, found “;”"),
  (
    "1979-05-27 = 1979-05-27 07:32:00 # a date\n[[x.y]]\nz = '''\n'''''\n[[x.y]]",
    "1:1: “1979-05-27” is not a key of a destination; "
  ),
])
func destinationFile_mistake_isReportedWithItsPosition(_ text: String, _ line: String) throws {
  let all = faults(text)
  let first = try #require(all.first)
  #expect(first.hasPrefix(line))
  #expect(line.hasSuffix(" ") || first == line)
}

@Test func destinationFile_manyMistakes_areAllReportedInTheOrderOfTheFile() {
  let all = faults("grace = 1\nx = 1\nunit = 3\nstyle = 4\n[bus]\ny = 2\n")
  #expect(all.map { String($0.prefix { $0 != " " }) } == ["1:1:", "2:1:", "3:1:", "4:1:", "5:2:"])
}

@Test func destinationFile_veryManyMistakes_areCut() {
  let all = faults((0..<1000).map { "key\($0) = \($0)\n" }.joined())
  #expect(all.count == 21)
  #expect(all.last == " 980 more mistakes")
}

@Test("D21: check has a command, a time and a number of failures, and each mistake in it has its position")
func check_isRead() throws {
  func read(_ text: String) throws -> ProgramCheck? {
    try DestinationFile.read(Array("command = [\"foot\"]\ncheck = \(text)\n".utf8), name: "page", path: "/page.toml")
      .itemSettings?.check
  }
  #expect(try read("{ command = [\"curl\", \"{id}\"] }") == ProgramCheck(["curl", "{id}"].map { Array($0.utf8) }))
  let check = try read("{ command = [\"curl\"], every = \"5s\", failures = 1 }")
  #expect(check == ProgramCheck([Array("curl".utf8)], every: 5000, failures: 1))
  for (text, message) in [
    ("{ every = \"5s\" }", "“check” has no “command”"), ("[]", "“check”: expected a table such as check ="),
    ("{ command = [\"a\"], every = \"10ms\" }", "“every”: expected 1s or more, found “10ms”"),
    ("{ command = [\"a\"], failures = 0 }", "“failures”: expected 1 to 1000, found 0"),
    ("{ command = [\"a\"], often = 1 }", "“often” is not a key of “check”"),
  ] {
    let faults = #expect(throws: FileFaults.self) { try read(text) }
    #expect(faults?.all.contains { $0.description.contains(message) } == true, "\(String(describing: faults))")
  }
}
