// Why this file exists: what files say is looked up in one order, and a file with a mistake takes away nothing that had
// been loaded before.

import CoordinatorCore
import EventLoops
import Glibc
import PresentationRules
import TextFormats

/// The destinations and the container values that files declare.
public struct Configuration {
  /// The largest file that is read, in bytes (L1).
  public static let largestFile = 1 << 20

  /// Where files of the name `NAME.toml` are looked for, the first found wins.
  private let directories: [[UInt8]]
  /// Where `navd.toml` is looked for, the first found is the one.
  private let settingsFiles: [[UInt8]]
  /// Whether a directory that is not there is a mistake: one that somebody named, not one of those that may be.
  private let isNamed: Bool
  /// What was read of each name's file the last time, so that a file that is as it was is not parsed again.
  private var files: [String: FileState] = [:]
  /// What counts, which may be what an earlier text of the file said.
  private var loaded: [String: Destination] = [:]
  /// The same; nil before the first reading.
  private var inlineCommands: InlineCommands?

  private struct FileState {
    let path: [UInt8]
    let text: [UInt8]
    let result: Result<Destination, FileFaults>
  }

  /// The configuration of a session: `navd/destinations` and `navd/navd.toml` in each base directory.
  /// - Parameter baseDirectories: absolute paths, the most important first.
  public init(baseDirectories: [[UInt8]]) { self.init(roots: baseDirectories.map { $0 + Array("/navd".utf8) }) }

  /// What `check-config DIR` reads: `DIR/navd`, or else `DIR`, where `destinations` or `navd.toml` stands in it; or else
  /// the destination files in `DIR` itself.
  public init(only directory: [UInt8]) {
    let roots = [directory + Array("/navd".utf8), directory]
    if let root = roots.first(where: Self.isRoot) {
      self.init(roots: [root])
    } else {
      self.init(directories: [directory], settingsFiles: [], isNamed: true)
    }
  }

  private init(roots: [[UInt8]]) {
    self.init(
      directories: roots.map(Self.destinations), settingsFiles: roots.map(Self.settings), isNamed: false)
  }

  private init(directories: [[UInt8]], settingsFiles: [[UInt8]], isNamed: Bool) {
    self.directories = directories
    self.settingsFiles = settingsFiles
    self.isNamed = isNamed
  }

  private static func destinations(in root: [UInt8]) -> [UInt8] { root + Array("/destinations".utf8) }
  private static func settings(in root: [UInt8]) -> [UInt8] { root + Array("/\(SettingsFile.name)".utf8) }

  private static func isRoot(_ directory: [UInt8]) -> Bool {
    if (try? ConfigurationFiles.names(in: destinations(in: directory))) != nil { return true }
    // Among destinations, it is the file of one.
    guard directory.split(separator: UInt8(ascii: "/")).last?.elementsEqual("destinations".utf8) != true else {
      return false
    }
    do { return try ConfigurationFiles.content(of: settings(in: directory), most: largestFile) != nil } catch {
      return true
    }
  }

  /// `$XDG_CONFIG_HOME`, `$XDG_CONFIG_DIRS` and `$XDG_DATA_DIRS`, with the defaults of the XDG Base Directory
  /// Specification. As it says, what is empty counts as not set and what is not absolute is passed over.
  /// - Parameter variable: looks up an environment variable.
  public static func baseDirectories(
    _ variable: (String) -> [UInt8]? = { name in
      getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  ) -> [[UInt8]] {
    func list(_ name: String, default standard: [UInt8]) -> [[UInt8]] {
      let value = variable(name) ?? []
      return (value.isEmpty ? standard : value).split(separator: UInt8(ascii: ":")).map(Array.init)
    }
    let home = variable("HOME").map { $0 + Array("/.config".utf8) } ?? []
    // One path, in which a colon is a letter like any other.
    let configHome = variable("XDG_CONFIG_HOME").flatMap { $0.isEmpty ? nil : $0 } ?? home
    let all =
      [configHome] + list("XDG_CONFIG_DIRS", default: Array("/etc/xdg".utf8))
      + list("XDG_DATA_DIRS", default: Array("/usr/local/share:/usr/share".utf8))
    return all.filter { $0.first == UInt8(ascii: "/") }
  }

  /// Reads all files again.
  ///
  /// A name whose file has a mistake keeps what was loaded of it before, if anything; a file further down the order does
  /// not stand in for it. A name without a file any more is gone. Container values are there only if all that the file
  /// declares could be read: what has been declared stays so anyway (V1).
  /// - Returns: what counts now, destinations in the order of names, and all mistakes.
  mutating func reload() -> (
    destinations: [Destination], containerValues: [DeclaredContainerValue], inlineCommands: InlineCommands,
    faults: [FileFault]
  ) {
    let (settings, path) = readSettings()
    // What cannot be told stays as it was; a mistake at the start is no leave.
    let inlineCommands = settings.inlineCommands ?? self.inlineCommands ?? .undecided(file: path)
    self.inlineCommands = inlineCommands
    let (destinations, mistaken) = reloadDestinations()
    return (destinations, settings.containerValues, inlineCommands, settings.faults + mistaken)
  }

  private func readSettings() -> (content: SettingsFile.Content, path: String) {
    for path in settingsFiles {
      do throws(ConfigurationFiles.Unreadable) {
        guard let text = try ConfigurationFiles.content(of: path, most: Self.largestFile) else { continue }
        return (SettingsFile.read(text, path: displayed(path)), displayed(path))
      } catch {
        return (SettingsFile.Content(faults: [FileFault(displayed(path), nil, error.why)]), displayed(path))
      }
    }
    return (SettingsFile.Content(inlineCommands: .allowed), "")
  }

  private mutating func reloadDestinations() -> (destinations: [Destination], faults: [FileFault]) {
    var faults: [FileFault] = []
    var states: [String: FileState] = [:]
    var counting: [String: Destination] = [:]
    var found: Set<String> = []
    for directory in directories {
      let names: [[UInt8]]
      do throws(SystemError) {
        if let found = try ConfigurationFiles.names(in: directory) {
          names = found
        } else {
          if isNamed { throw SystemError(code: ENOENT, operation: "open") }
          continue
        }
      } catch {
        faults.append(FileFault(displayed(directory), nil, "cannot be read: \(error.reason)"))
        for (name, state) in files where state.path.starts(with: directory + [UInt8(ascii: "/")]) {
          if found.insert(name).inserted {
            counting[name] = loaded[name]
            states[name] = state
          }
        }
        continue
      }
      for fileName in names where fileName.suffix(5).elementsEqual(".toml".utf8) {
        let path = directory + [UInt8(ascii: "/")] + fileName
        guard let name = String(validating: fileName.dropLast(5), as: UTF8.self) else {
          faults.append(
            FileFault(displayed(path), nil, "has a name that is no UTF-8, so nobody can ask for it; rename it")
          )
          continue
        }
        guard !found.contains(name) else { continue }
        do throws(ConfigurationFiles.Unreadable) {
          guard let text = try ConfigurationFiles.content(of: path, most: Self.largestFile) else { continue }
          let state = read(text, name: name, path: path)
          states[name] = state
          switch state.result {
          case .success(let destination): counting[name] = destination
          case .failure(let error):
            faults += error.all
            counting[name] = loaded[name]
          }
        } catch {
          faults.append(FileFault(displayed(path), nil, error.why))
          states[name] = files[name]
          counting[name] = loaded[name]
        }
        found.insert(name)
      }
    }
    files = states
    loaded = counting
    return (loaded.values.sorted { $0.name < $1.name }, faults)
  }

  private func read(_ text: [UInt8], name: String, path: [UInt8]) -> FileState {
    if let state = files[name], state.path == path, state.text == text { return state }
    let result = Result { () throws(FileFaults) in
      try DestinationFile.read(text, name: name, path: displayed(path))
    }
    return FileState(path: path, text: text, result: result)
  }
}
