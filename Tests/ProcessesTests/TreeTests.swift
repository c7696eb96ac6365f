// Why this file exists: a command is gone when all of it is, by whatever way its processes tried to leave it.

import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// What is shown both with orphans coming to us (the daemon) and without (a program that has other children too).
enum Scenario: String, CaseIterable, Codable, Sendable {
  case endsByItself, backgroundGrandchild, ownSession, doubleFork, ownSessionWithoutEnvironment
  case rememberedWithoutMarks, ignoresTerminate, stopped, forksWhileKilled, manyAtOnce, abandoned, killedAndAbandoned
  case severalSideBySide

  func run(_ stage: Stage) throws {
    switch self {
    case .endsByItself:
      for (script, status): (String, ProcessStatus) in [
        ("exit 0", .exited(code: 0)), ("exit 3", .exited(code: 3)), ("kill -9 $$", .signaled(signal: SIGKILL)),
        ("kill -TERM $$", .signaled(signal: SIGTERM)),
      ] {
        let command = try stage.shell(script)
        try #require(command.result == nil)
        try #require(try stage.end(of: command) == ProcessResult(status: status, output: nil))
        stage.loop.turn(wait: .zero)
        try #require(command.results.count == 1)
        try #require(!command.tree.isLive)
        try #require(command.tree.processes().isEmpty)
        // Too late, and harmless.
        command.tree.terminate()
        command.tree.kill()
      }

    case .backgroundGrandchild:
      let command = try stage.shell("sleep 1000 & echo $! > $DIR/pid; exit 4")
      let sleeper = try stage.pid(in: "pid")
      try stage.wait { command.tree.processes().map(\.pid) == [sleeper] }
      try #require(command.result == nil)
      command.tree.terminate()
      try #require(try stage.end(of: command).status == .exited(code: 4))
      try #require(!isAlive(sleeper))

    case .ownSession:
      let command = try stage.shell("setsid sh -c 'echo $$ > $DIR/pid; exec sleep 1000' & exit 0")
      let sleeper = try stage.pid(in: "pid")
      try stage.wait { command.tree.processes().map(\.pid) == [sleeper] }
      try #require(ProcessTable.entry(of: sleeper)?.session == sleeper)
      command.tree.terminate()
      try #require(try stage.end(of: command).status == .exited(code: 0))
      try #require(!isAlive(sleeper))

    case .doubleFork:
      // The way of daemons: a session of its own, and nobody left between it and its first ancestor.
      let command = try stage.shell("(setsid sh -c 'sleep 1000 & echo $! > $DIR/pid' &) ; while :; do sleep 1000; done")
      let sleeper = try stage.pid(in: "pid")
      try #require(isAlive(sleeper))
      command.tree.terminate()
      try #require(try stage.end(of: command).status == .signaled(signal: SIGTERM))
      try #require(!isAlive(sleeper))

    case .ownSessionWithoutEnvironment:
      // Nothing marks the sleeper, but its parent is there.
      let command = try stage.shell(
        "env -i setsid sh -c 'echo $$ > '$DIR'/pid; exec sleep 1000' & while :; do sleep 1000; done")
      let sleeper = try stage.pid(in: "pid")
      command.tree.terminate()
      _ = try stage.end(of: command)
      try #require(!isAlive(sleeper))

    case .rememberedWithoutMarks:
      // Nor is its parent there any more when it is to be killed; but it was seen when the tree was terminated.
      let command = try stage.shell(
        """
        env -i setsid sh -c 'trap "" TERM; echo $$ > '$DIR'/pid; while :; do sleep 1000; done' &
        while :; do sleep 1000; done
        """)
      let stubborn = try stage.pid(in: "pid")
      command.tree.terminate()
      let first = try #require(command.tree.first)
      try stage.wait { !isAlive(first.pid) && ProcessTable.entry(of: stubborn)?.parent != first.pid }
      try stage.wait { command.tree.processes().contains { $0.pid == stubborn } }
      try #require(command.result == nil)
      command.tree.kill()
      try #require(try stage.end(of: command).status == .signaled(signal: SIGTERM))
      try #require(!isAlive(stubborn))

    case .ignoresTerminate:
      let command = try stage.shell("trap '' TERM; echo > $DIR/ready; while :; do sleep 1000; done")
      _ = try stage.line(in: "ready")
      command.tree.terminate()
      // It goes on, with another sleeper.
      try stage.wait { command.tree.processes().count == 2 }
      try #require(command.result == nil)
      command.tree.kill()
      try #require(try stage.end(of: command).status == .signaled(signal: SIGKILL))

    case .stopped:
      let command = try stage.shell("kill -STOP $$")
      let pid = try #require(command.tree.first).pid
      try stage.wait { (ProcessTable.read("/proc/\(pid)/stat") ?? []).contains(UInt8(ascii: "T")) }
      command.tree.terminate()
      try #require(try stage.end(of: command).status == .signaled(signal: SIGTERM))

    case .forksWhileKilled:
      let command = try stage.shell(
        "i=0; while [ $i -lt 300 ]; do setsid sleep 1000 & i=$((i+1)); echo $i > $DIR/count; done; wait")
      try stage.wait { (ProcessTable.read(stage.directory.path(of: "count")) ?? []).count > 2 }
      command.tree.kill()
      try #require(try stage.end(of: command).status == .signaled(signal: SIGKILL))
      let marker = command.tree.marker
      try #require(
        !ProcessTable.all().contains { ProcessTable.variable("NAVD_TEST_TREE", of: $0.pid) == .value(marker) })

    case .manyAtOnce:
      let commands = try (0..<40).map { try stage.shell("sleep 1000 & exit \($0)") }
      for command in commands { command.tree.terminate() }
      for command in commands { _ = try stage.end(of: command) }
      stage.loop.turn(wait: .zero)
      try #require(commands.allSatisfy { $0.results.count == 1 })

    case .abandoned:
      let command = try stage.shell("echo kept; exec sleep 1000", output: stage.capture("out"))
      let pid = try #require(command.tree.first).pid
      try stage.wait { stage.capture("out").read()?.bytes == Array("kept\n".utf8) }
      let soFar = command.tree.abandon()
      try #require(
        soFar
          == ProcessResult(status: .unknown, output: CapturedOutput(bytes: Array("kept\n".utf8), isTruncated: false)))
      try #require(isAlive(pid))
      Glibc.kill(pid, SIGKILL)
      // It is reaped all the same.
      try stage.wait { ProcessTable.entry(of: pid) == nil }
      try #require(command.results.isEmpty)

    case .killedAndAbandoned:
      let command = try stage.shell("setsid sleep 1000 & echo $! > $DIR/pid; exec sleep 1000")
      let sleeper = try stage.pid(in: "pid")
      let first = try #require(command.tree.first)
      command.tree.kill()
      _ = command.tree.abandon()
      try stage.wait { !isAlive(sleeper) && ProcessTable.entry(of: first.pid) == nil }
      try #require(command.results.isEmpty)

    case .severalSideBySide:
      let first = try stage.shell("setsid sleep 1000 & sleep 1000 & echo > $DIR/first")
      let second = try stage.shell("setsid sleep 1000 & sleep 1000 & echo > $DIR/second")
      _ = try (stage.line(in: "first"), stage.line(in: "second"))
      try stage.wait { first.tree.processes().count == 2 && second.tree.processes().count == 2 }
      first.tree.terminate()
      _ = try stage.end(of: first)
      try #require(second.result == nil)
      try #require(second.tree.processes().count == 2)
      second.tree.kill()
      _ = try stage.end(of: second)
    }
  }
}

/// What waits for the ends of exit tests sees nothing beyond a zombie that somebody else has left in this process, and
/// would wait for ever; so there is a limit.
@Suite(.timeLimit(.minutes(3))) struct TreeTests {
  @Test(
    "D3: a command is gone when its whole tree is (other children of this process are left alone)",
    arguments: Scenario.allCases)
  func tree_amongOtherChildren_isKept(_ scenario: Scenario) throws {
    try scenario.run(Stage())
  }

  @Test("D3: a command is gone when its whole tree is (orphans come to us)", arguments: Scenario.allCases)
  func tree_ofAReaper_isKept(_ scenario: Scenario) async {
    await #expect(processExitsWith: .success) { [scenario] in
      try inOneThread {
        let stage = try Stage()
        try stage.keeper.reapOrphans()
        try scenario.run(stage)
        try stage.wait { ProcessTable.children(of: getpid()) == [] }
      }
    }
  }

  @Test func reaper_orphanThatNothingMarks_isNoMemberAndIsReaped() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let stage = try Stage()
        try stage.keeper.reapOrphans()
        // This is how far it goes without a cgroup: docs/processes.md.
        let command = try stage.shell(
          """
          (env -i setsid sh -c 'echo $$ > '$DIR'/pid; exec sleep 1000' &)
          while [ ! -s $DIR/pid ]; do sleep 0.01; done
          """)
        let stray = try stage.pid(in: "pid")
        try #require(try stage.end(of: command).status == .exited(code: 0))
        try #require(isAlive(stray))
        try #require(ProcessTable.entry(of: stray)?.parent == getpid())
        Glibc.kill(stray, SIGKILL)
        try stage.wait { ProcessTable.children(of: getpid()) == [] }
      }
    }
  }

  @Test func reaper_orphansEndingWhileTheirCommandRuns_leaveNoZombies() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let stage = try Stage()
        try stage.keeper.reapOrphans()
        let command = try stage.shell(
          "for i in 1 2 3 4 5; do (setsid true &); done; echo > $DIR/ready; exec sleep 1000")
        _ = try stage.line(in: "ready")
        let first = try #require(command.tree.first).pid
        try stage.wait { ProcessTable.children(of: getpid()) == [first] }
        command.tree.kill()
        _ = try stage.end(of: command)
      }
    }
  }

  @Test func manyCommands_oneAfterTheOther_leaveNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let stage = try Stage()
        try stage.keeper.reapOrphans()
        func open() -> Int { (0..<1024).count { fcntl($0, F_GETFD) >= 0 } }
        _ = try stage.output(["true"])
        let before = open()
        for index in 0..<50 {
          _ = try stage.output(["echo", "x"], input: [1, 2, 3])
          let wrong = Command(["/nowhere"], environment: [:])
          try #require(throws: SpawnError.self) { try stage.start(wrong, output: stage.capture("\(index)")) }
        }
        try #require(open() == before)
      }
    }
  }
}
