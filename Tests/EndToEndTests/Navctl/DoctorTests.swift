import CoordinatorAPI
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

@Test("The doctor finds nothing to do in a session in order, and says where things are")
func doctor_inOrder_saysOK() throws {
  let session = try Session(destinations: ["fact": "command = [\"sleep\", \"60\"]\n"])
  let healthy = try session.navctl("doctor")
  #expect(healthy.exitCode == 0, "\(healthy.outputText)")
  let rows = healthy.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  #expect(rows.map { $0[0] } == Array(repeating: "ok", count: rows.count))
  #expect(rows.map { $0[1] } == ["bus", "navd", "commands", "record", "files", "programs", "failures"])
  func text(_ subject: String) -> String { rows.first { $0[1] == subject }?[2] ?? "" }
  #expect(text("navd").contains("process \(session.navd?.processID ?? 0)"), "\(text("navd"))")
  #expect(text("navd").contains(Release.version) && text("navd").contains("started by "))
  #expect(text("files").hasPrefix("1 destination, no mistakes"))
}

@Test("The doctor says what is wrong with files, programs and the last failures, and what to do")
func doctor_withTrouble_saysWhatToDo() throws {
  let session = try Session(destinations: ["fact": "command = [\"no-such-program\"]\n", "note": "colour = 3\n"])
  try session.present("fact")
  try session.poll("it has failed") { try session.navctl("history").outputText.contains("failed") }
  let doctor = try session.navctl("doctor", "--json")
  #expect(doctor.exitCode == 1)
  let findings = try #require(doctor.json?.array)
  let wrong = findings.filter { $0["ok"] == false }
  #expect(wrong.map { $0["subject"]?.string } == ["files", "programs", "failures"])
  #expect(wrong.allSatisfy { $0["advice"]?.string?.isEmpty == false })
  let texts = wrong.map { $0["text"]?.string ?? "" }
  #expect(texts[0].contains("note.toml:1:1") && texts[0].contains("colour"))
  #expect(texts[1].contains("fact.toml") && texts[1].contains("no-such-program"))
  #expect(texts[2].hasPrefix("1, the last one of fact"))
  // The list of destinations tells the mistakes, too.
  #expect(try session.navctl("destinations").errorText.contains("note.toml:1:1"))
}

@Test("The doctor says so if navd is not running, or if there is no bus")
func doctor_withoutNavd_saysSo() throws {
  let session = try Session(starting: false)
  let stopped = try session.navctl("doctor")
  #expect(stopped.exitCode == 1)
  #expect(stopped.lines.map { $0.prefix(8) } == ["ok\tbus\tu", "!!\tnavd\t"])
  let alone = try session.navctl("--address", "unix:path=/nowhere", "doctor")
  #expect(alone.exitCode == 1 && alone.outputText.hasPrefix("!!\tbus\t"), "\(alone.outputText)")
}
