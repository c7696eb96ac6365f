import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing
import TextFormats

// The manual pages and docs/dbus.md, beside the tables and the help from which they are generated.

private let pages = ["navctl.1", "navd.8", "navd-windows.8", "navd.destination.5"]

/// All names of a command and its verbs.
private func allNames(in help: JSON?) -> [String] {
  guard let help, help["shouldDisplay"] == true, help["commandName"] != "help" else { return [] }
  var names = [help["commandName"]?.string ?? ""]
  for argument in help["arguments"]?.array ?? [] where argument["shouldDisplay"] == true {
    let dashed = (argument["names"]?.array ?? []).map { name in
      (name["kind"] == "short" ? "-" : "--") + (name["name"]?.string ?? "")
    }
    names += dashed.isEmpty ? [argument["valueName"]?.string ?? ""] : dashed
  }
  return names + (help["subcommands"]?.array ?? []).flatMap { allNames(in: $0) }
}

/// The installed manual pages.
private struct Manual {
  private let session: Session
  /// The pages as a reader sees them, and their sources.
  private var texts: [String: String] = [:]
  private var sources: [String: String] = [:]

  /// Installs the pages, and requires that no formatter warns of any.
  init() throws {
    session = try Session(starting: false)
    try session.make("install")
    session.environment["LC_ALL"] = "C.UTF-8"
    session.environment["MANWIDTH"] = "80"
    for page in pages {
      let path = session.path(".local/share/man/man\(page.suffix(1))/\(page)")
      try check(page, path)
      texts[page] = try session.run(program: "/usr/bin/man", ["-E", "UTF-8", "-l", path]).outputText
      sources[page] = String(decoding: Files.contents(of: path), as: UTF8.self)
    }
  }

  private func check(_ page: String, _ path: String) throws {
    // This is the check that lintian runs.
    let check = try session.run(
      program: "/usr/bin/man", ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path])
    #expect(check.exitCode == 0 && check.errorText == "", "\(page): \(check.errorText)")
    // This is the formatter of Alpine, Void and the BSDs.
    let lint = try session.run(program: "/usr/bin/mandoc", ["-Tlint", path])
    #expect(lint.exitCode == 0 && lint.outputText == "", "\(lint.outputText)")
    let name = try session.run(program: "/usr/bin/lexgrog", [path])
    #expect(name.exitCode == 0 && name.outputText.contains("\"\(page.dropLast(2)) - "), "\(name.outputText)")
  }

  func words(of page: String) -> Set<Substring> {
    Set((texts[page] ?? "").split { $0.isWhitespace || "[](),.…".contains($0) })
  }

  /// The text of a page, whatever its lines.
  func flowingText(of page: String) -> String {
    (texts[page] ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Requires that a page has every verb and option of a program.
  func expectVerbs(of program: String, in page: String) throws {
    let dump = try session.run(program: Session.program(program), ["--experimental-dump-help"])
    let names = try allNames(in: JSON.parse(dump.outputText)["command"])
    #expect(names.count >= 5)
    let words = words(of: page)
    for name in names {
      #expect(name.split { "[](),.… ".contains($0) }.allSatisfy { words.contains($0) }, "\(page): \(name)")
    }
  }

  /// Requires that a page has the keys of the tables in docs/configuration.md, by which navd reads the files, with their examples, and no
  /// others; and that those tables are the generated ones.
  func expectKeys(in page: String) throws {
    let tables = try session.run(program: Session.program("navdoc"), ["keys.md"]).outputText
    #expect(try Files.text(inPackage: "docs/configuration.md").contains(tables), "“make docs” makes the tables again")
    let rows = tables.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.split(separator: "|") }
    let keys = try #require(sources[page]).split(separator: "\n")
    let start = try #require(keys.firstIndex(of: ".SH KEYS OF A DESTINATION"))
    let end = try #require(keys[start...].firstIndex(of: ".SH PLACEHOLDERS"))
    #expect(rows.count > 30 && keys[start..<end].count { $0 == ".TP" } == rows.count)
    let text = flowingText(of: page)
    for row in rows {
      let said = row[2].replacing("`", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(
        text.contains("\(row[0].filter { !"` ".contains($0) }) \(said.prefix(1).uppercased())\(said.dropFirst())"))
      #expect(text.contains(row[1].filter { $0 != "`" }.split(separator: " ").joined(separator: " ")))
    }
  }

  /// Requires that a page has examples before it lists options or keys.
  func expectExamplesFirst(in page: String) throws {
    let headings = try #require(sources[page]).split(separator: "\n").filter { $0.hasPrefix(".SH ") }
    let examples = try #require(headings.firstIndex(of: ".SH EXAMPLES"), "\(page)")
    let list = try #require(headings.firstIndex { $0 == ".SH OPTIONS" || $0.hasPrefix(".SH KEYS") }, "\(page)")
    #expect(examples < list, "\(page)")
  }
}

@Test("Manual pages are installed, free of warnings, and contain every verb, option and key")
func manual_pages_areCompleteAndWithoutAWarning() throws {
  let manual = try Manual()
  for (program, page) in [("navctl", "navctl.1"), ("navd", "navd.8"), ("navd-windows", "navd-windows.8")] {
    try manual.expectVerbs(of: program, in: page)
  }
  try manual.expectKeys(in: "navd.destination.5")
  for page in pages { try manual.expectExamplesFirst(in: page) }
}

@Test("The exit statuses in docs/navctl.md equal those in the help and in the manual page")
func manual_statuses_areTheSameEverywhere() throws {
  let lines = try Markdown("navctl.md").lines
  for status in CommandStatus.allCases {
    #expect(lines.contains("| \(status.rawValue) | \(status.doc) |"))
  }
}

@Test("docs/dbus.md is generated from the tables")
func manual_reference_isGeneratedFromTheTables() throws {
  let session = try Session(starting: false)
  let reference = try session.run(program: Session.program("navdoc"), ["dbus.md"])
  #expect(reference.outputText == (try Files.text(inPackage: "docs/dbus.md")), "“make docs” makes it again")
}
