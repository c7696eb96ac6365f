import Glibc

/// The desktop files of installed programs, for what they say of the programs' windows.
struct DesktopEntries {
  /// The ids of windows, a list for each file, by the name of the program that the file starts without arguments.
  private var ids: [String: [[String]]] = [:]
  private static let maxBytes = 1 << 20

  /// Reads those of the session. The first of several files with one name counts.
  init(directories: [[UInt8]] = Configuration.dataDirectories()) {
    var seen: Set<[UInt8]> = []
    for directory in directories.map({ $0 + Array("/applications".utf8) }) {
      for name in (try? ConfigurationFiles.names(in: directory)) ?? []
      where name.suffix(8).elementsEqual(".desktop".utf8) && seen.insert(name).inserted {
        let path = directory + [UInt8(ascii: "/")] + name
        guard let content = try? ConfigurationFiles.content(of: path, maxBytes: Self.maxBytes) else { continue }
        add(String(decoding: content, as: UTF8.self), id: String(decoding: name.dropLast(8), as: UTF8.self))
      }
    }
  }

  private mutating func add(_ text: String, id: String) {
    var isEntry = false
    var values: [Substring: Substring] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      if line.first == "[" { isEntry = line == "[Desktop Entry]" }
      guard isEntry, let equals = line.firstIndex(of: "=") else { continue }
      values[line[..<equals]] = line[line.index(after: equals)...]
    }
    // Such as %U, for what its user opens with it.
    let words = (values["Exec"] ?? "").split(separator: " ").filter { $0.first != "%" }
    guard words.count == 1, let program = words[0].split(separator: "/").last else { return }
    ids[String(program), default: []].append([id] + (values["StartupWMClass"].map { [String($0)] } ?? []))
  }

  /// The ids of a program's windows; none if several files start it, which may disagree.
  func ids(of program: String) -> [String] { ids[program].flatMap { $0.count == 1 ? $0[0] : nil } ?? [] }
}
