import CoordinatorCore
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import SessionFiles
import TextFormats

/// The destinations and container values that files declare. A mistake in a file never unloads an earlier version of it.
public struct Configuration {
  /// The largest file that is read, in bytes (L1).
  static let maxFileBytes = 1 << 20

  /// The directories of destination files `NAME.toml`; for each name the first file found counts.
  let directories: [[UInt8]]
  /// The directories in which all files are read.
  var searched: [[UInt8]] { onlyFile == nil ? directories : [] }
  /// Paths of `navd.toml`; the first file found counts.
  let settingsFiles: [[UInt8]]
  /// Whether a missing directory is a mistake: the user named this one, while the session's directories are optional.
  private let isDirectoryRequired: Bool
  /// The name of the one file to read; nil for all.
  private let onlyFile: [UInt8]?
  /// The files as last read, so that an unchanged file is not parsed again.
  private var files: [String: ParsedFile] = [:]
  /// The file of settings as last read; nil if there was none.
  private var settingsFile: (path: [UInt8], content: SettingsFile.Content)?
  /// The destinations in effect, which may come from an earlier text of their files.
  private var destinations: [String: Destination] = [:]
  /// The first mistake of each file, by the name of its destination, which may be in effect from an earlier text.
  private(set) var mistakes: [String: FileFault] = [:]
  /// The setting in effect; nil before the first reading.
  private var inlineCommands: InlineCommands?
  /// The effect of each hold, as last read without a mistake (H3).
  private var holds: [String: HoldAction] = [:]
  /// The settings of groups in effect (K1, G10).
  private(set) var groups: [BindingID: TimedGroup] = [:]
  /// The transaction of the start; nil if there is none, or it has a mistake (K4).
  private(set) var startup: StartupFile?
  /// The path of the startup file, whether it can be read or not.
  private(set) var startupPath: [UInt8]?

  /// The content of all files.
  struct Content {
    /// The destinations, sorted by name.
    let destinations: [Destination]
    let containerValues: [DeclaredContainerValue]
    let inlineCommands: InlineCommands
    /// The effects of holds on their items (H3).
    let holds: [String: HoldAction]
    let faults: [FileFault]
  }

  private struct ParsedFile {
    let path: [UInt8]
    let text: [UInt8]
    let result: Result<Destination, FileFaults>

    /// Whether the result may change while this file does not, for example by a changed desktop
    /// file.
    var mayChangeByItself: Bool {
      switch result {
      case .success(let destination): destination.itemSettings?.desktop != nil
      case .failure: true
      }
    }
  }

  /// The desktop files that may define the commands of destinations, whether they exist or not.
  var desktopFiles: [[UInt8]] {
    Set(destinations.values.compactMap { $0.itemSettings?.desktop }).sorted().flatMap { Application.paths(of: $0) }
  }

  /// The configuration of a session: `navd/destinations` and `navd/navd.toml` in each base directory.
  /// - Parameter baseDirectories: absolute paths, the most important first.
  public init(baseDirectories: [[UInt8]]) { self.init(roots: baseDirectories.map { $0 + Array("/navd".utf8) }) }

  /// The configuration that `check-config PATH` reads: a file, `DIR/navd` or `DIR`, whichever contains `destinations` or
  /// `navd.toml`; otherwise the destination files in `DIR` itself.
  public init(only directory: [UInt8]) {
    if (try? SafeFiles.content(of: directory, maxBytes: Self.maxFileBytes)) != nil {
      let slash = directory.lastIndex(of: UInt8(ascii: "/"))
      let name = slash.map { directory[($0 + 1)...] } ?? directory[...]
      let parent = slash.map { Array(directory[..<$0]) } ?? [UInt8(ascii: ".")]
      // In a directory called `destinations`, `navd.toml` declares the destination `navd`.
      let isSettings =
        name.elementsEqual(SettingsFile.name.utf8)
        && !Self.isOfDestinations(parent)
      self.init(
        directories: isSettings ? [] : [parent], settingsFiles: isSettings ? [directory] : [],
        isDirectoryRequired: true, only: Array(name))
      return
    }
    let roots = [directory + Array("/navd".utf8), directory]
    if let root = roots.first(where: Self.isRoot) {
      self.init(roots: [root])
    } else {
      self.init(directories: [directory], settingsFiles: [], isDirectoryRequired: true, only: nil)
    }
  }

  private init(roots: [[UInt8]]) {
    self.init(
      directories: roots.map(Self.destinations), settingsFiles: roots.map(Self.settings), isDirectoryRequired: false,
      only: nil)
  }

  private init(directories: [[UInt8]], settingsFiles: [[UInt8]], isDirectoryRequired: Bool, only file: [UInt8]?) {
    onlyFile = file
    self.directories = directories
    self.settingsFiles = settingsFiles
    self.isDirectoryRequired = isDirectoryRequired
  }

  private static func destinations(in root: [UInt8]) -> [UInt8] { root + Array("/destinations".utf8) }
  private static func settings(in root: [UInt8]) -> [UInt8] { root + Array("/\(SettingsFile.name)".utf8) }

  /// Whether a directory has the name of those of destinations.
  static func isOfDestinations(_ directory: [UInt8]) -> Bool {
    directory.split(separator: UInt8(ascii: "/")).last?.elementsEqual("destinations".utf8) == true
  }

  /// Whether a file of this name in a directory of destinations declares one.
  static func isDestinationFile(_ name: [UInt8]) -> Bool {
    name.suffix(5).elementsEqual(".toml".utf8) && name.first != UInt8(ascii: ".")
  }

  private static func isRoot(_ directory: [UInt8]) -> Bool {
    if (try? SafeFiles.names(in: destinations(in: directory))) != nil { return true }
    // In a directory called `destinations`, `navd.toml` declares the destination `navd`.
    if isOfDestinations(directory) { return false }
    do { return try SafeFiles.content(of: settings(in: directory), maxBytes: maxFileBytes) != nil } catch {
      return true
    }
  }

  /// Reads all files again.
  ///
  /// A destination whose file has a mistake keeps its last valid version, if any; a file of the same name in a later
  /// directory does not replace it. A destination without a file is removed. Container values are returned only if the
  /// whole file is valid; the values declared so far stay declared in any case (V1).
  /// - Parameter isSettled: whether no program is writing the files. If not, a missing or empty file is one that an editor is about
  ///   to write, and the last version stays in effect.
  /// - Returns: the configuration in effect, and all mistakes.
  mutating func reload(isSettled: Bool = true) -> Content {
    let (settings, path) = readSettings(isSettled)
    // An unreadable setting keeps its last value; at the start it permits nothing.
    let inlineCommands = settings.inlineCommands ?? self.inlineCommands ?? .undecided(file: path)
    self.inlineCommands = inlineCommands
    holds = settings.holds ?? holds
    var faults = settings.faults
    if faults.isEmpty { groups = settings.groups }
    startup = nil
    startupPath = settings.startup
    if let path = settings.startup {
      do throws(FileFault) { startup = try StartupFile(path: path, maxBytes: Self.maxFileBytes) } catch {
        faults.append(error)
      }
    }
    faults += reloadDestinations(isSettled)
    return Content(
      destinations: destinations.values.sorted { $0.name < $1.name }, containerValues: settings.containerValues,
      inlineCommands: inlineCommands, holds: holds, faults: faults)
  }

  private mutating func readSettings(_ isSettled: Bool) -> (content: SettingsFile.Content, path: String) {
    for path in settingsFiles {
      do throws(SafeFiles.Unreadable) {
        let text = try SafeFiles.content(of: path, maxBytes: Self.maxFileBytes)
        if !isSettled, text?.isEmpty != false, let settingsFile, settingsFile.path == path {
          return (settingsFile.content, displayed(path))
        }
        guard let text else { continue }
        var content = SettingsFile.read(text, path: displayed(path))
        if let startup = content.startup, startup.first != UInt8(ascii: "/") {
          content.startup = path[..<(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)] + startup
        }
        settingsFile = (path, content)
        return (content, displayed(path))
      } catch {
        return (SettingsFile.Content(faults: [FileFault(displayed(path), nil, error.why)]), displayed(path))
      }
    }
    settingsFile = nil
    return (SettingsFile.Content(inlineCommands: .allowed, holds: [:]), "")
  }

  /// - Returns: all mistakes.
  private mutating func reloadDestinations(_ isSettled: Bool) -> [FileFault] {
    var faults: [FileFault] = []
    var newFiles: [String: ParsedFile] = [:]
    var newDestinations: [String: Destination] = [:]
    mistakes = [:]
    var found: Set<String> = []
    let applications = InstalledApplications()
    /// Keeps the last versions of a directory's matching files.
    func keep(from directory: [UInt8], where isSuch: (String) -> Bool) {
      for (name, file) in files where file.path.starts(with: directory + [UInt8(ascii: "/")]) && isSuch(name) {
        guard found.insert(name).inserted else { continue }
        newDestinations[name] = destinations[name]
        newFiles[name] = file
      }
    }
    for directory in directories {
      let names: [[UInt8]]
      do throws(SystemError) {
        if let found = try SafeFiles.names(in: directory) {
          names = found
        } else {
          if isDirectoryRequired { throw SystemError(code: ENOENT, operation: "open") }
          names = []
        }
      } catch {
        faults.append(FileFault(displayed(directory), nil, "cannot be read: \(error.reason)"))
        keep(from: directory) { _ in true }
        continue
      }
      if !isSettled {
        let present = Set(names)
        keep(from: directory) { !present.contains(Array("\($0).toml".utf8)) }
      }
      if let onlyFile, !onlyFile.suffix(5).elementsEqual(".toml".utf8) {
        faults.append(FileFault(displayed(directory + Array("/".utf8) + onlyFile), nil, "expected a file NAME.toml"))
      }
      for fileName in names where Self.isDestinationFile(fileName) && (onlyFile ?? fileName) == fileName {
        let path = directory + [UInt8(ascii: "/")] + fileName
        guard let name = String(validating: fileName.dropLast(5), as: UTF8.self) else {
          faults.append(FileFault(displayed(path), nil, "the file's name is not UTF-8; use another name"))
          continue
        }
        guard !found.contains(name) else { continue }
        do throws(SafeFiles.Unreadable) {
          guard var text = try SafeFiles.content(of: path, maxBytes: Self.maxFileBytes) else { continue }
          if !isSettled, text.isEmpty, let file = files[name], file.path == path { text = file.text }
          let file = parse(text, name: name, path: path, applications)
          newFiles[name] = file
          switch file.result {
          case .success(let destination): newDestinations[name] = destination
          case .failure(let error):
            faults += error.all
            newDestinations[name] = destinations[name]
            mistakes[name] = error.all[0]
          }
        } catch {
          let fault = FileFault(displayed(path), nil, error.why)
          faults.append(fault)
          newFiles[name] = files[name]
          newDestinations[name] = destinations[name]
          mistakes[name] = fault
        }
        found.insert(name)
      }
    }
    files = newFiles
    destinations = newDestinations
    return faults
  }

  private func parse(
    _ text: [UInt8], name: String, path: [UInt8], _ applications: InstalledApplications
  ) -> ParsedFile {
    if let file = files[name], file.path == path, file.text == text, !file.mayChangeByItself { return file }
    let result = Result { () throws(FileFaults) in
      try DestinationFile.read(text, name: name, path: displayed(path), applications: applications)
    }
    return ParsedFile(path: path, text: text, result: result)
  }
}
