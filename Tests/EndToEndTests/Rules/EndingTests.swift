import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Commands as presenters: their ends, their results and what they inherit (D3, D6, P14).

private func shell(_ script: String) -> Properties { ["command": ["sh", "-c", script].value] }

extension Properties {
  fileprivate var output: String? {
    guard case .bytes(let bytes)? = self["output"] else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

@Test(
  "D3: a command that exits with 0 or 3 or ends by a signal ends its presentation once, with the right reason and status",
  arguments: [
    ("KILL", "failed", nil, "SIGKILL"), ("TERM", "failed", nil, "SIGTERM"), ("USR1", "closed", 0, nil),
    ("USR2", "closed", 3, nil),
  ] as [(String, String, Int32?, String?)])
func ending_ofTheProcess_isAnnouncedOnce(signal: String, reason: String, status: Int32?, name: String?) throws {
  let session = try Session()
  let watcher = try session.watch()
  let other = try session.connect()
  let presentation = try session.presentCommand(
    handlingSignals: "$SIG{USR1} = sub { exit 0 }; $SIG{USR2} = sub { exit 3 };")
  let waits = [session.client, other].map {
    session.begin(CoordinatorInterface.wait, (presentation, "gone"), by: $0)
  }
  let pid = try #require(session.processes().first?.pid)
  let numbers = ["KILL": SIGKILL, "TERM": SIGTERM, "USR1": SIGUSR1, "USR2": SIGUSR2]
  kill(pid, try #require(numbers[signal]))

  for wait in waits {
    let (said, result) = try session.answer(to: wait)
    #expect(said == reason)
    #expect(result["status"].flatMap { Int32(value: $0) } == status)
    #expect(result["signal"].flatMap { String(value: $0) } == name)
  }
  let (slot, item, _) = try session.call(CoordinatorInterface.get, "fact")
  #expect(slot == .root)
  #expect(item.isEmpty)
  // A Wait by handle after the end has the same reason.
  #expect(try session.ending(of: presentation).reason == reason)
  #expect(watcher.lines.filter { $0.hasPrefix("dismissed") } == ["dismissed fact 1 \(reason)"])
  #expect(watcher.hasAllSerials)
  #expect(session.processes() == [])
}

@Test("D6: the result contains the output up to its limit")
func ending_result_containsTheOutput() throws {
  let session = try Session()
  let short = try session.ending(of: session.present("a", "", shell("printf 'hello\\n'; printf err >&2; exit 7")))
  #expect(short.result.output == "hello\n")
  #expect(short.result["status"] == .int32(7))
  #expect(short.result["output-truncated"] == nil)

  let long = try session.ending(of: session.present("b", "", shell("yes | head -c 300000; exit 0")))
  #expect(long.result.output?.utf8.count == 65_536)
  #expect(long.result["output-truncated"] == .boolean(true))
  #expect(long.result["status"] == .int32(0))
}

@Test("D3: a command receives its item in the environment, in placeholders, and as JSON on standard input")
func ending_ofACommand_outputsTheItemItReceived() throws {
  let session = try Session(destinations: [
    "tell": """
    command = ["sh", "-c", 'cat; echo "$NAVD_BINDING $NAVD_ID $NAVD_PRESENTATION $MORE $0 $1 $2 $(pwd)"', "{id}", "{binding}", "<{value.text}>"]
    """
  ])
  let presentation = try session.present(
    "notes[3].body", "n 1",
    [
      "destination": .string("tell"), "title": .string("T"), "directory": .string("/usr"),
      "environment": ["MORE": "more"].value,
      "value": ["text": Value.string("$(false); \"x\""), "n": .int64(3)].value,
    ])
  let output = try #require(try session.ending(of: presentation).result.output)
  let lines = output.split(separator: "\n").map(String.init)
  #expect(lines.count == 2)
  let item = try JSON.parse(lines.first ?? "")
  #expect(item["binding"]?.string == "notes[3].body")
  #expect(item["id"]?.string == "n 1")
  #expect(item["title"]?.string == "T")
  #expect(item["destination"]?.string == "tell")
  #expect(item["value"]?["text"]?.string == "$(false); \"x\"")
  #expect(item["value"]?["n"]?.unsigned == 3)
  let number = try #require(CoordinatorNames.number(of: presentation))
  #expect(item["presentation"]?.unsigned == number)
  #expect(lines.last == "notes[3].body n 1 \(number) more n 1 notes[3].body <$(false); \"x\"> /usr")
}

@Test(
  "D7: a command that cannot be started fails with an error",
  arguments: [
    (["/nowhere/nothing"], "there is no such program"), (["/etc/passwd"], "cannot be executed"),
    (["no-such-program-anywhere"], "not found in PATH"), (["@script"], "cannot be executed"),
  ] as [([String], String)], [false, true])
func ending_ofACommandThatCannotStart_isFailed(_ start: (command: [String], why: String), managed: Bool) throws {
  let session = try Session(managed: managed)
  let watcher = try session.watch()
  let script = session.path("script")
  try session.write("#!/nowhere/interpreter\n", to: "script")
  let command = start.command.map { $0 == "@script" ? script : $0 }
  let (reason, result) = try session.ending(of: try session.present("fact", "1", ["command": command.value]))
  #expect(reason == "failed")
  let error = try #require(result["error"].flatMap { String(value: $0) })
  #expect(error.contains(command[0]) && error.contains(start.why), "\(error)")
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == .root)
  #expect(watcher.lines.last == "dismissed fact 1 failed")
  #expect(!watcher.lines.contains("presented fact 1"))
}

@Test("P14: a command that ignores SIGTERM is killed after the grace time", arguments: [false, true])
func ending_ofACommandThatIgnoresSigterm_isByKill(managed: Bool) throws {
  let session = try Session(
    destinations: ["deaf": JournaledCommand.destination(endingAfter: nil, "grace = \"200ms\"")], managed: managed)
  let watcher = try session.watch()
  let presentation = try session.present("deaf", "1")
  try session.wait(for: "start 1", of: "deaf")
  try session.dismiss("deaf")
  let (reason, result) = try session.ending(of: presentation)
  #expect(reason == "dismissed")
  #expect(result["signal"] == .string("SIGKILL"))
  #expect(session.commandLog(of: "deaf") == ["start 1", "term 1"])
  #expect(watcher.lines.last == "dismissed deaf 1 dismissed")
  #expect(session.processes() == [])
}

@Test("D3: dismissing a command ends its whole process tree, including processes that the first process left behind")
func ending_ofATree_isThatOfItsLast() throws {
  let session = try Session()
  // The names are compared, because a shell that has not yet executed sleep has another name.
  func twoSleepersAreLeft() -> Bool { session.processes().map(\.name) == ["sleep", "sleep"] }
  let leaving = "setsid sh -c 'setsid sleep 60 & exec sleep 60' & exit 5"
  let presentation = try session.present("fact", "", shell(leaving))
  // The first process has ended, and the presentation has not.
  try session.poll("two sleepers are left", until: twoSleepersAreLeft)
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == presentation)

  try session.dismiss("fact")
  let (reason, result) = try session.ending(of: presentation)
  #expect(reason == "dismissed")
  #expect(result["status"] == .int32(5))
  #expect(session.processes() == [])

  let other = try session.present("fact", "", shell(leaving))
  try session.poll("two sleepers are left", until: twoSleepersAreLeft)
  for process in session.processes() { kill(process.pid, SIGKILL) }
  let (otherReason, otherResult) = try session.ending(of: other)
  #expect(otherReason == "closed")
  #expect(otherResult["status"] == .int32(5))
}

@Test("D3: a command inherits no descriptors and no signal masks from the daemon")
func ending_ofACommand_hasNoDescriptorsOrMasksOfTheDaemon() throws {
  let session = try Session()
  let script = "ls /proc/self/fd; grep -E '^Sig(Blk|Ign)' /proc/self/status; ulimit -Sn"
  let output = try #require(try session.ending(of: session.present("fact", "", shell(script))).result.output)
  let lines = output.split(separator: "\n").map(String.init)
  // Descriptor 3 is the directory that ls reads.
  #expect(lines.prefix { $0.count < 3 } == ["0", "1", "2", "3"])
  for name in ["SigBlk", "SigIgn"] {
    let line = try #require(lines.first { $0.hasPrefix(name) })
    let mask = try #require(line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
    // The C library ignores its own two signals (32 and 33) in every process that it spawns.
    #expect(mask & ~0x1_8000_0000 == 0, "\(line)")
  }
}
