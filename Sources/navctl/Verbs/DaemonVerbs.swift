// Why this file exists: the verbs about the daemon itself.

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TextFormats

struct Destinations: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "destinations", "Write the destinations that items can name.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try Daemon(global, "destinations")
    let destinations = try daemon.ask(CoordinatorInterface.destinations, ()).map(\.fields)
    var table = Table("NAME", "KIND", "GROUP", "STYLE", "WHAT")
    var list: [JSON] = []
    for (name, about) in destinations {
      guard case .object(var members) = JSON(about) else { continue }
      let kind = Self.kind(.object(members))
      let what = members[kind].map { $0.string ?? $0.array?.compactMap(\.string).joined(separator: " ") ?? $0.text }
      table.add(
        Table.Cell(name), Table.Cell(kind), Table.Cell(members["group"]?.string ?? ""),
        Table.Cell(members["style"]?.string ?? ""), Table.Cell(what ?? ""))
      members["name"] = .string(name)
      list.append(.object(members))
    }
    global.write(json: .array(list), table)
  }

  /// By what it shows its items.
  static func kind(_ destination: JSON) -> String {
    ["command", "unit", "bus"].first { destination[$0] != nil } ?? "state"
  }
}

struct Reload: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "reload", "Make navd read the configuration files again.",
    """
    A file with a mistake keeps what was loaded from it before; file, line and mistake are told. Where navd is not \
    running it is started, and reads them then.
    """)

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try Daemon(global, "reload")
    try daemon.call(CoordinatorInterface.reload, ())
    global.write(json: [:], plain: "")
  }
}

struct Quit: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "quit", "End every presentation, then navd.",
    "Where navd is not running there is nothing to end: exit status 0.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try Daemon(global, "quit")
    var wasRunning = true
    do throws(DBusError) { try daemon.request(CoordinatorInterface.quit, (), starts: false) } catch {
      guard error.name == .serviceUnknown || error.name == .nameHasNoOwner else { throw Failure("quit", error) }
      wasRunning = false
    }
    global.write(json: ["changed": .boolean(wasRunning)], plain: "")
  }
}

struct CheckConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "check-config", "Check the configuration files without loading them.",
    "Asks the navd that is installed beside navctl, else the one in PATH; no daemon has to run.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "A directory of such files, instead of those in use.", completion: .directory) var directory: String?

  func validate() throws {
    if let host = global.host {
      throw ValidationError(
        "--host is given, but the files of this machine are checked; “\(host.ssh("navd --check-config"))” would do")
    }
    guard directory != "" else {
      throw ValidationError("the directory is an empty text; a path, or none for the files in use, would do")
    }
  }

  func run() throws {
    let arguments = ["navd", "--check-config"] + (global.json ? ["--json"] : []) + [directory].compactMap { $0 }
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    if let beside = Self.beside { execv(beside, &pointers) }
    execvp("navd", &pointers)
    throw Failure(
      "check-config", "navd cannot be started: \(String(cString: strerror(errno)))",
      next: "it is looked for beside navctl and in PATH")
  }

  /// The navd in navctl's own directory.
  private static var beside: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    let own = String(cString: path)
    return own.lastIndex(of: "/").map { own[...$0] + "navd" }
  }
}

struct Introspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "introspect", "Write the D-Bus interfaces with their documentation.",
    "They are those of this release; no daemon has to run.")

  @OptionGroup var global: GlobalOptions
  @Argument(
    help: "Only this one, such as org.navd.Coordinator1.",
    completion: .list(["org.navd.Coordinator1", "org.navd.Presentation1", "org.navd.Presenter1"]))
  var interface: String?
  @Flag(help: "As introspection XML, one interface to a document.") var xml = false

  static let interfaces = [
    CoordinatorInterface.interface, PresentationInterface.interface, PresenterInterface.interface,
  ]

  func validate() throws {
    if xml, interface == nil { throw ValidationError("--xml writes one interface; name it") }
    if xml, global.json { throw ValidationError("either --xml or --json") }
  }

  func run() throws {
    let chosen = Self.interfaces.filter { interface == nil || $0.name.text == interface }
    guard let first = chosen.first else {
      throw Failure(
        "introspect \(interface ?? "")", "no such interface",
        next: "there are \(Self.interfaces.map(\.name.text).joined(separator: ", "))", status: .unknownName)
    }
    if xml {
      global.write(json: .null, plain: first.xmlFile())
    } else {
      global.write(
        json: .array(chosen.map(InterfaceText.json)),
        plain: chosen.map { InterfaceText.plain($0) }.joined(separator: "\n"))
    }
  }
}
