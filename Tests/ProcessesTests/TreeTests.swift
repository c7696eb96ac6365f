import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// The ways in which processes of a command end or leave it. Each works with a supervisor that reaps orphans (the daemon), and with
/// one that does not (a program with other children).
enum Scenario: String, CaseIterable, Codable, Sendable {
  case endsByItself, backgroundGrandchild, ownSession, doubleFork, ownSessionWithoutEnvironment
  case orphanWithoutEnvironment, rememberedWithoutMarks, ignoresTerminate, stopped, forksWhileKilled, manyAtOnce,
    abandoned, killedAndAbandoned
  case severalSideBySide

  func run(_ fixture: ProcessFixture) throws {
    switch self {
    case .endsByItself:
      for (script, status): (String, ProcessStatus) in [
        ("exit 0", .exited(code: 0)), ("exit 3", .exited(code: 3)), ("kill -9 $$", .signaled(signal: SIGKILL)),
        ("kill -TERM $$", .signaled(signal: SIGTERM)),
      ] {
        let command = try fixture.shell(script)
        try #require(command.result == nil)
        try #require(try fixture.end(of: command) == ProcessResult(status: status, output: nil))
        fixture.loop.turn(wait: .zero)
        try #require(command.results.count == 1)
        try #require(!command.tree.isLive)
        try #require(command.tree.processes().isEmpty)
        // After the end, neither call has an effect.
        command.tree.terminate()
        command.tree.kill()
      }

    case .backgroundGrandchild:
      let command = try fixture.shell("sleep 1000 & echo $! > $DIR/pid; exit 4")
      let sleeper = try fixture.pid(in: "pid")
      try fixture.wait { command.tree.processes().map(\.pid) == [sleeper] }
      try #require(command.result == nil)
      command.tree.terminate()
      try #require(try fixture.end(of: command).status == .exited(code: 4))
      try #require(!isAlive(sleeper))

    case .ownSession:
      let command = try fixture.shell("setsid sh -c 'echo $$ > $DIR/pid; exec sleep 1000' & exit 0")
      let sleeper = try fixture.pid(in: "pid")
      try fixture.wait { command.tree.processes().map(\.pid) == [sleeper] }
      try #require(ProcessTable.entry(of: sleeper)?.session == sleeper)
      command.tree.terminate()
      try #require(try fixture.end(of: command).status == .exited(code: 0))
      try #require(!isAlive(sleeper))

    case .doubleFork:
      // A daemon has a session of its own, and no living parent between it and the first process.
      let command = try fixture.shell(
        "(setsid sh -c 'sleep 1000 & echo $! > $DIR/pid' &) ; while :; do sleep 1000; done")
      let sleeper = try fixture.pid(in: "pid")
      try #require(isAlive(sleeper))
      command.tree.terminate()
      try #require(try fixture.end(of: command).status == .signaled(signal: SIGTERM))
      try #require(!isAlive(sleeper))

    case .ownSessionWithoutEnvironment:
      // The parent of this process is alive.
      let command = try fixture.shell(
        "env -i setsid sh -c 'echo $$ > '$DIR'/pid; exec sleep 1000' & while :; do sleep 1000; done")
      let sleeper = try fixture.pid(in: "pid")
      command.tree.terminate()
      _ = try fixture.end(of: command)
      try #require(!isAlive(sleeper))

    case .orphanWithoutEnvironment:
      let command = try fixture.shell("(env -i setsid sh -c 'echo $$ > '$DIR'/pid; exec sleep 1000' &) ; exit 6")
      let sleeper = try fixture.pid(in: "pid")
      try fixture.wait { command.tree.processes().map(\.pid) == [sleeper] }
      command.tree.terminate()
      try #require(try fixture.end(of: command).status == .exited(code: 6))
      try #require(!isAlive(sleeper))

    case .rememberedWithoutMarks:
      // The parent of this process has ended, too, when the process is to be killed; but the process was seen when the tree was
      // terminated.
      let command = try fixture.shell(
        """
        prlimit --locks=unlimited setsid sh -c 'trap "" TERM; echo $$ > $DIR/pid; while :; do sleep 1000; done' &
        while :; do sleep 1000; done
        """)
      let stubborn = try fixture.pid(in: "pid")
      command.tree.terminate()
      let first = try #require(command.tree.first)
      try fixture.wait { !isAlive(first.pid) && ProcessTable.entry(of: stubborn)?.parent != first.pid }
      try fixture.wait { command.tree.processes().contains { $0.pid == stubborn } }
      try #require(command.result == nil)
      command.tree.kill()
      try #require(try fixture.end(of: command).status == .signaled(signal: SIGTERM))
      try #require(!isAlive(stubborn))

    case .ignoresTerminate:
      let command = try fixture.shell("trap '' TERM; echo > $DIR/ready; while :; do sleep 1000; done")
      _ = try fixture.line(in: "ready")
      command.tree.terminate()
      // The shell goes on with another sleeper.
      try fixture.wait { command.tree.processes().count == 2 }
      try #require(command.result == nil)
      command.tree.kill()
      try #require(try fixture.end(of: command).status == .signaled(signal: SIGKILL))

    case .stopped:
      let command = try fixture.shell("kill -STOP $$")
      let pid = try #require(command.tree.first).pid
      try fixture.wait { (ProcessTable.read("/proc/\(pid)/stat") ?? []).contains(UInt8(ascii: "T")) }
      command.tree.terminate()
      try #require(try fixture.end(of: command).status == .signaled(signal: SIGTERM))

    case .forksWhileKilled:
      let command = try fixture.shell(
        "i=0; while [ $i -lt 300 ]; do setsid sleep 1000 & i=$((i+1)); echo $i > $DIR/count; done; wait")
      try fixture.wait { (ProcessTable.read(fixture.directory.path(of: "count")) ?? []).count > 2 }
      command.tree.kill()
      try #require(try fixture.end(of: command).status == .signaled(signal: SIGKILL))
      let marker = command.tree.marker
      try #require(
        !ProcessTable.all().contains { ProcessTable.variable("NAVD_TEST_TREE", of: $0.pid) == .value(marker) })

    case .manyAtOnce:
      let commands = try (0..<40).map { try fixture.shell("sleep 1000 & exit \($0)") }
      for command in commands { command.tree.terminate() }
      for command in commands { _ = try fixture.end(of: command) }
      fixture.loop.turn(wait: .zero)
      try #require(commands.allSatisfy { $0.results.count == 1 })

    case .abandoned:
      let command = try fixture.shell("echo kept; exec sleep 1000", output: fixture.capture("out"))
      let pid = try #require(command.tree.first).pid
      try fixture.wait { fixture.capture("out").read()?.bytes == Array("kept\n".utf8) }
      let soFar = command.tree.abandon()
      try #require(
        soFar
          == ProcessResult(status: .unknown, output: CapturedOutput(bytes: Array("kept\n".utf8), isTruncated: false)))
      try #require(isAlive(pid))
      Glibc.kill(pid, SIGKILL)
      // The process is reaped all the same.
      try fixture.wait { ProcessTable.entry(of: pid) == nil }
      try #require(command.results.isEmpty)

    case .killedAndAbandoned:
      let command = try fixture.shell("setsid sleep 1000 & echo $! > $DIR/pid; exec sleep 1000")
      let sleeper = try fixture.pid(in: "pid")
      let first = try #require(command.tree.first)
      command.tree.kill()
      _ = command.tree.abandon()
      try fixture.wait { !isAlive(sleeper) && ProcessTable.entry(of: first.pid) == nil }
      try #require(command.results.isEmpty)

    case .severalSideBySide:
      let first = try fixture.shell("setsid sleep 1000 & sleep 1000 & echo > $DIR/first")
      let second = try fixture.shell("setsid sleep 1000 & sleep 1000 & echo > $DIR/second")
      _ = try (fixture.line(in: "first"), fixture.line(in: "second"))
      try fixture.wait { first.tree.processes().count == 2 && second.tree.processes().count == 2 }
      first.tree.terminate()
      _ = try fixture.end(of: first)
      try #require(second.result == nil)
      try #require(second.tree.processes().count == 2)
      second.tree.kill()
      _ = try fixture.end(of: second)
    }
  }
}

/// The trees of processes that belong to commands. The time limit is for exit tests, whose runner waits for ever if there is a
/// zombie of another test in this process.
@Suite(.timeLimit(.minutes(3))) struct TreeTests {
  @Test(
    "D3: A command ends with the last process of its tree (without reaping orphans)",
    arguments: Scenario.allCases)
  func tree_withoutReapingOrphans_isSupervised(_ scenario: Scenario) throws {
    try scenario.run(ProcessFixture())
  }

  // Exit tests have captures since Swift 6.3.
  #if compiler(>=6.3)
    @Test("D3: A command ends with the last process of its tree (reaping orphans)", arguments: Scenario.allCases)
    func tree_reapingOrphans_isSupervised(_ scenario: Scenario) async {
      await #expect(processExitsWith: .success) { [scenario] in
        try inOneThread {
          let fixture = try ProcessFixture()
          try fixture.supervisor.reapOrphans()
          try scenario.run(fixture)
          try fixture.wait { ProcessTable.children(of: getpid()) == [] }
        }
      }
    }
  #endif

  @Test func reaper_orphanWithoutSessionOrMark_isNoMemberAndIsReaped() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let fixture = try ProcessFixture()
        try fixture.supervisor.reapOrphans()
        // This is a limit of working without a cgroup, which docs/architecture.md names.
        let command = try fixture.shell(
          """
          (prlimit --locks=unlimited setsid sh -c 'echo $$ > $DIR/pid; exec sleep 1000' &)
          while [ ! -s $DIR/pid ]; do sleep 0.01; done
          """)
        let stray = try fixture.pid(in: "pid")
        try #require(try fixture.end(of: command).status == .exited(code: 0))
        try #require(isAlive(stray))
        try #require(ProcessTable.entry(of: stray)?.parent == getpid())
        Glibc.kill(stray, SIGKILL)
        try fixture.wait { ProcessTable.children(of: getpid()) == [] }
      }
    }
  }

  @Test func reaper_orphansThatEndBeforeTheirCommand_leaveNoZombies() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let fixture = try ProcessFixture()
        try fixture.supervisor.reapOrphans()
        let command = try fixture.shell(
          "for i in 1 2 3 4 5; do (setsid true &); done; echo > $DIR/ready; exec sleep 1000")
        _ = try fixture.line(in: "ready")
        let first = try #require(command.tree.first).pid
        try fixture.wait { ProcessTable.children(of: getpid()) == [first] }
        command.tree.kill()
        _ = try fixture.end(of: command)
      }
    }
  }

  #if compiler(>=6.3)
    @Test(
      "D3: A process whose parent ends while the tree is signalled gets the signal",
      arguments: [false, true])
    func terminate_parentEndsMeanwhile_orphanGetsTheSignal(isFoundFirst: Bool) async {
      await #expect(processExitsWith: .success) { [isFoundFirst] in
        try inOneThread {
          let fixture = try ProcessFixture()
          try fixture.supervisor.reapOrphans()
          let command = try fixture.shell("trap '' HUP; sleep 1000 & echo $! > $DIR/pid; wait")
          let sleeper = try fixture.pid(in: "pid")
          let shell = try #require(command.tree.first).pid
          // The parent ends after the orphans have been read, or after its own children have.
          fixture.onChildrenRead = { pid in
            guard pid == (isFoundFirst ? shell : getpid()) else { return }
            fixture.onChildrenRead = nil
            Glibc.kill(shell, SIGKILL)
            while ProcessTable.entry(of: sleeper)?.parent == shell { usleep(100) }
          }
          command.tree.terminate()
          try #require(try fixture.end(of: command).status == .signaled(signal: SIGKILL))
          try #require(!isAlive(sleeper))
        }
      }
    }
  #endif

  @Test("D3: A process that is forked after the search of the tree gets the signal, though its parent lives on")
  func terminate_processForkedAfterTheLook_getsTheSignal() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let fixture = try ProcessFixture()
        try fixture.supervisor.reapOrphans()
        let command = try fixture.shell(
          """
          trap : TERM; mkfifo $DIR/go; echo > $DIR/ready; read x < $DIR/go
          sh -c 'echo $$ > $DIR/pid; exec sleep 1000' & while kill -0 $!; do wait; done; exit 3
          """)
        _ = try fixture.line(in: "ready")
        let shell = try #require(command.tree.first).pid
        fixture.onChildrenRead = { pid in
          guard pid == shell else { return }
          fixture.onChildrenRead = nil
          close(open(fixture.directory.path(of: "go"), O_WRONLY))
          while (ProcessTable.read(fixture.directory.path(of: "pid")) ?? []).last != UInt8(ascii: "\n") { usleep(100) }
        }
        command.tree.terminate()
        try #require(try fixture.end(of: command).status == .exited(code: 3))
        try #require(!isAlive(try fixture.pid(in: "pid")))
      }
    }
  }

  #if compiler(>=6.3)
    @Test(
      "D3: A process that another one starts after the signal, to save its work, does not get the signal",
      arguments: [false, true])
    func terminate_processForkedByTheHandler_doesNotGetTheSignal(isOrphan: Bool) async {
      await #expect(processExitsWith: .success) { [isOrphan] in
        try inOneThread {
          let fixture = try ProcessFixture()
          try fixture.supervisor.reapOrphans()
          let save = "sh -c 'echo > $DIR/saving; read x < $DIR/go; echo > $DIR/saved'"
          let command = try fixture.shell(
            """
            mkfifo $DIR/never $DIR/handle $DIR/go; save() { \(save); }
            trap 'read x < $DIR/handle; \(isOrphan ? "save & exit" : "save; exit")' TERM
            echo > $DIR/ready; while :; do read x < $DIR/never; done
            """)
          _ = try fixture.line(in: "ready")
          // The FIFOs are open for reading, too, so that nobody waits here.
          let gates = ["handle", "go"].map { open(fixture.directory.path(of: $0), O_RDWR) }
          defer { gates.forEach { close($0) } }
          command.tree.terminate()
          // The tree is looked through, and the handler begins.
          fixture.loop.turn(wait: .zero)
          write(gates[0], "\n", 1)
          _ = try fixture.line(in: "saving")
          // After this loop, the supervisor waits for nothing but ends.
          while fixture.loop.turn(wait: .milliseconds(200)) {}
          write(gates[1], "\n", 1)
          _ = try fixture.end(of: command)
          try #require(ProcessTable.read(fixture.directory.path(of: "saved")) != nil)
        }
      }
    }
  #endif

  @Test("A list of children that takes several reads is read to its end, and anew each time")
  func ownChildren_ofManyHundreds_areAll() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let children = try #require(OwnChildren(of: [getpid()]))
        var pids: Set<pid_t> = []
        defer {
          for pid in pids {
            Glibc.kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
          }
        }
        try #require(children.read() == [])
        var arguments = [strdup("sleep"), strdup("1000"), nil]
        for _ in 0..<600 {
          var pid: pid_t = 0
          try #require(posix_spawn(&pid, "/bin/sleep", nil, nil, &arguments, nil) == 0)
          pids.insert(pid)
        }
        try #require(Set(try #require(children.read())) == pids)
      }
    }
  }

  @Test("Ending a tree of one process by scans takes three of them, each in a turn of its own")
  func terminate_scatteredTreeOfOneProcess_scansAtMostOncePerTurn() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.start(Command(["sleep", "1000"], environment: fixture.environment))
    command.tree.terminate()
    var most = 0
    while command.result == nil {
      let before = fixture.scans
      fixture.loop.turn(wait: nil)
      most = max(most, fixture.scans - before)
    }
    #expect(most == 1)
    // One scan sends the signal, and two find that nothing is left.
    #expect(fixture.scans == 3)
  }

  @Test("A tree that forks while it is terminated does not hold up the loop")
  func terminate_treeThatForksMeanwhile_loopTurnsBetweenScans() throws {
    let fixture = try ProcessFixture()
    // When its sleeper is terminated, the shell forks another, which the next inspection finds.
    let command = try fixture.shell("trap : TERM; echo > $DIR/ready; while :; do sleep 1000; done")
    _ = try fixture.line(in: "ready")
    command.tree.terminate()
    var timers = 0
    for _ in 0..<30 {
      let before = fixture.scans
      var hasFired = false
      fixture.loop.timer(after: .zero) { hasFired = true }
      fixture.loop.turn(wait: nil)
      fixture.loop.turn(wait: .zero)
      if hasFired { timers += 1 }
      #expect(fixture.scans - before <= 2)
    }
    #expect(timers == 30)
    #expect(command.result == nil)
    command.tree.kill()
    _ = try fixture.end(of: command)
  }

  @Test func commands_startedOneAfterAnother_leaveNoOpenDescriptor() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let fixture = try ProcessFixture()
        try fixture.supervisor.reapOrphans()
        func open() -> Int { (0..<1024).count { fcntl($0, F_GETFD) >= 0 } }
        _ = try fixture.output(["true"])
        let before = open()
        for index in 0..<50 {
          _ = try fixture.output(["echo", "x"], input: [1, 2, 3])
          let wrong = Command(["/nowhere"], environment: [:])
          try #require(throws: SpawnError.self) { try fixture.start(wrong, output: fixture.capture("\(index)")) }
        }
        try #require(open() == before)
      }
    }
  }
}
