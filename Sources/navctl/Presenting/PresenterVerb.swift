import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct PresenterVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "presenter", "Show what is opened under these destinations, by lines of JSON: for shells that draw panels.",
    """
    Prints a line for each call: {"call":"present","presentation":17,"binding":"calendar","id":"",\
    "destination":"calendar","item":{…}}, {"call":"update","presentation":17,"item":{…}} and {"call":"dismiss",\
    "presentation":17,"reason":"deselected","animated":true,"forced":false}

    Reads the answers: {"presented":17}, {"failed":17,"error":"…"}, {"dismissed":17,"result":{…}}, \
    {"declined":17,"message":"…"}, {"asking":17,"message":"…"}; and reports: {"closed":17,"result":{…}}, \
    {"act":17,"action":"…","parameters":{…}}, {"update":17,"value":{…}}

    What is shown ends when standard input ends, unless --auto-present and --auto-dismiss answer for it. After a restart of navd, \
    “present” comes again for what is shown, with “restored”.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: ArgumentHelp("Destinations to show, e.g. calendar.", valueName: "name"))
  var names: [String]
  @Option(help: "Group of what is opened without one.", completion: .groups) var group: String?
  @Option(help: "Style of what is opened without one.") var style: String?
  @Option(
    help: ArgumentHelp("How long opening may take before it counts as failed, e.g. 3s.", valueName: "duration"),
    transform: { try $0.duration() })
  var startTimeout: UInt64?
  @Option(
    help: ArgumentHelp("How long closing may take before it counts as closed, e.g. 3s.", valueName: "duration"),
    transform: { try $0.duration() })
  var grace: UInt64?
  @Option(
    help: ArgumentHelp(
      "What others may open by a binding alone, shown by the first name: its types as JSON, as of Serve, e.g. shop.item:={\"id\":\"Int\"}.",
      valueName: "binding:=json"),
    transform: Assignment.init)
  var serve: [Assignment] = []
  @Flag(help: "Answer that each is shown, as soon as its line was read.") var autoPresent = false
  @Option(
    help: ArgumentHelp("Answer that each is closed, this long after its line was read.", valueName: "duration"),
    transform: { try $0.duration() })
  var autoDismiss: UInt64?

  func validate() throws {
    try global.requirePrinting()
    if names.isEmpty { throw ValidationError("give at least one destination") }
  }

  func run() throws {
    let operation = "presenter \(names.joined(separator: " "))"
    let daemon = try DaemonClient(global, operation)
    // A closed pipe is an error of the write, not a signal.
    signal(SIGPIPE, SIG_IGN)
    var failure: Failure?
    func stop(_ reason: Failure?) {
      failure = reason
      daemon.loop.stop()
    }
    let writer = LineWriter(STDOUT_FILENO, daemon.loop)
    writer.onEnd = { error in
      stop(
        error == EPIPE ? nil : Failure(operation, SystemError(code: error, operation: "standard output").description))
    }
    let presenter = LinePresenter(daemon, writer, .init(presents: autoPresent, dismissesAfter: autoDismiss))
    var options: Properties = [:]
    options[Options.group] = group
    options[Options.style] = style
    options[Options.startTimeout] = startTimeout
    options[Options.grace] = grace
    var served: [Structure<String, Properties>] = []
    for (binding, accepts) in try serve.properties(operation).sorted(by: { $0.key < $1.key }) {
      guard let accepts = Properties(value: accepts) else {
        throw Failure(operation, "--serve \(binding): expected an object as JSON; give \(binding):={…}", status: .usage)
      }
      served.append(Structure(binding, accepts))
    }
    try presenter.serve(names, options, served) { stop(Failure(operation, $0)) }
    daemon.connection.handlers.onDisconnected = {
      stop(Failure(operation, DBusError(name: .disconnected, message: Failure.disconnected)))
    }
    let isAlone = autoPresent && autoDismiss != nil
    let input = LineInput(STDIN_FILENO, daemon.loop) { number, bytes in
      func fail(_ why: String) {
        ErrorOutput.write("navctl: presenter: line \(number): \(ErrorOutput.part(why))")
      }
      guard let bytes else { return fail("expected at most 4 MiB, found more") }
      presenter.take(bytes, fail: fail)
    } onEnd: {
      if !isAlone { stop(nil) }
    }
    presenter.onBusy = { [weak input] in input?.isPaused = $0 }
    daemon.loop.run()
    withExtendedLifetime((input, presenter)) {}
    if let failure { throw failure }
  }
}
