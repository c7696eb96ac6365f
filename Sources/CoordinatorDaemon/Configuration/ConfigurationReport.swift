import CoordinatorAPI
import CoordinatorCore
import PresentationModel
import PresentationRules
import SessionFiles
import TextFormats

/// The result of `navctl check-config`: all mistakes in the files, found without a running daemon.
public struct ConfigurationReport {
  private let directories: [String]
  private let destinations: [Destination]
  private let containerValues: [String]
  private let faults: [FileFault]
  /// Names that no item can have; files that are not read; programs not found here, which navd may find with another `PATH`; launchers
  /// without the scope that they need; and keys for windows that cannot work with the adapter of this session.
  private let warnings: [FileFault]

  /// Reads the files as the daemon does.
  /// - Parameters:
  ///   - directory: as for `Configuration.init(only:)`; nil for the session's.
  ///   - displays: what is known of the windows of each display in this session; none without an adapter.
  public init(of directory: String?, displays: [(display: DisplayNames, facts: WindowSystemFacts)] = []) {
    var configuration =
      directory.map { Configuration(only: Array($0.utf8)) }
      ?? Configuration(baseDirectories: BaseDirectories.configuration())
    let found = configuration.reload()
    directories = configuration.directories.map(displayed)
    destinations = found.destinations
    containerValues = found.containerValues.map(\.key)
    faults = found.faults
    // A single file does not contain the destinations.
    let startup =
      configuration.directories.isEmpty
      ? nil : configuration.startup?.rehearsal(found.destinations, found.containerValues, found.inlineCommands)
    var ofConfiguration = ConfigurationWarnings(
      of: found.destinations, groups: configuration.groups, in: configuration.searched)
    warnings =
      ofConfiguration.all + WindowSystemFacts.faults(of: found.destinations, on: displays)
      + (startup.map { [$0] } ?? [])
  }

  public var isFaultless: Bool { faults.isEmpty }

  /// One line for each mistake and each warning; a summary if there is no mistake.
  public var text: String {
    var lines = faults.map { "\($0)" } + warnings.map { "\(FileFault($0.file, $0.position, "warning: \($0.message)"))" }
    if faults.isEmpty {
      lines.append(
        "\(Self.count(destinations, "destination")), \(Self.count(containerValues, "container value")), no mistakes")
    }
    return lines.joined(separator: "\n")
  }

  private static func count(_ list: [some Any], _ name: String) -> String {
    "\(list.count) \(name)\(list.count == 1 ? "" : "s")"
  }

  /// One line of JSON: the directories of destination files, the names loaded, what they say of windows, the mistakes and the warnings.
  public var json: String {
    func names(_ list: [String]) -> JSON { .array(list.map { .string($0) }) }
    return JSON.object([
      "directories": names(directories), "destinations": names(destinations.map(\.name)),
      "windows": .object(
        Dictionary(
          uniqueKeysWithValues: destinations.compactMap { destination in
            destination.entry.window.map { (destination.name, JSON($0)) }
          })),
      "container-values": names(containerValues),
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
