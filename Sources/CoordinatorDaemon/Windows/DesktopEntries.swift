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
        add(content, id: String(decoding: name.dropLast(8), as: UTF8.self))
      }
    }
  }

  private mutating func add(_ content: [UInt8], id: String) {
    var isEntry = false
    var (command, windowClass): (String?, String?)
    // Bytes, not characters: most lines are translations, and everybody waits until all files are read.
    for line in content.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      if line.first == UInt8(ascii: "[") { isEntry = line.elementsEqual("[Desktop Entry]".utf8) }
      guard isEntry else { continue }
      command = Self.value(of: "Exec", in: line) ?? command
      windowClass = Self.value(of: "StartupWMClass", in: line) ?? windowClass
    }
    // Words such as %U stand for files that its user opens with it.
    let words = (command ?? "").split(separator: " ").filter { $0.first != "%" }
    guard words.count == 1, let program = words[0].split(separator: "/").last else { return }
    ids[String(program), default: []].append([id] + (windowClass.map { [$0] } ?? []))
  }

  /// The value that a line gives a key; nil if it is about another key.
  private static func value(of key: StaticString, in line: ArraySlice<UInt8>) -> String? {
    let count = key.utf8CodeUnitCount
    guard line.count > count, line[line.startIndex + count] == UInt8(ascii: "="),
      line.prefix(count).elementsEqual(UnsafeBufferPointer(start: key.utf8Start, count: count))
    else { return nil }
    return String(decoding: line.dropFirst(count + 1), as: UTF8.self)
  }

  /// The ids of a program's windows; none if several files start it, which may disagree.
  func ids(of program: String) -> [String] { ids[program].flatMap { $0.count == 1 ? $0[0] : nil } ?? [] }
}
