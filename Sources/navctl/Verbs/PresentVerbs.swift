import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import TextFormats

extension Verbs {
  static let presenting: [Verb] = [("present", { Present.self }), ("toggle", { Toggle.self })]
}

struct Present: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "present", "Open a panel, dialog or window, or replace what is open under its name.",
    "The same ID again changes what is open without closing it. Another ID closes what is open first.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var options: PresentOptions

  func run() throws {
    let daemon = try DaemonClient(global, "present \(binding)")
    let (presentation, changed, serial) = try daemon.call(
      CoordinatorInterface.present, (binding, id.text ?? "", try options.properties(daemon)))
    if options.isWaiting {
      try options.wait(daemon, global, presentation)
    } else {
      try global.reportPresented(daemon, presentation, changed: changed, serial: serial)
      if !global.json, !global.quiet { daemon.warnIfNotShown(binding) }
    }
  }
}

struct Toggle: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "toggle", "Open a panel, dialog or window, or close it if it is open.",
    """
    Without ID: closes what is open, otherwise opens it. With ID: closes the item with that id, and replaces any \
    other one.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var options: PresentOptions

  func run() throws {
    let daemon = try DaemonClient(global, "toggle \(binding)")
    var properties = try options.properties(daemon)
    if id.text == nil { properties[Options.anyID] = true }
    let (presented, presentation, serial) = try daemon.call(
      CoordinatorInterface.toggle, (binding, id.text ?? "", properties))
    if presented, options.isWaiting {
      try options.wait(daemon, global, presentation)
    } else {
      global.report(
        changed: true, presentation: presentation, serial: serial, ["presented": .boolean(presented)],
        verbose: "dismissed\n")
      guard presented else { return }
      try daemon.requireStart(of: presentation)
      if !global.json, !global.quiet { daemon.warnIfNotShown(binding) }
    }
  }
}

/// Options of `present` and `toggle`.
struct PresentOptions: ParsableArguments {
  @OptionGroup var item: ItemOptions
  @OptionGroup var containers: ContainerOptions
  @OptionGroup var slot: SlotOptions
  @OptionGroup var waiting: WaitOptions

  func properties(_ daemon: DaemonClient) throws -> Properties {
    var options = try item.options(daemon)
    containers.write(to: &options)
    slot.write(to: &options)
    return options
  }

  /// Whether navctl runs until the item is closed.
  var isWaiting: Bool { waiting.wait || item.owned }

  func wait(_ daemon: DaemonClient, _ global: GlobalOptions, _ presentation: ObjectPath) throws {
    try daemon.wait(for: presentation).report(daemon, global, propagating: waiting.propagate)
  }
}

extension GlobalOptions {
  /// Reports an item that was presented; with `--owned` waits until it is closed, otherwise only whether its program could
  /// be started.
  func reportPresented(
    _ daemon: DaemonClient, _ presentation: ObjectPath, changed: Bool, serial: UInt64, isOwned: Bool = false
  ) throws {
    if isOwned {
      try daemon.wait(for: presentation).report(daemon, self)
    } else {
      report(changed: changed, presentation: presentation, serial: serial)
      if changed { try daemon.requireStart(of: presentation) }
    }
  }
}

extension DaemonClient {
  /// Tells a user at a terminal that no program shows the item: they may have mistyped a destination's name.
  fileprivate func warnIfNotShown(_ binding: String) {
    guard isatty(STDERR_FILENO) == 1, let properties = try? ask(CoordinatorInterface.get, binding).1 else { return }
    let item = PresentationEntry(JSON(properties))
    guard item.phase == .presented, item.destination == nil, !item.hasProcess, let destinations = try? destinations()
    else { return }
    let hint = nearest(to: binding, among: destinations.map(\.name)).map { "did you mean “\($0)”? " } ?? ""
    StandardError.write(
      "navctl: \(operation): no window opens, since there is no destination “\(binding)”; "
        + "\(hint)“navctl destinations” lists them, “navctl reload” loads new files")
  }
}
