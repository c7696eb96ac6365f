import CLinux
import EventLoops
import Glibc
import Synchronization

/// Runs an actor's jobs on a thread with an event loop, so that the actor can use the loop's connection without a lock.
final class LoopExecutor: SerialExecutor {
  private struct Work: ~Copyable {
    var jobs: [UnownedJob] = []
    var thread: pthread_t?
  }

  private let work = Mutex(Work())
  /// An eventfd that wakes the loop for new jobs.
  private let wake: Int32
  /// The loop, used only on its own thread, as `checkIsolated` checks.
  nonisolated(unsafe) let loop: EventLoop

  /// - Throws: `SystemError` if there are no more file descriptors or threads.
  init() throws(SystemError) {
    wake = try check("eventfd") { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) }
    do throws(SystemError) { loop = try EventLoop() } catch {
      Glibc.close(wake)
      throw error
    }
    // Every property has a value now, so `deinit` closes the descriptor after an error.
    try loop.watch(wake, .read, of: self) { executor, _ in executor.runJobs() }
    try start()
  }

  /// Starts the thread, which retains this object until the loop is stopped.
  private func start() throws(SystemError) {
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        let executor = Unmanaged<LoopExecutor>.fromOpaque(argument!).takeRetainedValue()
        executor.work.withLock { $0.thread = pthread_self() }
        executor.loop.run()
        // The last jobs report the end to their callers.
        executor.runJobs()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    guard code == 0 else {
      Unmanaged.passUnretained(self).release()
      throw SystemError(code: code, operation: "pthread_create")
    }
    pthread_detach(thread)
  }

  deinit { Glibc.close(wake) }

  private func runJobs() {
    var count: UInt64 = 0
    _ = read(wake, &count, MemoryLayout<UInt64>.size)
    while true {
      let jobs = work.withLock { work in
        defer { work.jobs = [] }
        return work.jobs
      }
      guard !jobs.isEmpty else { return }
      for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  // MARK: SerialExecutor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    work.withLock { $0.jobs.append(job) }
    var one: UInt64 = 1
    _ = write(wake, &one, MemoryLayout<UInt64>.size)
  }

  func checkIsolated() {
    let thread = work.withLock { $0.thread }
    precondition(thread == pthread_self(), "called outside of the loop's thread")
  }
}
