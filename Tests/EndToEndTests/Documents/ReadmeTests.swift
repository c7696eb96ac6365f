import PresentationModel
import TestSupport
import Testing
import TextFormats

// The README's first steps, the pages that say what a terminal prints, the concept's example, and the tour.

@Test("The README is one page, and begins without the terms of the book")
func readme_isOnePage() throws {
  let lines = try Markdown("../README.md").lines
  #expect(lines.count <= 121)
  let introduction = lines.prefix { !$0.hasPrefix("##") }.joined(separator: " ").lowercased()
  for term in ["presentation", "coordinator", "binding", "item", "nil"] {
    #expect(!introduction.split { !$0.isLetter }.contains(Substring(term)), "\(term)")
  }
  let commands = lines.filter { $0.hasPrefix("    ") }.prefix(2).map { $0.split(separator: "#")[0] }
  #expect(commands.map { $0.filter { $0 != " " } } == ["makerun", "maketest"])
}

@Test("The README's first steps do on sway what it says: hello, and a panel on each key, one at a time")
func readme_firstSteps_openAndCloseWindows() throws {
  let readme = try Markdown("../README.md")
  let hello = try #require(readme.lines.first { $0.hasPrefix("    navctl ") })
  let keys = try #require(readme.blocks.first { $0.lines.contains { $0.hasPrefix("bindsym ") } }).lines
  #expect(keys[0] == "exec navd-windows")
  // These programs run in the terminals.
  let sleeping = ["pulsemixer", "nmtui", "calcurse"].map { ("bin/\($0)", "#!/bin/sh\nexec sleep 1000\n") }
  let desktop = try WindowedDesktop(
    .sway, destinations: readme.destinations, files: Dictionary(uniqueKeysWithValues: sleeping))
  let (session, screen) = (desktop.session, desktop.screen)
  func type(_ command: some StringProtocol) throws {
    let run = try session.run(program: "/bin/sh", ["-c", "PATH=\(session.path("bin")):$PATH; \(command)"])
    #expect(run.exitCode == 0, "\(command): \(run.errorText)")
  }
  func press(_ destination: String) throws {
    let key = try #require(keys.first { $0.hasSuffix(" \(destination)") }, "\(destination)")
    try type(try #require(key.split(separator: " exec ", maxSplits: 1).last))
  }
  func expect(_ windows: [String]) throws {
    try screen.wait(for: windows)
    try session.poll("what navd shows is on the screen") {
      let state = try session.state()["presentations"]?.array ?? []
      return state.count == windows.count && state.allSatisfy { $0["phase"] == "presented" }
    }
  }
  try type(hello)
  try expect(["foot"])
  try type(hello)
  try expect([])
  for panel in ["mixer", "wifi", "calendar", "mixer"] {
    try press(panel)
    try expect([panel])
    // The screen has 1280 by 720 pixels, and no bar. The terminal's size is a multiple of its letters'.
    try screen.poll(panel, "is at the top right") {
      guard let frame = $0?.frame else { return false }
      return abs(frame.y - 20) <= 1 && abs(frame.x + frame.width - 1260) <= 1 && abs(frame.width - 640) <= 20
    }
  }
  try screen.close(try #require(try screen.window("mixer")))
  try expect([])
  try press("mixer")
  try expect(["mixer"])
  try press("mixer")
  try expect([])
}

@Test("The concept's example does on sway what the page says")
func concept_example_isAsItIsWritten() throws {
  let page = try Markdown("concept.md")
  let desktop = try WindowedDesktop(.sway, destinations: page.destinations)
  let (session, screen) = (desktop.session, desktop.screen)
  let blocks = page.blocks.filter { $0.kind == "console" }
  let (commands, events) = (blocks[0].lines, blocks[1].lines)
  let path = session.path("bin")
  func start(_ command: Substring) throws -> Program {
    try session.start(program: "/bin/sh", ["-c", "PATH=\(path):$PATH; exec \(command.dropFirst(2))"])
  }
  let watch = try start(events[0][...])
  try session.wait("the watcher has the state") { !watch.lines.isEmpty }

  var rest = commands[...]
  while let command = rest.popFirst() {
    var output: [String] = []
    while let line = rest.first, !line.hasPrefix("$ ") {
      output.append(line)
      rest.removeFirst()
    }
    if command.contains("after its user has closed the window") {
      try screen.close(try #require(try screen.window("fact")))
      try session.wait("the item has ended") { watch.lines.last?.contains("closed") == true }
    }
    let run = try start(command[...])
    try session.wait("the command ends: \(command)") { run.hasEnded }
    #expect(run.exitCode == 0 || output == ["no"], "\(command): \(run.errorText)")
    // The table has titles, and times that differ; in a pipe, it has tabs.
    let words = output.last?.split(separator: " ").prefix(4).map(String.init)
    #expect(run.lines.last?.split(separator: "\t").prefix(4).map(String.init) == words, "\(command)")
    if command.hasPrefix("$ navctl open ") {
      try session.runNavctl("wait", "fact", "--for", "presented")
      try screen.wait(for: ["fact"])
    }
  }
  try session.wait("there are all events") { watch.lines.count >= events.count - 1 }
  // The window of the first item goes before the second item begins, and its program ends at its own time (N3).
  let end = "dismissed fact 1 replaced"
  let lines = watch.lines.map { $0.split(separator: " ").joined(separator: " ") }
  #expect(lines.sorted() == events.dropFirst().sorted())
  #expect(lines.filter { $0 != end } == events.dropFirst().filter { $0 != end })
}

@Test(
  "The tour on a desktop shows panels; without one it shows processes", arguments: [Desktop.Manager.sway, .i3, nil])
func readme_tour_showsPanels(_ manager: Desktop.Manager?) throws {
  let session = try Session(
    starting: false, desktop: manager, files: ["tour.sh": Files.text(inPackage: "docs/tour.sh")])
  let navctl = Session.program("navctl")
  let binaries = manager == nil ? String(navctl[..<(navctl.lastIndex(of: "/")!)]) : session.path("bin")
  let tour = try session.start(program: "/bin/bash", [session.path("tour.sh"), binaries])
  try session.wait("the tour ends", within: .seconds(120)) { tour.hasEnded }
  #expect(tour.exitCode == 0, "\(tour.outputText)\(tour.errorText)")
  #expect(tour.outputText.contains("Another panel of its group") == (manager != nil))
  #expect(tour.outputText.contains("the tour shows panels") == (manager == nil))
}
