import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct Destinations: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "destinations", "List the destinations: the programs, units and services that can show something.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try DaemonClient(global, "destinations")
    let destinations = try daemon.destinations()
    var table = Table("NAME", "KIND", "GROUP", "STYLE", "TARGET", "BEHAVIOUR")
    for destination in destinations {
      table.add(
        Table.Cell(destination.name), Table.Cell(destination.kind.rawValue), destination.entry.cell(\.group),
        destination.entry.cell(\.style), Table.Cell(destination.target),
        Table.Cell(destination.behaviour))
      for (binding, accepts) in destination.served {
        table.add(
          Table.Cell(binding), Table.Cell("binding"), Table.Cell(accepts.group ?? accepts.stack ?? ""), Table.Cell(""),
          Table.Cell(destination.name), Table.Cell(accepts.text))
      }
    }
    global.write(
      json: .array(destinations.map(\.json)), table,
      whenEmpty: "There are no destinations; each is a file such as ~/.config/navd/destinations/mixer.toml.")
    for mistake in try daemon.diagnosis().mistakes ?? [] {
      ErrorOutput.write("navctl: destinations: \(ErrorOutput.part(mistake))")
    }
    for destination in destinations {
      guard let file = destination.entry.file, let warning = BindingID.warning(ofDestination: destination.name) else {
        continue
      }
      ErrorOutput.write("navctl: destinations: \(ErrorOutput.part("\(file): warning: \(warning)"))")
    }
  }
}

struct Reload: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "reload", "Make navd read its configuration files again.",
    """
    If a file has a mistake, prints the file, the line and the mistake, and navd keeps what the file contained before. \
    Starts navd if it is not running.
    """)

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let daemon = try DaemonClient(global, "reload")
    try daemon.call(CoordinatorInterface.reload, ())
    global.write(json: [:], plain: "")
  }
}

struct ImportEnvironment: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "import-environment", "Give navd variables of this session for the programs that it starts by itself.",
    """
    navd may have started before the desktop, and then what it starts by itself finds no display: fallbacks of groups, what \
    is presented again, what is there at the start, and hooks. Run this when the desktop starts, unless navd-windows does, \
    which gives navd the variables of its compositor. What waits to be presented again is tried at once.

    Without a name: the variables that every request of navctl sends. A variable that is not set is left out; one that is \
    empty is taken away from navd. navd keeps them until the session ends. Starts navd if it is not running.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: ArgumentHelp("Variables to give, e.g. WAYLAND_DISPLAY.", valueName: "name")) var names: [String] = []

  func run() throws {
    let operation = names.isEmpty ? "import-environment" : "import-environment \(names.joined(separator: " "))"
    let daemon = try DaemonClient(global, operation)
    guard !daemon.isRemote else {
      throw Failure(
        operation, "the variables of this machine are of no use on another one; run it there, without -H",
        status: .usage)
    }
    var variables: [String: String] =
      names.isEmpty
      ? ClientContext.sessionEnvironment.filter { !EnvironmentVariable.ofOneProgram.contains($0.key) } : [:]
    for name in names {
      guard let value = getenv(name) else { continue }
      guard let text = String(validatingCString: value) else {
        throw Failure(operation, "the value of \(name) is not UTF-8, which the bus cannot carry", status: .usage)
      }
      variables[name] = text
    }
    let changed = try daemon.call(CoordinatorInterface.importEnvironment, variables)
    global.write(json: ["changed": .boolean(changed)], plain: "")
  }
}

struct CheckConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "check-config", "Check the configuration files without loading them.",
    "Runs the program navd beside navctl, otherwise the one in PATH. The daemon need not be running.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "File, or directory, to check instead of the files in use.", completion: .file())
  var path: String?

  func validate() throws {
    if let host = global.host {
      throw ValidationError(
        "--host is not supported; use “\(host.ssh("navd --check-config"))”")
    }
    guard path != "" else {
      throw ValidationError(
        "expected a file or a directory, found an empty text; leave it out to check the files in use")
    }
  }

  func run() throws {
    let arguments = ["navd", "--check-config"] + (global.json ? ["--json"] : []) + [path].compactMap { $0 }
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    if global.quiet, case let null = open("/dev/null", O_WRONLY | O_CLOEXEC), null >= 0 { dup2(null, STDOUT_FILENO) }
    if let beside = Self.beside { execv(beside, &pointers) }
    execvp("navd", &pointers)
    throw Failure(
      "check-config", SystemError("cannot run navd").description,
      hint: "install it beside navctl or in PATH")
  }

  /// The navd in navctl's own directory; nil if there is none.
  static var beside: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    let own = String(cString: path)
    guard let navd = own.lastIndex(of: "/").map({ String(own[...$0]) + "navd" }) else { return nil }
    return access(navd, X_OK) == 0 ? navd : nil
  }
}

struct Introspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "introspect", "Print the D-Bus interfaces with their documentation.",
    "They are those of this release of navctl. The daemon need not be running.")

  @OptionGroup var global: GlobalOptions
  @Argument(
    help: "Name of one interface, e.g. org.navd.Coordinator1.",
    completion: .list(Contract.interfaces.map(\.name.text)))
  var interface: String?
  @Flag(help: "Print one interface as introspection XML.") var xml = false

  func validate() throws {
    if xml, interface == nil { throw ValidationError("--xml needs the name of an interface") }
    if xml, global.json { throw ValidationError("use either --xml or --json, not both") }
  }

  func run() throws {
    let chosen = Contract.interfaces.filter { interface == nil || $0.name.text == interface }
    guard let first = chosen.first else {
      throw Failure(
        "introspect \(interface ?? "")", "no such interface",
        hint: "expected one of \(Contract.interfaces.map(\.name.text).joined(separator: ", "))", status: .unknownName)
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
