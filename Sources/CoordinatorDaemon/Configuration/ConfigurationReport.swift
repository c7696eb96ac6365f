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
  /// Programs not found here, which navd may find, since it may have another `PATH`; and launchers without the scope
  /// that they need.
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

  /// Destinations that may not work, though their files have no mistake.
  static func warnings(of destinations: [Destination]) -> [FileFault] { destinations.flatMap(warnings) }

  private static func warnings(of destination: Destination) -> [FileFault] {
    guard case .file(let path) = destination.source, case .command(_, let scope) = destination.presenter,
      let binding = try? BindingID("any"),
      let arguments = destination.arguments(binding: binding, id: "", value: [:])?.map({ ByteString($0) })
    else { return [] }
    return [faultOfFinding(arguments[0]), scope == .tree ? faultOfScope(arguments) : nil].compactMap { message in
      message.map { FileFault(path, nil, $0) }
    }
  }

  /// Programs that start what their user chooses.
  private static let launchers: Set<ByteString> = [
    "rofi", "wofi", "fuzzel", "dmenu", "walker", "xdg-open", "gtk-launch",
  ]

  private static func faultOfScope(_ arguments: [ByteString]) -> String? {
    let name = ByteString(arguments[0].bytes.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? [])
    // With this option they only print what was chosen.
    guard launchers.contains(name), !arguments.contains("-dmenu"), !arguments.contains("--dmenu") else { return nil }
    return "\(name): what it starts ends with it; if it is a launcher, add scope = \"process\""
  }

  private static func faultOfFinding(_ program: ByteString) -> String? {
    // A relative path starts in the request's directory, which is unknown here.
    guard !program.isRelativePath else { return nil }
    let environment = ProcessEnvironment.ofThisProcess()
    do throws(SpawnError) {
      _ = try Command([program], environment: environment, directory: environment["HOME"] ?? "/").program()
      return nil
    } catch {
      return error.description
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
