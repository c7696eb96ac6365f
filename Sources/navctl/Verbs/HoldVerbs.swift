import ArgumentParser
import CLinux
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

extension Verbs {
  static let ofHolds: [Verb] = [("hold", { Hold.self }), ("release", { ReleaseHold.self }), ("holds", { Holds.self })]
}

struct Hold: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "hold", "Hold up what is opened, such as during a presentation.",
    """
    What a hold does is written in the configuration files: items wait, close or are refused. Use any name; “locked”, \
    “idle”, “fullscreen” and “sleep” are also facts of the session.

    With a command: while that runs, and exits with its status. Otherwise until “navctl release”, or for as long as --for \
    says.
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
    let daemon = try DaemonClient(global, "hold \(name)")
    var options: Properties = [:]
    options[Options.holdTimeout] = duration
    options[Options.holdMessage] =
      message ?? (command.isEmpty ? nil : String(command.joined(separator: " ").prefix(250)))
    if !command.isEmpty { options[Options.holdOwned] = true }
    let cookie = try daemon.call(CoordinatorInterface.hold, (name, options))
    guard !command.isEmpty else {
      if global.json || global.verbose { global.write(json: ["cookie": JSON(cookie.value)], plain: "\(cookie)\n") }
      return
    }
    // The hold ends with the connection.
    let status = try withExtendedLifetime(daemon) {
      try HeldCommand.run(RawArguments.last(command.count), daemon.operation)
    }
    if status != 0 { throw ExitCode(status) }
  }
}

/// A command that runs in the foreground.
private enum HeldCommand {
  /// The running command, for handlers of signals.
  nonisolated(unsafe) private static var process: pid_t = 0

  /// - Returns: the exit status; 128 and the number of the signal that has ended it.
  static func run(_ command: [[UInt8]], _ operation: String) throws(Failure) -> Int32 {
    var words: [UnsafeMutablePointer<CChar>?] = command.map { bytes in
      (bytes + [0]).withUnsafeBytes { strdup($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
    words.append(nil)
    defer { words.forEach { free($0) } }
    let error = posix_spawnp(&process, words[0]!, nil, nil, &words, linux_environment())
    guard error == 0 else {
      let program = quoted(String(decoding: command[0], as: UTF8.self))
      throw Failure(
        operation, SystemError(code: error, operation: "could not start \(program)").description, status: .ownFailure)
    }
    // A terminal sends these to the command, too, which decides.
    for number in [SIGINT, SIGQUIT] { signal(number, SIG_IGN) }
    for number in [SIGTERM, SIGHUP] { signal(number) { kill(HeldCommand.process, $0) } }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let code = status & 0x7f
    return code == 0 ? status >> 8 & 0xff : 128 + code
  }
}

struct ReleaseHold: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "release", "End a hold of any program.", "Facts of the session, such as “locked”, end only by themselves.")

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
        // It has ended meanwhile.
        if CoordinatorError.Name(error.name) != .invalidArgument { throw Failure(daemon.operation, error) }
      }
    }
    global.write(json: ["changed": .boolean(changed)], plain: "")
    if let name, holders.contains(where: { $0.cookie == nil }) {
      throw Failure(
        daemon.operation, "“\(name)” is also a fact of the session, which ends by itself", status: .refused)
    }
  }
}

struct Holds: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "holds", "List who holds up what, and the facts of the session that are true.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try DaemonClient(global, "holds")
    let holders = try daemon.holders()
    var table = Table("NAME", "CLIENT", "SINCE", "LEFT", "MESSAGE")
    for holder in holders {
      table.add(
        Table.Cell(holder.text(\.name)), Table.Cell(holder.client ?? "session"),
        Table.Cell(holder.since.map { WallClock.local($0) } ?? ""),
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
