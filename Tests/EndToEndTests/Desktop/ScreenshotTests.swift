import Glibc
import TestSupport
import Testing
import TextFormats

// The pictures in the documentation, taken of real desktops.

private let sway = """
  output HEADLESS-1 bg #181926 solid_color
  default_border pixel 2
  gaps inner 8
  client.focused #8aadf4 #8aadf4 #181926 #8aadf4 #8aadf4
  client.unfocused #363a4f #363a4f #cad3f5 #363a4f #363a4f
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

/// The common part of the scripts that type commands in the terminal on the left.
private let typing = """
  #!/bin/sh
  cd
  until [ -e ready ]; do sleep 0.05; done
  prompt() { printf '\\033[32m~\\033[34m $\\033[0m %s' "$*"; }
  type() { prompt "$*"; echo; "$@"; }

  """

private func terminal(_ name: String, _ command: String, window: String = "true") -> String {
  "command = [\"foot\", \"--app-id=\(name)\", \"sh\", \"-c\", \"\(command); sleep 1000\"]\nwindow = \(window)\n"
}

/// A panel that its file places, beside the events.
private func panel(_ name: String, _ command: String) -> String {
  terminal(name, command, window: "{ app-id = '\(name)', place = 'bottom-right', size = '200 180', margin = 20 }")
    + "group = \"panels\"\n"
}

/// Scripts in place of the programs of the README's panels, by their names: each prints what such a program shows.
private let programsOfPanels = [
  "pulsemixer": "echo 'Master   ━━━━━━━━━━━━━━━━────   80 %'; echo; echo 'Headset  ━━━━━━━━────────────   40 %'",
  "nmtui": "echo 'wlan0    home     78 %'; echo; echo '         library  41 %'",
  "calcurse": "python3 -m calendar 2026 11",
].reduce(into: [String: String]()) { $0["bin/\($1.key)"] = "#!/bin/sh\n\($1.value)\nexec sleep 1000\n" }

/// A desktop for pictures: waybar, a terminal that types commands, and one with the events, on the right or below.
private final class Showcase {
  let session: Session
  let windows: Windows
  private let programs: [Program]

  /// - Parameters:
  ///   - script: the commands that are typed.
  ///   - files: further files in the session's home.
  ///   - layout: what sway does with the terminal that types, and with the other one.
  init(
    destinations: [String: String], files: [String: String] = [:],
    layout: String = "resize set width 66 ppt, splitv", _ script: String
  ) throws {
    let recipe = try Markdown("recipes/waybar.md").files
    var all = files
    for file in ["waybar/config", "waybar/style.css"] { all["config/\(file)"] = recipe[file] }
    all["config/foot/foot.ini"] = foot
    all["config/gtk-3.0/settings.ini"] = "[Settings]\ngtk-application-prefer-dark-theme=1\n"
    all["bin/typed"] = typing + script
    session = try Session(destinations: destinations, desktop: .sway, configuration: sway, files: all)
    windows = try Windows(session)
    let adapter = try #require(try WindowedDesktop.startAdapter(session))
    let waybar = try session.start(program: "/usr/bin/waybar", [])
    let watching = "navctl watch --events --format '{event} {binding}{group} {id}{tag} {phase}{reason}'"
    let left = try session.start(program: "/usr/bin/foot", ["--app-id=left", session.path("bin/typed")])
    try windows.wait(for: "left")
    let right = try session.start(program: "/usr/bin/foot", ["--app-id=right", "sh", "-c", watching])
    try windows.wait(for: "left", "right")
    try windows.ask("[app_id=\"left\"] focus, \(layout)")
    programs = [adapter, waybar, left, right]
    try session.write("", to: "ready")
  }

  /// A picture of the screen in PNG format, when five in a row were equal.
  func picture() throws -> [UInt8] {
    var last: [UInt8] = []
    var same = 0
    try session.poll("the picture is stable") {
      let shot = try session.run(program: "/usr/bin/grim", ["-t", "ppm", "-"]).output
      same = shot == last ? same + 1 : 0
      last = shot
      return same == 5
    }
    #expect(programs.allSatisfy { $0.status == nil })
    let picture = try session.run(program: "/usr/bin/grim", ["-l", "9", "-"])
    #expect(picture.exitCode == 0, "\(picture.errorText)")
    #expect(picture.output.starts(with: [0x89] + Array("PNG".utf8)))
    return picture.output
  }
}

/// Writes a picture to the file that a variable of the environment names, if it names one.
private func save(_ picture: [UInt8], toFileIn variable: String) throws {
  guard let path = getenv(variable) else { return }
  let file = try #require(fopen(String(cString: path), "w"))
  fwrite(picture, 1, picture.count, file)
  fclose(file)
}

@Test("The picture in the README can be taken: sway, waybar, terminals and a dialog")
func screenshot_ofADesktop_isTaken() throws {
  let rule = try Markdown("semantics.md").lines.drop { !$0.hasPrefix("**P3") }.prefix { $0 != "" }
  let showcase = try Showcase(
    destinations: [
      "mixer": panel("mixer", "echo Master 40 %"),
      "calendar": panel("calendar", "python3 -m calendar 2026 11"),
      "notes": terminal("notes", "fold -s -w 100 notes-$NAVD_ID.md"),
      "question":
        "command = [\"zenity\", \"--question\", \"--title=Notes\", \"--text=Delete “notes-2.md”?\"]\nwindow = true\n",
    ], files: ["notes-1.md": "", "notes-2.md": rule.joined(separator: " ")],
    """
    shown() { navctl wait "$1" --for presented; }
    type navctl open notes 1; shown notes
    type navctl open notes 2; shown notes
    type navctl toggle calendar; shown calendar
    type navctl toggle mixer --title Sound; shown mixer
    type navctl open notes.delete --to question; shown notes.delete
    type navctl list
    prompt
    exec sleep 1000
    """)
  try showcase.windows.wait(for: "left", "right", "notes", "mixer", "zenity")
  let picture = try showcase.picture()
  #expect(picture.count > 10_000)
  try save(picture, toFileIn: "NAVD_SCREENSHOT")
}

@Test("The moving picture in the README can be taken: its panels take turns, and a question is answered")
func screenshot_inMotion_isTaken() throws {
  let question = "printf 'Delete notes-2.md? [y/n] '; read a; [ $a = y ]; exit $?"
  var destinations = try Markdown("../README.md").destinations
  #expect(destinations.keys.sorted() == ["calendar", "mixer", "wifi"])
  destinations["question"] = terminal(
    "question", question, window: "{ app-id = 'question', place = '640 440', size = '300 100' }")
  // Each line is typed when the picture before it was taken. The panels, at the top right, leave the text of both terminals free.
  let showcase = try Showcase(
    destinations: destinations, files: programsOfPanels, layout: "layout splitv",
    """
    steps=0
    next() { prompt; steps=$((steps + 1)); until [ -e step$steps ]; do sleep 0.05; done; printf '\\r'; }
    next; type navctl toggle mixer
    next; type navctl toggle wifi
    next; type navctl toggle calendar
    next; type navctl toggle calendar
    next; type navctl open ask --to question --wait && echo deleted
    next
    """)
  let (session, windows) = (showcase.session, showcase.windows)
  var pictures = [try showcase.picture()]
  for (step, shown) in [["mixer"], ["wifi"], ["calendar"], [], ["question"]].enumerated() {
    try session.write("", to: "step\(step + 1)")
    try windows.wait(for: ["left", "right"] + shown)
    pictures.append(try showcase.picture())
  }
  try session.type("y\n")
  try windows.wait(for: "left", "right")
  pictures.append(try showcase.picture())
  #expect(Set(pictures).count == pictures.count)

  var arguments = ["-loop", "0", "-lossless", "-d", "1400"]
  for (number, picture) in pictures.enumerated() {
    let path = session.path("\(number).png")
    let file = try #require(fopen(path, "w"))
    fwrite(picture, 1, picture.count, file)
    fclose(file)
    arguments.append(path)
  }
  let film = try session.run(program: "/usr/bin/img2webp", arguments + ["-o", session.path("film.webp")])
  #expect(film.exitCode == 0, "\(film.errorText)")
  let bytes = Files.contents(of: session.path("film.webp"))
  #expect((10_000..<1_000_000).contains(bytes.count))
  try save(bytes, toFileIn: "NAVD_FILM")
}

@Test("The picture of GNOME can be taken: a panel of the recipe beside the terminal that has opened it")
func screenshot_ofGnome_isTaken() throws {
  var files = programsOfPanels
  files["config/foot/foot.ini"] = foot
  files["bin/typed"] =
    typing
      + """
      type navctl toggle mixer; navctl wait mixer --for presented
      type navctl toggle calendar; navctl wait calendar --for presented
      type navctl list
      type navctl windows
      prompt
      exec sleep 1000
      """
  let session = try Session(destinations: Markdown("../README.md").destinations, desktop: .gnome, files: files)
  try session.enableExtension()
  let left = try session.start(program: "/usr/bin/foot", ["--app-id=left", session.path("bin/typed")])
  let screen = ManagersWindows(session: session)
  try screen.poll("left", "is there") { $0 != nil }
  try session.write("", to: "ready")
  try screen.poll("calendar", "is there") { $0 != nil }
  try screen.poll("mixer", "is gone") { $0 == nil }
  let place = """
    for (const source of Main.messageTray.getSources())
      source.destroy();
    for (const {meta_window: window} of global.get_window_actors()) {
      if (window.get_wm_class() === 'left')
        window.move_resize_frame(false, 20, 52, 590, 400);
    }
    """
  var last: [UInt8] = []
  var same = 0
  try session.poll("the picture is stable") {
    // The terminal is placed when it has drawn itself; navd places the panel.
    try session.evaluate(place)
    let shot = try session.gnomePicture()
    same = shot == last ? same + 1 : 0
    last = shot
    return same == 3
  }
  #expect(last.count > 10_000 && left.status == nil)
  try save(last, toFileIn: "NAVD_SCREENSHOT_GNOME")
}

extension Session {
  /// A picture of GNOME's screen in PNG format.
  fileprivate func gnomePicture() throws -> [UInt8] {
    let file = path("screen.png")
    try evaluate(
      """
      const {Gio, Shell} = imports.gi;
      global.isPictureTaken = false;
      const stream = Gio.File.new_for_path('\(file)').replace(null, false, Gio.FileCreateFlags.NONE, null);
      new Shell.Screenshot().screenshot(false, stream, (screenshot, result) => {
        screenshot.screenshot_finish(result);
        stream.close(null);
        global.isPictureTaken = true;
      });
      """)
    try poll("the picture is taken") { try evaluate("global.isPictureTaken") == true }
    return Files.contents(of: file)
  }
}

// MARK: Places

/// Panels that are where their files say, on each desktop; those of docs/configuration.md are as there. xterm runs on all desktops.
private let placed = [
  "mixer": ("place = 'top-right', size = '640 400', margin = 20, sticky = true", "echo Master 80 %; echo Headset 40 %"),
  "todo": ("place = 'left', size = '34% 60%', margin = 20", "cat todo"),
  "clock": ("place = 'bottom-right', size = '300 200', margin = 20", "echo 14:05; echo Monday, 30 November"),
  "osd": ("place = 'bottom', size = '240 80', margin = 40, sticky = true, focus = false", "echo Volume 40 %"),
]

@Test(
  "The pictures of panels where their files say can be taken, with the same files on each desktop",
  arguments: [Desktop.Manager.sway] + (getenv("NAVD_SCREENSHOT_PLACES") == nil ? [] : [.i3, .gnome, .kwin]))
private func screenshot_ofPlaces_isTaken(_ manager: Desktop.Manager) throws {
  let destinations = placed.reduce(into: [String: String]()) { files, panel in
    files[panel.key] = """
      command = ["xterm", "-class", "\(panel.key)", "-T", "\(panel.key)", "-fa", "DejaVu Sans Mono", "-fs", "11", \
      "-bg", "#1e2030", "-fg", "#cad3f5", "-e", "sh", "-c", "cd; \(panel.value.1); exec sleep 1000"]
      window = { app-id = "\(panel.key)", \(panel.value.0) }
      """
  }
  let keys = placed["todo"]!.0.split(separator: ", ").joined(separator: "\n") + "\n"
  let desktop = try WindowedDesktop(manager, destinations: destinations, files: ["todo": keys])
  let session = desktop.session
  for name in ["todo", "clock", "mixer", "osd"] { _ = try session.open(name) }
  var last: [UInt8] = []
  var same = 0
  try session.poll("the picture is stable") {
    let shot = try session.screenPicture()
    same = shot == last ? same + 1 : 0
    last = shot
    // A picture of GNOME takes as long as several of the others.
    return same == (manager == .gnome ? 2 : 5)
  }
  #expect((2_000...150_000).contains(last.count))
  guard let directory = getenv("NAVD_SCREENSHOT_PLACES") else { return }
  let name = manager == .kwin ? "plasma" : "\(manager)"
  let file = try #require(fopen("\(String(cString: directory))/places-\(name).png", "w"))
  fwrite(last, 1, last.count, file)
  fclose(file)
}

extension Session {
  /// A picture of the screen in PNG format, by the means of its desktop.
  fileprivate func screenPicture() throws -> [UInt8] {
    switch desktop?.manager {
    case .gnome:
      try evaluate("for (const source of Main.messageTray.getSources()) source.destroy();")
      return try gnomePicture()
    case .kwin, .i3:
      let shot = try run(
        program: "/usr/bin/python3",
        ["-c", desktop?.manager == .i3 ? pictureOfRoot : pictureOfKWin, path("screen.png")])
      try #require(shot.exitCode == 0, "\(shot.errorText)")
      return Files.contents(of: path("screen.png"))
    default: return try run(program: "/usr/bin/grim", ["-l", "9", "-"]).output
    }
  }
}

/// Writes a picture of an X screen.
private let pictureOfRoot = """
  import gi, sys
  gi.require_version("Gdk", "3.0")
  from gi.repository import Gdk
  root = Gdk.get_default_root_window()
  Gdk.pixbuf_get_from_window(root, 0, 0, root.get_width(), root.get_height()).savev(sys.argv[1], "png", [], [])
  """

/// Writes a picture of the screen of KWin, which sends the colours as blue, green, red and nothing.
private let pictureOfKWin = """
  import gi, os, sys, threading
  gi.require_version("GdkPixbuf", "2.0")
  gi.require_version("Gio", "2.0")
  gi.require_version("GLib", "2.0")
  from gi.repository import GdkPixbuf, Gio, GLib
  width, height = 1280, 720
  bus = Gio.bus_get_sync(Gio.BusType.SESSION)
  reader, writer = os.pipe()
  descriptors = Gio.UnixFDList.new()
  index = descriptors.append(writer)
  os.close(writer)
  parts = []
  def read():
      while part := os.read(reader, 1 << 16):
          parts.append(part)
          if sum(map(len, parts)) == width * height * 4:
              return
  thread = threading.Thread(target=read)
  thread.start()
  bus.call_with_unix_fd_list_sync(
      "org.kde.KWin", "/org/kde/KWin/ScreenShot2", "org.kde.KWin.ScreenShot2", "CaptureArea",
      GLib.Variant("(iiuua{sv}h)", (0, 0, width, height, {}, index)), None, 0, -1, descriptors, None)
  thread.join()
  image = bytearray(b"".join(parts))
  image[0::4], image[2::4] = image[2::4], image[0::4]
  image[3::4] = b"\\xff" * (width * height)
  GdkPixbuf.Pixbuf.new_from_bytes(
      GLib.Bytes.new(bytes(image)), 0, True, 8, width, height, width * 4).savev(sys.argv[1], "png", [], [])
  """
