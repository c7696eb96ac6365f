import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct Apply: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "apply", "Carry out a list of requests as one: all of them, or none.",
    """
    FILE is a JSON list of requests. A request is a list of the name of a D-Bus method and its arguments: \
    [["Present","fact","1",{"destination":"sleeper"}],["Dismiss","note",{}]]
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: "File with the requests; “-” for standard input.", completion: .file()) var file: String
  @OptionGroup var change: ChangeOptions
  @Option(
    help: ArgumentHelp("Refuse if the state has changed since it had this serial.", valueName: "serial"),
    transform: { try $0.number() })
  var expectedSerial: UInt64?

  func run() throws {
    let operation = "apply \(file)"
    let bytes = try Self.read(file, operation)
    let requests: [TransactionRequest]
    do throws(JSON.Mistake) { requests = try CoordinatorInterface.requests(json: bytes) } catch {
      throw Failure(operation, "\(error.position): \(error.why)", status: .usage)
    }
    let daemon = try DaemonClient(global, operation)
    let declared = try daemon.declaring(requests)
    var options = change.properties
    options[Options.expectedSerial] = expectedSerial
    let (replies, serial) = try daemon.call(CoordinatorInterface.apply, (declared, options))
    if global.json || global.verbose {
      let list = zip(requests, replies).map { request, reply in
        JSON.array([.string(request.method)] + reply.map { JSON($0) })
      }
      global.write(
        json: ["replies": .array(list), "serial": JSON(serial)], plain: list.map { $0.text + "\n" }.joined())
    }
    let presentations = replies.joined().flatMap { value in
      ObjectPath(value: value).map { [$0] } ?? [ObjectPath](value: value) ?? []
    }
    // The reply about a selected member does not name its presentation.
    let groups = zip(requests, replies).compactMap { request, reply in
      request.method == CoordinatorInterface.toggleSelection.name.text && reply.first == .boolean(true)
        ? request.arguments.first.flatMap(String.init(value:)) : nil
    }
    try daemon.requireStart(of: presentations, in: Set(groups), isNamed: true, after: serial)
  }

  private static func read(_ file: String, _ operation: String) throws(Failure) -> [UInt8] {
    // The maximum size of a D-Bus message.
    let maxBytes = 128 << 20
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes =
        try file == "-"
        ? contents(of: STDIN_FILENO, limit: maxBytes + 1) : contents(ofFile: file, limit: maxBytes + 1)
    } catch {
      throw Failure(operation, "cannot read the file: \(error.reason)", hint: "“-” reads standard input")
    }
    guard bytes.count <= maxBytes else {
      throw Failure(operation, "expected at most 128 MiB, found more", status: .refused)
    }
    return bytes
  }
}
