import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Commands that fail: their status, and the last line of their standard error (D3, D6, D7).

private typealias Rows = CoordinatorInterface

private func shell(_ script: String) -> Properties { ["command": ["sh", "-c", script].value] }

@Test(
  "D6: the last line that a command wrote on standard error is in its result, if it failed", arguments: [false, true])
func failure_ofCommand_hasItsLastLine(managed: Bool) throws {
  let session = try Session(managed: managed)
  func end(_ script: String) throws -> String {
    let (reason, result) = try session.ending(of: try session.present("panel", "", shell(script)))
    return ([reason] + [result["error"].flatMap { String(value: $0) }].compactMap(\.self)).joined(separator: ": ")
  }
  #expect(try end("echo first >&2; echo no server >&2; exit 1") == "closed: no server")
  #expect(try end("printf 'no end' >&2; exit 1") == "closed: no end")
  #expect(try end("echo 'all is well' >&2") == "closed")
  #expect(try end("exit 1") == "closed")
  // The last words of a terminal are no cause.
  #expect(try end("echo no server >&2; echo 'info: main.c:680: goodbye' >&2; exit 1") == "closed: no server")
  #expect(try end("echo 'warn: terminal.c:1770: slave exited with signal 1' >&2; exit 1") == "closed")
  let ofFoot = [
    "err: slave.c:406: htop: failed to execute: No such file or directory", " err: fdm.c:215: no such FD: 6",
    "fcft.c:838: /usr/share/fonts/DejaVuSans.ttf: size=8.00pt",
  ]
  let lines = ofFoot.map { "'\($0)'" }.joined(separator: " ")
  #expect(try end("printf '%s\\n' \(lines) >&2; exit 1") == "closed: \(ofFoot[0])")
  #expect(try end("echo by its name >/dev/stderr; exit 1") == "closed: by its name")
  // The line has characters that a terminal or a notification would take as more than text.
  #expect(
    try end(#"printf '\033[1;31merror\033[0m: \377 <b>&amp;\a\n\n' >&2; exit 1"#) == "closed: error: \u{FFFD} <b>&amp;")
  #expect(try end("echo assertion >&2; kill -ABRT $$") == "failed: its program crashed (SIGABRT): assertion")
}

@Test(
  "D6, L1: a command that writes megabytes without a line on standard error is not held up, and leaves no file",
  arguments: [false, true])
func failure_writingMegabytes_isBounded(managed: Bool) throws {
  let session = try Session(managed: managed)
  let path = try session.present(
    "panel", "", shell("head -c 50000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the end >&2; exit 1"))
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result["error"].flatMap { String(value: $0) }?.hasSuffix("the end") == true)
  try session.poll("its file is gone") { try errorFiles(of: session).isEmpty }
}

/// The files into which commands write their standard error.
private func errorFiles(of session: Session) throws -> [String] {
  let listed = try session.run(program: "/bin/sh", ["-c", "cd $XDG_RUNTIME_DIR; find navd* -name '*.errors'"])
  return listed.lines
}

@Test(
  "D9: standard error neither ends nor blocks a command while no navd runs, and the next navd has it",
  arguments: [false, true])
func failure_withoutNavd_isKept(managed: Bool) throws {
  let session = try Session(managed: managed)
  let path = try session.present(
    "panel", "",
    shell(
      """
      echo ready >>$NAVD_TEST_JOURNAL; until [ -e $HOME/go ]; do sleep 0.02; done
      head -c 1000000 /dev/zero | tr '\\0' x >&2 && echo written >>$NAVD_TEST_JOURNAL
      until [ -e $HOME/end ]; do sleep 0.02; done; echo >&2; echo the last words >&2; exit 1
      """))
  try session.wait("it runs") { session.journalLines == ["ready"] }
  try session.stop(SIGKILL)
  try Files.write("", to: session.path("go"))
  try session.wait("it goes on") { session.journalLines == ["ready", "written"] }
  try session.start()
  try Files.write("", to: session.path("end"))
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  // A command that is adopted without a manager has no known status.
  if managed { #expect(result["error"].flatMap { String(value: $0) } == "the last words") }
  try session.poll("its file is gone") { try errorFiles(of: session).isEmpty }
}

@Test("D3: a command that ends at once with a status other than 0 is shown as failed, and its reason is closed")
func failure_atOnce_isTold() throws {
  let session = try Session(destinations: [
    "mixer": "command = [\"sh\", \"-c\", \"echo no server >&2; exit 3\"]\n", "quiet": "command = [\"false\"]\n",
    "late": "command = [\"sh\", \"-c\", \"sleep 2.2; exit 1\"]\n",
  ])
  try session.runNavctl("present", "late")
  for name in ["quiet", "mixer"] {
    try session.runNavctl("toggle", name)
    try session.poll("it has ended") {
      try session.navctl("history", "--json").outputText.contains("\"binding\":\"\(name)\"")
    }
  }
  try session.poll("the late one has ended") { try session.navctl("history", "--json").outputText.contains("late") }
  let failed = try session.navctl("list", "--failed")
  #expect(failed.outputText.contains("its program ended at once with status 3: no server"), "\(failed.outputText)")
  #expect(failed.lines.count == 2, "\(failed.outputText)")
  let doctor = try session.navctl("doctor").lines.first { $0.contains("failures") }
  #expect(doctor?.contains("!!") == true && doctor?.contains("the last one of mixer") == true, "\(doctor ?? "")")
  #expect(doctor?.contains("status 3: no server") == true, "\(doctor ?? "")")
  #expect(try session.navctl("history", "--binding", "mixer", "--json").outputText.contains("\"reason\":\"closed\""))
}

@Test("D3: a program whose user soon closes its window has not failed, whatever its status; one that ends at once has")
func failure_ofClosedWindow_isNone() throws {
  // Escape and the close button end many a program with 1, as this one does.
  let desktop = try WindowedDesktop(
    .sway,
    destinations: [
      "ask": "command = [\"foot\", \"-e\", \"sh\", \"-c\", \"sleep 1.2; exit 1\"]\nwindow = true\n",
      "mixer": "command = [\"foot\", \"-e\", \"false\"]\nwindow = true\n",
    ])
  let session = desktop.session
  let closed = try session.navctl("toggle", "ask", "--notify")
  #expect(closed.exitCode == 0, "\(closed.errorText)")
  try session.poll("it has ended as such") {
    try session.navctl("history", "--binding", "ask", "--format", "{reason} {status} {window-seen}").lines
      == ["closed 1 true"]
  }
  #expect(try session.navctl("list", "--failed").outputText.isEmpty)
  #expect(try session.navctl("toggle", "mixer", "--notify").exitCode == 1)
  #expect(try session.navctl("list", "--failed").lines.count == 1)
}

@Test("navctl --notify reports a program that ends at once, and waits no longer for one that does not")
func failure_atOnce_isNotified() throws {
  let session = try Session(destinations: [
    "mixer": "command = [\"sh\", \"-c\", \"sleep 0.2; echo no server >&2; exit 3\"]\ngroup = \"panels\"\n"
  ])
  let failed = try session.navctl("toggle", "mixer", "--notify")
  #expect(failed.exitCode == 1)
  #expect(failed.errorText == "navctl: toggle mixer: its program ended at once with status 3: no server\n")
  let selected = try session.navctl("select", "panels", "mixer", "--notify")
  #expect(selected.exitCode == 1 && selected.errorText.contains("status 3: no server"), "\(selected.errorText)")
  #expect(try session.navctl("present", "sleeper", "--notify", "--", "sleep", "1000").exitCode == 0)
}
