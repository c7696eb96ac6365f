import CoordinatorAPI
import DBus
import PresentationModel
import TestSupport
import Testing

// navctl windows --rules: the compositor's own rules, made from the files of destinations.

private let files = [
  "mixer": """
  command = ["foot", "--app-id=mixer"]
  window = { app-id = "mixer", place = "top-right", size = "640 400", margin = 20, sticky = true }
  """,
  "osd": """
  command = ["foot", "--app-id=osd"]
  window = { app-id = "org.osd-[12]", title = "a \\"b\\" (c)*", place = "bottom", size = "50% 10%", focus = false, above = true }
  """,
  "menu": "command = ['foot']\nwindow = { app-id = 'menu', place = 'pointer' }",
  "film": "command = ['foot']\nwindow = { title = 'film', fullscreen = true }",
  "own": "command = ['foot']\nwindow = { place = 'center' }",
  "plain": "command = ['foot']\nwindow = { app-id = 'plain' }",
]

@Test("The rules of all destinations with a place are lines that the compositor reads", arguments: ["sway", "i3"])
private func rules_ofCompositor_areReadByIt(_ compositor: String) throws {
  // sway does not run as root, so that the user of a desktop checks the lines.
  let session = try Session(destinations: files, desktop: .sway)
  let run = try session.navctl("windows", "--rules", compositor)
  #expect(run.exitCode == 0, "\(run.errorText)")
  #expect(run.lines.first?.hasPrefix("# for ~/.config/\(compositor)/config") == true)
  #expect(run.lines.count { $0.hasPrefix("for_window ") } == 4)
  #expect(run.lines.count { $0.hasPrefix("no_focus ") } == 1)
  #expect(run.lines.contains { $0.hasPrefix("# own: its file has neither app-id nor title") })
  func check(_ lines: [String]) throws -> Program {
    try session.write((["# i3 config file (v4)"] + lines + [""]).joined(separator: "\n"), to: "rules.conf")
    // sway checks its configuration with a backend of wlroots, which needs no hardware.
    let variables = [
      "XDG_RUNTIME_DIR=\(session.path(""))", "LIBSEAT_BACKEND=noop", "WLR_BACKENDS=headless", "WLR_RENDERER=pixman",
      "WLR_LIBINPUT_NO_DEVICES=1",
    ]
    return try session.run(
      program: "/usr/bin/env", variables + [compositor, "-C", "-c", session.path("rules.conf")])
  }
  let read = try check(run.lines)
  #expect(read.exitCode == 0, "\(read.outputText)\(read.errorText)")
  // A mistake would be found.
  #expect(try check(["for_window [class="]).exitCode != 0)
}

@Test("Rules are printed for the destinations that are named, and unknown ones are named")
func rules_ofNames_areTheirs() throws {
  let session = try Session(destinations: files)
  let run = try session.navctl("windows", "--rules", "niri", "mixer", "plain")
  #expect(run.exitCode == 0, "\(run.errorText)")
  #expect(run.lines.count { $0.contains("match ") } == 1)
  #expect(run.lines.contains("// mixer: sticky = true: niri has no rule for that; it is on one workspace"))
  #expect(run.lines.contains("// plain: its file does not say where or how its windows are shown"))
  // Without navd, and with a mistake in another file.
  try session.stop()
  try session.write("command = ['foot']\nwindow = { size = '640' }", toDestination: "wrong")
  let again = try session.navctl("windows", "--rules", "niri", "mixer", "plain")
  #expect(again.exitCode == 0 && again.errorText.isEmpty && again.outputText == run.outputText, "\(again.errorText)")
  for names in [[], ["wrong"]] {
    let wrong = try session.run(program: session.executable("navctl"), ["windows", "--rules", "niri"] + names)
    #expect(wrong.exitCode == CommandStatus.failed.rawValue)
    #expect(wrong.errorText.contains("windows: \(session.destinationPath("wrong")):2:12: “size”: expected a width"))
    #expect(wrong.lines.contains { $0.contains("match ") } == names.isEmpty)
  }
  let unknown = try session.navctl("windows", "--rules", "niri", "mixr")
  #expect(unknown.exitCode == CommandStatus.unknownName.rawValue)
  #expect(unknown.errorText == "navctl: windows: no destination is called “mixr”; did you mean “mixer”?\n")
  for wrong in [
    ["mixer"], ["--rules", "sway", "--app-id", "x"], ["--rules", "dwm"], ["--rules", "sway", "-H", "host"],
  ] {
    let run = try session.run(program: session.executable("navctl"), ["windows"] + wrong)
    #expect(run.exitCode == CommandStatus.usage.rawValue, "\(wrong)")
  }
}

@Test(
  "Where the adapter cannot place windows, check-config and doctor name the verb that prints the compositor's rules")
func doctor_withoutPlace_namesTheRules() throws {
  let session = try Session(destinations: ["mixer": files["mixer"]!])
  let adapter = try ScriptedWindowSystem(
    session, capabilities: Set(WindowCapability.allCases).subtracting([.place]))
  let advice = "“navctl windows --rules COMPOSITOR mixer” prints the compositor's own rule"
  let checked = try session.navctl("check-config")
  #expect((checked.outputText + checked.errorText).contains(advice), "\(checked.outputText)\(checked.errorText)")
  #expect(try session.navctl("doctor").outputText.contains(advice))
  // On a compositor that is known, the place for the rule is named.
  session.environment["LABWC_PID"] = "1"
  adapter.backend = "wlr"
  let ofLabwc =
    "does not offer on labwc; add what “navctl windows --rules labwc mixer” prints to the section windowRules of ~/.config/labwc/rc.xml"
  #expect(try session.navctl("check-config").outputText.contains(ofLabwc))
  let doctor = try session.navctl("doctor").outputText
  #expect(doctor.contains(ofLabwc) && doctor.contains("known by the backend “wlr” on labwc"), "\(doctor)")
  adapter.connection.close()
}
