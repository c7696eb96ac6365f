import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl on a terminal: the live view, tables, colours, and texts that could control the terminal.

private typealias Rows = CoordinatorInterface

/// A terminal with a shell, in which navctl watches a stack of two items.
private struct WatchingTerminal {
  let session: Session
  let terminal: Terminal
  private let navctl = Session.program("navctl")

  init() throws {
    session = try Session()
    try session.present("settings", "", ["stack": .string("main")])
    try session.present("settings.net", "1", ["stack": .string("main"), "title": .string("Netz \u{1b}[2J 日本")])
    terminal = try Terminal(session, columns: 90, rows: 14, "exec bash --norc -i")
    try terminal.wait("there is a shell") { $0.last?.hasSuffix("$") == true || $0.last?.hasSuffix("#") == true }
    try terminal.type("PS1='ready '")
    try waitForShell()
  }

  /// Runs navctl, which replaces its shell, so that ``watcher`` is its process.
  func watch(_ options: String) throws {
    try terminal.type("clear; sh -c 'echo $$ >\(session.path("process")); exec \(navctl) watch \(options)'")
  }

  var watcher: pid_t? {
    pid_t(String(decoding: Files.contents(of: session.path("process")).dropLast(), as: UTF8.self))
  }

  func waitForShell() throws { try terminal.wait("the shell is ready") { $0.last == "ready" } }

  /// Waits until the whole state is drawn. The stack is its last line.
  @discardableResult
  func waitForDrawing(_ what: String = "the state is drawn") throws -> [String] {
    try terminal.wait(what) { $0.last == "main   settings › settings.net=1" }
  }

  // MARK: The live view

  /// - Returns: the number of lines that are drawn.
  func expectDrawing() throws -> Int {
    let lines = try waitForDrawing()
    #expect(
      lines.first == "navd · serial \(try session.state()["serial"]?.text ?? "") · 2 of 2 presented · press q to quit")
    #expect(lines.contains { $0.hasPrefix("NUMBER  BINDING") && $0.contains("UP") })
    #expect(lines.contains { $0.contains("└ settings.net") })
    #expect(lines.contains { $0.contains("Netz \\u{1b}[2J 日本") })
    #expect(try terminal.isTaken())
    return lines.count
  }

  /// Lets time pass, and presents an item for a moment: both are drawn in place.
  func expectChangesInPlace(of count: Int) throws {
    let up = try terminal.wait("time passes") { $0.contains { $0.contains("presented  2s") } }
    #expect(up.count == count)
    try session.present("osd", "", ["timeout": .uint64(300)])
    try terminal.wait("it is there") { $0.contains { $0.contains("osd ") } }
    try terminal.wait("it is gone") { $0.count == count && !$0.contains { $0.contains("osd ") } }
  }

  /// A smaller terminal leaves out lines.
  func resize() throws {
    try terminal.resize(columns: 44, rows: 6)
    try terminal.wait("it is drawn for less room") { $0.count == 6 && $0[5] == "… 3 more lines" }
    try terminal.resize(columns: 90, rows: 14)
    try waitForDrawing("it is drawn for more room")
  }

  /// The shell stops navctl, which leaves the terminal, and continues it.
  func stopAndContinue() throws {
    try terminal.press("C-z")
    try terminal.wait("the shell is back") { $0.contains { $0.contains("Stopped") } }
    #expect(try !terminal.isTaken())
    try terminal.type("fg")
    try waitForDrawing("it is drawn again")
    #expect(try terminal.isTaken())
  }

  /// navctl continues when navd stops, and says so.
  func restartNavd() throws {
    try session.stop()
    try terminal.wait("it says that navd is not running") {
      $0.first?.hasPrefix("navd is not running") == true && $0.count == 1
    }
    try session.start()
    try waitForDrawing("navd is back")
  }
}

@Test("navctl watch on a terminal redraws the state in place and restores the terminal")
func navctl_watchOnATerminal_redrawsInPlace() throws {
  let watching = try WatchingTerminal()
  try watching.watch("")
  let count = try watching.expectDrawing()
  try watching.expectChangesInPlace(of: count)
  try watching.resize()
  try watching.stopAndContinue()
  try watching.restartNavd()
  try watching.terminal.press("q")
  try watching.waitForShell()
  #expect(try !watching.terminal.isTaken())
}

@Test(
  "The terminal echoes keys again, however navctl watch ends, and the shell gets the exit status of the signal",
  arguments: [(SIGINT, 130), (SIGTERM, 143)])
func navctl_watchEndedByASignal_restoresTheTerminal(_ signal: Int32, status: Int) throws {
  let watching = try WatchingTerminal()
  let terminal = watching.terminal
  try watching.watch("--no-legend")
  try terminal.wait("it is drawn") { $0.first?.hasPrefix("1  settings") == true }
  if signal == SIGINT { try terminal.press("C-c") } else { kill(try #require(watching.watcher), signal) }
  try watching.waitForShell()
  try terminal.type("echo $?; stty -a | grep -ow -- '-*icanon\\|-*echo'")
  try terminal.wait("the terminal is restored") { $0.suffix(4) == ["\(status)", "icanon", "echo", "ready"] }
  #expect(try !terminal.isTaken())
}

@Test("navctl watch --json prints lines on a terminal, too, and navctl watch ends when its terminal is closed")
func navctl_watchOnAClosedTerminal_ends() throws {
  let watching = try WatchingTerminal()
  let terminal = watching.terminal
  try watching.watch("--json")
  try terminal.wait("there are lines") { $0.contains { $0.hasPrefix("{\"groups\":") } }
  #expect(try !terminal.isTaken())
  try terminal.press("C-c")

  try watching.watch("--no-legend")
  try terminal.wait("it is drawn") { $0.first?.hasPrefix("1  settings") == true }
  let watcher = try #require(watching.watcher)
  func runs() -> Bool { !Files.contents(of: "/proc/\(watcher)/cmdline").isEmpty }
  #expect(runs())
  try terminal.close()
  try watching.session.poll("it ends") { !runs() }
}

@Test("Tables on a terminal fit its width, and are coloured unless NO_COLOR is set")
func navctl_listOnATerminal_isColouredAndFits() throws {
  let session = try Session()
  try session.present("settings", "", ["title": .string(String(repeating: "long ", count: 40))])
  try session.present("note", "", ["from": .string("settings")])
  let navctl = Session.program("navctl")
  func list(_ variables: String, _ options: String = "") throws -> [String] {
    let command = "stty cols 60; \(variables) \(navctl) list \(options)"
    let run = try session.run(program: "/usr/bin/script", ["-qec", command, "/dev/null"])
    #expect(run.exitCode == 0)
    return run.lines.map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
  }
  let escape = "\u{1b}"
  let coloured = try list("TERM=xterm")
  #expect(coloured.count == 3)
  #expect(coloured[0].hasPrefix("\(escape)[1mNUMBER\(escape)[0m  "))
  #expect(coloured[1].contains("\(escape)[32mpresented\(escape)[0m") && coloured[1].hasSuffix("…"))
  #expect(coloured[2].contains("└ note"))
  for variables in ["TERM=xterm NO_COLOR=1", "TERM=dumb", "TERM="] {
    let plain = try list(variables)
    #expect(plain.count == 3 && plain[0].hasPrefix("NUMBER  BINDING"))
    #expect(!plain.joined().contains(escape))
    #expect(plain.allSatisfy { $0.count <= 60 })
  }
  // An empty NO_COLOR counts as none (no-color.org).
  #expect(try list("TERM=xterm NO_COLOR=").joined().contains(escape))
  #expect(try list("TERM=dumb", "--no-legend").first?.hasPrefix("1  settings") == true)
  try session.dismiss("settings")
  #expect(try list("TERM=dumb") == ["Nothing is open."])
  #expect(try list("TERM=dumb", "--no-legend") == [])
}

@Test("Texts of other programs do not control a terminal, and are unchanged for every other reader")
func navctl_textOfOthers_isEscapedOnATerminalOnly() throws {
  // The text sets the title, clears the screen, colours, reverses, returns, and forges a line.
  let attack = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{200f}\u{61c}\u{2066}\rnavctl: \u{2028}"
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "screen")
  presenter.refusal = DBusError(name: .failed, message: "bad\(attack)\nend")
  let printer = try session.present("printer", "", ["command": ["printf", "%s", "out\(attack)\n\tend"].value])
  _ = try session.ending(of: printer)
  try session.present("note", "id\(attack)", ["title": .string("title\(attack)"), "style": .string("\(attack)")])
  let number = try #require(printer.text.split(separator: "/").last)
  let navctl = Session.program("navctl")

  func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.isControl && scalar != "\n" && scalar != "\t" }
  func onTerminal(_ command: String) throws -> String {
    let run = try session.run(
      program: "/usr/bin/script", ["-qec", "stty -onlcr; TERM=dumb \(navctl) \(command)", "/dev/null"])
    #expect(!run.outputText.unicodeScalars.contains(where: isControl), "\(command): \(run.outputText.debugDescription)")
    return run.outputText
  }
  #expect(
    try onTerminal("wait --presentation \(number)").hasPrefix("out\\u{1b}]0;x\\u{7}\\u{1b}[2J\\u{9b}31m\\u{202e}"))
  #expect(try onTerminal("wait --presentation \(number)").hasSuffix("\n\tend"))
  // The error of a presenter is one line.
  let failure = try onTerminal("present screen --state --wait")
  #expect(
    failure.hasPrefix("navctl: present screen: ") && failure.contains("bad\\u{1b}]0;x") && failure.contains("\\nend")
  )
  #expect(failure.split(separator: "\n").count == 1)
  for verb in ["list", "show note", "history", "list --json", "show note --json", "list --format '{title} {id}'"] {
    _ = try onTerminal(verb)
  }
  #expect(try onTerminal("list --json").contains("\\u202e\\u200f\\u061c\\u2066"))
  #expect(try onTerminal("dismiss note --expected-id x").contains("\\xe2\\x80\\xae"))
  #expect(try onTerminal("present note --state --group 'a\u{202e}b'").contains("navctl: present note: "))

  // A pipe gets the text unchanged.
  #expect(try session.navctl("wait", "--presentation", "\(number)").outputText == "out\(attack)\n\tend")
  let piped = try session.navctl("present", "--state", "screen", "--wait")
  #expect(piped.errorText.contains("bad\(attack)\nend"))
  #expect(try session.navctl("list", "--json").outputText.contains("\u{202e}\u{200f}\u{61c}\u{2066}"))
  let entries = try JSON.parse(session.navctl("list", "--json").outputText)["presentations"]?.array
  #expect(entries?.first?["title"]?.string == "title\(attack)")

  // People read the log of navd on terminals.
  let log = try #require(session.navd).errorText
  #expect(log.contains("bad\\u{1b}]0;x"), "\(log.debugDescription)")
  #expect(!log.unicodeScalars.contains { $0.isControl && $0 != "\n" }, "\(log.debugDescription)")
}
