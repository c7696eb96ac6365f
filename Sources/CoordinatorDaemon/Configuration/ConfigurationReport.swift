import CoordinatorAPI
import PresentationModel
import PresentationRules
import Processes
import TextFormats

/// The result of `navctl check-config`: all mistakes in the files, found without a running daemon.
public struct ConfigurationReport {
  private let destinations: [String]
  private let containerValues: [String]
  private let faults: [FileFault]
  /// Programs not found here. navd may find them, since it may have another `PATH`.
  private let warnings: [FileFault]

  /// Reads the files as the daemon does.
  /// - Parameter directory: as for `Configuration.init(only:)`; nil for the session's.
  public init(of directory: String?) {
    var configuration =
      directory.map { Configuration(only: Array($0.utf8)) }
      ?? Configuration(baseDirectories: Configuration.baseDirectories())
    let found = configuration.reload()
    destinations = found.destinations.map(\.name)
    containerValues = found.containerValues.map(\.key)
    faults = found.faults
    warnings = Self.warnings(of: found.destinations)
  }

  /// The commands whose program cannot be found.
  static func warnings(of destinations: [Destination]) -> [FileFault] { destinations.compactMap(warning) }

  private static func warning(of destination: Destination) -> FileFault? {
    guard case .file(let path) = destination.source, case .command = destination.presenter,
      let binding = try? BindingID("any"),
      let program = destination.arguments(binding: binding, id: "", value: [:])?.first.map({ ByteString($0) })
    else { return nil }
    // A relative path starts in the request's directory, which is unknown here.
    guard !program.isRelativePath else { return nil }
    let environment = ProcessEnvironment.ofThisProcess()
    do throws(SpawnError) {
      _ = try Command([program], environment: environment, directory: environment["HOME"] ?? "/").program()
      return nil
    } catch {
      return FileFault(path, nil, error.description)
    }
  }

  public var isFaultless: Bool { faults.isEmpty }

  /// One line for each mistake and each warning; a summary if there is no mistake.
  public var text: String {
    var lines = faults.map { "\($0)" } + warnings.map { "\($0.file): warning: \($0.message)" }
    if faults.isEmpty {
      lines.append(
        "\(Self.count(destinations, "destination")), \(Self.count(containerValues, "container value")), no mistakes")
    }
    return lines.joined(separator: "\n")
  }

  private static func count(_ list: [String], _ name: String) -> String {
    "\(list.count) \(name)\(list.count == 1 ? "" : "s")"
  }

  /// One line of JSON: the names loaded, the mistakes and the warnings.
  public var json: String {
    func names(_ list: [String]) -> JSON { .array(list.map { .string($0) }) }
    return JSON.object([
      "destinations": names(destinations), "container-values": names(containerValues),
      "faults": .array(faults.map(Self.json)), "warnings": .array(warnings.map(Self.json)),
    ]).text
  }

  private static func json(_ fault: FileFault) -> JSON {
    var members: [String: JSON] = ["file": .string(fault.file), "message": .string(fault.message)]
    members["line"] = fault.position.map { JSON($0.line) }
    members["column"] = fault.position.map { JSON($0.column) }
    return .object(members)
  }
}

extension ByteString {
  fileprivate var isRelativePath: Bool { bytes.contains(UInt8(ascii: "/")) && bytes.first != UInt8(ascii: "/") }
}
