import Glibc
import TestSupport
import Testing

@testable import SessionFiles

// Installed applications, as their desktop files describe them.

/// Two directories of data. A file in the first one replaces that in the second.
private struct Installed {
  private let roots = [TemporaryDirectory(), TemporaryDirectory()]
  var directories: [[UInt8]] { roots.map { Array($0.path.utf8) } }

  init(_ files: [String: String], behind: [String: String] = [:]) throws {
    for (root, files) in zip(roots, [files, behind]) {
      for (name, text) in files {
        let path = "applications/\(name).desktop"
        for end in path.indices where path[end] == "/" { mkdir(root.path(of: String(path[..<end])), 0o700) }
        try Files.write(text, to: root.path(of: path))
      }
    }
  }

  func application(_ id: String, action: String? = nil) throws -> Application {
    try Application(id, action: action, in: InstalledApplications(in: directories))
  }

  func mistake(_ id: String, action: String? = nil) -> String {
    do {
      _ = try application(id, action: action)
      return ""
    } catch { return (error as? Application.Mistake)?.why ?? "\(error)" }
  }
}

private let calculator = """
  [Desktop Entry]
  Type=Application
  Name=Calculator
  Exec=calc --gui %U
  Path=/tmp
  Icon=org.example.Calc
  StartupWMClass=Calc
  Actions=basic;empty;
  [Desktop Action basic]
  Name=Basic mode
  Exec=calc --mode=basic %i
  [Desktop Action empty]
  Name=Nothing
  [Desktop Action secret]
  Exec=calc --secret
  """

@Test func application_desktopFile_saysCommandTitleDirectoryAndWindow() throws {
  let installed = try Installed(["org.example.Calc": calculator])
  let application = try installed.application("org.example.Calc")
  #expect(application.arguments == ["calc", "--gui"])
  #expect(application.title == "Calculator" && application.directory == "/tmp" && application.windowID == "Calc")

  let action = try installed.application("org.example.Calc", action: "basic")
  #expect(action.arguments == ["calc", "--mode=basic", "--icon", "org.example.Calc"])
  #expect(action.title == "Calculator: Basic mode")
  #expect(installed.mistake("org.example.Calc", action: "empty").contains("expected Exec"))
  // An action counts only if Actions lists it.
  #expect(
    installed.mistake("org.example.Calc", action: "secret").contains("which has “basic”, “empty”, found “secret”"))
}

@Test func application_ofTheUser_comesBeforeThatOfTheSystem() throws {
  let installed = try Installed(
    ["a": "[Desktop Entry]\nName=A\nExec=own", "gone": "[Desktop Entry]\nHidden=true"],
    behind: ["a": "[Desktop Entry]\nName=A\nExec=other", "gone": "[Desktop Entry]\nName=G\nExec=g", "b": ""])
  #expect(try installed.application("a").arguments == ["own"])
  #expect(try installed.application("a").windowID == "a")
  #expect(installed.mistake("gone").contains("which says that there is none"))
  #expect(Application.ids(in: installed.directories) == ["a", "b", "gone"])
}

@Test("The first of many mistaken ids get a hint by their letters, and the others a hint that takes no time to find")
func application_manyMistakes_areNotAllComparedWithAll() throws {
  let files = (0..<600).map { ("org.example.App\($0)", "[Desktop Entry]\nName=A\nExec=a") }
  let installed = try Installed(Dictionary(uniqueKeysWithValues: files))
  let applications = InstalledApplications(in: installed.directories)
  let hints = (0..<60).map { applications.hint(for: "org.exmple.App\($0)") }
  #expect(hints.prefix(7) == ArraySlice((0..<7).map { "org.example.App\($0)" }))
  #expect(hints.dropFirst(7).allSatisfy { $0 == nil })
  #expect(applications.hint(for: "app17") == "org.example.App17")
  #expect(applications.hint(for: "org.example.App17.desktop") == "org.example.App17")
  // An application that is installed later is found.
  try Files.write(
    "[Desktop Entry]\nName=L\nExec=l",
    to: String(decoding: installed.directories[0], as: UTF8.self) + "/applications/later.desktop")
  #expect(try Application("later", in: applications).arguments == ["l"])
}

@Test func application_inASubdirectory_hasItsNameInTheID() throws {
  let installed = try Installed(["kde/org-tool": "[Desktop Entry]\nName=T\nExec=tool"])
  #expect(try installed.application("kde-org-tool").arguments == ["tool"])
}

@Test func application_forATerminalOrTheBus_isStartedByThese() throws {
  let installed = try Installed([
    "org.example.Bus": "[Desktop Entry]\nName=B\nDBusActivatable=true\nActions=go\n[Desktop Action go]\nName=Go\n",
    "top": "[Desktop Entry]\nName=T\nExec=top -d 1\nTerminal=true",
  ])
  #expect(try installed.application("org.example.Bus").arguments == ["gapplication", "launch", "org.example.Bus"])
  #expect(
    try installed.application("org.example.Bus", action: "go").arguments == [
      "gapplication", "action", "org.example.Bus", "go",
    ])
  // The machine decides which terminal there is.
  if let top = try? installed.application("top") {
    #expect(top.arguments.suffix(3) == ["top", "-d", "1"] && top.arguments.count > 3 && top.windowID == nil)
  } else {
    #expect(installed.mistake("top").contains("runs in a terminal"))
  }
}

@Test(
  "An id that is no application's is refused with the reason",
  arguments: [
    ("none", "no application “none” is installed"), ("Calc", "did you mean “org.example.Calc”?"),
    ("org.example.Calc.desktop", "did you mean “org.example.Calc”?"), ("link", "expected the Type “Application”"),
    ("missing", "TryExec"), ("nothing", "expected Exec or DBusActivatable=true"), ("quote", "Exec in"),
    ("", "expected the id"),
    ("../applications/link", "expected the id"), (".-..-..-elsewhere-evil", "no application"),
    (String(repeating: "-", count: 247), "no application"), (String(repeating: "-", count: 248), "expected the id"),
    ("nul", "expected text in UTF-8 without NUL as Name"), ("latin", "expected text in UTF-8 without NUL as Exec"),
  ])
func application_invalid_saysWhy(id: String, why: String) throws {
  let installed = try Installed([
    "org.example.Calc": calculator, "link": "[Desktop Entry]\nType=Link\nURL=x", "nothing": "[Desktop Entry]\nName=N",
    "nul": "[Desktop Entry]\nName=a\0b\nExec=m", "latin": "[Desktop Entry]\nName=a\nExec=m \u{FFFD}",
    "missing": "[Desktop Entry]\nName=M\nExec=m\nTryExec=/nowhere/m", "quote": "[Desktop Entry]\nExec=a \"b",
  ])
  #expect(installed.mistake(id).contains(why), "\(installed.mistake(id))")
}
