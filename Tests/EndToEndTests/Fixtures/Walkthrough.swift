import TestSupport
import Testing

/// A section of a document whose files are written and whose commands run on sway, one after the other, as its reader does. The output
/// is that of a terminal. In the document `…` stands for any text, and a line of it for any lines.
struct Walkthrough: CustomTestStringConvertible {
  private enum Step {
    case file(name: String, text: String)
    case command(String, output: [String])
    /// The user closes the windows whose names contain a text.
    case closing(String)
  }

  /// The document and the heading.
  let testDescription: String
  private var steps: [Step] = []
  /// Whether the adapter runs.
  private var followsWindows = true

  /// The sections of a document that have commands.
  static func all(in name: String) throws -> [Walkthrough] {
    let document = try Markdown(name)
    var sections: [Walkthrough] = []
    for block in document.blocks {
      let heading = document.lines[..<block.line].last { $0.hasPrefix("## ") }?.dropFirst(3) ?? ""
      let description = "\(name): \(heading)"
      if sections.last?.testDescription != description { sections.append(Walkthrough(testDescription: description)) }
      sections[sections.count - 1].add(block)
    }
    return sections.filter { section in section.steps.contains { if case .command = $0 { true } else { false } } }
  }

  private init(testDescription: String) { self.testDescription = testDescription }

  private mutating func add(_ block: Markdown.Block) {
    let directory = "# ~/.config/navd/"
    if block.kind == "toml", let first = block.lines.first, first.hasPrefix(directory) {
      steps.append(.file(name: "config/navd/\(first.dropFirst(directory.count))", text: block.text))
    }
    guard block.kind.hasPrefix("console") else { return }
    if block.kind.hasSuffix("without-windows") { followsWindows = false }
    for line in block.lines {
      if line.hasPrefix("$ ") {
        steps.append(.command(String(line.dropFirst(2)), output: []))
      } else if line.hasPrefix("# Close ") {
        steps.append(.closing(String(line.dropFirst("# Close ".count))))
      } else if case .command(let command, let output) = steps.last {
        steps[steps.count - 1] = .command(command, output: output + [line])
      }
    }
  }

  /// Does what the section says, and requires what it says of the output.
  func run() throws {
    var files: [String: String] = [:]
    for program in ["pulsemixer", "nmtui", "calcurse"] { files["bin/\(program)"] = "#!/bin/sh\nexec sleep 1000\n" }
    let session = try Session(destinations: [:], desktop: .sway, files: files)
    let adapter = followsWindows ? try WindowedDesktop.startAdapter(session) : nil
    let screen = ManagersWindows(session: session)
    for step in steps {
      switch step {
      case .file(let name, let text): try session.write(text, to: name)
      case .command(let command, let output): try run(command, output, session)
      case .closing(let name):
        try screen.poll(name, "is open") { $0 != nil }
        for window in try screen.all() where window.name == name { try screen.close(window) }
        try screen.poll(name, "is closed") { $0 == nil }
      }
    }
    #expect(adapter?.status == nil, "\(adapter?.errorText ?? "")")
  }

  /// Runs a command until its output is the expected one: what follows from the commands before it may take a moment. A command that
  /// changes something runs once.
  private func run(_ command: String, _ output: [String], _ session: Session) throws {
    let expected = output.map(Self.normalized).filter { !$0.isEmpty }
    let changes = ["open", "close", "toggle", "present", "dismiss", "deselect", "hold", "release"]
    let isQuery = !changes.contains { command.contains("navctl \($0)") }
    let line = "stty cols 300; PATH=\(session.path("bin")):$PATH; export NO_COLOR=1; \(command)"
    var seen: [String] = []
    func isAsExpected() throws -> Bool {
      let run = try session.run(program: "/usr/bin/script", ["-qec", line, "/dev/null"])
      seen = run.outputText.split(whereSeparator: \.isNewline).map { Self.normalized(String($0)) }
      return Self.matches(seen[...], expected[...])
    }
    if try isAsExpected() { return }
    if isQuery { try? session.poll("it prints what is expected") { try isAsExpected() } }
    #expect(
      Self.matches(seen[...], expected[...]), "$ \(command)\nprints:\n\(seen.joined(separator: "\n"))")
  }

  /// A line with single spaces, as its columns depend on the widths of others.
  private static func normalized(_ line: String) -> String {
    line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func matches(_ lines: ArraySlice<String>, _ pattern: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return lines.isEmpty }
    if first == "…" {
      return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], pattern.dropFirst()) }
    }
    guard let line = lines.first else { return false }
    return matches(line[...], first.split(separator: "…", omittingEmptySubsequences: false)[...])
      && matches(lines.dropFirst(), pattern.dropFirst())
  }

  /// Whether a line has the parts one after the other, the first one at its start and the last one at its end.
  private static func matches(_ line: Substring, _ parts: ArraySlice<Substring>) -> Bool {
    guard let first = parts.first, line.hasPrefix(first) else { return false }
    var rest = line.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() {
      guard let range = rest.firstRange(of: part) else { return part.isEmpty }
      rest = rest[range.upperBound...]
    }
    guard parts.count > 1, let last = parts.last else { return rest.isEmpty }
    return rest.hasSuffix(last)
  }
}
