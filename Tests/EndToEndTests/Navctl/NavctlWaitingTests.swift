import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// Waiting with navctl: present --wait, present --owned and wait, with the exit statuses.

private typealias Rows = CoordinatorInterface

@Test(
  "navctl present --wait prints the output, and exits with 1 on failure, or with the command's status by --propagate",
  arguments: [
    ("echo hello", "hello\n", 0, 0), ("exit 3", "", 0, 3), ("printf 'no newline'; exit 1", "no newline", 0, 1),
    ("kill -KILL $$", "", 1, 137), ("kill -TERM $$", "", 1, 143), ("exit 255", "", 0, 255),
  ] as [(String, String, Int32, Int32)])
func navctl_presentAndWait_reportsTheResult(script: String, output: String, status: Int32, propagated: Int32) throws {
  let session = try Session()
  let plain = try session.navctl("present", "fact", "--wait", "--", "sh", "-c", script)
  #expect(plain.exitCode == status)
  #expect(plain.outputText == output)
  let propagating = try session.navctl("present", "fact", "--wait", "--propagate", "--", "sh", "-c", script)
  #expect(propagating.exitCode == propagated)
  #expect(propagating.outputText == output)
}

@Test("navctl present --wait --json prints the whole result")
func navctl_presentAndWaitJSON_printsTheWholeResult() throws {
  let session = try Session()
  let exited = try session.navctl("present", "a", "--wait", "--json", "--", "sh", "-c", "echo out; exit 3")
  #expect(exited.exitCode == 0)
  #expect(exited.json == ["reason": "closed", "status": 3, "status-known": true, "output": "out\n"])
  let killed = try session.navctl("present", "a", "--wait", "--json", "--", "sh", "-c", "kill -KILL $$")
  #expect(killed.exitCode == 1)
  #expect(
    killed.json == [
      "reason": "failed", "signal": "SIGKILL", "status-known": false, "output": "",
      "error": "its program was ended by SIGKILL, which navd did not send",
    ])
  let absent = try session.navctl("present", "a", "--wait", "--json", "--", "/nowhere/nothing")
  #expect(absent.exitCode == 1)
  #expect(absent.json?["reason"] == "failed")
  #expect(absent.json?["error"]?.string?.contains("/nowhere/nothing") == true)
  #expect(absent.errorText.hasPrefix("navctl: present a: "))

  let waiting = try session.startNavctl("present", "--state", "b", "7", "--wait", "--json")
  try session.poll("it is presented") { try session.call(Rows.get, "b").0 != .root }
  let path = try session.call(Rows.get, "b").0
  try session.call(Rows.closed, (path, ["answer": .string("yes")]))
  try session.wait("navctl ends") { waiting.hasEnded }
  #expect(waiting.json == ["reason": "closed", "status-known": false, "result": ["answer": "yes"]])
  #expect(waiting.exitCode == 0)
}

@Test("navctl present --wait --propagate exits with 125 on navctl's own failures")
func navctl_propagate_ownFailuresExitWith125() throws {
  let session = try Session()
  func check(_ arguments: String...) throws {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 125, "\(arguments): \(run.errorText)")
    #expect(run.errorText.hasPrefix("navctl: "), "\(arguments): \(run.errorText)")
  }
  try check("present", "fact", "--wait", "--propagate", "--", "/nowhere/nothing")
  try check("present", "fact", "--wait", "--propagate", "--to", "nowhere")
  try check("present", "1fact", "--wait", "--propagate", "--", "true")
  try check("present", "fact", "--wait", "--propagate", "--nonsense")
  try check("present", "fact", "--wait", "--propagate", "-w", "0.1", "--", "sleep", "60")
  try session.stop()
  try check("present", "fact", "--wait", "--propagate", "--", "true")
}

@Test(
  "navctl present --wait has no answer if something else has closed the item: status 7, and with --propagate never 0",
  arguments: [
    ("dismiss ask", "it was dismissed"), ("select g other --state", "its group has another member open, or none"),
    ("quit", "navd was told to quit"),
  ])
func navctl_presentAndWait_dismissedByOthers_hasNoAnswer(verb: String, why: String) throws {
  for (options, status) in [([], 7), (["--propagate"], 125)] as [([String], Int32)] {
    let session = try Session()
    // The command does something that a script must not take for its answer: it ends with 0.
    let script = "trap 'echo partly; exit 0' TERM; echo ready >>$NAVD_TEST_JOURNAL; while :; do sleep 0.01; done"
    let asking = try session.start(
      program: session.executable("navctl"),
      ["present", "ask", "--group", "g", "--wait"] + options + ["--", "sh", "-c", script], mayFail: true)
    try session.wait("it asks") { session.journalLines == ["ready"] }
    let run = try session.run(program: session.executable("navctl"), verb.split(separator: " ").map(String.init))
    #expect(run.exitCode == 0)
    try session.wait("it has ended") { asking.hasEnded }
    #expect(asking.exitCode == status && asking.outputText == "partly\n")
    #expect(asking.errorText == "navctl: present ask: there is no answer: \(why)\n")
  }
}

@Test(
  "navctl present --wait succeeds if another item has replaced its own, and so do the verbs that only wait for the end")
func navctl_presentAndWait_replaced_succeeds() throws {
  let session = try Session()
  let first = try session.startNavctl("present", "page", "1", "--state", "--wait")
  let owner = try session.startNavctl("present", "note", "--state", "--owned")
  for name in ["page", "note"] {
    try session.poll("it is open") { try session.navctl("is-presented", name).exitCode == 0 }
  }
  #expect(try session.navctl("present", "page", "2", "--state").exitCode == 0)
  let waiting = try session.startNavctl("wait", "note")
  #expect(try session.navctl("dismiss", "note").exitCode == 0)
  try session.wait("all have ended") { first.hasEnded && owner.hasEnded && waiting.hasEnded }
  #expect(first.exitCode == 0 && first.errorText == "")
  #expect(owner.exitCode == 0)
}

@Test("navctl wait takes a binding or a number, a phase and a time limit")
func navctl_waitVerb_waits() throws {
  let session = try Session(destinations: ["slow": JournaledCommand.destination(endingAfter: 50)])
  let path = try session.present("slow", "1")
  let number = "\(CoordinatorNames.number(of: path) ?? 0)"
  #expect(try session.navctl("wait", "slow", "--for", "presented").exitCode == 0)
  try session.wait(for: "start 1", of: "slow")
  let late = try session.navctl("wait", "slow", "-w", "0.1")
  #expect(late.exitCode == 5)
  #expect(late.errorText.contains("--presentation \(number)"), "\(late.errorText)")

  let byBinding = try session.startNavctl("wait", "slow", "--json")
  let byNumber = try session.startNavctl("wait", "--presentation", number, "--json")
  // Both wait for the first item, and not for the one that replaces it.
  let second = try session.present("slow", "2")
  let never = try session.startNavctl(
    "wait", "--presentation", "\(CoordinatorNames.number(of: second) ?? 0)", "--for", "presented")
  try session.wait("the wait by number ends") { byNumber.hasEnded }
  #expect(byNumber.json?["reason"] == "replaced")
  #expect(byNumber.exitCode == 0)
  try session.wait("the other is presented") { never.hasEnded }
  #expect(never.exitCode == 0)
  try session.wait(for: "start 2", of: "slow")
  try session.dismiss("slow")
  try session.wait("the wait by binding ends") { byBinding.hasEnded }
  // Either item may have been there when navctl started.
  #expect(["replaced", "dismissed"].contains(byBinding.json?["reason"]?.string))
  #expect(try session.navctl("wait", "--presentation", number, "--json").json?["reason"] == "replaced")
}

@Test("navctl wait --for presented says that an item has closed, and not that it was never shown")
func navctl_waitForAnItemThatHasClosed_saysSo() throws {
  let session = try Session()
  let path = try session.present("fact")
  try session.call(Rows.wait, (path, "presented"))
  try session.dismiss("fact")
  let number = "\(CoordinatorNames.number(of: path) ?? 0)"
  let wait = try session.navctl("wait", "--presentation", number, "--for", "presented")
  #expect(wait.exitCode == 3)
  #expect(wait.errorText == "navctl: wait --presentation \(number): it has closed (dismissed)\n")
}

@Test("navctl wait BINDING waits for a dismissed item that is still closing")
func navctl_waitForADismissedItem_endsWhenItIsGone() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let watcher = try session.watch(on: presenter.connection)
  let path = try session.present("fact", "1", ["destination": .string("dialog")])
  try session.call(Rows.wait, (path, "presented"))
  presenter.isAnswering = false
  presenter.result = ["answer": .string("late")]
  try session.dismiss("fact")
  #expect(try session.navctl("is-presented", "fact").exitCode == 3)
  let waiting = try session.startNavctl("wait", "fact", "--json")
  // No item is going to be presented at this binding.
  #expect(try session.navctl("wait", "fact", "--for", "presented").exitCode == 3)
  #expect(try session.navctl("wait", "fact", "-w", "0.1").exitCode == 5)
  #expect(!waiting.hasEnded)
  presenter.isAnswering = true
  try session.wait("it has ended") { waiting.hasEnded }
  #expect(waiting.exitCode == 0)
  #expect(waiting.json == ["reason": "dismissed", "status-known": false, "result": ["answer": "late"]])
  #expect(watcher.lines.last == "dismissed fact 1 dismissed")
  #expect(try session.navctl("wait", "fact").exitCode == 3)
}

@Test("navctl present --owned runs until the item is gone, and closes it when interrupted")
func navctl_owned_endsTogetherWithTheItem() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 20)])
  let watcher = try session.watch()
  let staying = try session.startNavctl("present", "--state", "fact", "1", "--owned")
  try session.wait(for: "start 1", of: "fact")
  try session.dismiss("fact")
  try session.wait("navctl ends") { staying.hasEnded }
  #expect(staying.exitCode == 0)
  let interrupted = try session.startNavctl("present", "--state", "fact", "2", "--owned")
  try session.wait(for: "start 2", of: "fact")
  interrupted.send(SIGINT)
  try session.wait("it is gone") { watcher.lines.last == "dismissed fact 2 owner" }
}
