import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// Settings of destinations for their items: the item of a bare request, hooks, and the environment of commands (D13, D14).

private typealias Rows = CoordinatorInterface

/// Makes a hook that writes its name and its arguments to the journal.
private func hook(_ word: String) -> String {
  #"["sh", "-c", "echo \#(word) $NAVD_BINDING $NAVD_ID $NAVD_PRESENTATION $NAVD_REASON \"$1\" >>$NAVD_TEST_JOURNAL", "sh", "{title} {value.level}"]"#
}

private let osd = """
  state = true
  id = "main"
  title = "Volume"
  value = { level = 40 }
  on-present = \(hook("on"))
  on-dismiss = \(hook("off"))
  """

@Test("D13, D14: a key binding needs only “navctl present osd”", arguments: [false, true])
func itemSettings_bareRequest_isComplete(managed: Bool) throws {
  let session = try Session(destinations: ["osd": osd], managed: managed)
  #expect(try session.navctl("present", "osd").exitCode == 0)
  let item = try session.call(Rows.get, "osd").1
  #expect(item["id"] == .string("main"))
  #expect(item["title"] == .string("Volume"))
  #expect(item["value"].flatMap { Properties(value: $0) } == ["level": .int64(40)])
  try session.wait("the hook has run") { session.journalLines == ["on osd main 1 Volume 40"] }
  #expect(try session.navctl("update", "osd", "level:=50").exitCode == 0)
  // Another navd ends the item.
  try session.stop(SIGKILL)
  try session.start()
  #expect(try session.navctl("dismiss", "osd").exitCode == 0)
  try session.wait("the other hook has run") {
    session.journalLines.dropFirst() == ["off osd main 1 dismissed Volume 50"]
  }
  #expect(try session.navctl("present", "osd", "--timeout", "1ms").exitCode == 0)
  try session.wait("both have run again") {
    session.journalLines.dropFirst(2) == ["on osd main 2 Volume 40", "off osd main 2 expired Volume 40"]
  }
  // The end of navd ends the item, too.
  #expect(try session.navctl("present", "osd").exitCode == 0)
  #expect(try session.navctl("quit").exitCode == 0)
  try session.wait("its hook has run") { session.journalLines.contains { $0.hasPrefix("off osd main 3 ") } }
}

@Test("D14: a hook that fails or does not end delays nothing and fails nothing", arguments: [false, true])
func hook_failing_isOnlyLogged(managed: Bool) throws {
  let session = try Session(
    destinations: [
      "missing": "state = true\non-present = ['/nowhere/hook']\n", "false": "state = true\non-present = ['false']\n",
      "endless": "state = true\non-present = ['sleep', '1000']\non-dismiss = ['sleep', '1000']\n",
    ], managed: managed)
  for name in ["missing", "false", "endless"] {
    #expect(try session.navctl("present", name).exitCode == 0)
    #expect(try session.navctl("dismiss", name).exitCode == 0)
  }
  for text in [
    "on-present of “missing” (presentation 1): could not be started: /nowhere/hook: ",
    "on-present of “false” (presentation 2): exit status 1",
  ] {
    try session.wait("the log has \(text)") { session.navd?.errorText.contains(text) == true }
  }
  #expect(try session.navctl("history", "--json").outputText.contains("failed") == false)
}

@Test(
  "A command has the variables of its file, then those of its client, then those of the session",
  arguments: [false, true])
func environment_ofACommand_isThatOfItsAsker(managed: Bool) throws {
  let names = "GTK_THEME MOZ_ENABLE_WAYLAND LC_TIME QT_STYLE_OVERRIDE SSH_AUTH_SOCK SESSION_ONLY PRIVATE"
  let session = try Session(
    destinations: [
      "show": """
      command = ["show-variables"]
      environment = { MOZ_ENABLE_WAYLAND = "file" }
      directory = "~"
      """
    ], starting: false, managed: managed)
  session.environment.merge(["GTK_THEME": "old", "LC_TIME": "old", "SESSION_ONLY": "session"]) { $1 }
  try session.start()
  try session.write(
    "#!/bin/sh\nfor name in \(names); do eval echo $name=\\$$name; done; pwd\n", to: "tools/show-variables")
  chmod(session.path("tools/show-variables"), 0o755)
  session.environment["LC_TIME"] = nil
  session.environment["PATH"]! += ":\(session.path("tools"))"
  session.environment.merge([
    "GTK_THEME": "new", "MOZ_ENABLE_WAYLAND": "asker", "QT_STYLE_OVERRIDE": "q", "SSH_AUTH_SOCK": "/agent",
    "PRIVATE": "secret",
  ]) { $1 }
  let run = try session.navctl("present", "show", "--wait")
  #expect(run.errorText == "")
  #expect(
    run.lines == [
      "GTK_THEME=new", "MOZ_ENABLE_WAYLAND=file", "LC_TIME=old", "QT_STYLE_OVERRIDE=q", "SSH_AUTH_SOCK=/agent",
      "SESSION_ONLY=session", "PRIVATE=", session.environment["HOME"],
    ])
}
