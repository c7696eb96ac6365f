// Why this file exists: a command is shown while its process tree lives; starting it, and ending the tree, is all there
// is to it (D3).

import CLinux
import CoordinatorAPI
import DBusValues
import EventLoop
import Glibc
import Logging
import Presentation
import Processes

/// Shows items by running programs.
final class CommandPresenter: Presenter {
  /// What the daemon's own manager told the daemon alone.
  private static let privateVariables: [ByteString] = [
    "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS",
    "LISTEN_PID", "MANAGERPID", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC",
  ]

  private let keeper: ProcessKeeper
  private let runtime: RuntimeDirectory
  private let outputLimit: Int
  private let log: Logger
  private let report: (Report) -> Void
  private var running: [Handle: ProcessTree] = [:]

  /// - Parameter outputLimit: how many bytes of standard output become part of a result (D6).
  init(loop: EventLoop, runtime: RuntimeDirectory, outputLimit: Int, log: Logger, report: @escaping (Report) -> Void) {
    keeper = ProcessKeeper(loop: loop, markerVariable: "NAVD_MARKER")
    self.runtime = runtime
    self.outputLimit = outputLimit
    self.log = log
    self.report = report
    do throws(SystemError) {
      try keeper.reapOrphans()
    } catch {
      log.warning("what commands leave behind may not be found: \(error)")
    }
    do throws(SystemError) {
      try keeper.raiseDescriptorLimit()
    } catch {
      log.warning("only some hundred commands can run at once: \(error)")
    }
  }

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    let marker = ByteString("\(runtime.token)-\(handle)")
    let output = OutputCapture(path: runtime.path(marker), limit: outputLimit)
    do throws(SpawnError) {
      let tree = try keeper.spawn(command(for: presentation, properties), marker: marker, output: output)
      running[handle] = tree
      tree.onExit = { [unowned self] result in
        running[handle] = nil
        output.remove()
        report(.ended(handle, failed: result.hasCrashed, result: result.properties))
      }
      report(.presentAnswered(handle, error: nil))
    } catch {
      report(.presentAnswered(handle, error: error.description))
    }
  }

  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool) {
    guard let tree = running[handle] else {
      report(.dismissAnswered(handle, result: [:]))
      return
    }
    tree.terminate()
  }

  func kill(_ handle: Handle) { running[handle]?.kill() }

  func abandon(_ handle: Handle) {
    guard let tree = running.removeValue(forKey: handle) else { return }
    log.error(
      "a command could not be ended, not even by SIGKILL; it counts as gone",
      metadata: ["presentation": "\(handle)", "pids": "\(tree.processes().map(\.pid))"])
    _ = tree.abandon()
  }

  func platform(of handle: Handle) -> Properties {
    guard let pid = running[handle]?.first?.pid else { return [:] }
    return ["pid": .uint64(UInt64(pid))]
  }

  /// What is to be run: the destination's command, or the one that came with the request.
  private func command(for presentation: Presentation, _ properties: Properties) -> Processes.Command {
    let item = presentation.item
    var environment = ProcessEnvironment.ofThisProcess()
    for name in Self.privateVariables { environment[name] = nil }
    for (name, value) in item.environment { environment[ByteString(name)] = ByteString(value) }
    environment["NAVD_BINDING"] = ByteString(presentation.binding.text)
    environment["NAVD_ID"] = ByteString(item.id)
    environment["NAVD_PRESENTATION"] = ByteString(presentation.handle.description)

    var told = properties
    told["binding"] = .string(presentation.binding.text)
    told["id"] = .string(item.id)
    told["presentation"] = .uint64(presentation.handle.number)
    let arguments = item.destination?.arguments(binding: presentation.binding, id: item.id, value: item.value) ?? []
    return Command(
      arguments.map { ByteString($0) }, environment: environment,
      directory: item.directory.map { ByteString($0) } ?? environment["HOME"] ?? "/",
      input: Array((JSON(told).text + "\n").utf8))
  }
}

extension ProcessResult {
  /// Whether the first process ended by a signal.
  fileprivate var hasCrashed: Bool { if case .signaled = status { true } else { false } }

  /// As `Wait` hands it out (D6).
  fileprivate var properties: Properties {
    var all: Properties = [:]
    switch status {
    case .exited(let code): all["status"] = .int32(code)
    case .signaled(let number): all["signal"] = .string(SignalName.text(of: number))
    case .unknown: break
    }
    if let output {
      all["output"] = .bytes(output.bytes)
      if output.isTruncated { all["output-truncated"] = .boolean(true) }
    }
    return all
  }
}

/// Names of signals, as people write them.
private enum SignalName {
  static func text(of number: Int32) -> String {
    guard let name = sigabbrev_np(number) else { return String(number) }
    return "SIG" + String(cString: name)
  }
}
