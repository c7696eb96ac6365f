import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import TextFormats

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "show", "Print everything known about what is open under a name; exit status 3 if nothing is open.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .bindings) var binding: String

  func run() throws {
    let daemon = try DaemonClient(global, "show \(binding)")
    let (presentation, item, serial) = try daemon.ask(CoordinatorInterface.get, binding)
    guard presentation != .root else { throw Failure(notPresented: daemon.operation) }
    var entry = PresentationEntry(JSON(item))
    entry[.serial] = JSON(serial)
    entry[.destinationKind] = try destinationKind(entry, daemon).map { .string($0.rawValue) }
    let others = try daemon.state().presentations
    let children = others.filter { $0.parent != nil && $0.parent == entry.number }.compactMap { $0[.presentation] }
    if !children.isEmpty { entry[.children] = .array(children) }
    if let process = process(of: entry.owner, daemon) {
      entry[.ownerPID] = JSON(process)
      entry[.ownerProgram] = ProcessName.of(process).map(JSON.string)
    }
    let table = Self.table(entry, others: others, at: WallClock.now)
    global.write(json: entry.json, plain: table.text(global.tableStyle.unlimited))
  }

  /// nil if it is not known: a command without a destination has no process before it is shown and while it closes.
  private func destinationKind(_ entry: PresentationEntry, _ daemon: DaemonClient) throws -> DestinationEntry.Kind? {
    if let name = entry.destination { return try daemon.destinations().first { $0.name == name }?.kind }
    if entry.hasProcess { return .command }
    return entry.phase == .presented ? .state : nil
  }

  /// The owner's process id; nil without an owner, or if the bus does not know it.
  private func process(of owner: String?, _ daemon: DaemonClient) -> UInt32? {
    guard let owner else { return nil }
    let credentials = try? daemon.connection.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, owner, timeout: daemon.timeLeft ?? defaultTimeout)
    return credentials.flatMap { Credentials($0).processID }
  }

  /// - Parameters:
  ///   - others: presentations for the names of parent and children.
  ///   - now: milliseconds since 1970.
  static func table(_ entry: PresentationEntry, others: [PresentationEntry] = [], at now: UInt64) -> Table {
    func named(_ number: JSON) -> String {
      let binding = others.first { $0[.presentation] == number }?.binding
      return binding.map { "\(number.text) \($0)" } ?? number.text
    }
    var table = Table("NAME", "VALUE")
    for (name, value) in entry.orderedMembers {
      let member = PresentationEntry.Member(rawValue: name)
      if member == .serial { continue }
      let text =
        switch member {
        case .since: value.unsigned.map { "\(WallClock.local($0)) (\(WallClock.elapsed(since: $0, at: now)))" }
        case .timeout, .timeoutLeft: value.unsigned.map { DurationText.text($0) }
        case .parent: named(value)
        case .children: value.array?.map(named).joined(separator: ", ")
        default: value.string
        }
      table.add(Table.Cell(name), Table.Cell(text ?? value.text, member == .phase ? Colour(entry.phase) : nil))
    }
    return table
  }
}
