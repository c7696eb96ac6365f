// Why this file exists: `present` and `toggle`, which set a slot's item.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Present: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "present", "Set the item of a slot: present it, or replace what is shown there.",
    """
    The same id again changes what is shown and dismisses nothing; another id dismisses what is shown, and presents \
    the item when that is gone.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which slot.", completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var item: ItemOptions
  @OptionGroup var place: PlaceOptions
  @OptionGroup var slot: SlotOptions
  @OptionGroup var staying: StayOptions

  func run() throws {
    let what = "present \(binding)"
    let daemon = try Daemon(global, what)
    var options = try item.options(daemon)
    place.write(to: &options)
    slot.write(to: &options)
    let (presentation, changed, serial) = try daemon.call(
      CoordinatorInterface.present, (binding, id.text ?? "", options))
    if staying.wait || item.owned {
      try staying.stay(daemon, global, presentation)
    } else {
      global.report(changed: changed, presentation: presentation, serial: serial)
      if changed { try daemon.requireStart(of: presentation) }
      if !global.json, !global.quiet { daemon.noteStateOnly(at: binding) }
    }
  }
}

struct Toggle: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "toggle", "Dismiss the item of a slot if it is shown, else present it.",
    "Without an id whatever is shown is dismissed, and where nothing is, the empty id is presented.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which slot.", completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var item: ItemOptions
  @OptionGroup var place: PlaceOptions
  @OptionGroup var slot: SlotOptions
  @OptionGroup var staying: StayOptions

  func run() throws {
    let daemon = try Daemon(global, "toggle \(binding)")
    var options = try item.options(daemon)
    place.write(to: &options)
    slot.write(to: &options)
    if id.text == nil { options[Options.anyID] = true }
    let (presented, presentation, serial) = try daemon.call(
      CoordinatorInterface.toggle, (binding, id.text ?? "", options))
    if presented, staying.wait || item.owned {
      try staying.stay(daemon, global, presentation)
    } else {
      global.report(
        changed: true, presentation: presentation, serial: serial, ["presented": .boolean(presented)],
        verbose: "dismissed\n")
      if presented { try daemon.requireStart(of: presentation) }
      if presented, !global.json, !global.quiet { daemon.noteStateOnly(at: binding) }
    }
  }
}

/// Of the verbs that can wait for the end of what they present.
struct StayOptions: ParsableArguments {
  @Flag(help: "Stay until it is gone, and write what it gave back.")
  var wait = false

  @Flag(help: "With --wait: end as the command did; navctl's own failures are status 125.")
  var propagate = false

  func validate() throws {
    if propagate, !wait { throw ValidationError("--propagate needs --wait") }
  }

  func stay(_ daemon: Daemon, _ global: GlobalOptions, _ presentation: ObjectPath) throws {
    try Ending(daemon, presentation).report(daemon, global, propagating: propagate)
  }
}
