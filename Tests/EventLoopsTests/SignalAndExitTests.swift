import EventLoops
import Glibc
import TestSupport
import Testing

/// Starts a shell with this script; the caller reaps it.
private func shell(_ script: String) throws -> pid_t {
  var pid: pid_t = 0
  let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
  defer { for argument in arguments { free(argument) } }
  let failure = posix_spawn(&pid, "/bin/sh", nil, nil, arguments, nil)
  if failure != 0 { throw SystemError(code: failure, operation: "posix_spawn") }
  return pid
}

/// Signals and ends of processes are events of the loop, reported exactly once.
@Suite struct SignalAndExitTests {
  @Test func onSignal_raised_callsTheHandlerAndCancelRestoresTheMask() throws {
    // The threads that run tests block every signal.
    var usual = sigset_t()
    var before = sigset_t()
    sigemptyset(&usual)
    pthread_sigmask(SIG_SETMASK, &usual, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let loop = try EventLoop()
    var seen: [Int32] = []
    let watch = try loop.onSignal([SIGUSR1, SIGUSR2]) { seen.append($0) }
    pthread_kill(pthread_self(), SIGUSR1)
    pthread_kill(pthread_self(), SIGUSR2)
    try #require(loop.turn(until: { seen.count == 2 }))
    #expect(Set(seen) == [SIGUSR1, SIGUSR2])
    watch.cancel()
    watch.cancel()
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    #expect(sigismember(&mask, SIGUSR1) == 0)
    #expect(sigismember(&mask, SIGUSR2) == 0)
  }

  @Test func onSignal_invalidNumber_throws() throws {
    let loop = try EventLoop()
    let error = #expect(throws: SystemError.self) { try loop.onSignal([4000]) { _ in } }
    #expect(error?.code == EINVAL)
  }

  @Test(arguments: [
    ("exit 0", ProcessStatus.exited(code: 0)), ("exit 3", .exited(code: 3)), ("kill -9 $$", .signaled(signal: 9)),
  ])
  func onExit_childEnds_reportsTheStatusOnce(_ script: String, _ expected: ProcessStatus) throws {
    let loop = try EventLoop()
    var seen: [ProcessStatus] = []
    let pid = try shell(script)
    try loop.onExit(of: pid) { seen.append($0) }
    try #require(loop.turn(until: { !seen.isEmpty }))
    // A test beside this one may start a program, which has a copy of the pidfd for a moment.
    loop.turn(wait: .zero)
    #expect(seen == [expected])
    // The child is reaped.
    #expect(waitpid(pid, nil, WNOHANG) == -1 && errno == ECHILD)
  }

  @Test func onExit_statusTakenElsewhere_isUnknown() throws {
    let loop = try EventLoop()
    var seen: [ProcessStatus] = []
    let pid = try shell("exit 0")
    try loop.onExit(of: pid) { seen.append($0) }
    #expect(waitpid(pid, nil, 0) == pid)
    try #require(loop.turn(until: { !seen.isEmpty }))
    #expect(seen == [.unknown])
  }

  @Test func send_toAProcess_reachesItUntilItsEnd() throws {
    let loop = try EventLoop()
    var seen: ProcessStatus?
    let watch = try loop.onExit(of: try shell("exec sleep 1000")) { seen = $0 }
    #expect(watch.send(SIGKILL))
    try #require(loop.turn(until: { seen != nil }))
    #expect(seen == .signaled(signal: SIGKILL))
    #expect(!watch.send(SIGKILL))
  }

  @Test func onExit_noSuchProcess_throws() throws {
    let loop = try EventLoop()
    let error = #expect(throws: SystemError.self) { try loop.onExit(of: pid_t.max) { _ in } }
    #expect(error?.code == ESRCH)
  }
}
