import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TextFormats

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "show", "Print everything known about what is open under a name; exit status 3 if nothing is open.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .shown) var binding: String

  func run() throws {
    let daemon = try DaemonClient(global, "show \(binding)")
    let (presentation, item, serial) = try daemon.ask(CoordinatorInterface.get, binding)
    let others = try daemon.state().entries
    // An item whose presenter asks its user may come back to its slot (P15).
    let asking = presentation == .root ? others.last { $0.binding == binding && $0.asking == true } : nil
    let accepts = try daemon.destinations().lazy.flatMap(\.served).first {
      $0.binding == binding || $0.accepts.elements == true && binding.hasPrefix("\($0.binding)[")
    }?.accepts
    guard presentation != .root || asking != nil else {
      let left = try daemon.diagnosis().left?.first { $0.hasPrefix("“\(binding)” ") }
      throw Failure(
        notPresented: daemon.operation, left: left ?? accepts.map { "a program shows it when asked (\($0.text))" })
    }
    var entry = asking ?? StateEntry(item)
    entry.properties[StateSnapshot.keys.serial] = serial
    entry.properties[Self.destinationKind] = try destinationKind(entry, daemon)?.rawValue
    let children = others.filter { $0.parent != nil && $0.parent == entry.presentation }.compactMap(\.presentation)
    if !children.isEmpty { entry.properties[Self.children] = children }
    if let process = process(of: entry.owner, daemon) {
      entry.properties[Self.ownerPID] = process
      entry.properties[Self.ownerProgram] = ProcessName.of(process)
    }
    entry.properties[Self.accepts] = accepts?.text
    let table = Self.table(entry, others: others, at: Timestamp.now)
    global.write(json: entry.json, styled: table.text(global.tableStyle.unlimited))
  }

  /// The kind of destination; nil if it is not known: a command without a destination has no process before it is shown and while it
  /// closes.
  private func destinationKind(_ entry: StateEntry, _ daemon: DaemonClient) throws -> NamedDestination.Kind? {
    if let name = entry.destination { return try daemon.destinations().first { $0.name == name }?.kind }
    if entry.hasProcess { return .command }
    return entry.knownPhase == .presented ? .state : nil
  }

  /// The owner's process id; nil without an owner, or if the bus does not know it.
  private func process(of owner: String?, _ daemon: DaemonClient) -> UInt32? {
    guard let owner else { return nil }
    let credentials = try? daemon.connection.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, owner, timeout: daemon.timeLeft ?? defaultTimeout)
    return credentials.flatMap { Credentials($0).processID }
  }

  // MARK: The keys

  private static let destinationKind = DictionaryKey<String>(
    "destination-kind", doc: "command, unit, bus or state; see NamedDestination.Kind.")
  private static let accepts = DictionaryKey<String>(
    "accepts", doc: "What others can open there, if its program serves it.")
  private static let children = DictionaryKey<[UInt64]>(
    "children", doc: "The numbers of the presentations that were presented from it.")
  private static let ownerPID = DictionaryKey<UInt32>("owner-pid", doc: "The process of its owner.")
  private static let ownerProgram = DictionaryKey<String>("owner-program", doc: "The name of its owner's program.")

  /// The keys in the order in which they are printed.
  private static let order = {
    let keys = StateEntry.keys
    return [
      keys.binding.name, keys.id.name, keys.presentation.name, keys.phase.name, keys.message.name, keys.since.name,
      keys.restarts.name, keys.restartAt.name, keys.title.name, keys.destination.name, destinationKind.name,
      keys.pid.name, keys.unit.name, keys.windows.name, keys.group.name, keys.tag.name, keys.stack.name,
      keys.parent.name, children.name, keys.owner.name, ownerPID.name, ownerProgram.name, keys.timeout.name,
      keys.timeoutLeft.name, keys.containerValues.name, keys.priority.name, keys.style.name, keys.value.name,
      accepts.name,
    ]
  }()

  /// - Parameters:
  ///   - others: the presentations that give the names of parent and children.
  ///   - now: the time in milliseconds since 1970.
  static func table(_ entry: StateEntry, others: [StateEntry] = [], at now: UInt64) -> Table {
    func named(_ number: UInt64) -> String {
      let binding = others.first { $0.presentation == number }?.binding
      return binding.map { "\(number) \($0)" } ?? "\(number)"
    }
    let keys = StateEntry.keys
    var table = Table("NAME", "VALUE")
    // Keys that this release does not know come last.
    for name in order + Set(entry.properties.keys).subtracting(order).sorted() {
      guard let value = entry.properties[name],
        ![StateSnapshot.keys.serial.name, keys.asking.name, keys.heldBy.name].contains(name)
      else { continue }
      let text: String? =
        switch name {
        case keys.phase.name: entry.shownPhase
        case keys.restartAt.name: entry.restartAt.map { Timestamp.local($0) }
        case keys.since.name: entry.since.map { "\(Timestamp.local($0)) (\(Timestamp.elapsed(since: $0, at: now)))" }
        case keys.timeout.name, keys.timeoutLeft.name: UInt64(value: value).map { DurationText.exactText($0) }
        case keys.parent.name: entry.parent.map(named)
        case children.name: entry.properties[children]?.map(named).joined(separator: ", ")
        default: nil
        }
      let colour = name == keys.phase.name ? Colour(entry.knownPhase) : nil
      table.add(Table.Cell(name), Table.Cell(text ?? JSON(value).plainText, colour))
    }
    return table
  }
}
