import CoordinatorAPI
import DBusValues
import TestSupport
import Testing

// navctl rofi, a menu of items to open and close.

private typealias Rows = CoordinatorInterface

/// A menu as rofi reads it (rofi-script(5)): options, and rows with the info that rofi passes back.
private struct Menu {
  var options: [String: String] = [:]
  var rows: [(text: String, info: String)] = []

  init(_ program: Program) throws {
    #expect(program.exitCode == 0, "\(program.errorText)")
    for line in program.outputText.split(separator: "\n") {
      let halves = line.split(separator: "\0", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      try #require(halves.count == 2, "\(line)")
      let pair = halves[1].split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
      try #require(pair.count == 2, "\(line)")
      if halves[0].isEmpty { options[pair[0]] = pair[1] } else { rows.append((halves[0], pair[1])) }
    }
  }

  var texts: [String] { rows.map(\.text) }
  /// The texts of the rows that are marked as active.
  var active: [String] {
    (options["active"] ?? "").split(separator: ",").compactMap { Int($0) }.map { rows[$0].text }
  }
}

extension Session {
  fileprivate func menu(_ arguments: String...) throws -> Menu {
    try Menu(run(program: Self.program("navctl"), ["rofi"] + arguments))
  }

  /// Chooses a row as rofi does: its text is the last argument, its info is in the environment.
  fileprivate func choose(_ text: String, of menu: Menu, _ arguments: String...) throws -> Program {
    let row = try #require(menu.rows.first { $0.text == text }, "\(menu.texts)")
    environment["ROFI_RETV"] = "1"
    environment["ROFI_INFO"] = row.info
    defer { environment["ROFI_INFO"] = nil }
    return try run(program: Self.program("navctl"), ["rofi"] + arguments + [row.text])
  }

  fileprivate func isPresented(_ binding: String) throws -> Bool {
    try call(Rows.get, binding).0 != .root
  }
}

@Test("navctl rofi lists the items that are open or can be opened; choosing a row opens or closes one")
func navctl_rofi_isAMenu() throws {
  let session = try Session(destinations: [
    "mixer": "command = [\"sleep\", \"60\"]\ngroup = \"panels\"\n", "wifi": "group = \"panels\"\n",
    "notes": "command = [\"sleep\", \"60\"]\n", "broken": "command = [\"/none\"]\n", "two words": "style = \"x\"\n",
  ])
  try session.present("fact", "<1>\n", ["title": .string("A & B")])
  let menu = try session.menu()
  #expect(menu.options["prompt"] == "navd" && menu.options["no-custom"] == "true")
  #expect(menu.texts == ["panels: mixer", "panels: wifi", "fact <1>\\n – A & B", "broken", "notes"])
  #expect(menu.active == ["fact <1>\\n – A & B"])

  #expect(try session.choose("panels: wifi", of: menu).outputText == "")
  #expect(try session.isPresented("wifi"))
  #expect(try session.choose("notes", of: menu).outputText == "")
  #expect(try session.isPresented("notes"))
  #expect(try session.choose("fact <1>\\n – A & B", of: menu).outputText == "")
  #expect(try !session.isPresented("fact"))

  // A choice does not close an item that has replaced the chosen one.
  let old = try session.menu()
  #expect(old.texts == ["panels: mixer", "panels: wifi", "notes", "broken"])
  #expect(old.active == ["panels: wifi", "notes"])
  try session.dismiss("notes")
  try session.wait("it is gone") { session.processes().isEmpty }
  try session.present("notes")
  let again = try Menu(try session.choose("notes", of: old))
  #expect(again.options["message"]?.contains("expected-presentation") == true, "\(again.options)")
  #expect(again.texts == old.texts)
  #expect(try session.isPresented("notes"))
  // Errors are shown in rofi, as markup.
  let failed = try Menu(try session.choose("broken", of: old))
  #expect(failed.options["message"]?.contains("/none") == true, "\(failed.options)")

  // The menu has only one group; choosing the selected tag deselects it.
  let panels = try session.menu("--group", "panels")
  #expect(panels.texts == ["mixer", "wifi"] && panels.active == ["wifi"] && panels.options["prompt"] == "panels")
  #expect(try session.choose("wifi", of: panels, "--group", "panels").outputText == "")
  #expect(try !session.isPresented("wifi"))
  try session.present("dashed", "", ["group": .string("panels"), "tag": .string("--json")])
  let dashed = try session.menu("--group", "panels")
  #expect(dashed.active == ["panels: --json"])
  #expect(try session.choose("panels: --json", of: dashed, "--group", "panels").outputText == "")
  #expect(try session.menu("--group", "panels").active == [])

  // navctl also explains itself without rofi.
  #expect(try Menu(session.navctl("rofi", "something")).options["message"]?.contains("ROFI_INFO") == true)
  try session.stop()
  #expect(try session.navctl("rofi").exitCode == 8)
}
