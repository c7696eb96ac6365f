import ArgumentParser
import CLinux
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct Hold: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "hold", "Hold up what is opened, such as during a presentation.",
    """
    What a hold does is written in the configuration files: items wait, close or are refused. Use any name; “locked”, \
    “idle”, “fullscreen” and “sleep” are also facts of the session.

    With a command: while that or a process that it has started runs, also in the background; exits with its status. What a \
    service manager or the bus starts for it does not count. Otherwise until “navctl release”, or for as long as --for \
    says. The command of “locked” is a locker: it also runs if it cannot hold, or navd does not answer within two seconds.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Name of the hold, e.g. dnd.", completion: .holds) var name: String
  @Option(
    name: .customLong("for"), help: ArgumentHelp("End it after this long, e.g. 1h; 0: never.", valueName: "duration"),
    transform: { try $0.duration() })
  var duration: UInt64?
  @Option(help: "What it is for; “navctl holds” shows it. Default: the command.") var message: String?
  @Argument(parsing: .postTerminator, help: "After “--”: command during which to hold.", completion: .file())
  var command: [String] = []

  func validate() throws {
    if command.isEmpty, CommandLine.arguments.contains("--") { throw ValidationError("a command must follow “--”") }
  }

  func run() throws {
    guard !command.isEmpty else {
      let cookie = try hold(by: DaemonClient(global, operation))
      if global.json || global.verbose { global.write(json: ["cookie": JSON(cookie.value)], plain: "\(cookie)\n") }
      return
    }
    // The hold ends with the connection.
    var connection: DaemonClient?
    if name == SessionFact.locked.rawValue { holdForLocker(&connection) } else { try hold(&connection, global) }
    let status = try withExtendedLifetime(connection) {
      try HeldCommand.run(RawArguments.last(command.count), operation)
    }
    if status != 0 { throw ExitCode(status) }
  }

  private var operation: String { "hold \(name)" }

  /// - Returns: the cookie.
  private func hold(by daemon: DaemonClient) throws(Failure) -> UInt64 {
    var options: Properties = [:]
    options[Options.holdTimeout] = duration
    options[Options.holdMessage] =
      message ?? (command.isEmpty ? nil : String(command.joined(separator: " ").prefix(250)))
    if !command.isEmpty { options[Options.holdOwned] = true }
    return try daemon.call(CoordinatorInterface.hold, (name, options))
  }

  private func hold(_ connection: inout DaemonClient?, _ global: GlobalOptions) throws(Failure) {
    let daemon = try DaemonClient(global, operation)
    connection = daemon
    _ = try hold(by: daemon)
  }

  /// Holds for a locker, which has to run even if its hold fails. A navd that answers late still
  /// holds, while the connection lasts.
  private func holdForLocker(_ connection: inout DaemonClient?) {
    var patient = global
    patient.within = global.within ?? Self.lockerPatience
    do throws(Failure) { try hold(&connection, patient) } catch {
      ErrorOutput.write("\(error.line); the locker runs without the hold")
    }
  }

  /// The milliseconds that a locker waits for its hold.
  private static let lockerPatience: UInt64 = 2000
}

/// A command that runs in the foreground, with all its descendants.
private enum HeldCommand {
  /// The command's first process while it runs, for signal handlers.
  nonisolated(unsafe) private static var process: pid_t = 0

  /// Runs a command until the last process of its tree has ended: a locker that moves itself into
  /// the background keeps the screen locked.
  ///
  /// While the first process runs, it gets the signals. After its end, signals end navctl and with it the hold; the remaining
  /// processes live on.
  /// - Returns: the exit status of the first process, or 128 and the number of the signal that has ended it.
  static func run(_ command: [[UInt8]], _ operation: String) throws(Failure) -> Int32 {
    var words: [UnsafeMutablePointer<CChar>?] = command.map { bytes in
      (bytes + [0]).withUnsafeBytes { strdup($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
    words.append(nil)
    defer { words.forEach { free($0) } }
    // A process of the tree whose parent has ended becomes a child of this one.
    linux_set_child_subreaper(1)
    // Earlier children, such as the ssh of “-H”, are no part of the tree.
    let others = children()
    let error = posix_spawnp(&process, words[0]!, nil, nil, &words, linux_environment())
    guard error == 0 else {
      let program = quoted(String(decoding: command[0], as: UTF8.self))
      throw Failure(
        operation, SystemError(code: error, operation: "could not start \(program)").description, status: .ownFailure)
    }
    // A terminal sends these signals to the command, too, and the command decides.
    for number in [SIGINT, SIGQUIT] { signal(number, SIG_IGN) }
    for number in [SIGTERM, SIGHUP] { signal(number) { kill(HeldCommand.process, $0) } }
    let first = process
    var result: Int32 = 0
    while true {
      var status: Int32 = 0
      let ended = waitpid(-1, &status, 0)
      if ended < 0, errno != EINTR { return result }
      if ended == first {
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        process = 0
        let code = status & 0x7f
        result = code == 0 ? status >> 8 & 0xff : 128 + code
      }
      if process == 0, children().subtracting(others).isEmpty { return result }
    }
  }

  /// The children of this process.
  private static func children() -> Set<pid_t> {
    let list = (try? contents(ofFile: "/proc/thread-self/children")) ?? []
    return Set(String(decoding: list, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) })
  }
}

struct ReleaseHold: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "release", "End a hold of any program.",
    "Facts of the session, such as “locked”, and what open items hold, end only by themselves.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Name of the hold.", completion: .holds) var name: String?
  @Flag(help: "End all holds.") var all = false

  func validate() throws {
    if all == (name != nil) { throw ValidationError("expected either the name of a hold or --all") }
  }

  func run() throws {
    let operation = "release \(name ?? "--all")"
    if let name {
      do throws(Refusal) { _ = try HoldRequest(name) } catch { throw Failure(operation, error.message, status: .usage) }
    }
    let daemon = try DaemonClient(global, operation)
    let holders = try daemon.holders().filter { name == nil || $0.name == name }
    var changed = false
    for cookie in holders.compactMap(\.cookie) {
      do throws(DBusError) {
        try daemon.request(CoordinatorInterface.releaseHold, cookie, starts: false)
        changed = true
      } catch {
        // `invalidArgument` means that the hold has ended meanwhile.
        if CoordinatorError.Name(error.name) != .invalidArgument { throw Failure(daemon.operation, error) }
      }
    }
    global.write(json: ["changed": .boolean(changed)], plain: "")
    if let name, let presented = holders.first(where: { $0.binding != nil }) {
      throw Failure(
        daemon.operation, "“\(name)” is also held by “\(presented.binding ?? "")”, and ends when that closes",
        status: .refused)
    }
    if let name, holders.contains(where: { $0.cookie == nil }) {
      throw Failure(
        daemon.operation, "“\(name)” is also a fact of the session, which ends by itself", status: .refused)
    }
  }
}

struct Holds: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "holds", "List who holds up what: programs, open items, and facts of the session.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try DaemonClient(global, "holds")
    let holders = try daemon.holders()
    var table = Table("NAME", "HOLDER", "SINCE", "LEFT", "MESSAGE")
    for holder in holders {
      table.add(
        Table.Cell(holder.text(\.name)), Table.Cell(holder.client ?? holder.binding ?? "session"),
        Table.Cell(holder.since.map { Timestamp.local($0) } ?? ""),
        Table.Cell(holder.timeoutLeft.map { DurationText.text($0) } ?? (holder.owned == true ? "owned" : "")),
        holder.cell(\.message))
    }
    global.write(json: .array(holders.map { JSON($0.properties) }), table)
  }
}

extension DaemonClient {
  fileprivate func holders() throws(Failure) -> [HoldEntry] {
    try ask(CoordinatorInterface.holds, ()).map(HoldEntry.init)
  }
}
