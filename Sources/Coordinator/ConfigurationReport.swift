// Why this file exists: files can be checked where no daemon runs, by people before they reload and by scripts.

import CoordinatorAPI
import Presentation

/// What a look at the destination files finds.
public struct ConfigurationReport {
  private let destinations: [String]
  private let faults: [ConfigurationFault]

  /// Reads the files as the daemon would.
  /// - Parameter directory: as for `Configuration.init(only:)`; nil for those in use.
  public init(of directory: String?) {
    var configuration =
      directory.map { Configuration(only: Array($0.utf8)) }
      ?? Configuration(baseDirectories: Configuration.baseDirectories())
    let found = configuration.reload()
    destinations = found.destinations.map(\.name)
    faults = found.faults
  }

  public var isFaultless: Bool { faults.isEmpty }

  /// A line for each mistake, or one that there is none.
  public var text: String {
    faults.isEmpty ? "\(destinations.count) destinations, no mistake" : faults.map { "\($0)" }.joined(separator: "\n")
  }

  /// The same as one JSON value on one line: the names that could be loaded, and the mistakes.
  public var json: String {
    let faults = faults.map { fault in
      var members: [String: JSON] = ["file": .string(fault.file), "message": .string(fault.message)]
      members["line"] = fault.position.map { JSON($0.line) }
      members["column"] = fault.position.map { JSON($0.column) }
      return JSON.object(members)
    }
    return JSON.object(["destinations": .array(destinations.map { .string($0) }), "faults": .array(faults)]).text
  }
}
