// Why this file exists: `show`, all that is known about one slot.

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import TextFormats

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "show", "Write all about what a slot should show; exit status 3 where that is nothing.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which slot.", completion: .bindings) var binding: String

  func run() throws {
    let daemon = try Daemon(global, "show \(binding)")
    let (presentation, item, serial) = try daemon.ask(CoordinatorInterface.get, binding)
    guard presentation != .root, case .object(var members) = JSON(item) else {
      throw Failure(notPresented: "show \(binding)")
    }
    members["serial"] = JSON(serial)
    members["destination-kind"] = try kind(members, daemon).map(JSON.string)
    let others = try daemon.state().presentations
    let children = others.filter { $0["parent"] == members["presentation"] }
    if !children.isEmpty { members["children"] = .array(children.compactMap { $0["presentation"] }) }
    if let process = process(of: members["owner"]?.string, daemon) {
      members["owner-pid"] = JSON(process)
      members["owner-program"] = ProcessName.of(process).map(JSON.string)
    }
    global.write(
      json: .object(members), plain: Self.table(members, others: others, at: WallClock.now).text(global.style.whole))
  }

  /// How it is shown: by a command, a unit, a program on the bus, or by nobody of whom navd knows.
  private func kind(_ members: [String: JSON], _ daemon: Daemon) throws -> String? {
    guard let name = members["destination"]?.string else {
      // A command of its own, which has no process before it is presented and none that is known when it goes.
      if members["pid"] != nil || members["unit"] != nil { return "command" }
      return members["phase"] == "presented" ? "state" : nil
    }
    let destinations = try daemon.ask(CoordinatorInterface.destinations, ())
    return destinations.first { $0.fields.0 == name }.map { Destinations.kind(JSON($0.fields.1)) }
  }

  /// The process of who owns it; nil where that is nobody, or cannot be found out.
  private func process(of owner: String?, _ daemon: Daemon) -> UInt32? {
    guard let owner else { return nil }
    let credentials = try? daemon.connection.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, owner, timeout: daemon.rest ?? defaultTimeout)
    return credentials.flatMap { Credentials($0).processID }
  }

  /// What identifies it first, then how it stands, then the rest by name.
  /// - Parameters:
  ///   - others: presentations by whose bindings parent and children are called.
  ///   - now: milliseconds since 1970.
  static func table(_ members: [String: JSON], others: [JSON] = [], at now: UInt64) -> Table {
    let first = [
      "binding", "id", "presentation", "phase", "since", "title", "destination", "destination-kind", "pid", "unit",
      "group", "tag", "stack", "parent", "children", "owner", "owner-pid", "owner-program", "timeout", "timeout-left",
    ]
    let names =
      first.filter { members[$0] != nil } + members.keys.filter { !first.contains($0) && $0 != "serial" }.sorted()
    func called(_ number: JSON) -> String {
      let binding = others.first { $0["presentation"] == number }?["binding"]?.string
      return binding.map { "\(number.text) \($0)" } ?? number.text
    }
    var table = Table("NAME", "VALUE")
    for name in names {
      guard let value = members[name] else { continue }
      let text =
        switch name {
        case "since":
          value.unsigned.map { "\(WallClock.local($0)) (\(WallClock.elapsed(since: $0, at: now)))" }
        case "timeout", "timeout-left": value.unsigned.map { DurationText.text($0) }
        case "parent": called(value)
        case "children": value.array?.map(called).joined(separator: ", ")
        default: value.string
        }
      table.add(Table.Cell(name), Table.Cell(text ?? value.text, name == "phase" ? Colour(phase: text ?? "") : nil))
    }
    return table
  }
}
