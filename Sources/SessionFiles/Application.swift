import Glibc
import TextFormats

/// An installed application, or one of its actions, as its desktop file describes it.
package struct Application {
  /// The reason why there is no such application, as the rest of a sentence.
  package struct Mistake: Error { package let why: String }

  /// The id of the desktop file, such as `org.gnome.Calculator`.
  package let id: String
  /// The program and its arguments.
  package let arguments: [String]
  /// The name of the application in the language of the session.
  package let title: String?
  /// The working directory; nil if the file gives none.
  package let directory: String?
  /// The application id of the windows; nil if they belong to a terminal.
  package let windowID: String?

  /// Reads an application's desktop file.
  /// - Parameters:
  ///   - action: the name of an action; nil for the application itself.
  ///   - installed: the applications to look in.
  package init(
    _ id: String, action: String? = nil, in installed: InstalledApplications = InstalledApplications()
  ) throws(Mistake) {
    guard let (path, content) = try Self.desktopFile(of: id, in: installed.directories) else {
      let advice = installed.hint(for: id).map { "; did you mean “\($0)”?" } ?? ""
      throw Mistake(
        why:
          "no application \(quoted(id)) is installed (\(quoted("applications/\(id).desktop")) in $XDG_DATA_HOME or $XDG_DATA_DIRS)\(advice)"
      )
    }
    let file = DesktopFile(content, languages: DesktopFile.languages())
    let shown = String(decoding: path, as: UTF8.self)
    guard file.has(DesktopFile.entry), !file.isTrue("Hidden") else {
      throw Mistake(why: "expected a desktop file of an application, found \(shown), which says that there is none")
    }
    if let type = file["Type"], type != "Application" {
      throw Mistake(why: "expected the Type “Application” in \(shown), found \(quoted(type))")
    }
    if let program = file["TryExec"], !program.isEmpty, !ProgramPath.has(program) {
      throw Mistake(
        why: "the application is not installed: its program \(quoted(program)) (TryExec in \(shown)) is not there")
    }
    var group = DesktopFile.entry
    if let action {
      let actions = file.list("Actions")
      group = "Desktop Action \(action)"
      guard actions.contains(action), file.has(group) else {
        let found =
          actions.isEmpty ? "which has none" : "which has \(actions.map { "“\($0)”" }.joined(separator: ", "))"
        throw Mistake(why: "expected an action of \(shown), \(found), found \(quoted(action))")
      }
    }
    for (key, group) in [
      ("Name", DesktopFile.entry), ("Name", group), ("Icon", group), ("Exec", group), ("Path", DesktopFile.entry),
    ] {
      guard let text = file[key, in: group], text.unicodeScalars.contains(where: { $0 == "\0" || $0 == "\u{FFFD}" })
      else { continue }
      throw Mistake(why: "expected text in UTF-8 without NUL as \(key) in \(shown), found \(quoted(text))")
    }
    let names = [file["Name"], action == nil ? nil : file["Name", in: group]].compactMap(\.self)
    var arguments: [String]
    if let line = file["Exec", in: group], !line.isEmpty {
      do throws(ExecLine.Mistake) {
        let fields = ExecLine.Fields(icon: file["Icon", in: group] ?? file["Icon"], name: names.last ?? id, path: shown)
        arguments = try ExecLine(line, fields).arguments
      } catch {
        throw Mistake(why: "Exec in \(shown): \(error.why)")
      }
    } else if file.isTrue("DBusActivatable") {
      // The bus starts the application. Its windows are followed like those of a program that ran before.
      arguments = action.map { ["gapplication", "action", id, $0] } ?? ["gapplication", "launch", id]
    } else {
      throw Mistake(why: "expected Exec or DBusActivatable=true in \(shown), found neither")
    }
    let isInTerminal = file.isTrue("Terminal")
    if isInTerminal { arguments = try Self.terminal() + arguments }
    let directory = file["Path"]
    self.id = id
    self.arguments = arguments
    title = names.isEmpty ? nil : names.joined(separator: ": ")
    self.directory = directory?.isEmpty == true ? nil : directory
    windowID = isInTerminal ? nil : file["StartupWMClass"].flatMap { $0.isEmpty ? nil : $0 } ?? id
  }

  /// The ids of all installed applications, sorted.
  package static func ids(in directories: [[UInt8]] = BaseDirectories.data()) -> [String] {
    Set(
      directories.flatMap { (try? SafeFiles.names(in: directory(in: $0))) ?? [] }
        .filter { $0.suffix(Self.suffix.count).elementsEqual(Self.suffix) }
        .map { String(decoding: $0.dropLast(Self.suffix.count), as: UTF8.self) }
    ).sorted()
  }

  /// The directory of the desktop files in a directory of the session's data.
  package static func directory(in data: [UInt8]) -> [UInt8] { data + subdirectory }

  /// The paths at which the desktop file of an application may be, the most important first. A “-” in the id may stand for a “/”.
  package static func paths(of id: String, in directories: [[UInt8]] = BaseDirectories.data()) -> [[UInt8]] {
    var names = [Array(id.utf8)]
    for index in names[0].indices where names[0][index] == UInt8(ascii: "-") && index > 0 {
      var name = names[names.count - 1]
      name[index] = UInt8(ascii: "/")
      names.append(name)
    }
    // The path of an id stays below the directory, and a file name has at most 255 bytes.
    let safe = names.filter { name in
      name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .allSatisfy { ![[], Array(".".utf8), Array("..".utf8)].contains(Array($0)) }
    }
    return directories.flatMap { directory in safe.map { directory + subdirectory + "/".utf8 + $0 + suffix } }
  }

  private static let subdirectory = Array("/applications".utf8)
  private static let suffix = Array(".desktop".utf8)
  /// The largest length of an id in bytes, so that a file name can hold it with the suffix.
  private static let maxID = 255 - 8

  /// Reads the file of an application.
  /// - Returns: nil if there is none.
  package static func desktopFile(
    of id: String, in directories: [[UInt8]]
  ) throws(Mistake) -> (path: [UInt8], content: [UInt8])? {
    guard !id.isEmpty, id.utf8.count <= maxID, !id.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }) else {
      throw Mistake(why: "expected the id of a desktop file such as “org.gnome.Calculator”, found \(quoted(id))")
    }
    for path in paths(of: id, in: directories) {
      do throws(SafeFiles.Unreadable) {
        if let content = try SafeFiles.content(of: path, maxBytes: DesktopFile.maxBytes) { return (path, content) }
      } catch {
        throw Mistake(why: "\(String(decoding: path, as: UTF8.self)): \(error.why)")
      }
    }
    return nil
  }

  /// The words to put before a command that runs in a terminal.
  private static func terminal() throws(Mistake) -> [String] {
    for words in [["xdg-terminal-exec"], ["x-terminal-emulator", "-e"]] where ProgramPath.has(words[0]) { return words }
    throw Mistake(
      why:
        "the application runs in a terminal, and neither “xdg-terminal-exec” nor “x-terminal-emulator” is in the PATH; write a "
        + "“command” that begins with a terminal")
  }
}
