import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Dismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "dismiss", "Close what is shown under these names.", "If nothing is open there, succeeds all the same.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: ArgumentHelp("Names of panels or dialogs, e.g. mixer.", valueName: "binding"), completion: .bindings)
  var bindings: [String] = []
  @Option(help: "Close every member of this group, and empty its queue.", completion: .groups) var group: String?
  @Option(help: "Close everything in this stack.", completion: .stacks) var stack: String?
  @Option(help: "Close every name with this first part, e.g. counter for counter.fact.", completion: .roots)
  var root: String?
  @Flag(help: "Close everything.") var all = false
  @OptionGroup var slot: SlotOptions

  private var scopes: Int { [group, stack, root].count { $0 != nil } + (all ? 1 : 0) }

  func validate() throws {
    guard scopes + (bindings.isEmpty ? 0 : 1) == 1 else {
      throw ValidationError("give either names, or exactly one of --group, --stack, --root and --all")
    }
    if bindings.count != 1, slot.expectedID != nil || slot.expectedPresentation != nil {
      throw ValidationError("--expected-id and --expected-presentation need exactly one name")
    }
  }

  func run() throws {
    if bindings.isEmpty { try dismissAll() } else { try dismissEach() }
  }

  private func dismissEach() throws {
    let daemon = try DaemonClient(global, "dismiss \(bindings.joined(separator: " "))")
    var anyChanged = false
    var last: UInt64 = 0
    for binding in bindings {
      let (changed, serial) = try daemon.call(CoordinatorInterface.dismiss, (binding, slot.properties))
      anyChanged = anyChanged || changed
      last = serial
    }
    global.report(changed: anyChanged, serial: last)
  }

  private func dismissAll() throws {
    let daemon = try DaemonClient(global, "dismiss")
    var options = slot.change.properties
    options[Options.group] = group
    options[Options.stack] = stack
    options[Options.root] = root
    if all { options[Options.all] = true }
    let (count, serial) = try daemon.call(CoordinatorInterface.dismissAll, options)
    global.report(changed: count > 0, serial: serial, ["count": count.value], verbose: "\(count)\n")
  }
}
