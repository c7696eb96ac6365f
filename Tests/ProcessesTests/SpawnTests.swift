// Why this file exists: what a command gets from us, what it does not, and what is said when it cannot be started.

import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

@Suite(.timeLimit(.minutes(3))) struct SpawnTests {
  @Test(
    arguments: [
      ("#!/bin/sh\n", 0o700, true), ("#! /usr/bin/env sh\n", 0o700, true), ("#!/nowhere/sh\n", 0o700, false),
      ("#!/bin/sh\n", 0o600, false), ("echo\n", 0o700, false), ("", 0o700, false), ("#!@ x\n", 0o700, false),
    ] as [(String, mode_t, Bool)])
  func script_executability_isThatOfItsInterpreter(_ text: String, _ mode: mode_t, _ isExecutable: Bool) throws {
    let directory = TemporaryDirectory()
    let path = directory.path(of: "script")
    let file = try #require(fopen(path, "w"))
    fputs(text.replacing("@", with: path), file)
    fclose(file)
    chmod(path, mode)
    #expect(ByteString(path).isExecutable == isExecutable)
  }

  @Test func binary_executability_isThatOfItsFile() {
    #expect(ByteString("/bin/sh").isExecutable)
    #expect(!ByteString("/nowhere/sh").isExecutable)
    #expect(!ByteString("/etc/passwd").isExecutable)
  }

  @Test func command_descriptors_onlyTheThreeStandardOnes() throws {
    let stage = try Stage()
    // Descriptors that anybody in this process has left inheritable.
    let open = (0..<5).map { _ in Glibc.open("/dev/null", O_RDONLY) }
    defer { for descriptor in open { close(descriptor) } }
    // The last one is the directory that ls reads.
    #expect(try stage.output(["ls", "/proc/self/fd"]) == "0\n1\n2\n3\n")
  }

  @Test func command_signals_noneBlockedNorIgnored() async {
    await #expect(processExitsWith: .success) {
      let stage = try Stage()
      signal(SIGPIPE, SIG_IGN)
      signal(SIGUSR2, SIG_IGN)
      var set = sigset_t()
      sigfillset(&set)
      pthread_sigmask(SIG_BLOCK, &set, nil)
      var masks: [Substring: UInt64] = [:]
      for line in try stage.output(["cat", "/proc/self/status"]).split(separator: "\n") {
        let fields = line.split(separator: "\t")
        if fields.count == 2 { masks[fields[0]] = UInt64(fields[1], radix: 16) }
      }
      // glibc's posix_spawn leaves 32 and 33 ignored, which its threads keep for themselves and set when they start.
      let internals: UInt64 = 3 << 31
      #expect(masks["SigBlk:"] == 0)
      #expect(masks["SigIgn:"].map { $0 & ~internals } == 0)
      #expect(masks["SigCgt:"] == 0)
    }
  }

  @Test func command_session_isItsOwn() throws {
    let stage = try Stage()
    let fields = try stage.output(["cat", "/proc/self/stat"]).split(separator: " ")
    // pid, name, state, parent, group, session, terminal
    #expect(fields[0] == fields[4])
    #expect(fields[0] == fields[5])
    #expect(fields[6] == "0")
  }

  @Test func command_environment_isWhatWasGivenAndTheMarker() throws {
    let stage = try Stage()
    stage.environment["GREETING"] = "grüß dich=\n"
    stage.environment["NAVD_TEST_TREE"] = "of another"
    let marker = ByteString("\(getpid()) \(stage.directory.path) 1")
    let variables = try stage.output(["env", "-0"]).split(separator: "\0").sorted()
    #expect(variables == ["GREETING=grüß dich=\n", "NAVD_TEST_TREE=\(marker)", "PATH=/usr/local/bin:/usr/bin:/bin"])
  }

  @Test func environmentOfThisProcess_isReadAsItStands() throws {
    let variables = ProcessEnvironment.ofThisProcess()
    let path = try #require(getenv("PATH").map { String(cString: $0) })
    #expect(variables["PATH"] == ByteString(path))
  }

  @Test func command_arguments_arriveAsTheyAre() throws {
    let stage = try Stage()
    #expect(try stage.output(["printf", "[%s]", "a b", "", "$HOME; *", "ü"]) == "[a b][][$HOME; *][ü]")
    let capture = stage.capture("bytes")
    let command = try stage.start(
      Command(["printf", "%s", ByteString([0xFF, 0xFE])], environment: stage.environment), output: capture)
    #expect(try stage.end(of: command).output?.bytes == [0xFF, 0xFE])
  }

  @Test func command_directory_isTheOneGiven() throws {
    let stage = try Stage()
    #expect(
      try stage.output(["pwd", "-P"], directory: ByteString(stage.directory.path)) == stage.directory.path + "\n")
  }

  @Test func command_input_isAFileOfTheBytes() throws {
    let stage = try Stage()
    #expect(try stage.output(["cat"], input: Array("{\"id\": 1}\n".utf8)) == "{\"id\": 1}\n")
    #expect(try stage.output(["cat"]) == "")
    let large = [UInt8](repeating: 65, count: 1 << 22)
    #expect(try stage.output(["wc", "-c"], input: large) == "\(large.count)\n")
  }

  @Test func command_inputNotRead_isHarmless() throws {
    let stage = try Stage()
    let command = try stage.start(
      Command(["true"], environment: stage.environment, input: [UInt8](repeating: 65, count: 1 << 22)))
    #expect(try stage.end(of: command).status == .exited(code: 0))
  }

  @Test func program_withoutSlash_isLookedUpInTheChildsPath() throws {
    let stage = try Stage()
    stage.script("ls", "#!/bin/sh\necho mine")
    stage.environment["PATH"] = ByteString("/nowhere:\(stage.directory.path)")
    #expect(try stage.output(["ls"]) == "mine\n")
    // An empty element is the working directory.
    stage.environment["PATH"] = "/nowhere:"
    #expect(try stage.output(["ls"], directory: ByteString(stage.directory.path)) == "mine\n")
    stage.environment["PATH"] = "/nowhere"
    #expect(throws: SpawnError.programNotFound("ls", searchPath: "/nowhere")) { try stage.output(["ls"]) }
    stage.environment["PATH"] = nil
    #expect(try stage.output(["echo", "without"]) == "without\n")
  }

  @Test func program_withSlash_isRelativeToTheCommandsDirectory() throws {
    let stage = try Stage()
    stage.script("tool", "#!/bin/sh\necho here")
    #expect(try stage.output(["./tool"], directory: ByteString(stage.directory.path)) == "here\n")
  }

  @Test func spawn_thatCannotBe_saysWhichAndWhyAndLeavesNothing() throws {
    let stage = try Stage()
    let directory = stage.directory.path
    stage.script("plain", "#!/bin/sh\n", mode: 0o644)
    stage.script("orphaned", "#!/no/such/interpreter\n")
    stage.script("text", "echo without a first line\n")
    func failure(
      _ arguments: [ByteString], environment: ProcessEnvironment = ["PATH": "/usr/bin:/bin"],
      directory: ByteString = "/"
    ) throws -> String {
      let capture = stage.capture("failed")
      let command = Command(arguments, environment: environment, directory: directory)
      let error = #expect(throws: SpawnError.self) { try stage.start(command, output: capture) }
      #expect(ProcessTable.read(directory.description + "/failed.fifo") == nil)
      #expect(capture.read() == nil)
      return try #require(error).description
    }
    #expect(try failure(["no-such-program"]) == "no-such-program: not found in PATH (/usr/bin:/bin)")
    #expect(try failure(["/no/such"]) == "/no/such: there is no such program")
    #expect(
      try failure([ByteString("\(directory)/plain")]) == "\(directory)/plain: cannot be executed: Permission denied")
    #expect(
      try failure(["plain"], environment: ["PATH": ByteString(directory)])
        == "\(directory)/plain: cannot be executed: Permission denied")
    #expect(try failure(["/etc"]) == "/etc: cannot be executed: Permission denied")
    #expect(
      try failure([ByteString("\(directory)/orphaned")])
        == "\(directory)/orphaned: cannot be executed: the interpreter that it names is missing")
    #expect(
      try failure([ByteString("\(directory)/text")]) == "\(directory)/text: cannot be executed: Exec format error")
    #expect(
      try failure(["true"], directory: "/no/such") == "working directory /no/such: No such file or directory")
    #expect(try failure(["true"], directory: "/etc/passwd") == "working directory /etc/passwd: Not a directory")
    #expect(try failure(["true"], directory: "tmp") == "working directory tmp: not an absolute path")
    #expect(try failure([]) == "the command names no program")
    #expect(try failure([""]) == "the command names no program")
    #expect(try failure(["true", ByteString([65, 0, 66])]).contains("contains a NUL"))
    #expect(try failure(["true"], environment: ["A=B": "c"]) == "'A=B' is no name for an environment variable")
    #expect(try failure(["true"], environment: ["A": ByteString([0])]).contains("contains a NUL"))
    let huge = ByteString([UInt8](repeating: 65, count: 1 << 22))
    let message = try failure(["true", huge])
    #expect(message == "posix_spawn /usr/bin/true: Argument list too long")
  }

  @Test func raiseDescriptorLimit_commandsKeepTheOldOne() async {
    await #expect(processExitsWith: .success) {
      let stage = try Stage()
      var limit = rlimit(rlim_cur: 100, rlim_max: 400)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #expect(setrlimit(resource, &limit) == 0)
      try stage.keeper.raiseDescriptorLimit()
      try stage.keeper.raiseDescriptorLimit()
      // More than a command may have.
      let open = (0..<200).map { _ in Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
      #expect(open.allSatisfy { $0 >= 0 })
      #expect(try stage.output(["sh", "-c", "ulimit -Sn; ulimit -Hn"]) == "100\n400\n")
      getrlimit(resource, &limit)
      #expect(limit.rlim_cur == 400)
    }
  }

  @Test func descriptors_allTaken_commandIsNotTakenForGone() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let stage = try Stage()
        try stage.keeper.reapOrphans()
        let command = try stage.shell("setsid sleep 1000 & echo > $DIR/ready; exec sleep 1000")
        _ = try stage.line(in: "ready")
        var limit = rlimit(rlim_cur: 0, rlim_max: 20_000)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        getrlimit(resource, &limit)
        var none = rlimit(rlim_cur: 3, rlim_max: limit.rlim_max)
        try #require(setrlimit(resource, &none) == 0)
        let wrong = Command(["true"], environment: stage.environment)
        try #require(throws: SpawnError.self) { try stage.start(wrong) }
        Glibc.kill(try #require(command.tree.first).pid, SIGTERM)
        // Several looks, none of which sees anything.
        for _ in 0..<10 { stage.loop.turn(wait: .milliseconds(10)) }
        try #require(command.result == nil)
        try #require(setrlimit(resource, &limit) == 0)
        try stage.wait { command.tree.processes().count == 1 }
        command.tree.kill()
        try #require(try stage.end(of: command).status == .signaled(signal: SIGTERM))
      }
    }
  }

  @Test func spawn_markerInUse_isRefused() throws {
    let stage = try Stage()
    let command = try stage.shell("exec sleep 1000")
    #expect(throws: SpawnError.self) {
      try stage.keeper.spawn(Command(["true"], environment: stage.environment), marker: command.tree.marker)
    }
    command.tree.kill()
    _ = try stage.end(of: command)
  }

  @Test(arguments: [
    ("1 (a) S 2 (b) R 3 c) Z 7 8 9 10 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0", 1, 7, 9, true, 4711),
    ("30000 (()) R 1 2 3 10 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0\n", 30000, 1, 3, false, 5),
    ("31 (first thread gone) Z 1 2 3 10 -1 0 0 0 0 0 0 0 0 0 20 0 4 0 5 0\n", 31, 1, 3, false, 5),
  ])
  func processEntry_anyName_isReadRight(
    _ line: String, _ pid: pid_t, _ parent: pid_t, _ session: pid_t, _ hasEnded: Bool, _ startTime: UInt64
  ) throws {
    let entry = try #require(ProcessEntry(stat: Array(line.utf8)))
    #expect(entry.identity == ProcessIdentity(pid: pid, startTime: startTime))
    #expect(entry.parent == parent)
    #expect(entry.session == session)
    #expect(entry.hasEnded == hasEnded)
  }

  @Test(arguments: ["", "1", "1 (", "1 (a", ")1(", "1 (a) S", "x (a) S 2 3 4 5 6 7 8 9 1 1 1 1 1 1 1 1 1 1 1 1 1"])
  func processEntry_malformed_isNone(_ line: String) { #expect(ProcessEntry(stat: Array(line.utf8)) == nil) }
}

extension Stage {
  /// Puts a file into the stage's directory.
  func script(_ name: String, _ text: String, mode: mode_t = 0o755) {
    let path = directory.path(of: name)
    // Through a shell of its own: a file that is open for writing, also in a child forked meanwhile, is not executed.
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode)
    precondition(write(file, text, text.utf8.count) == text.utf8.count)
    close(file)
  }
}
