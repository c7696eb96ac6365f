import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

// The demo of the library, driven by its keys, as a reader of the example would try it.

/// A running copy of the demo in a terminal.
private struct Copy {
  let terminal: Terminal
  /// The names of this copy's models on the bus.
  let counter: String
  let notes: String

  init(_ session: Session, _ name: String, _ options: String = "") throws {
    terminal = try Terminal(session, name, columns: 100, rows: 20, "exec \(Session.program("demo")) \(options)")
    let lines = try terminal.wait("the counter is shown") { $0.first?.hasSuffix(".window") == true && $0.count == 5 }
    let binding = try #require(lines[0].split(separator: " ").last)
    counter = String(binding.dropLast(".window".count))
    notes = "notes" + counter.dropFirst("counter".count)
  }

  /// Presses keys, and waits for a page on top and a line on the terminal.
  func press(_ keys: String..., shows title: String, _ line: String = "") throws {
    for key in keys { try terminal.press(key) }
    try expect(title, line)
  }

  func expect(_ title: String, _ line: String = "") throws {
    try terminal.wait("the page “\(title)”, with “\(line)”") { lines in
      // The last line of a page is drawn last.
      lines.first?.hasPrefix(title + "  ") == true && lines.contains { $0.contains(line) } && lines.count > 2
    }
  }
}

@Test(
  "The demo can be driven by keys and by other programs, watched and edited from outside; two copies do not interfere")
func demo_twoCopies_areDrivenByKeysAndByOthers() throws {
  // An editor that changes the text at once, and runs until somebody closes it.
  let editor = #"command = ["sh", "-c", '"$1" update "$NAVD_BINDING" "text=edited elsewhere" && exec sleep 1000', "#
  let session = try Session(destinations: ["note-editor": editor + "\"sh\", \"\(Session.program("navctl"))\"]\n"])
  let watch = try session.startNavctl("watch", "--events", "--format", "{event} {binding}{group} {id}{tag} {reason}")
  let (one, other) = (try Copy(session, "one"), try Copy(session, "other"))
  #expect(one.counter != other.counter)

  // The item is presented, replaced when its id changes, edited in place and by others, and nil when somebody closes it.
  let fact = "\(one.counter).fact"
  var told: [String] = []
  func watched(_ events: String...) throws {
    told += events
    try session.wait("the watcher receives \(events)") {
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
  try session.runNavctl("update", fact, "text=theirs\u{1b}[2J")
  try one.expect("A fact about 3", "theirs·[2J")
  try session.runNavctl("dismiss", fact)
  try one.expect("Counter")
  try watched("updated 3 ", "updated 3 ", "dismissed 3 dismissed")
  try one.press("f", shows: "A fact about 2")
  try watched("presented 2 ")
  try one.press("Escape", shows: "Counter")
  try watched("dismissed 2 closed")

  // The selection is changed by keys and by other programs.
  try one.press("?", shows: "Counter", "navctl dismiss BINDING")
  try one.press("h", shows: "Counter", "2 3 2")
  #expect(try session.navctl("selection", "\(one.counter).panel").outputText == "history\n")
  try session.runNavctl("select", "--state", "\(one.counter).panel", "help")
  try one.expect("Counter", "navctl dismiss BINDING")
  try session.runNavctl("deselect", "\(one.counter).panel")
  try one.terminal.wait("no panel is open") { $0.count == 5 }

  // The path of two types is set at once by a page that is dismissed by it, and by a question that leads to another.
  try one.press("f", shows: "A fact about 2")
  try one.press("k", shows: "Note 3", "2 is prime.")
  #expect(try session.navctl("path", "\(one.notes).path").lines.count == 2)
  try one.press("C-d", shows: "Delete “2 is prime.”?", "y yes")
  try one.press("y", shows: "“2 is prime.” is deleted", "u take it back")
  try one.press("u", shows: "Notes", "3  2 is prime.")

  // The note is edited in place by a page and by another program; then several pages are dismissed at once.
  try one.press("1", shows: "Note 1", "and bread")
  try one.press("!", shows: "Note 1", "and bread!")
  // Has the user stay when another program dismisses the note, so that the path is as before (P15, P16).
  func stay() throws {
    try one.expect("Note 1", "Save the changes?")
    try session.poll("it asks") { try session.navctl("list").outputText.contains("dismissing (asking)") }
    try one.press("c", shows: "Note 1", "and bread!")
    try waitForRest()
    #expect(try session.navctl("path", "\(one.notes).path").lines.count == 2)
  }
  /// Waits until no item is about to be presented, since an item that was never presented cannot stay (P4).
  func waitForRest() throws {
    try session.poll("everything is presented") {
      try session.state()["presentations"]?.array?.allSatisfy { $0["phase"] == "presented" } == true
    }
  }
  try waitForRest()
  try session.runNavctl("pop", "\(one.notes).path")
  try stay()
  // The program itself dismisses the note and all pages below it.
  try one.terminal.press("C-x")
  try stay()
  try one.press("C-e", shows: "Note 1", "edited elsewhere")
  // The editor's navctl, which has the same environment, may not have exited when the page shows its change.
  try session.poll("only the editor runs") { session.processes().map(\.binding) == ["\(one.notes).edited"] }
  try session.runNavctl("dismiss", "\(one.notes).edited")
  try one.press("C-n", shows: "Note 2", "Call Ada")
  try session.runNavctl("pop", "\(one.notes).path")
  try one.expect("Note 1", "edited elsewhere")
  try one.press("C-x", shows: "Counter")

  // The other copy was not affected. Now both show a fact.
  #expect(try other.terminal.lines().prefix(3).last == "  0")
  #expect(watch.lines.allSatisfy { !$0.contains(other.counter) || $0.contains(".window") })
  try other.press("f", shows: "A fact about 0")
  try one.press("f", shows: "A fact about 2")
  try session.runNavctl("dismiss", "--root", one.counter)
  try session.wait("one has ended") { watch.lines.contains { $0.hasPrefix("dismissed \(one.counter).window") } }
  try other.expect("A fact about 0")
  // The terminal of this copy is closed.
  try other.terminal.close()
  try session.wait("the other has ended") { watch.lines.contains { $0.hasPrefix("dismissed \(other.counter).window") } }
  #expect(try session.navctl("list", "--no-legend").outputText == "")
}

@Test(
  "The demo in a window, with a note in an editor in another window, opened by the destination in the documentation")
func demo_onADesktop_editsInAWindowOfItsOwn() throws {
  // The editor waits for the file `saved`, appends a line to the first note, and exits.
  var files = ["bin/editor": "#!/bin/sh\nuntil test -e \"$HOME/saved\"; do sleep 0.02; done\necho Cheese >>\"$1\"\n"]
  for (name, text) in try Markdown("swift.md").files where name.hasPrefix("navd/") { files["config/\(name)"] = text }
  let session = try Session(desktop: .sway, files: files)
  session.environment["EDITOR"] = "editor"
  let (windows, watcher) = (try Windows(session), try session.watch())
  try #require(link(Session.program("demo"), session.path("bin/demo")) == 0)
  let window = try session.start(program: "/usr/bin/foot", ["--app-id=demo", "-e", session.path("bin/demo")])
  try windows.wait(for: "demo")
  try windows.waitForFocus(on: "demo")
  try session.wait("the counter is shown") { watcher.lines.contains { $0.hasPrefix("presented counter-") } }

  func press(_ keys: String...) throws {
    for key in keys {
      try #require(session.run(program: "/usr/bin/wtype", key.split(separator: " ").map(String.init)).exitCode == 0)
    }
  }
  try press("-k n")
  try session.wait("the list is shown") {
    watcher.lines.contains { $0.hasPrefix("presented notes-") && $0.contains(".path[0]") }
  }
  try press("-k 1")
  // The list would not take a key before this.
  try session.wait("the note is shown") {
    watcher.lines.contains { $0.hasPrefix("presented notes-") && $0.contains(".path[1]") }
  }
  try press("-M ctrl -k e")
  try windows.wait(for: "demo", "note-editor")
  let edited = try #require(watcher.events.last { $0.line.contains(".edited") }?.json["binding"]?.string)
  // The note is closed from outside: the state is nil, and the text is unchanged.
  try session.runNavctl("dismiss", edited)
  try windows.wait(for: "demo")
  // The demo would not take the next key before this.
  try session.wait("its end is announced") { watcher.lines.last == "dismissed \(edited) 1 dismissed" }
  try windows.waitForFocus(on: "demo")
  try press("-M ctrl -k e")
  try windows.wait(for: "demo", "note-editor")
  #expect(try session.navctl("show", edited, "--json").outputText.contains(#""text":"Milk\nand bread""#))
  try session.write("", to: "saved")
  try windows.wait(for: "demo")
  try session.wait("it was edited") { watcher.lines.contains("updated \(edited) 1") }
  try session.wait("its end is announced") { watcher.lines.last == "dismissed \(edited) 1 closed" }
  // The note is opened again, and shows the edited text.
  try windows.waitForFocus(on: "demo")
  try press("-M ctrl -k e")
  try session.wait("the edited note is shown") {
    watcher.events.contains { $0.json["binding"]?.string == edited && "\($0.json)".contains("Cheese") }
  }
  // The user closes the window, and everything that the program presented ends.
  let demo = try #require(windows.open.first { $0.name == "demo" })
  try windows.close(demo)
  try session.wait("the terminal ends") { window.hasEnded }
  try windows.wait()
  #expect(try session.navctl("list", "--no-legend").outputText == "")
}

@Test(
  "The demo runs embedded without a session bus; destinations of others are refused, and without --embedded it prints the reason"
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
