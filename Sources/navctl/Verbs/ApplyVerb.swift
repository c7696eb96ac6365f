import ArgumentParser
import CoordinatorAPI
import DBusValues
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

  func run() throws {
    let operation = "apply \(file)"
    let bytes = try Self.read(file, operation)
    let requests: [Structure<String, [Value]>]
    do throws(JSON.Mistake) { requests = try Self.requests(bytes) } catch {
      throw Failure(operation, "\(error.position): \(error.why)", status: .usage)
    }
    let daemon = try DaemonClient(global, operation)
    let declared = try daemon.declaring(requests)
    let (replies, serial) = try daemon.call(CoordinatorInterface.apply, (declared, change.properties))
    let list = zip(requests, replies).map { request, reply in
      JSON.array([.string(request.fields.0)] + reply.map { JSON($0) })
    }
    guard global.json || global.verbose else { return }
    global.write(
      json: ["replies": .array(list), "serial": JSON(serial)], plain: list.map { $0.text + "\n" }.joined())
  }

  /// - Throws: `JSON.Mistake` with the position, for invalid JSON and for invalid requests.
  static func requests(_ bytes: [UInt8]) throws(JSON.Mistake) -> [Structure<String, [Value]>] {
    let json = try JSON.parse(bytes)
    do throws(JSON.Mismatch) {
      guard let list = json.array else { throw JSON.Mismatch(why: "expected a list of requests, found \(json.kind)") }
      var requests: [Structure<String, [Value]>] = []
      for (index, request) in list.enumerated() {
        do throws(JSON.Mismatch) { requests.append(try Self.request(request)) } catch {
          throw JSON.Mismatch(path: [.element(index)] + error.path, why: "request \(index): \(error.why)")
        }
      }
      return requests
    } catch {
      throw JSON.Mistake(position: JSON.position(of: error.path, in: bytes), why: error.why)
    }
  }

  private static func request(_ json: JSON) throws(JSON.Mismatch) -> Structure<String, [Value]> {
    guard let list = json.array, let first = list.first else {
      let found = json.array == nil ? json.kind : "an empty list"
      throw JSON.Mismatch(why: "expected a list of a method's name and its arguments, found \(found)")
    }
    guard let name = first.string else {
      throw JSON.Mismatch(path: [.element(0)], why: "expected a method's name, found \(first.kind)")
    }
    let method: any AnyChangingMethod
    do throws(Refusal) { method = try CoordinatorInterface.changingMethod(name) } catch {
      throw JSON.Mismatch(path: [.element(0)], why: error.message)
    }
    do throws(JSON.Mismatch) {
      return Structure(name, try method.arguments(json: Array(list.dropFirst())))
    } catch {
      // The method's name precedes the arguments.
      guard case .element(let index)? = error.path.first else { throw error }
      throw JSON.Mismatch(path: [.element(index + 1)] + error.path.dropFirst(), why: error.why)
    }
  }

  private static func read(_ file: String, _ operation: String) throws(Failure) -> [UInt8] {
    func unreadable() -> Failure {
      Failure(operation, "cannot read the file: \(String(cString: strerror(errno)))", hint: "“-” reads standard input")
    }
    guard let stream = file == "-" ? fdopen(STDIN_FILENO, "r") : fopen(file, "re") else { throw unreadable() }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
      bytes.append(contentsOf: buffer[..<count])
      // The maximum size of a D-Bus message.
      guard bytes.count <= 128 << 20 else {
        throw Failure(operation, "expected at most 128 MiB, found more", status: .refused)
      }
    }
    guard ferror(stream) == 0 else { throw unreadable() }
    return bytes
  }
}
