import SessionFiles

/// The desktop files of installed programs, read for what they say about the programs' windows.
struct DesktopEntries {
  /// The ids of windows by the name of the program that a file starts without arguments; one list for each file.
  private var ids: [String: [[String]]] = [:]

  /// Reads the desktop files of the session. The first of several files with one name counts.
  init(directories: [[UInt8]] = BaseDirectories.data()) {
    for id in Application.ids(in: directories) {
      guard let (_, content) = try? Application.desktopFile(of: id, in: directories) else { continue }
      add(content, id: id)
    }
  }

  private mutating func add(_ content: [UInt8], id: String) {
    let file = DesktopFile(content)
    // Words such as %U stand for files that the user opens with the program.
    let words = (file["Exec"] ?? "").split(separator: " ").filter { $0.first != "%" }
    guard words.count == 1, let program = words[0].split(separator: "/").last else { return }
    ids[String(program), default: []].append([id] + (file["StartupWMClass"].map { [$0] } ?? []))
  }

  /// The ids of a program's windows; none if several files start the program, because they may disagree.
  func ids(of program: String) -> [String] { ids[program].flatMap { $0.count == 1 ? $0[0] : nil } ?? [] }
}
