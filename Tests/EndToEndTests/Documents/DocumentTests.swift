import CoordinatorAPI
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The examples in docs/semantics.md, run exactly as printed.

/// A block of commands in the document with the events that it says will follow.
private struct Example: CustomTestStringConvertible {
  struct Command {
    var text: String
    var status: Int32
    var output: [String] = []
  }

  /// The rule and the line in the document.
  let testDescription: String
  var commands: [Command] = []
  /// The expected events; nil if the document shows none.
  var events: [String]?
}

/// The examples and destination files in docs/semantics.md.
private struct Document {
  private(set) var examples: [Example] = []
  /// Destination files, by name.
  private(set) var destinations: [String: String] = [:]
  /// The text of `navd.toml`, for examples with its groups.
  private(set) var settings = ""
  /// The script that shows the items of the destination “editor”.
  private(set) var editor = ""

  init() throws {
    let document = try Markdown("semantics.md")
    for block in document.blocks {
      let rule = document.lines[..<block.line].last { $0.hasPrefix("**") && $0.contains(".") } ?? "**."
      add(block, "\(rule.prefix { $0 != "." }.dropFirst(2)), line \(block.line)")
    }
    for (name, text) in document.files where name.hasSuffix(".toml") && name != "navd.toml" {
      destinations[String(name.dropLast(5))] = text
    }
    settings = document.files["navd.toml"] ?? ""
    editor = document.files["editor.sh"] ?? ""
  }

  private mutating func add(_ block: Markdown.Block, _ place: String) {
    if block.kind == "console" {
      var example = Example(testDescription: place)
      for line in block.lines {
        if line.hasPrefix("$ ") {
          let parts = line.dropFirst(2).split(separator: "  # exit ")
          example.commands.append(.init(text: String(parts[0]), status: parts.count > 1 ? Int32(parts[1]) ?? -1 : 0))
        } else if line.hasPrefix("> ") {
          example.commands[example.commands.count - 1].text += "\n" + line.dropFirst(2)
        } else {
          example.commands[example.commands.count - 1].output.append(line)
        }
      }
      examples.append(example)
    } else if block.kind == "events" {
      examples[examples.count - 1].events = block.lines
    }
  }
}

extension Example {
  /// Whether a command of the example contains a text.
  func mentions(_ text: String) -> Bool { commands.contains { $0.text.contains(text) } }
}

/// A session for an example, with the peers that the example mentions, and a watcher of its events.
private struct ExampleSession {
  let session: Session
  private let watch: Program
  /// The beginning of a script that finds navctl.
  private let path: String
  private var editor: Program?
  private var windows: ScriptedWindowSystem?

  init(for example: Example) throws {
    let document = try Document()
    var destinations = document.destinations
    // The command “slow” ignores SIGTERM; the test kills it where the example waits for its end.
    destinations["slow"] = """
      command = ["sh", "-c", "trap '' TERM; sleep 1000 & wait"]
      grace = "1h"
      """
    let session = try Session(destinations: destinations)
    self.session = session
    let groups = document.settings.split(separator: "[groups.").filter { table in
      example.mentions(String(table.prefix { $0 != "]" }))
    }
    if !groups.isEmpty {
      try session.write(groups.map { "[groups.\($0)" }.joined(), to: "config/navd/navd.toml")
      try #require(session.navctl("reload").exitCode == 0)
    }
    let watch = try session.startNavctl(
      "watch", "--events", "--format",
      "{event} {binding}{group}{stack} {id}{tag}{path}{tags} {phase}{reason}{action}{queue}{hold}")
    self.watch = watch
    try session.wait("the watcher has the state") { !watch.lines.isEmpty }
    let navctl = Session.program("navctl")
    path = "PATH=\(navctl[..<(navctl.lastIndex(of: "/") ?? navctl.endIndex)]):$PATH\n"
    if example.mentions("--to editor") {
      let editor = try session.start(program: "/bin/sh", ["-c", path + document.editor])
      self.editor = editor
      try session.poll("the editor is registered; \(editor.errorText)") {
        try session.navctl("destinations").outputText.contains("editor")
      }
    }
    if example.mentions("--to files") { windows = try ScriptedWindowSystem(session) }
  }

  /// The lines that the watcher has printed.
  var events: [String] { watch.lines.dropFirst().map { $0.split(separator: " ").joined(separator: " ") } }

  /// Runs a command, and compares its output and its status.
  func run(_ command: Example.Command) throws {
    if command.text.hasPrefix("navctl wait") { try session.endSlowOnes() }
    let run = try session.run(program: "/bin/sh", ["-c", "exec 2>&1; \(path)\(command.text)"])
    #expect(run.status == .exited(code: command.status), "$ \(command.text)")
    #expect(run.lines == command.output, "$ \(command.text)")
    try session.waitForSlowOnes()
    if let windows, windows.windows.isEmpty, try session.isAwaited("files") {
      try session.poll("its command runs") { try session.isAwaited("files", running: true) }
      windows.open(Window("files", appID: "files", pid: 0))
    }
  }
}

@Test(arguments: try Document().examples)
private func semantics_example_isAsItIsWritten(_ example: Example) throws {
  let running = try ExampleSession(for: example)
  let session = running.session
  for command in example.commands { try running.run(command) }
  try session.endSlowOnes()
  guard let expected = example.events else { return }
  try session.wait("there are \(expected.count) events") { running.events.count >= expected.count }
  // The next request is announced after everything that followed from earlier ones.
  try session.present("the-end")
  try session.wait("the end is announced") { running.events.last == "presented the-end" }
  #expect(running.events.dropLast() == expected)
}

extension Session {
  private func slowOnes(_ phase: String) throws -> [JSON] {
    try (JSON.parse(navctl("list", "--json").outputText)["presentations"]?.array ?? [])
      .filter { $0["destination"] == "slow" && $0["phase"]?.string == phase }
  }

  private func processes(of presentation: JSON) -> [Process] {
    processes().filter { $0.binding == presentation["binding"]?.string && $0.id == presentation["id"]?.string }
  }

  /// Whether an item of a destination is to be presented.
  /// - Parameter running: whether its command has to run.
  fileprivate func isAwaited(_ destination: String, running: Bool = false) throws -> Bool {
    try (JSON.parse(navctl("list", "--json").outputText)["presentations"]?.array ?? []).contains {
      $0["destination"]?.string == destination && $0["phase"] == "presenting" && (!running || $0["pid"] != nil)
    }
  }

  /// Waits until the shell of every “slow” has started its `sleep`, and thus ignores SIGTERM.
  fileprivate func waitForSlowOnes() throws {
    try poll("every “slow” has started") { try slowOnes("presented").allSatisfy { processes(of: $0).count == 2 } }
  }

  fileprivate func endSlowOnes() throws {
    for presentation in try slowOnes("dismissing") {
      for process in processes(of: presentation) { kill(process.pid, SIGKILL) }
    }
  }
}
