import PresentationModel
import TestSupport
import Testing
import TextFormats

// The first examples of the README, and the tour, on sway.

/// The destination files that the README shows, by name.
private func destinations(in readme: Markdown) -> [String: String] {
  let beginning = "# ~/.config/navd/destinations/"
  var files: [String: String] = [:]
  for block in readme.blocks where block.kind == "toml" && block.lines[0].hasPrefix(beginning) {
    files[String(block.lines[0].dropFirst(beginning.count).dropLast(".toml".count))] = block.text
  }
  return files
}

@Test("The README's first example does on sway what the README says")
func readme_firstExample_isAsItIsWritten() throws {
  let readme = try Markdown("../README.md")
  let desktop = try WindowedDesktop(.sway, destinations: destinations(in: readme))
  let (session, screen) = (desktop.session, desktop.screen)
  let blocks = readme.blocks.filter { $0.kind == "console" }
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
    if command.hasPrefix("$ navctl present ") {
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

@Test("The README's destinations follow their windows on sway, by the commands of its keys")
func readme_keys_openWindows() throws {
  let readme = try Markdown("../README.md")
  let keys = try #require(readme.blocks.first { $0.lines.contains { $0.hasPrefix("bindsym ") } }).lines
  #expect(keys[0] == "exec navd-windows")
  // These programs run in the terminals.
  let sleeping = ["pulsemixer", "nmtui"].map { ("bin/\($0)", "#!/bin/sh\nexec sleep 1000\n") }
  let desktop = try WindowedDesktop(
    .sway, destinations: destinations(in: readme),
    files: Dictionary(uniqueKeysWithValues: sleeping + [("bin/pactl", "#!/bin/sh\necho 40 %\n")]))
  let (session, screen) = (desktop.session, desktop.screen)
  func press(_ destination: String) throws {
    let key = try #require(keys.first { $0.contains(" \(destination)") }, "\(destination)")
    let command = try #require(key.split(separator: " exec ", maxSplits: 1).last)
    let run = try session.run(program: "/bin/sh", ["-c", "PATH=\(session.path("bin")):$PATH; \(command)"])
    #expect(run.exitCode == 0, "\(command): \(run.errorText)")
  }
  func expect(_ windows: [String]) throws {
    try screen.wait(for: windows)
    try session.poll("each item has its window") {
      let state = try session.state()["presentations"]?.array ?? []
      return state.count == windows.count
        && state.allSatisfy { $0["phase"] == "presented" && $0["windows"]?.array?.count == 1 }
    }
  }
  try press("mixer")
  try expect(["mixer"])
  try press("wifi")
  try expect(["wifi"])
  try press("wifi")
  try expect([])
  try press("osd")
  try expect(["osd"])
  try expect([])
  try press("files")
  try expect(["hunar"])
  try screen.poll("hunar", "has the focus") { _ in (try? screen.all().first?.isFocused) == true }
  try session.poll("navd knows the focus") {
    try session.state()["presentations"]?.array?.first?["windows"]?.array?.first?["focused"] == true
  }
  try press("files")
  try expect([])
}

@Test("The tour on a desktop follows windows; without one it says so", arguments: [Desktop.Manager.sway, .i3, nil])
func readme_tour_followsWindows(_ manager: Desktop.Manager?) throws {
  let session = try Session(
    starting: false, desktop: manager, files: ["tour.sh": Files.text(inPackage: "docs/tour.sh")])
  let navctl = Session.program("navctl")
  let binaries = manager == nil ? String(navctl[..<(navctl.lastIndex(of: "/")!)]) : session.path("bin")
  let tour = try session.start(program: "/bin/bash", [session.path("tour.sh"), binaries])
  try session.wait("the tour ends", within: .seconds(120)) { tour.hasEnded }
  #expect(tour.exitCode == 0, "\(tour.outputText)\(tour.errorText)")
  #expect(tour.outputText.contains("an item is its window") == (manager != nil))
  #expect(tour.outputText.contains("a step about windows follows") == (manager == nil))
}
