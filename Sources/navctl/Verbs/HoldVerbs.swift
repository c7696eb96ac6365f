import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TextFormats

struct Hold: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "hold", "Hold up what is opened, such as during a presentation.",
    """
    What a hold does is written in the configuration files: items wait, close or are refused. Use any name; “locked”, \
    “idle”, “fullscreen” and “sleep” are also facts of the session.

    With a command: while that or a process that it has started runs, even in the background. The hold is placed again if \
    navd comes back without it. Exits with the status of the command. What a service manager or the bus starts for it does \
    not count. Otherwise until “navctl release”, or for as long as --for says. The command of “locked” is a locker: it also \
    runs if it cannot hold, or navd does not answer within two seconds.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Name of the hold, e.g. dnd.", completion: .holds) var name: String
  @Option(
    name: .customLong("for"), help: ArgumentHelp("End it after this long, e.g. 1h; 0: never.", valueName: "duration"),
    transform: { try $0.duration() })
  var duration: UInt64?
  @Option(help: "What it is for; “navctl holds” shows it. Default: the command.") var message: String?
  @Flag(help: "End it instead, if any program holds it already: for a key or a button.") var toggle = false
  @Option(
    help: ArgumentHelp(
      "“login”: hold again after the next login, as after a power cut, for the rest of the time.", valueName: "when"))
  var restore: String?
  @Argument(parsing: .postTerminator, help: "After “--”: command during which to hold.", completion: .file())
  var command: [String] = []

  func validate() throws {
    if command.isEmpty, CommandLine.arguments.contains("--") { throw ValidationError("a command must follow “--”") }
    if toggle, !command.isEmpty {
      throw ValidationError("--toggle is not supported with a command, which ends the hold")
    }
    if restore != nil, !command.isEmpty { throw ValidationError("--restore is for holds without a command") }
  }

  func run() throws {
    guard !command.isEmpty else {
      let cookie = try DaemonClient(global, operation).call(CoordinatorInterface.hold, (name, options))
      let isHeld = cookie != 0
      if global.json || global.verbose {
        var members: Properties = ["held": isHeld.value]
        if isHeld { members["cookie"] = cookie.value }
        global.write(json: JSON(members), plain: isHeld ? "\(cookie)\n" : "released\n")
      }
      return
    }
    let hold = name == SessionFact.locked.rawValue ? holdForLocker() : try lastingHold(global)
    let status = try withExtendedLifetime(hold) {
      try HeldCommand.run(RawArguments.last(command.count), operation, hold?.loop)
    }
    if status != 0 { throw ExitCode(status) }
  }

  private var operation: String { "hold \(name)" }

  private var options: Properties {
    var options: Properties = [:]
    options[Options.holdTimeout] = duration
    options[Options.holdRestore] = restore
    options[Options.holdMessage] =
      message ?? (command.isEmpty ? nil : String(command.joined(separator: " ").prefix(250)))
    if !command.isEmpty { options[Options.holdOwned] = true }
    if toggle { options[Options.holdToggle] = true }
    return options
  }

  private func lastingHold(_ global: GlobalOptions) throws(Failure) -> LastingHold {
    let hold = LastingHold(name, options, try DaemonClient(global, operation))
    try hold.begin()
    hold.follow()
    return hold
  }

  /// Holds for a locker, which has to run even if its hold fails. A navd that answers late or that
  /// starts later still holds.
  /// - Returns: nil if the bus cannot be reached.
  private func holdForLocker() -> LastingHold? {
    var patient = global
    patient.within = global.within ?? Self.lockerPatience
    var hold: LastingHold?
    do throws(Failure) {
      hold = LastingHold(name, options, try DaemonClient(patient, operation))
      try hold?.begin()
    } catch {
      ErrorOutput.write("\(error.line); the locker runs without the hold")
    }
    hold?.follow()
    return hold
  }

  /// The milliseconds that a locker waits for its hold.
  private static let lockerPatience: UInt64 = 2000
}

struct ReleaseHold: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "release", "End a hold of any program.",
    """
    If no program holds by NAME, the exit status is 3. Facts of the session, such as “locked”, and what open items hold, end only by \
    themselves.
    """)

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
    var count: UInt32 = 0
    for held in name.map({ [$0] }) ?? Set(holders.filter { $0.cookie != nil }.compactMap(\.name)).sorted() {
      count += try daemon.ask(CoordinatorInterface.releaseHold, (held, 0))
    }
    global.write(json: ["changed": .boolean(count > 0)], plain: "")
    if let name, holders.isEmpty { daemon.warnIfUnknown(hold: name) }
    if let name, let presented = holders.first(where: { $0.binding != nil }) {
      throw Failure(
        daemon.operation, "“\(name)” is also held by “\(presented.binding ?? "")”, and ends when that closes",
        status: .refused)
    }
    if let name, holders.contains(where: { $0.cookie == nil }) {
      throw Failure(
        daemon.operation, "“\(name)” is also a fact of the session, which ends by itself", status: .refused)
    }
    if name != nil, count == 0 { throw ExitCode(CommandStatus.notPresented.rawValue) }
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
        Table.Cell(holder.text(\.name)),
        Table.Cell(
          holder.client ?? holder.binding ?? (holder.cookie == nil ? "session" : "earlier session")),
        Table.Cell(holder.since.map { Timestamp.local($0) } ?? ""),
        Table.Cell(holder.timeoutLeft.map { DurationText.text($0) } ?? (holder.owned == true ? "owned" : "")),
        holder.cell(\.message))
    }
    global.write(json: .array(holders.map { JSON($0.properties) }), table, whenEmpty: "Nothing is held up.")
  }
}

extension DaemonClient {
  fileprivate func holders() throws(Failure) -> [HoldEntry] {
    try ask(CoordinatorInterface.holds, ()).map(HoldEntry.init)
  }
}
