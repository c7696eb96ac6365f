// Why this file exists: docs/recipes is what people copy, so each recipe is run as it stands there, with its program.
import CoordinatorAPI
import Glibc
import TestSupport
import Testing

private typealias Rows = CoordinatorInterface

/// The files of recipes, with the panels that all of them use.
private func files(of recipes: String...) throws -> [String: String] {
  var files: [String: String] = [:]
  for recipe in ["README"] + recipes {
    for (name, text) in try Markdown("recipes/\(recipe).md").files { files["config/\(name)"] = text }
  }
  // What the panels' terminals run.
  for program in ["pulsemixer", "nmtui", "calcurse"] { files["bin/\(program)"] = "#!/bin/sh\nexec sleep 1000\n" }
  return files
}

extension Session {
  /// Runs navctl, which has to succeed.
  fileprivate func order(_ arguments: String...) throws {
    let run = try run(program: path("bin/navctl"), arguments)
    try #require(run.exitCode == 0, "navctl \(arguments): \(run.errorText)")
  }

  /// A part of the screen, as a PPM.
  fileprivate func picture(_ geometry: String) throws -> [UInt8] {
    let run = try run(program: "/usr/bin/grim", ["-t", "ppm", "-g", geometry, "-"])
    try #require(run.exitCode == 0, "\(run.errorText)")
    return run.output
  }
}

// MARK: waybar

/// Two bars of one waybar: that of the recipe on top, and at the bottom one that only differs from it in who feeds its
/// modules: the test does. So what the recipe's bar ought to look like can be said, and seen.
private final class Bars {
  let session: Session
  private let waybar: Program

  init(_ session: Session) throws {
    self.session = session
    let recipe = try JSON.parse(Markdown("recipes/waybar.md").files["waybar/config"] ?? "")
    guard case .object(var twin) = recipe else { throw Session.Failure("no bar: \(recipe)") }
    twin["position"] = "bottom"
    for (name, value) in twin {
      guard case .object(var module) = value else { continue }
      try session.write("", to: "twin/\(name)")
      module["exec"] = .string("tail -n +1 -f \(session.path("twin/\(name)"))")
      twin[name] = .object(module)
    }
    try session.write(JSON.array([recipe, .object(twin)]).text, to: "config/waybar/config")
    waybar = try session.start(program: "/usr/bin/waybar", [])
  }

  private func top() throws -> [UInt8] { try session.picture("0,0 1280x30") }
  private func bottom() throws -> [UInt8] { try session.picture("0,690 1280x30") }

  /// Has the bottom bar show something else.
  /// - Parameter lines: by module.
  func say(_ lines: [String: JSON]) throws {
    let before = try bottom()
    for (module, line) in lines {
      let file = try #require(fopen(session.path("twin/custom/\(module)"), "a"))
      fputs(line.text + "\n", file)
      fclose(file)
    }
    // It takes what was written one after the other.
    var last: [UInt8] = []
    var same = 0
    try session.poll("the bottom bar shows \(lines)") {
      let picture = try bottom()
      same = picture == last && picture != before ? same + 1 : 0
      last = picture
      return same == 3
    }
  }

  /// Waits until both show the same.
  /// - Returns: what they show.
  func agree() throws -> [UInt8] {
    var picture: [UInt8] = []
    try session.poll("the bars agree; waybar says: \(waybar.errorText)") {
      try #require(waybar.status == nil, "\(waybar.errorText)")
      picture = try top()
      return try picture == bottom()
    }
    return picture
  }

  var areDifferent: Bool { get throws { try top() != bottom() } }
}

@Test("The recipe for waybar: its bar shows what is presented, as it changes")
func recipe_waybar_showsWhatIsPresented() throws {
  let session = try Session(desktop: .sway, files: files(of: "waybar"))
  let windows = try Windows(session)
  let bars = try Bars(session)
  let none: JSON = ["text": "", "alt": "", "tooltip": "", "class": ["none"], "percentage": 0]
  func line(_ tag: String, text: String? = nil) -> JSON {
    ["text": .string(text ?? tag), "alt": .string(tag), "tooltip": "", "class": ["presented", .string(tag)]]
  }

  try bars.say(["mixer": none, "wifi": none, "panel": none])
  let nothing = try bars.agree()
  #expect(Set(nothing.dropFirst(16)).count > 8, "there should be letters, with soft edges")

  // Each panel in turn, and each again.
  var pictures: [String: [UInt8]] = [:]
  for tag in ["mixer", "wifi", "mixer", "wifi"] {
    let lit = ["mixer": none, "wifi": none].merging([tag: line(tag)]) { $1 }
    try bars.say(lit.merging(["panel": line(tag)]) { $1 })
    #expect(try bars.areDifferent)
    try session.order("toggle", tag)
    try windows.wait(for: tag)
    let picture = try bars.agree()
    #expect(pictures[tag] == nil || pictures[tag] == picture)
    pictures[tag] = picture
  }
  #expect(Set([nothing] + pictures.values).count == 3)

  // A title, with what Pango would take for markup; its user closes it; and the bar outlives navd.
  try bars.say(["mixer": none, "wifi": none, "panel": line("calendar", text: "Mai &amp; &lt;Juni&gt;")])
  try session.order("present", "calendar", "--title", "Mai & <Juni>")
  try windows.wait(for: "calendar")
  #expect(try ![nothing, pictures["mixer"], pictures["wifi"]].contains(bars.agree()))
  try bars.say(["panel": none])
  #expect(try bars.areDifferent)
  try windows.close(windows.open[0])
  #expect(try bars.agree() == nothing)
  try session.stop(SIGKILL)
  try session.start()
  try bars.say(["mixer": line("mixer"), "panel": line("mixer")])
  try session.order("toggle", "mixer")
  #expect(try bars.agree() == pictures["mixer"])
}
