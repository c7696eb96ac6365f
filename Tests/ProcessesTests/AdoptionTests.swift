// Why this file exists: R2 and R6, what runs on while the daemon is away is found again, and nothing else is taken for it.

import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

@Suite struct AdoptionTests {
  @Test("R2: a command that still runs is adopted, its status cannot be known")
  func adopt_runningCommand_isWatchedAndCanBeEnded() throws {
    let stage = try Stage()
    let command = try stage.shell("setsid sleep 1000 & exec sleep 1000")
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: nil)
    stage.restart()
    let adopted = stage.keep(try #require(stage.keeper.adopt([remembered])[0]))
    try stage.wait { adopted.tree.processes().count == 2 }
    adopted.tree.terminate()
    // This process is its parent all the same, so the status is known here; a restarted daemon is not.
    _ = try stage.end(of: adopted)
    #expect(adopted.results.count == 1)
    #expect(adopted.tree.processes().isEmpty)
  }

  @Test("R6: what was started but not recorded is found by its marker")
  func adopt_byMarkerAlone_findsTheFirstProcessToo() throws {
    let stage = try Stage()
    let command = try stage.shell("sleep 1000 & exec sleep 1000")
    let first = command.tree.first
    let remembered = RememberedCommand(marker: command.tree.marker, first: nil, output: nil)
    try stage.wait { command.tree.processes().count == 2 }
    stage.restart()
    let adopted = stage.keep(try #require(stage.keeper.adopt([remembered])[0]))
    #expect(adopted.tree.first == first)
    #expect(adopted.tree.processes().count == 2)
    adopted.tree.kill()
    _ = try stage.end(of: adopted)
  }

  @Test func adopt_firstProcessGoneButNotItsDescendants_areKept() throws {
    let stage = try Stage()
    let command = try stage.shell("sleep 1000 & echo $! > $DIR/pid; exit 0")
    let sleeper = try stage.pid(in: "pid")
    let first = try #require(command.tree.first)
    try stage.wait { ProcessTable.entry(of: first.pid) == nil }
    let remembered = RememberedCommand(marker: command.tree.marker, first: first, output: nil)
    stage.restart()
    let adopted = stage.keep(try #require(stage.keeper.adopt([remembered])[0]))
    #expect(adopted.tree.processes().map(\.pid) == [sleeper])
    adopted.tree.terminate()
    #expect(try stage.end(of: adopted).status == .unknown)
  }

  @Test func adopt_whatIsGone_isNone() throws {
    let stage = try Stage()
    let command = try stage.shell("exit 0")
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: nil)
    _ = try stage.end(of: command)
    stage.restart()
    #expect(stage.keeper.adopt([remembered])[0] == nil)
    // The marker is free again.
    #expect(stage.keeper.adopt([remembered])[0] == nil)
    #expect(stage.keeper.adopt([]).isEmpty)
  }

  @Test func adopt_numberThatNowIsAnothers_isNotTaken() throws {
    let stage = try Stage()
    let bystander = try stage.shell("exec sleep 1000")
    let identity = try #require(bystander.tree.first)
    let reused = ProcessIdentity(pid: identity.pid, startTime: identity.startTime - 1)
    let remembered = RememberedCommand(marker: stage.marker(), first: reused, output: nil)
    #expect(stage.keeper.adopt([remembered])[0] == nil)
    bystander.tree.kill()
    _ = try stage.end(of: bystander)
  }

  @Test func adopt_several_eachHasItsOwn() throws {
    let stage = try Stage()
    let commands = try (0..<5).map { _ in try stage.shell("setsid sleep 1000 & exec sleep 1000") }
    let remembered = commands.map {
      RememberedCommand(marker: $0.tree.marker, first: $0.tree.first, output: nil)
    }
    try stage.wait { commands.allSatisfy { $0.tree.processes().count == 2 } }
    stage.restart()
    let adopted = try stage.keeper.adopt(remembered).map { stage.keep(try #require($0)) }
    for (index, command) in adopted.enumerated() {
      #expect(command.tree.first == remembered[index].first)
      #expect(command.tree.processes().count == 2)
      command.tree.kill()
      _ = try stage.end(of: command)
      for other in adopted[(index + 1)...] { #expect(other.result == nil) }
    }
  }

  @Test func bootIdentifier_isThatOfTheKernel() throws {
    let identifier = try #require(ProcessIdentity.bootIdentifier())
    #expect(identifier.count == 36)
    #expect(identifier == ProcessIdentity.bootIdentifier())
  }
}
