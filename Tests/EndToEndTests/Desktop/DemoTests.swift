// Why this file exists: the example is what people read to learn how it is done, so it is used as they would use it: by its
// keys, beside another copy of itself, and by others who watch and drive what it shows.

import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

/// A copy of the demo in a terminal.
private struct Copy {
  let terminal: Terminal
  /// What this copy's models are called on the bus.
  let counter: String
  let notes: String

  init(_ session: Session, _ name: String, _ options: String = "") throws {
    terminal = try Terminal(session, name, columns: 100, rows: 20, "exec \(Session.program("demo")) \(options)")
    let lines = try terminal.wait("there is a counter") { $0.first?.hasSuffix(".window") == true && $0.count == 5 }
    let binding = try #require(lines[0].split(separator: " ").last)
    counter = String(binding.dropLast(".window".count))
    notes = "notes" + counter.dropFirst("counter".count)
  }

  /// Presses keys, and waits until a page is on top, and a line on the terminal.
  func press(_ keys: String..., shows title: String, _ line: String = "") throws {
    for key in keys { try terminal.press(key) }
    try expect(title, line)
  }

  func expect(_ title: String, _ line: String = "") throws {
    try terminal.wait("the page “\(title)”, with “\(line)”") { lines in
      // The last line of a page comes last.
      lines.first?.hasPrefix(title + "  ") == true && lines.contains { $0.contains(line) } && lines.count > 2
    }
  }
}

@Test("The demo: driven by keys and by others, watched, edited from outside; two copies do not disturb each other")
func demo_twoCopies_areDrivenByKeysAndByOthers() throws {
  // An editor that does its work at once, and stays until somebody closes it.
  let editor = #"command = ["sh", "-c", '"$1" update "$NAVD_BINDING" "text=edited elsewhere" && exec sleep 1000', "#
  let session = try Session(destinations: ["note-editor": editor + "\"sh\", \"\(Session.program("navctl"))\"]\n"])
  let watch = try session.startNavctl("watch", "--events", "--format", "{event} {binding}{group} {id}{tag} {reason}")
  let (one, other) = (try Copy(session, "one"), try Copy(session, "other"))
  #expect(one.counter != other.counter)

  // An item: presented, replaced when its id changes, edited in place and by others, nil when somebody closes it.
  let fact = "\(one.counter).fact"
  var told: [String] = []
  func watched(_ events: String...) throws {
    told += events
    try session.wait("who watches sees \(events)") {
      watch.lines.filter { $0.contains(" \(fact) ") && !$0.hasPrefix("phase") }
        == told.map {
          $0.replacing(" ", with: " \(fact) ", maxReplacements: 1)
        }
    }
  }
  try one.press("+", "+", "f", shows: "A fact about 2", "2 is prime.")
  try watched("presented 2 ")
  try one.press("n", shows: "A fact about 3", "3 is prime.")
  try watched("dismissed 2 replaced", "presented 3 ")
  try one.press("u", shows: "A fact about 3", "3 IS PRIME.")
  try session.order("update", fact, "text=theirs\u{1b}[2J")
  try one.expect("A fact about 3", "theirs·[2J")
  try session.order("dismiss", fact)
  try one.expect("Counter")
  try watched("updated 3 ", "updated 3 ", "dismissed 3 dismissed")
  try one.press("f", shows: "A fact about 2")
  try watched("presented 2 ")
  try one.press("Escape", shows: "Counter")
  try watched("dismissed 2 closed")

  // One of many, selected by its keys and by others.
  try one.press("?", shows: "Counter", "navctl dismiss BINDING")
  try one.press("h", shows: "Counter", "2 3 2")
  #expect(try session.navctl("selection", "\(one.counter).panel").outputText == "history\n")
  try session.order("select", "\(one.counter).panel", "help")
  try one.expect("Counter", "navctl dismiss BINDING")
  try session.order("deselect", "\(one.counter).panel")
  try one.terminal.wait("no panel is open") { $0.count == 5 }

  // A path of two types, set at once from a page that goes; and a question that leads to another.
  try one.press("f", shows: "A fact about 2")
  try one.press("k", shows: "Note 3", "2 is prime.")
  #expect(try session.navctl("path", "\(one.notes).path").lines.count == 2)
  try one.press("C-d", shows: "Delete “2 is prime.”?", "y yes")
  try one.press("y", shows: "“2 is prime.” is deleted", "u take it back")
  try one.press("u", shows: "Notes", "3  2 is prime.")

  // Edited where it stands, by a page and by another program; and several pages go at once.
  try one.press("1", shows: "Note 1", "and bread")
  try one.press("!", shows: "Note 1", "and bread!")
  try one.press("C-e", shows: "Note 1", "edited elsewhere")
  #expect(session.processes().map(\.binding) == ["\(one.notes).edited"])
  try session.order("dismiss", "\(one.notes).edited")
  try one.press("C-n", shows: "Note 2", "Call Ada")
  try session.order("pop", "\(one.notes).path")
  try one.expect("Note 1", "edited elsewhere")
  try one.press("C-x", shows: "Counter")

  // The other one has not been disturbed; and both show a fact.
  #expect(try other.terminal.lines().prefix(3).last == "  0")
  #expect(watch.lines.allSatisfy { !$0.contains(other.counter) || $0.contains(".window") })
  try other.press("f", shows: "A fact about 0")
  try one.press("f", shows: "A fact about 2")
  try session.order("dismiss", "--root", one.counter)
  try session.wait("one has ended") { watch.lines.contains { $0.hasPrefix("dismissed \(one.counter).window") } }
  try other.expect("A fact about 0")
  // Its terminal is closed.
  try other.terminal.close()
  try session.wait("the other has ended") { watch.lines.contains { $0.hasPrefix("dismissed \(other.counter).window") } }
  #expect(try session.navctl("list", "--no-legend").outputText == "")
}

@Test("The demo in a window, and a note in an editor in another, by the destination that the documentation shows")
func demo_onADesktop_editsInAWindowOfItsOwn() throws {
  // It is done with the first note when it is told to.
  var files = ["bin/editor": "#!/bin/sh\nuntil test -e \"$HOME/saved\"; do sleep 0.02; done\necho Cheese >>\"$1\"\n"]
  for (name, text) in try Markdown("swift.md").files where name.hasPrefix("navd/") { files["config/\(name)"] = text }
  let session = try Session(desktop: .sway, files: files)
  session.environment["EDITOR"] = "editor"
  let (windows, watcher) = (try Windows(session), try session.watch())
  try #require(link(Session.program("demo"), session.path("bin/demo")) == 0)
  // A window that comes before there is a keyboard misses the first keys of it; this one is there until the end.
  let keyboard = try session.start(program: "/usr/bin/wtype", ["-s", "1000000", "-k", "n"])
  defer { keyboard.send(SIGTERM) }
  try session.poll("there is a keyboard") { try windows.ask("-t", "get_inputs").outputText.contains("keyboard") }
  let window = try session.start(program: "/usr/bin/foot", ["--app-id=demo", "-e", session.path("bin/demo")])
  try windows.wait(for: "demo")
  try windows.waitForFocus(on: "demo")
  try session.wait("there is a counter") { watcher.lines.contains { $0.hasPrefix("presented counter-") } }

  func press(_ keys: String...) throws {
    for key in keys {
      try #require(session.run(program: "/usr/bin/wtype", key.split(separator: " ").map(String.init)).exitCode == 0)
    }
  }
  try press("-k n")
  try session.wait("there is a list") {
    watcher.lines.contains { $0.hasPrefix("presented notes-") && $0.contains(".path[0]") }
  }
  try press("-k 1", "-M ctrl -k e")
  try windows.wait(for: "demo", "note-editor")
  let edited = try #require(watcher.events.last { $0.line.contains(".edited") }?.json["binding"]?.string)
  // Closed from outside: the state is nil, and the note as it was.
  try session.order("dismiss", edited)
  try windows.wait(for: "demo")
  try windows.waitForFocus(on: "demo")
  try press("-M ctrl -k e")
  try windows.wait(for: "demo", "note-editor")
  #expect(try session.navctl("show", edited, "--json").outputText.contains(#""text":"Milk\nand bread""#))
  try session.write("", to: "saved")
  try windows.wait(for: "demo")
  try session.wait("it was edited") { watcher.lines.contains("updated \(edited) 1") }
  try session.wait("its end is told") { watcher.lines.last == "dismissed \(edited) 1 closed" }
  // Opened again, it is the note that was edited.
  try windows.waitForFocus(on: "demo")
  try press("-M ctrl -k e")
  try session.wait("there is the edited note") {
    watcher.events.contains { $0.json["binding"]?.string == edited && "\($0.json)".contains("Cheese") }
  }
  // The window is closed by its user, and what was open of the program is gone with it.
  let demo = try #require(windows.open.first { $0.name == "demo" })
  try windows.close(demo)
  try session.wait("the terminal ends") { window.hasEnded }
  try windows.wait()
  #expect(try session.navctl("list", "--no-legend").outputText == "")
}

@Test(
  "The demo without a session bus: the same, but what it would leave to others is refused; and without --embedded it says why"
)
func demo_embedded_needsNoBus() throws {
  let session = try Session(starting: false)
  session.environment["DBUS_SESSION_BUS_ADDRESS"] = nil
  session.environment["XDG_RUNTIME_DIR"] = nil
  let copy = try Copy(session, "tmux", "--embedded")
  #expect(copy.counter == "counter-embedded")
  try copy.press("+", "f", shows: "A fact about 1")
  try copy.press("k", shows: "Note 3", "1 divides every number.")
  try copy.press("C-e", shows: "This cannot be shown", "note-editor")
  try copy.press("Escape", shows: "Note 3")
  try copy.press("C-x", shows: "Counter")
  try copy.terminal.close()

  let without = try session.run(program: Session.program("demo"), [])
  #expect(without.exitCode != 0 && without.errorText.contains("bus"), "\(without.errorText)")
}
