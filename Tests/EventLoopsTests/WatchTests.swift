import EventLoops
import Glibc
import TestSupport
import Testing

/// A pipe that closes its ends on deinit.
final class Pipe {
  let reader: Int32
  private(set) var writer: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reader, writer) = (ends[0], ends[1])
  }

  func fill() { precondition(write(writer, "x", 1) == 1) }

  func empty() {
    var byte: UInt8 = 0
    precondition(read(reader, &byte, 1) == 1)
  }

  func closeWriter() {
    close(writer)
    writer = -1
  }

  deinit {
    close(reader)
    if writer >= 0 { close(writer) }
  }
}

/// Watches of descriptors: the loop never calls a cancelled handler, and never misses a ready descriptor.
@Suite struct WatchTests {
  @Test func watch_readyDescriptor_callsTheHandlerOncePerTurn() throws {
    let loop = try EventLoop()
    let pipe = Pipe()
    var seen: [Readiness] = []
    try loop.watch(pipe.reader, .read) { seen.append($0) }
    #expect(!loop.turn(wait: .zero))
    pipe.fill()
    #expect(loop.turn(wait: nil))
    #expect(seen == [.read])
    loop.turn(wait: nil)
    #expect(seen == [.read, .read])
    pipe.empty()
    #expect(!loop.turn(wait: .zero))
  }

  @Test func watch_interestInWriting_reportsRoom() throws {
    let loop = try EventLoop()
    let pipe = Pipe()
    var seen: [Readiness] = []
    let watch = try loop.watch(pipe.writer, []) { seen.append($0) }
    #expect(!loop.turn(wait: .zero))
    watch.interest = .write
    loop.turn(wait: nil)
    #expect(seen == [.write])
    watch.interest = []
    #expect(!loop.turn(wait: .zero))
  }

  @Test func watch_hangUp_isReportedUnlessTheInterestIsEmpty() throws {
    let loop = try EventLoop()
    let pipe = Pipe()
    var seen: [Readiness] = []
    let watch = try loop.watch(pipe.reader, .read) { seen.append($0) }
    pipe.closeWriter()
    loop.turn(wait: nil)
    #expect(seen == [.hangUp])
    watch.interest = []
    #expect(!loop.turn(wait: .zero))
    watch.interest = .read
    loop.turn(wait: nil)
    #expect(seen == [.hangUp, .hangUp])
  }

  @Test func watch_cancelledByAnotherHandlerOfTheTurn_isNotCalled() throws {
    let loop = try EventLoop()
    let pipes = (Pipe(), Pipe())
    var watches: [Watch] = []
    var calls = 0
    for pipe in [pipes.0, pipes.1] {
      pipe.fill()
      // The first one called cancels both.
      watches.append(
        try loop.watch(pipe.reader, .read) { _ in
          calls += 1
          for watch in watches { watch.cancel() }
        })
    }
    loop.turn(wait: nil)
    #expect(calls == 1)
    #expect(watches.allSatisfy { $0.isCancelled })
    #expect(!loop.turn(wait: .zero))
    #expect(calls == 1)
  }

  @Test func watch_descriptorNumberReusedInTheTurn_oldEventIsDropped() throws {
    let loop = try EventLoop()
    let quiet = Pipe()
    let pipes = [Pipe(), Pipe()]
    var calls = 0
    var newcomerCalls = 0
    var watches: [Watch] = []
    for index in 0..<2 {
      pipes[index].fill()
      watches.append(
        try loop.watch(pipes[index].reader, .read) { _ in
          calls += 1
          let other = pipes[1 - index].reader
          watches[1 - index].cancel()
          // The number of the other descriptor now belongs to an empty pipe.
          #expect(dup2(quiet.reader, other) == other)
          _ = try? loop.watch(other, .read) { _ in newcomerCalls += 1 }
        })
    }
    loop.turn(wait: nil)
    #expect(calls == 1)
    #expect(newcomerCalls == 0)
    for watch in watches { watch.cancel() }
  }

  @Test func watch_cancelled_releasesTheHandler() throws {
    final class Held {}
    let loop = try EventLoop()
    let pipe = Pipe()
    weak var held: Held?
    let watch: Watch
    do {
      let object = Held()
      held = object
      watch = try loop.watch(pipe.reader, .read) { _ in _ = object }
    }
    #expect(held != nil)
    watch.cancel()
    #expect(held == nil)
  }

  @Test func watch_descriptorWatchedTwiceOrInvalid_throws() throws {
    let loop = try EventLoop()
    let pipe = Pipe()
    try loop.watch(pipe.reader, .read) { _ in }
    let twice = #expect(throws: SystemError.self) { try loop.watch(pipe.reader, .read) { _ in } }
    #expect(twice?.code == EEXIST)
    let closed = #expect(throws: SystemError.self) { try loop.watch(1 << 20, .read) { _ in } }
    #expect(closed?.code == EBADF)
    #expect(closed?.description == "epoll_ctl on descriptor 1048576: Bad file descriptor")
  }

  @Test func watch_moreReadyDescriptorsThanATurnTakes_noneStarves() throws {
    let loop = try EventLoop()
    let pipes = (0..<300).map { _ in Pipe() }
    var calls = Array(repeating: 0, count: pipes.count)
    for (index, pipe) in pipes.enumerated() {
      pipe.fill()
      try loop.watch(pipe.reader, .read) { _ in calls[index] += 1 }
    }
    for _ in 0..<6 { loop.turn(wait: .zero) }
    #expect(calls.allSatisfy { (1...4).contains($0) }, "\(calls)")
  }
}
