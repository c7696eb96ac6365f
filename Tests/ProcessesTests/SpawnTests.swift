import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Starts of commands: what they inherit, what they do not, and the errors of those that cannot be started.
@Suite(.timeLimit(.minutes(3))) struct SpawnTests {
  @Test(
    arguments: [
      ("#!/bin/sh\n", 0o700, true), ("#! /usr/bin/env sh\n", 0o700, true), ("#!/nowhere/sh\n", 0o700, false),
      ("#!/bin/sh\n", 0o600, false), ("echo\n", 0o700, false), ("", 0o700, false), ("#!@ x\n", 0o700, false),
    ] as [(String, mode_t, Bool)])
  func isExecutable_ofAScript_followsFromItsInterpreter(_ text: String, _ mode: mode_t, _ isExecutable: Bool) throws {
    let directory = TemporaryDirectory()
    let path = directory.path(of: "script")
    try Files.write(text.replacing("@", with: path), to: path)
    chmod(path, mode)
    #expect(ByteString(path).isExecutable == isExecutable)
  }

  @Test func isExecutable_ofABinary_followsFromItsFile() {
    #expect(ByteString("/bin/sh").isExecutable)
    #expect(!ByteString("/nowhere/sh").isExecutable)
    #expect(!ByteString("/etc/passwd").isExecutable)
  }

  @Test func command_started_hasOnlyTheThreeStandardDescriptors() throws {
    let fixture = try ProcessFixture()
    // These descriptors are inheritable.
    let open = (0..<5).map { _ in Glibc.open("/dev/null", O_RDONLY) }
    defer { for descriptor in open { close(descriptor) } }
    // The last descriptor is the directory that ls reads.
    #expect(try fixture.output(["ls", "/proc/self/fd"]) == "0\n1\n2\n3\n")
  }

  @Test func command_started_blocksAndIgnoresNoSignals() async {
    await #expect(processExitsWith: .success) {
      let fixture = try ProcessFixture()
      signal(SIGPIPE, SIG_IGN)
      signal(SIGUSR2, SIG_IGN)
      var set = sigset_t()
      sigfillset(&set)
      pthread_sigmask(SIG_BLOCK, &set, nil)
      var masks: [Substring: UInt64] = [:]
      for line in try fixture.output(["cat", "/proc/self/status"]).split(separator: "\n") {
        let fields = line.split(separator: "\t")
        if fields.count == 2 { masks[fields[0]] = UInt64(fields[1], radix: 16) }
      }
      // The signals 32 and 33 are reserved for the threads of glibc.
      let internals: UInt64 = 3 << 31
      #expect(masks["SigBlk:"] == 0)
      #expect(masks["SigIgn:"].map { $0 & ~internals } == 0)
      #expect(masks["SigCgt:"] == 0)
    }
  }

  @Test func command_started_hasItsOwnSession() throws {
    let fixture = try ProcessFixture()
    let fields = try fixture.output(["cat", "/proc/self/stat"]).split(separator: " ")
    // The fields are pid, name, state, parent, group, session and terminal.
    #expect(fields[0] == fields[4])
    #expect(fields[0] == fields[5])
    #expect(fields[6] == "0")
  }

  @Test func command_started_hasTheGivenEnvironmentAndTheMarker() throws {
    let fixture = try ProcessFixture()
    fixture.environment["GREETING"] = "grüß dich=\n"
    fixture.environment["NAVD_TEST_TREE"] = "of another"
    let marker = ByteString("\(getpid()) \(fixture.directory.path) 1")
    let variables = try fixture.output(["env", "-0"]).split(separator: "\0").sorted()
    #expect(variables == ["GREETING=grüß dich=\n", "NAVD_TEST_TREE=\(marker)", "PATH=/usr/local/bin:/usr/bin:/bin"])
  }

  @Test func ofThisProcess_environment_isRead() throws {
    let variables = ProcessEnvironment.ofThisProcess()
    let path = try #require(getenv("PATH").map { String(cString: $0) })
    #expect(variables["PATH"] == ByteString(path))
  }

  @Test func command_started_getsItsArgumentsUnchanged() throws {
    let fixture = try ProcessFixture()
    #expect(try fixture.output(["printf", "[%s]", "a b", "", "$HOME; *", "ü"]) == "[a b][][$HOME; *][ü]")
    let capture = fixture.capture("bytes")
    let command = try fixture.start(
      Command(["printf", "%s", ByteString([0xFF, 0xFE])], environment: fixture.environment), output: capture)
    #expect(try fixture.end(of: command).output?.bytes == [0xFF, 0xFE])
  }

  @Test func command_started_runsInTheGivenDirectory() throws {
    let fixture = try ProcessFixture()
    #expect(
      try fixture.output(["pwd", "-P"], directory: ByteString(fixture.directory.path)) == fixture.directory.path + "\n")
  }

  @Test func command_started_readsTheInput() throws {
    let fixture = try ProcessFixture()
    #expect(try fixture.output(["cat"], input: Array("{\"id\": 1}\n".utf8)) == "{\"id\": 1}\n")
    #expect(try fixture.output(["cat"]) == "")
    let large = [UInt8](repeating: 65, count: 1 << 22)
    #expect(try fixture.output(["wc", "-c"], input: large) == "\(large.count)\n")
  }

  @Test func command_thatDoesNotReadItsInput_ends() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.start(
      Command(["true"], environment: fixture.environment, input: [UInt8](repeating: 65, count: 1 << 22)))
    #expect(try fixture.end(of: command).status == .exited(code: 0))
  }

  @Test func program_withoutASlash_isFoundInTheChildsPath() throws {
    let fixture = try ProcessFixture()
    fixture.script("ls", "#!/bin/sh\necho mine")
    fixture.environment["PATH"] = ByteString("/nowhere:\(fixture.directory.path)")
    #expect(try fixture.output(["ls"]) == "mine\n")
    // An empty element is the working directory.
    fixture.environment["PATH"] = "/nowhere:"
    #expect(try fixture.output(["ls"], directory: ByteString(fixture.directory.path)) == "mine\n")
    fixture.environment["PATH"] = "/nowhere"
    #expect(throws: SpawnError.programNotFound("ls", searchPath: "/nowhere")) { try fixture.output(["ls"]) }
    fixture.environment["PATH"] = nil
    #expect(try fixture.output(["echo", "without"]) == "without\n")
  }

  @Test func program_withASlash_isRelativeToTheCommandsDirectory() throws {
    let fixture = try ProcessFixture()
    fixture.script("tool", "#!/bin/sh\necho here")
    #expect(try fixture.output(["./tool"], directory: ByteString(fixture.directory.path)) == "here\n")
  }

  @Test func spawn_thatFails_namesTheReasonAndLeavesNothing() throws {
    let fixture = try ProcessFixture()
    let directory = fixture.directory.path
    fixture.script("plain", "#!/bin/sh\n", mode: 0o644)
    fixture.script("orphaned", "#!/no/such/interpreter\n")
    fixture.script("text", "echo without a first line\n")
    func failure(
      _ arguments: [ByteString], environment: ProcessEnvironment = ["PATH": "/usr/bin:/bin"],
      directory: ByteString = "/"
    ) throws -> String {
      let capture = fixture.capture("failed")
      let command = Command(arguments, environment: environment, directory: directory)
      let error = #expect(throws: SpawnError.self) { try fixture.start(command, output: capture) }
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
    let empty = "the command is empty: it needs the name of a program"
    #expect(try failure([]) == empty)
    #expect(try failure([""]) == empty)
    #expect(try failure(["true", ByteString([65, 0, 66])]).contains("contains a NUL"))
    #expect(try failure(["true"], environment: ["A=B": "c"]) == "'A=B' is not a valid name of an environment variable")
    #expect(try failure(["true"], environment: ["A": ByteString([0])]).contains("contains a NUL"))
    let huge = ByteString([UInt8](repeating: 65, count: 1 << 22))
    let message = try failure(["true", huge])
    #expect(message == "execve /usr/bin/true: Argument list too long")
  }

  @Test func raiseDescriptorLimit_called_commandsKeepTheFormerLimit() async {
    await #expect(processExitsWith: .success) {
      let fixture = try ProcessFixture()
      var limit = rlimit(rlim_cur: 100, rlim_max: 400)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #expect(setrlimit(resource, &limit) == 0)
      try fixture.supervisor.raiseDescriptorLimit()
      try fixture.supervisor.raiseDescriptorLimit()
      // These descriptors are more than the limit of a command.
      let open = (0..<200).map { _ in Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
      #expect(open.allSatisfy { $0 >= 0 })
      #expect(try fixture.output(["sh", "-c", "ulimit -Sn; ulimit -Hn"]) == "100\n400\n")
      getrlimit(resource, &limit)
      #expect(limit.rlim_cur == 400)
      // A quarter of the descriptors is for messages.
      let more = (0..<100).map { _ in Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
      #expect(more.allSatisfy { $0 >= 0 })
      #expect(throws: SpawnError.self) { try fixture.output(["true"]) }
    }
  }

  @Test("L2: commands without captured output leave the reserve of descriptors, too")
  func spawn_manyWithoutOutput_leaveTheReserve() async {
    await #expect(processExitsWith: .success) {
      let fixture = try ProcessFixture()
      var limit = rlimit(rlim_cur: 100, rlim_max: 100)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let command = Command(["sleep", "1000"], environment: fixture.environment)
      #expect(throws: SpawnError.self) { for _ in 0..<100 { try fixture.start(command) } }
      let reserve = (0..<25).map { _ in Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
      #expect(reserve.allSatisfy { $0 >= 0 })
    }
  }

  @Test func inspection_withoutFreeDescriptors_doesNotEndACommand() async {
    await #expect(processExitsWith: .success) {
      try inOneThread {
        let fixture = try ProcessFixture()
        try fixture.supervisor.reapOrphans()
        let command = try fixture.shell("setsid sleep 1000 & echo > $DIR/ready; exec sleep 1000")
        _ = try fixture.line(in: "ready")
        var limit = rlimit(rlim_cur: 0, rlim_max: 20_000)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        getrlimit(resource, &limit)
        var none = rlimit(rlim_cur: 3, rlim_max: limit.rlim_max)
        try #require(setrlimit(resource, &none) == 0)
        let wrong = Command(["true"], environment: fixture.environment)
        try #require(throws: SpawnError.self) { try fixture.start(wrong) }
        Glibc.kill(try #require(command.tree.first).pid, SIGTERM)
        // Several inspections follow, none of which can read anything.
        for _ in 0..<10 { fixture.loop.turn(wait: .milliseconds(10)) }
        try #require(command.result == nil)
        try #require(setrlimit(resource, &limit) == 0)
        try fixture.wait { command.tree.processes().count == 1 }
        command.tree.kill()
        try #require(try fixture.end(of: command).status == .signaled(signal: SIGTERM))
      }
    }
  }

  @Test("R2: The start time by which a command is found again is the kernel's, though navd reads it from the clock")
  func spawn_manyCommands_haveTheStartTimesOfTheKernel() throws {
    let fixture = try ProcessFixture()
    for _ in 0..<50 {
      let first = try #require(
        try fixture.start(Command(["sleep", "1000"], environment: fixture.environment)).tree.first)
      #expect(ProcessIdentity(of: first.pid) == first)
    }
  }

  @Test func spawn_withAMarkerInUse_throws() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("exec sleep 1000")
    #expect(throws: SpawnError.self) {
      try fixture.supervisor.spawn(Command(["true"], environment: fixture.environment), marker: command.tree.marker)
    }
    command.tree.kill()
    _ = try fixture.end(of: command)
  }

  @Test(arguments: [
    ("1 (a) S 2 (b) R 3 c) Z 7 8 9 10 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0", 1, 7, 9, true, 4711),
    ("30000 (()) R 1 2 3 10 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0\n", 30000, 1, 3, false, 5),
    ("31 (first thread gone) Z 1 2 3 10 -1 0 0 0 0 0 0 0 0 0 20 0 4 0 5 0\n", 31, 1, 3, false, 5),
  ])
  func processEntry_withAnyName_isParsed(
    _ line: String, _ pid: pid_t, _ parent: pid_t, _ session: pid_t, _ hasEnded: Bool, _ startTime: UInt64
  ) throws {
    let entry = try #require(ProcessEntry(stat: Array(line.utf8)))
    #expect(entry.identity == ProcessIdentity(pid: pid, startTime: startTime))
    #expect(entry.parent == parent)
    #expect(entry.session == session)
    #expect(entry.hasEnded == hasEnded)
  }

  @Test(arguments: ["", "1", "1 (", "1 (a", ")1(", "1 (a) S", "x (a) S 2 3 4 5 6 7 8 9 1 1 1 1 1 1 1 1 1 1 1 1 1"])
  func processEntry_ofMalformedText_isNil(_ line: String) { #expect(ProcessEntry(stat: Array(line.utf8)) == nil) }
}

extension ProcessFixture {
  /// Writes a file into the fixture's directory.
  func script(_ name: String, _ text: String, mode: mode_t = 0o755) {
    let path = directory.path(of: name)
    // A shell of its own writes the file, since a file that is open for writing, also in a child forked meanwhile, is not executed.
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode)
    precondition(write(file, text, text.utf8.count) == text.utf8.count)
    close(file)
  }
}
