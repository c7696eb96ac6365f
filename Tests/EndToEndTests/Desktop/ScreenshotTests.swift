import Glibc
import TestSupport
import Testing

private let sway = """
  output HEADLESS-1 bg #181926 solid_color
  default_border pixel 2
  gaps inner 8
  client.focused #8aadf4 #8aadf4 #181926 #8aadf4 #8aadf4
  client.unfocused #363a4f #363a4f #cad3f5 #363a4f #363a4f
  for_window [app_id="calendar"] floating enable, resize set 200 180, move position 1060 484
  for_window [app_id="volume"] floating enable, resize set 200 180, move position 1060 484
  for_window [app_id="zenity"] move position 480 470

  """

private let foot = """
  [main]
  font=DejaVu Sans Mono:size=10
  pad=10x8
  [cursor]
  style=beam
  [colors]
  background=1e2030
  foreground=cad3f5
  regular1=ed8796
  regular2=a6da95
  regular3=eed49f
  regular4=8aadf4
  regular5=f5bde6
  regular6=8bd5ca

  """

/// The commands shown in the terminal on the left.
private let typed = """
  #!/bin/sh
  cd
  until [ -e ready ]; do sleep 0.05; done
  prompt() { printf '\\033[32m~\\033[34m $\\033[0m %s' "$*"; }
  type() { prompt "$*"; echo; "$@"; }
  shown() { navctl wait "$1" --for presented; }
  type navctl present notes 1; shown notes
  type navctl present notes 2; shown notes
  type navctl toggle volume; shown volume
  type navctl toggle calendar --title November; shown calendar
  type navctl present notes.delete --to question; shown notes.delete
  type navctl list
  prompt
  exec sleep 1000
  """

@Test("The picture in the README can be taken: sway, waybar, terminals and a dialog")
func screenshot_ofADesktop_isTaken() throws {
  let recipe = try Markdown("recipes/waybar.md").files
  func named(_ file: String) -> String {
    (recipe[file] ?? "").replacing("mixer", with: "volume").replacing("Sound", with: "Volume")
      .replacing("wifi", with: "calendar").replacing("Net", with: "Calendar")
  }
  let rule = try Markdown("semantics.md").lines.drop { !$0.hasPrefix("**P3") }.prefix { $0 != "" }
  func terminal(_ name: String, _ command: String, _ more: String = "") -> String {
    "command = [\"foot\", \"--app-id=\(name)\", \"sh\", \"-c\", \"\(command); sleep 1000\"]\n\(more)"
  }
  let session = try Session(
    destinations: [
      "volume": terminal("volume", "echo 40 %", "group = \"panels\"\n"),
      "calendar": terminal("calendar", "python3 -m calendar 2026 11", "group = \"panels\"\n"),
      "notes": terminal("notes", "fold -s -w 100 notes-$NAVD_ID.md"),
      "question": "command = [\"zenity\", \"--question\", \"--title=Notes\", \"--text=Delete “notes-2.md”?\"]\n",
    ],
    desktop: .sway, configuration: sway,
    files: [
      "config/waybar/config": named("waybar/config"), "config/waybar/style.css": named("waybar/style.css"),
      "config/foot/foot.ini": foot, "config/gtk-3.0/settings.ini": "[Settings]\ngtk-application-prefer-dark-theme=1\n",
      "bin/typed": typed, "notes-1.md": "", "notes-2.md": rule.joined(separator: " "),
    ])
  let windows = try Windows(session)
  let waybar = try session.start(program: "/usr/bin/waybar", [])
  let watching = "navctl watch --events --format '{event} {binding}{group} {id}{tag} {phase}{reason}'"
  let left = try session.start(program: "/usr/bin/foot", ["--app-id=left", session.path("bin/typed")])
  try windows.wait(for: "left")
  let right = try session.start(program: "/usr/bin/foot", ["--app-id=right", "sh", "-c", watching])
  try windows.wait(for: "left", "right")
  try windows.ask("[app_id=\"left\"] focus, resize set width 66 ppt, splitv")
  try session.write("", to: "ready")
  try windows.wait(for: "left", "right", "notes", "calendar", "zenity")

  // Wait until five pictures in a row equal the one before.
  var last: [UInt8] = []
  var same = 0
  try session.poll("the picture is stable") {
    let shot = try session.run(program: "/usr/bin/grim", ["-t", "ppm", "-"]).output
    same = shot == last ? same + 1 : 0
    last = shot
    return same == 5
  }
  #expect([waybar, left, right].allSatisfy { $0.status == nil })
  let picture = try session.run(program: "/usr/bin/grim", ["-l", "9", "-"])
  #expect(picture.exitCode == 0, "\(picture.errorText)")
  #expect(picture.output.starts(with: [0x89] + Array("PNG".utf8)))
  #expect(picture.output.count > 10_000)
  guard let path = getenv("NAVD_SCREENSHOT") else { return }
  let file = try #require(fopen(String(cString: path), "w"))
  fwrite(picture.output, 1, picture.output.count, file)
  fclose(file)
}
