import SessionFiles
import TextFormats

/// Finds files that look like those of destinations, and that navd does not read.
enum MisplacedFiles {
  /// - Parameter directories: the directories of destination files.
  /// - Returns: a warning for each file whose name ends almost as it should, and for each beside its directory.
  static func warnings(in directories: [[UInt8]]) -> [FileFault] {
    directories.flatMap { directory in
      names(in: directory).filter(isMisspelt).map {
        fault(directory, $0, "this file is not read, since its name does not end with “.toml”")
      } + misplaced(beside: directory)
    }
  }

  private static func misplaced(beside directory: [UInt8]) -> [FileFault] {
    // A path that ends with a slash was named by its user, who means this directory alone.
    guard Configuration.isOfDestinations(directory), let end = directory.lastIndex(of: UInt8(ascii: "/")),
      end + 1 < directory.count
    else { return [] }
    let root = Array(directory[..<end])
    return names(in: root).filter {
      Configuration.isDestinationFile($0) && !$0.elementsEqual(SettingsFile.name.utf8)
    }.map { fault(root, $0, "this file is not read; one of a destination belongs into \(displayed(directory))") }
  }

  /// Whether an ending is a misspelt “toml”, as in `mixer.tml`. Copies such as `mixer.toml.bak` and `mixer.toml~` are meant.
  private static func isMisspelt(_ name: [UInt8]) -> Bool {
    let parts = name.split(separator: UInt8(ascii: "."))
    guard parts.count > 1, !Configuration.isDestinationFile(name), let last = parts.last else { return false }
    let ending = String(decoding: last, as: UTF8.self)
    return ending.allSatisfy(\.isLetter) && nearest(to: ending, among: ["toml"]) != nil
      || name.suffix(9).elementsEqual(".toml.txt".utf8)
  }

  /// The names of a directory that can be read.
  private static func names(in directory: [UInt8]) -> [[UInt8]] {
    ((try? SafeFiles.names(in: directory)) ?? nil) ?? []
  }

  private static func fault(_ directory: [UInt8], _ name: [UInt8], _ why: String) -> FileFault {
    FileFault(displayed(directory + [UInt8(ascii: "/")] + name), nil, why)
  }
}
