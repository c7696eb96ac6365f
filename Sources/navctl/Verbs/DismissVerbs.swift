// Why this file exists: `dismiss`, which sets slots to nil.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Dismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "dismiss", "Set slots to nil: dismiss what is shown there.",
    "Nothing shown there is no failure.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: ArgumentHelp("Which slots.", valueName: "binding"), completion: .bindings) var bindings: [String] = []
  @Option(help: "Every member of this group, and its queue.", completion: .groups) var group: String?
  @Option(help: "All that stands in this stack.", completion: .stacks) var stack: String?
  @Option(help: "Every binding of this root.", completion: .roots) var root: String?
  @Flag(help: "Everything.") var all = false
  @OptionGroup var slot: SlotOptions

  private var scopes: Int { [group, stack, root].count { $0 != nil } + (all ? 1 : 0) }

  func validate() throws {
    guard scopes + (bindings.isEmpty ? 0 : 1) == 1 else {
      throw ValidationError("give either bindings, or one of --group, --stack, --root and --all")
    }
    if bindings.count != 1, slot.expectedID != nil || slot.expectedPresentation != nil {
      throw ValidationError("--expected-id and --expected-presentation are about one binding")
    }
  }

  func run() throws {
    if bindings.isEmpty { try dismissAll() } else { try dismissEach() }
  }

  private func dismissEach() throws {
    let daemon = try Daemon(global, "dismiss \(bindings.joined(separator: " "))")
    var options: Properties = [:]
    slot.write(to: &options)
    var anyChanged = false
    var last: UInt64 = 0
    for binding in bindings {
      let (changed, serial) = try daemon.call(CoordinatorInterface.dismiss, (binding, options))
      anyChanged = anyChanged || changed
      last = serial
    }
    global.report(changed: anyChanged, serial: last)
  }

  private func dismissAll() throws {
    let daemon = try Daemon(global, "dismiss")
    var options: Properties = [:]
    slot.change.write(to: &options)
    options[Options.group] = group
    options[Options.stack] = stack
    options[Options.root] = root
    if all { options[Options.all] = true }
    let (count, serial) = try daemon.call(CoordinatorInterface.dismissAll, options)
    global.report(changed: count > 0, serial: serial, ["count": JSON(count)], verbose: "\(count)\n")
  }
}
