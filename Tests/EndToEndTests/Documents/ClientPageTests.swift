import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The programs at the head of docs/dbus.md in JavaScript and in Python, run exactly as printed. Those in QML are run by QuickshellTests.

private typealias Rows = CoordinatorInterface

private let languages = ["js", "py"]

/// A session with the programs of the page, the small files of the recipes, and a question that answers with what the test writes.
private func sessionOfThePage(starting: Bool = true) throws -> Session {
  var files = try Markdown("dbus.md").files
  for name in ["navd.js", "navd.py"] { files[name] = try Files.text(inPackage: "docs/recipes/\(name)") }
  files["bin/zenity"] = "#!/bin/sh\nread answer <\"$HOME/answers\"; exit $answer\n"
  let session = try Session(starting: false, files: files)
  try #require(chmod(session.path("bin/zenity"), 0o755) == 0)
  session.environment["PATH"] = "\(session.path("bin")):\(Session.program("").dropLast()):/usr/bin:/bin"
  if starting { try session.start() }
  return session
}

extension Session {
  /// Starts a program of the page.
  fileprivate func startOfThePage(_ name: String, _ language: String) throws -> Program {
    try start(
      program: language == "js" ? "/usr/bin/gjs" : "/usr/bin/python3",
      [language == "js" ? "-m" : "-u", path("\(name).\(language)")])
  }

  fileprivate func prints(_ line: String, _ program: Program) throws {
    try wait("it prints “\(line)”; it has printed \(program.lines) \(program.errorText)") { program.lines.last == line }
  }
}

@Test("I write a bar: objects with properties are followed, through a restart of navd", arguments: languages)
func clientPage_bar_followsTheGroup(_ language: String) throws {
  let session = try sessionOfThePage()
  let bar = try session.startOfThePage("bar", language)
  try session.prints("nothing", bar)
  try session.call(Rows.select, ("panels", "mixer", .state))
  try session.prints("mixer", bar)
  try session.stop(SIGKILL)
  try session.start()
  try session.prints("mixer", bar)
  try session.call(Rows.select, ("panels", "wifi", .state))
  try session.prints("wifi", bar)
  try session.call(Rows.deselect, ("panels", "", [:]))
  try session.prints("nothing", bar)
}

@Test(
  "I write a script: navctl watch prints the state before navd is there, and goes on when it comes",
  arguments: languages)
func clientPage_script_followsTheState(_ language: String) throws {
  let session = try sessionOfThePage(starting: false)
  let script = try session.startOfThePage("script", language)
  try session.prints("no navd", script)
  try session.start()
  try session.prints("nothing", script)
  try session.call(Rows.select, ("panels", "mixer", .state))
  try session.prints("mixer", script)
}

@Test("I write a presenter: it shows what is opened under its names", arguments: languages)
func clientPage_presenter_shows(_ language: String) throws {
  let session = try sessionOfThePage()
  let presenter = try session.startOfThePage("presenter", language)
  try session.poll("it is registered; \(presenter.errorText)") {
    try session.call(Rows.destinations, ()).map(\.fields.0).contains("calendar")
  }
  try session.runNavctl("toggle", "calendar")
  try session.prints("+ calendar", presenter)
  try session.runNavctl("toggle", "calendar")
  try session.prints("-", presenter)
  try session.poll("it is gone") { try session.state()["presentations"] == [] }
}

@Test("I write a program that waits: it gets the answer, even if navd is killed meanwhile", arguments: languages)
func clientPage_wait_getsTheAnswer(_ language: String) throws {
  let session = try sessionOfThePage()
  let answers = try InputPipe(session, "answers")
  for (isKilled, line) in [(false, "closed 3"), (true, "closed not known")] {
    let waiting = try session.startOfThePage("wait", language)
    try session.poll("it is asked; \(waiting.errorText)") {
      try session.state()["presentations"]?.array?.first?["phase"] == "presented"
    }
    if isKilled {
      try session.stop(SIGKILL)
      try session.start()
    }
    #expect(answers.write("3"))
    try session.prints(line, waiting)
  }
}
