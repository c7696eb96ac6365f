import CoordinatorAPI
import DBusValues
import TestSupport
import Testing

// Installed applications as the programs of destinations and requests (D17).

private typealias Rows = CoordinatorInterface

extension Session {
  /// Installs an application that writes its arguments and stays until it is ended.
  fileprivate func install(_ id: String, name: String = "Calculator", argument: String = "main") throws {
    try write(
      """
      [Desktop Entry]
      Type=Application
      Name=\(name)
      Exec=sh -c "echo \\"\\\\$PWD \\\\$*\\" >>'\(path("said"))'; exec sleep 1000" %c \(argument) {braces} %U
      Path=/usr
      StartupWMClass=Calc*
      Actions=basic;
      [Desktop Action basic]
      Name=Basic mode
      Exec=sh -c "echo basic >>'\(path("said"))'; exec sleep 1000"
      """, to: ".local/share/applications/\(id).desktop")
  }

  fileprivate var said: [String] { String(decoding: Files.contents(of: path("said")), as: UTF8.self).lines }
}

extension String {
  fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}

@Test("D17: a destination's desktop file gives command, title, directory and app-id, and is read again when it changes")
func application_ofADestination_isStartedAsItsDesktopFileSays() throws {
  let session = try Session(starting: false)
  try session.install("org.example.Calc")
  try session.write("desktop = \"org.example.Calc\"\n", toDestination: "calculator")
  try session.write(
    "desktop = \"org.example.Calc\"\ndesktop-action = \"basic\"\ntitle = \"Own\"\nwindow = true\n",
    toDestination: "basic")
  try session.start()
  try session.present("calculator", "1")
  try session.wait("it runs") { session.said == ["/usr main {braces}"] }
  #expect(try session.call(Rows.get, "calculator").1["title"] == .string("Calculator"))
  let entries = try session.call(Rows.destinations, ()).map(\.fields)
  let basic = try #require(entries.first { $0.0 == "basic" }?.1)
  #expect(basic["desktop"] == .string("org.example.Calc") && basic["title"] == .string("Own"))
  #expect(Properties(value: try #require(basic["window"]))?["app-id"] == .string("Calc\\*"))
  try session.present("basic", "1")
  try session.wait("the action runs") { session.said.last == "basic" }

  // A file that was written before a request counts for the request.
  try session.install("org.example.Calc", name: "Rechner", argument: "other")
  try session.present("calculator", "2")
  try session.wait("the new command runs") { session.said.last == "/usr other {braces}" }
  #expect(try session.call(Rows.get, "calculator").1["title"] == .string("Rechner"))
}

@Test("D3, D17: the unit of an application has its id")
func application_unit_hasItsID() throws {
  let session = try Session(starting: false, managed: true)
  try session.install("org.example.Calc")
  try session.write("desktop = \"org.example.Calc\"\n", toDestination: "calculator")
  try session.start()
  let path = try session.present("calculator", "1")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  #expect(try session.call(Rows.get, "calculator").1["unit"] == .string("app-navd-org.example.Calc@1.service"))
}

@Test("D17: an application that is not installed is a mistake of the file that names it")
func application_notInstalled_isAMistake() throws {
  let session = try Session(destinations: [
    "calculator": "desktop = \"org.example.Calc\"\n", "both": "command = [\"true\"]\ndesktop = \"a\"\n",
    "action": "desktop-action = \"a\"\n",
  ])
  let check = try session.navctl("check-config")
  #expect(check.exitCode == 1)
  for line in [
    "calculator.toml:1:1: “desktop”: no application “org.example.Calc” is installed", "both.toml:2",
    "“desktop-action” needs “desktop”",
  ] {
    #expect((check.outputText + check.errorText).contains(line), "\(check.outputText)\(check.errorText)")
  }
  // The destination file is right once the application is installed.
  try session.install("org.example.Calc")
  _ = try session.navctl("reload")
  try session.present("calculator", "1")
  try session.wait("it runs") { session.said.count == 1 }
}

@Test("navctl shows an application without a destination, by its id")
func application_ofARequest_isShown() throws {
  let session = try Session()
  try session.install("org.example.Calc")
  let hint = try session.navctl("present", "org.example.Calc")
  #expect(hint.exitCode == 4)
  #expect(hint.errorText.contains("navctl present org.example.Calc --desktop org.example.Calc"), "\(hint.errorText)")

  let shown = try session.navctl("present", "calc", "--desktop", "org.example.Calc")
  #expect(shown.exitCode == 0, "\(shown.errorText)")
  try session.wait("it runs") { session.said == ["/usr main {braces}"] }
  let entry = try session.call(Rows.get, "calc").1
  #expect(entry["title"] == .string("Calculator") && entry["id"] == .string("org.example.Calc"))
  #expect(
    try session.navctl(
      "toggle", "calc", "--desktop", "org.example.Calc", "--desktop-action", "basic", "org.example.Calc:basic"
    ).exitCode == 0)
  try session.wait("the action runs") { session.said.last == "basic" }

  let unknown = try session.navctl("present", "calc", "--desktop", "Calc")
  #expect(
    unknown.exitCode == 4 && unknown.errorText.contains("did you mean “org.example.Calc”?"), "\(unknown.errorText)")
  for arguments in [["--desktop", "a", "--to", "b"], ["--desktop-action", "a"], ["--desktop", "a", "--", "true"]] {
    #expect(try session.run(program: Session.program("navctl"), ["present", "calc"] + arguments).exitCode == 2)
  }
}
