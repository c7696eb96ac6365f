import CLinux
import Glibc
import SessionFiles

/// The desktop files of installed programs, for what they say about the programs' windows.
///
/// Many programs may start at once, and a desktop has hundreds of such files: they are read when
/// they are needed first, and again when one of them has changed.
final class DesktopEntries {
  /// The identity, size and time of a file or directory, of which at least one changes with the content.
  private struct Stamp: Equatable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init?(_ path: [UInt8]) {
      var status = stat()
      guard SafeFiles.withPath(path, { stat($0, &status) }) == 0 else { return nil }
      (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
  }

  private let directories: [[UInt8]]
  /// The directories and files that were read; nil for a directory that was not there.
  private var stamps: [[UInt8]: Stamp?] = [:]
  /// The ids of windows by the name of the program that a file starts without arguments; one list for each file.
  private var ids: [String: [[String]]] = [:]

  /// - Parameter directories: those of the session's data, the most important first.
  init(directories: [[UInt8]] = BaseDirectories.data()) { self.directories = directories }

  /// The ids of a program's windows; none if several files start the program, because they may
  /// disagree.
  func ids(of program: String) -> [String] {
    if stamps.isEmpty || stamps.contains(where: { Stamp($0.key) != $0.value }) { read() }
    return ids[program].flatMap { $0.count == 1 ? $0[0] : nil } ?? []
  }

  /// Reads the desktop files of the session. The first of several files with one name counts.
  private func read() {
    (stamps, ids) = ([:], [:])
    // The stamps come first, so that a later change is noticed.
    for directory in directories.map(Application.directory(in:)) { stamps[directory] = Stamp(directory) }
    for id in Application.ids(in: directories) {
      guard let (path, content) = try? Application.desktopFile(of: id, in: directories) else { continue }
      stamps[path] = Stamp(path)
      add(content, id: id)
    }
  }

  private func add(_ content: [UInt8], id: String) {
    let file = DesktopFile(content)
    // Words such as %U stand for files that the user opens with the program.
    let words = (file["Exec"] ?? "").split(separator: " ").filter { $0.first != "%" }
    guard words.count == 1, let program = words[0].split(separator: "/").last else { return }
    ids[String(program), default: []].append([id] + (file["StartupWMClass"].map { [$0] } ?? []))
  }
}
