import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// Standard input of navctl, which the program of an item reads (D16).

private typealias Rows = CoordinatorInterface

extension Session {
  /// Runs a line of a script, with `navctl` in its path, and waits for its end.
  fileprivate func script(_ text: String) throws -> Program {
    let run = try startScript(text)
    try wait("“\(text)” ends") { run.hasEnded }
    return run
  }

  fileprivate func startScript(_ text: String) throws -> Program {
    try start(program: "/bin/sh", ["-c", "navctl() { \(executable("navctl")) \"$@\"; }\n\(text)"])
  }
}

@Test(
  "D16: with --wait and a program after “--”, the program reads what is piped into navctl",
  arguments: [
    (#"printf 'a\nb\n' | navctl present pick --wait -- head -n 1"#, "a\n"),
    // This input is not only text, comes in several steps, and is more than a pipe holds.
    (#"{ printf 'a\0\377'; sleep 0.1; printf b; } | navctl present pick --wait -- od -An -tx1"#, " 61 00 ff 62\n"),
    ("head -c 1048576 /dev/zero | navctl present pick --wait -- wc -c", "1048576\n"),
    // An empty input differs from no input.
    ("true | navctl present pick --wait -- wc -c", "0\n"),
    // In every other case, the program reads the item.
    (#"navctl present pick --wait -- sh -c 'grep -o "\"id\":\"[a-z]*"' </dev/null"#, "\"id\":\"sh\n"),
    (#"navctl present pick x --wait -- grep -o '"id":"x"' <&-"#, "\"id\":\"x\"\n"),
    (#"echo a | navctl present pick x --no-stdin --wait -- grep -o '"id":"x"'"#, "\"id\":\"x\"\n"),
    (#"echo a >file; navctl present pick x --wait -- grep -o '"id":"x"' <file"#, "\"id\":\"x\"\n"),
    (#"echo a >file; navctl present pick --stdin --wait -- cat <file"#, "a\n"),
    ("navctl present pick --stdin --wait -- wc -c </dev/null", "0\n"),
    (#"echo a | navctl toggle pick --wait -- cat"#, "a\n"),
    (#"echo a | navctl present choose --stdin --wait"#, "a\n"),
    (#"echo a | navctl present choose x --wait"#, "{\"binding\":\"choose\""),
  ])
func navctl_standardInput_isReadByTheProgram(script: String, output: String) throws {
  for isManaged in [false, true] {
    let session = try Session(destinations: ["choose": "command = [\"cat\"]\n"], managed: isManaged)
    let run = try session.script("cd \(session.path("")); \(script)")
    #expect(run.outputText.hasPrefix(output) && run.exitCode == 0, "\(run.outputText)\(run.errorText)")
  }
}

@Test("D16: every verb that opens an item takes --stdin")
func navctl_stdin_isOfEveryVerb() throws {
  let session = try Session(
    destinations: ["choose": "command = [\"sh\", \"-c\", \"cat >>$NAVD_TEST_JOURNAL; sleep 60\"]\n"])
  for (index, verb) in [
    "present a --to choose", "toggle b --to choose", "push main c --to choose", "select g d --to choose",
    "toggle-selection h e --to choose",
  ].enumerated() {
    let run = try session.script("echo \(index) | navctl \(verb) --stdin")
    #expect(run.exitCode == 0, "\(run.errorText)")
    try session.wait("it has read it") { session.journalLines.last == "\(index)" }
  }
}

@Test(
  "D16: an input that is too large is refused with figures, and so is one that no program reads",
  arguments: [
    ("yes | navctl present pick --wait -- cat", "found more than 1048576 bytes, expected at most 1048576", 6),
    ("head -c 1048577 /dev/zero | navctl present pick --wait -- cat", "found more than 1048576 bytes", 6),
    ("echo a | navctl present pick --state --stdin", "state only, and no program reads it", 2),
    ("navctl present pick --stdin --wait -- cat <&-", "cannot read standard input", 1),
    ("navctl present pick --stdin --wait -- cat <.", "cannot read standard input", 1),
    ("sleep 60 | navctl present pick -w 0.2 --wait -- cat", "standard input has not ended in time", 5),
  ] as [(String, String, Int32)])
func navctl_standardInputThatNobodyCanRead_isRefused(script: String, message: String, status: Int32) throws {
  let session = try Session()
  let run = try session.startScript(script)
  try session.wait("navctl has refused it") { run.errorText.contains("\n") }
  #expect(run.errorText.hasPrefix("navctl: present pick: "), "\(run.errorText)")
  #expect(run.errorText.contains(message), "\(run.errorText)")
  // The other end of the pipe may sleep.
  if !script.hasPrefix("sleep") {
    try session.wait("it has ended") { run.hasEnded }
    #expect(run.exitCode == status)
  }
  #expect(try session.navctl("is-presented", "pick").exitCode == 3)
}

@Test("D16: a silent pipe does not keep a key for ever, but an input that is meant may take its time")
func navctl_pipeThatIsSilent_isRefusedUnlessItIsMeant() throws {
  let session = try Session()
  let names = ["silent", "slow", "meant"].map { session.path($0) }
  for name in names { try #require(mkfifo(name, 0o600) == 0) }
  // This FIFO is open for writing, as a program leaves it that starts others with a pipe.
  let ends = names.map { open($0, O_RDWR | O_CLOEXEC) }
  defer { close(ends[0]) }
  func start(_ name: String, _ option: String) throws -> Program {
    try session.startScript("navctl present \(name) --wait \(option) -- cat <\(session.path(name))")
  }
  let (silent, slow, meant) = try (start("silent", ""), start("slow", ""), start("meant", "--stdin"))
  // An input that has begun may go on for as long as it likes.
  #expect(write(ends[1], "a", 1) == 1)
  try session.wait("the key is told") { silent.hasEnded }
  #expect(silent.exitCode == 1)
  #expect(
    silent.errorText
      == "navctl: present silent: standard input is a pipe on which nothing has come for 10 seconds; --no-stdin gives the "
      + "program none of it, and --stdin waits for it\n")
  #expect(!slow.hasEnded && !meant.hasEnded)
  for (end, program, output) in [(ends[1], slow, "ab\n"), (ends[2], meant, "b\n")] {
    #expect(write(end, "b\n", 2) == 2)
    close(end)
    try session.wait("the end of the pipe is that of the input") { program.hasEnded }
    #expect(program.outputText == output && program.exitCode == 0)
  }
}

@Test("D16: a request with the same input waits for the same answer, and one with another input is refused")
func navctl_anotherInput_isRefused() throws {
  let session = try Session()
  let copied = session.path("copied")
  let request = "navctl present pick --wait -- sh -c 'cat; touch \(copied); sleep 1000'"
  let first = try session.startScript("echo a | \(request)")
  try session.poll("it has its input") { access(copied, F_OK) == 0 }
  let second = try session.startScript("echo a | \(request)")
  let other = try session.script("echo b | \(request)")
  #expect(other.exitCode == 2 && other.errorText.contains("input is not the same"), "\(other.errorText)")
  let replacing = try session.script("echo b | navctl present pick 2 --wait -- cat")
  #expect(replacing.outputText == "b\n")
  try session.wait("both have ended") { first.hasEnded && second.hasEnded }
  #expect(first.outputText == "a\n" && second.outputText == "a\n")
}

@Test("D16: a program that has not started yet gets its input after a restart of navd")
func navctl_inputOfAWaitingItem_survivesARestart() throws {
  let session = try Session(destinations: ["alarm": "command = [\"sleep\", \"1000\"]\ngroup = \"g\"\n"])
  #expect(try session.navctl("present", "alarm").exitCode == 0)
  let asking = try session.startScript("echo a | navctl present pick --group g --if-busy queue --wait -- cat")
  try session.poll("it waits") { try session.navctl("is-presented", "pick").exitCode == 0 }
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.navctl("dismiss", "alarm").exitCode == 0)
  try session.wait("it is answered") { asking.hasEnded }
  #expect(asking.outputText == "a\n" && asking.exitCode == 0)
}

@Test("D16: no answer and no signal contains an input")
func input_ofAnItem_isInNoAnswer() throws {
  let session = try Session()
  let watcher = try session.watch()
  try session.present("pick", "1", ["command": ["sleep", "1000"].value, "input": .bytes(Array("secret".utf8))])
  try session.wait("it is presented") { watcher.lines.last == "presented pick 1" }
  for words in [["list", "--json"], ["show", "pick", "--json"], ["history", "--json"]] {
    let run = try session.run(program: session.executable("navctl"), words)
    #expect(run.exitCode == 0 && !run.outputText.contains("secret") && !run.outputText.contains("input"))
  }
  #expect(try session.call(Rows.get, "pick").1["input"] == nil)
}
