import CoordinatorAPI
import Glibc
import PresentationModel
import PresentationRules
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

/// A program whose windows have one color each.
struct ColoredProgram: Sendable, CustomTestStringConvertible {
  enum Color: String, CaseIterable, Sendable {
    case red, green, blue

    var hexadecimal: String {
      switch self {
      case .red: "ff0000"
      case .green: "00ff00"
      case .blue: "0000ff"
      }
    }

    /// A picture of this color.
    fileprivate var picture: String {
      let pixel = Color.allCases.map { $0 == self ? "255" : "0" }.joined(separator: " ")
      return "P3 16 9 255\n" + String(repeating: pixel + "\n", count: 144)
    }
  }

  let name: String
  /// The file of the destination with a window of a color.
  let destination: @Sendable (Color, Desktop.Manager) -> String
  let managers: [Desktop.Manager]
  /// Whether only `make check-programs` installs its packages.
  var isHeavy = false
  /// Lines of the window manager's configuration.
  var configuration = ""
  /// Whether its user sees its first frame: it paints in the size of the screen only once it is in view.
  var isSeenPainting = false
  var testDescription: String { name }

  /// The picture and the page of each colour, by file name.
  static var files: [String: String] {
    Color.allCases.reduce(into: [:]) { files, color in
      files["\(color.rawValue).ppm"] = color.picture
      // The page is white at first, as one that comes over a network.
      files["\(color.rawValue).html"] =
        "<body><script>setTimeout(() => document.body.style.background = '#\(color.hexadecimal)', 300)</script>\n"
    }
  }

  /// The colors of the screen behind the windows. It is black; that of sway 1.7 is gray.
  static let backgrounds = ["000000", "3f3f3f"]

  static let terminals = ColoredProgram(
    name: "terminals (foot)",
    destination: { color, _ in
      """
      command = ["foot", "-o", "colors.background=\(color.hexadecimal)", "-e", "sleep", "1000"]
      window = { fullscreen = true }

      """
    }, managers: [.sway])

  static let pictures = ColoredProgram(
    name: "pictures (mpv)",
    destination: { color, manager in
      """
      command = ["mpv", "--no-config", "--no-terminal", "--osd-level=0", "--vo=\(manager == .sway ? "wlshm" : "x11")",
        "--image-display-duration=inf", "\(color.rawValue).ppm"]
      directory = "~"
      window = { fullscreen = true, settle = "200ms" }

      """
    }, managers: [.sway, .i3], isHeavy: true)

  static let pages = [
    pages(on: "x11", .sway), pages(on: "wayland", .sway, isSeenPainting: true),
    // Chromium asks for the focus itself.
    pages(on: "x11", .i3, configuration: "focus_on_window_activation none\n", isSeenPainting: true),
  ]

  private static func pages(
    on platform: String, _ manager: Desktop.Manager, configuration: String = "", isSeenPainting: Bool = false
  ) -> ColoredProgram {
    ColoredProgram(
      name: "pages (chromium, \(platform))",
      destination: { color, _ in
        """
        command = [
          "sh", "-c",
          'exec chromium --no-sandbox --disable-gpu --no-first-run "$@" "--app=file://$PWD/\(color.rawValue).html"', "sh",
          "--ozone-platform=\(platform)", "--user-data-dir=chromium-\(color.rawValue)",
        ]
        directory = "~"
        window = { fullscreen = true, settle = "1s" }

        """
      }, managers: [manager], isHeavy: true, configuration: configuration, isSeenPainting: isSeenPainting)
  }

  /// The programs of this run, each with each window manager.
  static let onManagers = ([terminals, pictures] + pages).filter { isMeasured || !$0.isHeavy }
    .flatMap { program in program.managers.map { (program, $0) } }

  /// Whether all programs are tried (`make check-programs`).
  static let isMeasured = getenv("NAVD_TEST_PROGRAMS") != nil
}

/// Three windows of different colors in a group, and a camera that takes pictures of the screen, one after the other.
private final class ColoredScreen {
  let session: Session
  private let desktop: WindowedDesktop
  private var camera: Program?
  private let picture: String

  typealias Color = ColoredProgram.Color

  init(_ program: ColoredProgram, on manager: Desktop.Manager, _ replacement: Replacement, fallback: Color? = nil)
    throws
  {
    let destinations = Color.allCases.map { color in
      (color.rawValue, program.destination(color, manager) + "group = 'sign'\n")
    }
    let settings =
      "[groups.sign]\nreplacement = '\(replacement.rawValue)'\n"
      + (fallback.map { "fallback = '\($0.rawValue)'\n" } ?? "")
    desktop = try WindowedDesktop(
      manager, destinations: Dictionary(uniqueKeysWithValues: destinations), configuration: program.configuration,
      files: ColoredProgram.files.merging(["config/navd/navd.toml": settings]) { $1 })
    session = desktop.session
    // Both write the colors of seven pixels of a row where no terminal has text, 100 pixels apart, each color after another one once.
    switch manager {
    case .sway:
      picture = """
        grim -t ppm -g '300,360 680x1' - | tail -c 2040 | od -An -tx1 -w300 -v | cut -c1-9 | tr -d ' ' \\
          | uniq | paste -sd+
        """
    default:
      // The X server keeps its screen in a file, in the format of xwd(1).
      picture = """
        f='\(session.desktop?.directory ?? "")/Xvfb_screen0'
        field() { echo $((0x$(od -An -tx1 -j $(($1 * 4)) -N 4 $f | tr -d ' '))); }
        [ -n "$at" ] || at=$(($(field 0) + 12 * $(field 19) + 360 * $(field 12) + 300 * 4))
        od -An -tx1 -w400 -v -j $at -N 2720 $f | while read -r b g r x; do echo $r$g$b; done | uniq | paste -sd+
        """
    }
  }

  func look() throws -> Color? {
    let text = try session.run(program: "/bin/bash", ["-c", picture]).outputText.filter { $0 != "\n" }
    return Color.allCases.first { $0.hexadecimal == text }
  }

  func wait(for color: Color) throws { try session.poll("the screen is \(color)") { try look() == color } }

  /// Presents the window of a color, and waits until the one before is gone.
  func show(_ color: Color) throws {
    try session.runNavctl("present", color.rawValue)
    try session.poll("\(color) is alone", within: .seconds(60)) { try isAlone(color) }
  }

  func isAlone(_ color: Color) throws -> Bool {
    let entries = try session.state()["presentations"]?.array ?? []
    return entries.count == 1 && entries[0]["binding"]?.string == color.rawValue && entries[0]["phase"] == "presented"
  }

  func startCamera() throws {
    camera = try session.start(
      program: "/bin/bash",
      ["-c", "while :; do t=$EPOCHREALTIME; color=$(\(picture)) || exit; echo \"$t $color\"; done"], mayFail: true)
  }

  /// Waits until some more pictures are taken.
  func takePictures() throws {
    guard let camera else { return }
    let count = camera.lines.count
    try session.wait("pictures were taken since") { camera.lines.count > count + 2 }
  }

  struct Pictures {
    var count = 0
    var ofGaps = 0
    /// Milliseconds without a window.
    var gaps: [Int] = []
    var colors: Set<String> = []
    var showBackground: Bool { colors.contains { color in ColoredProgram.backgrounds.contains(where: color.contains) } }
  }

  func stopCamera() throws -> Pictures {
    guard let camera else { return Pictures() }
    camera.send(SIGTERM)
    try session.wait("the camera has ended") { camera.hasEnded }
    var pictures = Pictures()
    var since: Int?
    // The last one may be incomplete.
    for line in camera.lines.dropLast() {
      let words = line.split(separator: " ")
      guard words.count == 2, let time = Double(words[0]).map({ Int($0 * 1000) }) else { continue }
      pictures.count += 1
      // While X11 puts one window over another one, the screen has a part of both.
      let isOfWindows = words[1].split(separator: "+").allSatisfy { color in
        Color.allCases.contains { $0.hexadecimal == color }
      }
      if isOfWindows {
        if let since { pictures.gaps.append(time - since) }
        since = nil
      } else {
        pictures.ofGaps += 1
        pictures.colors.insert(String(words[1]))
        if since == nil { since = time }
      }
    }
    return pictures
  }
}

/// Pictures of the screen while windows hand over (G10).
@Suite struct HandoverPicturesTests {
  @Test(
    "G10: with a replacement that overlaps no picture shows the screen behind the windows",
    arguments: ColoredProgram.onManagers)
  func handover_overlapping_showsNoBackground(_ program: ColoredProgram, _ manager: Desktop.Manager) throws {
    let pictures = try Self.pictures(of: program, on: manager, .overlap)
    #expect(!pictures.showBackground, "\(pictures)")
    // Its first frame is seen once in each handover, at most.
    #expect(pictures.gaps.count <= (program.isSeenPainting ? Self.handovers : 0), "\(pictures)")
  }

  @Test(
    "G1: with a replacement in sequence some pictures show it, so these would be seen",
    arguments: ColoredProgram.onManagers)
  func handover_sequential_showsBackground(_ program: ColoredProgram, _ manager: Desktop.Manager) throws {
    let pictures = try Self.pictures(of: program, on: manager, .sequential)
    #expect(pictures.showBackground, "\(pictures)")
  }

  private static let handovers = isThorough || ColoredProgram.isMeasured ? 50 : 9

  /// Takes pictures while items of a group hand over to each other, and prints a row of the table in docs/kiosk.md.
  private static func pictures(
    of program: ColoredProgram, on manager: Desktop.Manager, _ replacement: Replacement
  ) throws -> ColoredScreen.Pictures {
    let screen = try ColoredScreen(program, on: manager, replacement)
    let colors = ColoredProgram.Color.allCases
    try screen.show(colors[0])
    try screen.wait(for: colors[0])
    try screen.startCamera()
    for number in 1...handovers {
      try screen.show(colors[number % colors.count])
      try screen.takePictures()
    }
    let pictures = try screen.stopCamera()
    let longest = pictures.gaps.max().map { "\($0) ms" } ?? "none"
    let mean = pictures.gaps.reduce(0, +) / handovers
    print(
      "| \(program.name) | \(manager.rawValue) | \(replacement.rawValue) | \(handovers) | \(pictures.count) | \(pictures.ofGaps) | \(mean) ms | \(longest) | \(pictures.colors.sorted())"
    )
    return pictures
  }

  @Test("D19, G10: the next window stays behind the one before until its program is ready")
  func handover_notReady_staysBehind() throws {
    let program = ColoredProgram(
      name: "terminals that say when they are ready",
      destination: { ColoredProgram.terminals.destination($0, $1) + "ready = 'notify'\n" }, managers: [.sway])
    let screen = try ColoredScreen(program, on: .sway, .overlap)
    let session = screen.session
    func open(_ color: ColoredProgram.Color) throws {
      try session.runNavctl("present", color.rawValue)
      try session.poll("\(color) has its window") {
        StateEntry(try session.call(Rows.get, color.rawValue).1).windows?.isEmpty == false
      }
    }
    try open(.red)
    try session.runNavctl("ready", "1")
    try screen.wait(for: .red)
    try screen.startCamera()
    try open(.green)
    try screen.takePictures()
    #expect(try screen.look() == .red)
    try session.runNavctl("ready", "2")
    try session.poll("green is alone") { try screen.isAlone(.green) }
    try screen.takePictures()
    let pictures = try screen.stopCamera()
    #expect(pictures.ofGaps == 0, "\(pictures)")
  }

  /// The stages of a handover at which a program crashes.
  enum Stage: String, CaseIterable, Sendable {
    case nextStarts = "the next one, before its window"
    case nextSettles = "the next one, once its window is there"
    case nextIsThere = "the next one, once it is presented"
    case formerStays = "the one before, while the next one starts"
  }

  @Test(
    "G10: a crash at any stage of a handover leaves one item on the screen",
    arguments: ColoredProgram.onManagers.flatMap { pair in Stage.allCases.map { (pair.0, pair.1, $0) } }.map(Crash.init)
  )
  fileprivate func crash_atAnyStage_leavesOneItem(_ crash: Crash) throws {
    let screen = try ColoredScreen(crash.program, on: crash.manager, .overlap, fallback: .blue)
    let session = screen.session
    try session.poll("the fallback is there", within: .seconds(60)) { try screen.isAlone(.blue) }
    try screen.show(.red)
    try screen.wait(for: .red)
    let former = StateEntry(try session.call(Rows.get, "red").1).pid
    try screen.startCamera()
    try session.runNavctl("present", "green")
    // The process that navd names: Chromium erases its variables, and its helpers keep theirs.
    var victim: UInt64?
    try session.poll("it is at that stage", within: .seconds(60)) {
      let next = StateEntry(try session.call(Rows.get, "green").1)
      victim = crash.stage == .formerStays ? former : next.pid
      switch crash.stage {
      case .nextStarts, .formerStays: return next.knownPhase == .presenting && next.pid != nil
      case .nextSettles: return next.windows?.isEmpty == false
      case .nextIsThere: return next.knownPhase == .presented
      }
    }
    try #require(kill(pid_t(#require(victim)), SIGKILL) == 0)
    /// Whether the next one was on the screen before it crashed: it may be there before the signal comes.
    func wasPresented() throws -> Bool {
      var ending: EndingEntry?
      try session.poll("the crash is known", within: .seconds(60)) {
        ending = try session.call(Rows.history, (0, [:])).map(EndingEntry.init).first { $0.binding == "green" }
        return ending != nil
      }
      return ending?.shownFor != nil
    }
    let left: ColoredProgram.Color =
      switch crash.stage {
      case .nextStarts, .nextSettles: try wasPresented() ? .blue : .red
      case .nextIsThere: .blue
      case .formerStays: .green
      }
    try session.poll("\(left) is left", within: .seconds(60)) { try screen.isAlone(left) }
    try screen.wait(for: left)
    try screen.takePictures()
    let pictures = try screen.stopCamera()
    print("\(crash.testDescription), \(left) is left: \(pictures.count) pictures, \(pictures.ofGaps) of the background")
    // A next one that has come forward covers the former one, which the manager has to make fullscreen again.
    if crash.stage == .nextStarts, left == .red { #expect(pictures.ofGaps == 0, "\(pictures)") }
  }

  fileprivate struct Crash: Sendable, CustomTestStringConvertible {
    let program: ColoredProgram
    let manager: Desktop.Manager
    let stage: Stage
    var testDescription: String { "\(program.name) on \(manager.rawValue): \(stage.rawValue)" }
  }
}
