import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Destination files of a running navd: mistakes and changes (D1, D2, D15).

private typealias Rows = CoordinatorInterface

extension Session {
  fileprivate func about(_ name: String) throws -> Properties? {
    try call(Rows.destinations, ()).map(\.fields).first { $0.0 == name }?.1
  }
}

@Test("A mistake in a destination file is reported with file, line and reason, and the previous version stays loaded")
func destinationFile_withAMistake_keepsThePreviousVersion() throws {
  let session = try Session(destinations: ["fact": "style = \"sheet\"\n", "note": "style = \"alert\"\n"])
  let path = try session.present("fact")
  try session.write("style = \"popover\"\n", toDestination: "note")
  try session.write("# How it is shown.\nstyle = \"sheet\"\ngruop = \"panels\"\n", toDestination: "fact")
  let refusal = try session.refusal(Rows.reload, ())
  #expect(refusal?.name == .invalidConfiguration)
  let message = try #require(refusal?.message)
  #expect(message.contains("\(session.destinationPath("fact")):3"), "\(message)")
  #expect(message.contains("gruop"), "\(message)")
  #expect(!message.contains("note.toml"))
  // The previous version and the other files are in effect, and running presentations continue.
  #expect(try session.about("fact")?["style"] == .string("sheet"))
  #expect(try session.about("note")?["style"] == .string("popover"))
  #expect(try session.call(Rows.get, "fact").0 == path)
  try session.wait("the log has it") { session.navd?.errorText.contains("fact.toml:3") == true }

  try session.write("style = \"window\"\n", toDestination: "fact")
  #expect(try session.refusal(Rows.reload, ()) == nil)
  #expect(try session.about("fact")?["style"] == .string("window"))
}

@Test("A file counts as soon as it is written, also where there was no directory, and through a link")
func destinationFile_written_isNoticed() throws {
  let session = try Session()
  func waitFor(_ what: String, _ condition: (Properties?) -> Bool) throws {
    try session.poll(what) { condition(try session.about("fact")) }
  }
  let directory = "\(session.path("config"))/navd/destinations"
  let elsewhere = session.path("dotfiles")
  try #require(mkdir(elsewhere, 0o700) == 0)
  try Files.write("style = \"sheet\"\n", to: elsewhere + "/fact.toml")
  for parent in [session.path("config"), session.path("config") + "/navd", directory] { mkdir(parent, 0o700) }
  try #require(symlink(elsewhere + "/fact.toml", directory + "/fact.toml") == 0)
  try waitFor("a new file is read") { $0?["style"] == .string("sheet") }
  // Some editors write so: a new file is renamed to the name of the old one.
  try Files.write("style = \"alert\"\n", to: elsewhere + "/.fact.swp")
  try #require(rename(elsewhere + "/.fact.swp", elsewhere + "/fact.toml") == 0)
  try waitFor("the link's target is read again") { $0?["style"] == .string("alert") }
  try Files.write("style = \"alert\"\ncolour = 3\n", to: elsewhere + "/fact.toml")
  try session.wait("the mistake is logged") { session.navd?.errorText.contains("fact.toml:2") == true }
  try #require(unlink(directory + "/fact.toml") == 0)
  try waitFor("the file is gone") { $0 == nil }
  try #require(rename(directory, directory + ".old") == 0 && mkdir(directory, 0o700) == 0)
  try Files.write("style = \"popover\"\n", to: directory + "/fact.toml")
  try waitFor("the directory is another one") { $0?["style"] == .string("popover") }
}

@Test("D15: a request follows a file that was written right before it, every time")
func destinationFile_rewritten_countsForTheNextRequest() throws {
  let session = try Session()
  for round in 0..<50 {
    let style = "style = \"s\(round)\"\n"
    if round % 2 == 0 {
      try session.write(style, toDestination: "fact")
    } else {
      // Some editors write so: the old version gets another name, and the new one is written in steps.
      let path = session.destinationPath("fact")
      try #require(rename(path, path + "~") == 0)
      #expect(try session.about("fact")?["style"] == .string("s\(round - 1)"))
      try session.write("", toDestination: "fact")
      #expect(try session.about("fact")?["style"] == .string("s\(round - 1)"))
      try session.write(style, toDestination: "fact")
    }
    _ = try session.call(Rows.present, ("fact", "\(round)", [:]))
    #expect(try session.item("fact")["style"] == .string("s\(round)"))
    #expect(try session.about("fact")?["style"] == .string("s\(round)"))
  }
  #expect(session.navd?.errorText.contains("fact.toml") == false)
}

@Test("D2: a request finds a file that was written right before it, even where there was no directory")
func destinationFile_justWritten_isKnownToTheNextRequest() throws {
  let session = try Session()
  for name in ["fresh", "second", "third"] {
    try session.write("state = true\n", toDestination: name)
    #expect(try session.refusal(Rows.present, (name, "", [:])) == nil)
  }
  try session.write("command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n", toDestination: "mixer")
  #expect(try session.navctl("select", "panels", "mixer").exitCode == 0)
  try session.write("state = true\n", toDestination: "other")
  #expect(try session.refusal(Rows.present, ("othr", "", [:]))?.message.contains("did you mean “other”?") == true)
}

extension Session {
  fileprivate func item(_ binding: String) throws -> Properties { try call(Rows.get, binding).1 }
  fileprivate func destination(of binding: String) throws -> String? {
    try String(value: item(binding)["destination"] ?? .byte(0))
  }
}

private let sleeper = "command = [\"sleep\", \"1000\"]\n"

@Test("D2: an item that is state only stays so when its destination's file appears; the next one is shown by it")
func destinationFile_appears_showsTheNextItem() throws {
  let session = try Session()
  let watcher = try session.watch()
  #expect(try session.navctl("present", "note", "--state").exitCode == 0)
  try session.write(sleeper, toDestination: "note")
  try session.call(Rows.reload, ())
  #expect(try session.navctl("present", "note").exitCode == 0)
  #expect(try session.destination(of: "note") == nil)
  #expect(try session.navctl("toggle", "note").exitCode == 0)
  #expect(try session.navctl("toggle", "note").exitCode == 0)
  try session.wait("the program runs") { watcher.lines.last == "presented note" }
  #expect(try session.destination(of: "note") == "note")
}

@Test("A file whose name no item can have causes a warning in the log and by navctl")
func destinationFile_nameThatIsNoBinding_isAWarning() throws {
  let session = try Session(destinations: ["my panel": "command = [\"sleep\", \"1000\"]\n"])
  let warning =
    "\(session.destinationPath("my panel")): warning: an item cannot have the name “my panel”, which contains a blank"
  let list = try session.navctl("destinations")
  #expect(list.exitCode == 0 && list.errorText.hasPrefix("navctl: destinations: \(warning)"), "\(list.errorText)")
  #expect(try session.navctl("check-config").outputText.hasPrefix(warning))
  try session.call(Rows.reload, ())
  let log = try #require(session.navd?.errorText)
  #expect(log.components(of: "an item cannot have the name “my panel”") == 1, "\(log)")
  #expect(try session.navctl("present", "panel", "--to", "my panel").exitCode == 0)
}

extension String {
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}

@Test("SIGHUP reloads the files")
func destinationFile_afterSIGHUP_isReadAgain() throws {
  let session = try Session(destinations: ["fact": "style = \"sheet\"\n"])
  let watcher = try session.watch()
  try session.write("style = \"alert\"\n", toDestination: "fact")
  session.navd?.send(SIGHUP)
  try session.wait("the files are reloaded") { watcher.log == ["DestinationsChanged"] }
  #expect(try session.about("fact")?["style"] == .string("alert"))
}
