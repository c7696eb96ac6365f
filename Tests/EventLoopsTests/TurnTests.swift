import EventLoops
import Glibc
import TestSupport
import Testing

/// The order within a turn, on which the daemon's order of record, signals and replies depends.
@Suite(.timeLimit(.minutes(3))) struct TurnTests {
  @Test func soon_calledInATurn_runsInTheNext() throws {
    let loop = try EventLoop()
    var done: [Int] = []
    loop.soon {
      done.append(1)
      loop.soon { done.append(2) }
    }
    #expect(loop.turn(wait: nil))
    #expect(done == [1])
    #expect(loop.turn(wait: nil))
    #expect(done == [1, 2])
    #expect(!loop.turn(wait: .zero))
  }

  @Test func hooks_ofATurn_runInOrderAfterTheHandlers() throws {
    let loop = try EventLoop()
    let pipe = Pipe()
    var order: [String] = []
    loop.atEndOfTurn(of: loop) { _ in order.append("first hook") }
    loop.atEndOfTurn(of: loop) { _ in order.append("second hook") }
    try loop.watch(pipe.reader, .read) { _ in
      order.append("descriptor")
      pipe.empty()
    }
    loop.soon { order.append("soon") }
    loop.timer(after: .zero) {
      order.append("timer")
      loop.stop()
    }
    pipe.fill()
    loop.run()
    #expect(
      order == [
        "first hook", "second hook", "soon", "descriptor", "timer", "first hook", "second hook",
      ])
  }

  @Test func hook_callingSoon_nextTurnDoesNotWait() throws {
    let loop = try EventLoop()
    var left = 3
    loop.atEndOfTurn(of: loop) { _ in
      guard left > 0 else { return }
      left -= 1
      loop.soon { if left == 0 { loop.stop() } }
    }
    loop.run()
    #expect(left == 0)
  }

  @Test func hook_withoutItsOwner_runsNoMore() throws {
    let loop = try EventLoop()
    var owner: Pipe? = Pipe()
    var order: [String] = []
    if let owner { loop.atEndOfTurn(of: owner) { _ in order.append("owned") } }
    loop.atEndOfTurn(of: loop) { _ in order.append("other") }
    loop.turn(wait: .zero)
    #expect(order.contains("owned"))
    owner = nil
    order = []
    loop.turn(wait: .zero)
    #expect(Set(order) == ["other"])
  }

  @Test func hooks_afterChangesBetweenTurns_runBeforeTheWait() throws {
    let loop = try EventLoop()
    var outbox: [String] = []
    var flushed: [String] = []
    loop.atEndOfTurn(of: loop) { _ in
      flushed += outbox
      outbox = []
    }
    outbox = ["made between turns"]
    var seenByTimer: [String] = []
    loop.timer(after: .zero) { seenByTimer = flushed }
    try #require(loop.turn(until: { !seenByTimer.isEmpty }))
    #expect(seenByTimer == ["made between turns"])
  }

  @Test func run_afterAStop_runsAgain() throws {
    let loop = try EventLoop()
    var count = 0
    for _ in 0..<2 {
      loop.soon {
        count += 1
        loop.stop()
      }
      loop.run()
    }
    #expect(count == 2)
  }

  @Test func turn_withoutEvents_waitsAsLongAsRequestedAndReturnsFalse() throws {
    let loop = try EventLoop()
    let start = loop.now
    #expect(!loop.turn(wait: .milliseconds(15)))
    #expect(loop.now - start >= .milliseconds(15))
    #expect(!loop.turn(wait: .seconds(-5)))
  }

  @Test func loop_withEveryKindOfDescriptor_closesThemOnExec() async {
    // The loop is in a process of its own, where no other test opens descriptors at the same time.
    await #expect(processExitsWith: .success) {
      let loop = try EventLoop()
      try loop.onSignal([SIGUSR1]) { _ in }
      try loop.onExit(of: getpid()) { _ in }
      for kind in ["[eventpoll]", "[timerfd]", "[signalfd]", "[pidfd]"] {
        let open = descriptors(of: kind)
        #expect(!open.isEmpty, "\(kind)")
        for descriptor in open { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(kind)") }
      }
    }
  }

  @Test func loop_withAThousandTimers_usesOneDescriptor() async {
    await #expect(processExitsWith: .success) {
      let loop = try EventLoop()
      for _ in 0..<1_000 { loop.timer(after: .seconds(60)) {} }
      loop.turn(wait: .zero)
      // The Swift runtime has a few descriptors of its own.
      #expect(descriptors(of: "[timerfd]").count < 10)
    }
  }
}

/// This process's descriptors of a kind, by the kernel's name for it.
private func descriptors(of kind: String) -> [Int32] {
  (0..<1024).filter { Files.target(of: "/proc/self/fd/\($0)") == "anon_inode:" + kind }
}
