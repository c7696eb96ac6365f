import Glibc
import TestSupport
import Testing

/// Pictures of the screen while windows hand over (G10). The screen behind them is black, and each window has a color of its own.
@Suite struct HandoverPicturesTests {
  private static let colors = ["red": "ff0000", "green": "00ff00", "blue": "0000ff"]

  @Test("G10: with a replacement that overlaps no picture shows the screen behind the windows")
  func handover_overlapping_showsNoBackground() throws {
    #expect(try Self.gaps(replacement: "overlap", handovers: isThorough ? 50 : 9) == 0)
  }

  @Test("G1: with a replacement in sequence some pictures show it, so these would be seen")
  func handover_sequential_showsBackground() throws {
    #expect(try Self.gaps(replacement: "sequential", handovers: isThorough ? 50 : 9) > 0)
  }

  /// Takes pictures, one after the other, while items of a group hand over to each other.
  /// - Returns: the number of pictures that show no window, since the first item was on the screen.
  private static func gaps(replacement: String, handovers: Int) throws -> Int {
    let destinations = colors.map { name, color in
      (
        name,
        """
        command = ["foot", "--app-id=\(name)", "-o", "colors.background=\(color)", "-e", "sleep", "1000"]
        window = { app-id = "\(name)", fullscreen = true }
        group = "sign"

        """
      )
    }
    let desktop = try WindowedDesktop(
      .sway, destinations: Dictionary(uniqueKeysWithValues: destinations),
      files: ["config/navd/navd.toml": "[groups.sign]\nreplacement = '\(replacement)'\n"])
    let (session, screen) = (desktop.session, desktop.screen)
    let names = ["red", "green", "blue"]
    _ = try session.open(names[0])
    try session.poll("the first window is in the picture") {
      let picture = try session.run(program: "/bin/sh", ["-c", Self.picture])
      return picture.outputText.contains(colors[names[0]]!)
    }
    let camera = try session.start(
      program: "/bin/sh", ["-c", "while :; do \(Self.picture) || exit; done"], mayFail: true)
    for number in 1...handovers {
      let name = names[number % names.count]
      try session.runNavctl("present", name)
      try screen.wait(for: [name])
      let count = camera.outputText.count
      try session.wait("a picture was taken since") { camera.outputText.count > count + 14 }
    }
    camera.send(SIGTERM)
    try session.wait("the camera has ended") { camera.hasEnded }
    // The last one may be incomplete.
    let pictures = camera.outputText.split(separator: "\n").filter { $0.count == 6 }.map(String.init)
    let gaps = pictures.count { !colors.values.contains($0) }
    print("\(handovers) handovers, \(replacement): \(pictures.count) pictures, \(gaps) of the background")
    return gaps
  }

  /// Writes the color of one pixel, in the middle of the screen, where no terminal has text.
  private static let picture = "grim -t ppm -g '640,360 1x1' - | tail -c 3 | od -An -tx1 | tr -d ' '"
}
