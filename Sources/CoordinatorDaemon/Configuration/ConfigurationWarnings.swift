import PresentationModel
import PresentationRules
import Processes
import TextFormats

/// Destinations that may not work, though their files have no mistake: names that no item can have, programs that are not found,
/// launchers without the scope that they need, patterns that look like regular expressions, items that count as shown too early, and files
/// that are not read. Looking for these takes longer than reading the files, so it waits for the first request for the warnings.
struct ConfigurationWarnings {
  private struct Warning {
    let fault: FileFault
    /// The program that was not found; nil for another warning.
    let missing: ProgramSearch.Program?
  }

  private let destinations: [Destination]
  /// The groups that have fallbacks, with the names of these, in the order of the groups' names.
  private let fallbacks: [(group: String, names: [String])]
  /// The warnings about names that no item can have. They depend on the files only.
  let ofNames: [FileFault]
  /// The directories that are searched for files.
  private let directories: [[UInt8]]
  private lazy var warnings =
    (ofNames + MisplacedFiles.warnings(in: directories)).map { Warning(fault: $0, missing: nil) }
    + ofPrograms + ofFallbacks + ofUnseenItems

  init() { self.init(of: []) }

  /// - Parameters:
  ///   - groups: the settings of groups (K1).
  ///   - directories: those that are searched for files of destinations.
  init(of destinations: [Destination], groups: [BindingID: TimedGroup] = [:], in directories: [[UInt8]] = []) {
    self.destinations = destinations
    self.directories = directories
    fallbacks = groups.filter { !$0.value.fallbacks.isEmpty }.sorted { $0.key.text < $1.key.text }.map {
      ($0.key.text, $0.value.fallbacks.map(\.destination))
    }
    ofNames = destinations.compactMap { destination in
      guard case .file(let path) = destination.source else { return nil }
      return BindingID.warning(ofDestination: destination.name).map { FileFault(path, nil, $0) }
    }
  }

  private var ofPrograms: [Warning] {
    var search = ProgramSearch()
    return destinations.flatMap { Self.warnings(of: $0, &search) }
  }

  private var ofFallbacks: [Warning] {
    let known = Set(fallbacks.isEmpty ? [] : destinations.map(\.name))
    return fallbacks.flatMap { group, names in
      names.filter { !known.contains($0) }.map { name in
        let why =
          "the fallback \(quoted(name)) of “\(group)” has no file \(quoted("\(name).toml")), so nothing is shown unless a "
          + "program registers it"
        return Warning(fault: FileFault(SettingsFile.name, nil, why), missing: nil)
      }
    }
  }

  /// A sign with a fallback is never empty, unless an item counts as shown before it is to be seen.
  private var ofUnseenItems: [Warning] {
    destinations.compactMap { destination in
      guard case .file(let path) = destination.source, destination.command != nil, destination.window == nil,
        destination.itemSettings?.awaitsReady != true,
        let (group, _) = fallbacks.first(where: { $0 == destination.group?.text || $1.contains(destination.name) })
      else { return nil }
      let why =
        "the group “\(group)” has a fallback, and this item counts as shown as soon as its program runs; add window = true, or "
        + "ready = \"notify\" if the program says when it is ready"
      return Warning(fault: FileFault(path, nil, why), missing: nil)
    }
  }

  var all: [FileFault] {
    mutating get { warnings.map(\.fault) }
  }

  /// The first warnings, without those about programs that were installed meanwhile.
  mutating func first(_ count: Int) -> [FileFault] {
    var search = ProgramSearch()
    return warnings.prefix(count).filter { $0.missing == nil || search.fault(of: $0.missing!) != nil }.map(\.fault)
  }

  private static func warnings(of destination: Destination, _ search: inout ProgramSearch) -> [Warning] {
    guard case .file(let path) = destination.source else { return [] }
    var warnings: [Warning] = []
    let (settings, arguments, scope) = (destination.itemSettings, destination.command, destination.scope)
    for command in [arguments, settings?.onPresent, settings?.onDismiss, settings?.check?.command] {
      guard let program = command.flatMap({ search.program(of: $0, settings?.options) }) else { continue }
      if let why = search.fault(of: program) {
        warnings.append(Warning(fault: FileFault(path, nil, why), missing: program))
      }
    }
    if let window = destination.window, window.endsLeftover, !window.takesAll {
      let key = window.kills ? "kill = true" : "leftover = \"end\""
      let why =
        "\(key) ends the program after the item's window, but not while it shows another one, which its user may have opened; "
        + "with windows = \"all\", all windows are the item's"
      warnings.append(Warning(fault: FileFault(path, nil, why), missing: nil))
    }
    for (key, pattern) in [("app-id", destination.window?.pattern.appID), ("title", destination.window?.pattern.title)]
    {
      guard let pattern, isLikeExpression(pattern) else { continue }
      let why =
        "“\(key)”: \(quoted(pattern)) looks like a regular expression, but it is a shell pattern: “*” is any text, “?” is one character, "
        + "and all other text is itself; such as \(key) = \"*name*\""
      warnings.append(Warning(fault: FileFault(path, nil, why), missing: nil))
    }
    if scope == .tree, let why = arguments.flatMap({ faultOfScope($0.map { ByteString($0) }) }) {
      warnings.append(Warning(fault: FileFault(path, nil, why), missing: nil))
    }
    return warnings
  }

  /// Whether a pattern has what regular expressions have, and the names and titles of windows seldom: criteria of compositors are such
  /// expressions.
  private static func isLikeExpression(_ pattern: String) -> Bool {
    ["^", ".*", "(?"].contains { pattern.hasPrefix($0) } || ["\\.", ".+"].contains { pattern.parted(at: $0) != nil }
      || ["(", "|", ")"].allSatisfy { pattern.parted(at: $0) != nil }
  }

  /// The programs that start the program of their user's choice.
  private static let launchers: Set<ByteString> = [
    "rofi", "wofi", "fuzzel", "dmenu", "walker", "xdg-open", "gtk-launch",
  ]

  private static func faultOfScope(_ arguments: [ByteString]) -> String? {
    let name = ByteString(arguments[0].bytes.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? [])
    // A launcher with this option only prints the choice.
    guard launchers.contains(name), !arguments.contains("-dmenu"), !arguments.contains("--dmenu") else { return nil }
    return "\(name): what it starts ends with it; if it is a launcher, add scope = \"process\""
  }
}

/// Finds the programs of commands as navd would find them for a request from here, and looks for each once.
private struct ProgramSearch {
  struct Program: Hashable {
    let name: ByteString
    let directory: ByteString
    /// The search path; nil if the variable is not set.
    let path: ByteString?
  }

  private lazy var environment = ProcessEnvironment.ofThisProcess()
  private var known: [Program: String?] = [:]

  /// - Parameters:
  ///   - settings: the directory and the variables of the command's destination.
  /// - Returns: nil for a relative path without a directory, because the command starts in the request's directory.
  mutating func program(of command: [[UInt8]], _ settings: ItemOptions?) -> Program? {
    let environment = environment
    func variable(_ name: String) -> ByteString? {
      settings?.environment?[name].map { ByteString($0) } ?? environment[ByteString(name)]
    }
    let home = variable("HOME") ?? "/"
    let name = ByteString(HomePath(command[0]).path(home: home))
    let directory = settings?.directory.map { ByteString(HomePath(Array($0.utf8)).path(home: home)) }
    if directory == nil, name.isRelativePath { return nil }
    return Program(name: name, directory: directory ?? home, path: variable("PATH"))
  }

  /// The reason why a program cannot be started; nil if it can.
  mutating func fault(of program: Program) -> String? {
    if let fault = known[program] { return fault }
    var fault: String?
    do throws(SpawnError) {
      var environment = environment
      environment["PATH"] = program.path
      _ = try Command([program.name], environment: environment, directory: program.directory).program()
    } catch {
      fault = error.description
    }
    known[program] = .some(fault)
    return fault
  }
}

extension ByteString {
  fileprivate var isRelativePath: Bool { bytes.contains(UInt8(ascii: "/")) && bytes.first != UInt8(ascii: "/") }
}
