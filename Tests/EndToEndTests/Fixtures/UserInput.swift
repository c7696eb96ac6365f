import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing

/// The input of a desktop's user: keys, texts, clicks and commands.
extension Session {
  /// Runs navctl and requires that it succeeds.
  func runNavctl(_ arguments: String...) throws {
    let run = try run(program: executable("navctl"), arguments)
    try #require(run.exitCode == 0, "navctl \(arguments): \(run.errorText)")
  }

  /// Adds an output to sway.
  func addOutput() throws { try runTool("/usr/bin/swaymsg", ["create_output"]) }

  /// Gives an output the focus, and waits until navd would use it.
  func focus(output: String) throws {
    try runTool("/usr/bin/swaymsg", ["focus output \(output)"])
    try poll("the adapter tells the output with the focus") {
      try client.callAndWait(
        PropertyAccessing.get, on: WindowSystemInterface.bus, at: WindowSystemInterface.object,
        (WindowSystemInterface.name.text, "FocusedOutput")) == .string(output)
    }
  }

  /// Presses a key, given by its X name, optionally together with the logo key.
  func press(_ key: String, withLogo: Bool = false) throws {
    if desktop?.manager == .gnome {
      let keys = key.split(separator: "+").map(String.init)
      try GnomeWindows(session: self).press(withLogo ? ["super"] + keys : keys)
    } else if desktop?.manager == .sway {
      try runTool("/usr/bin/wtype", (withLogo ? ["-M", "logo"] : []) + ["-k", key])
    } else {
      try runTool("/usr/bin/xdotool", ["key", withLogo ? "super+\(key)" : key])
    }
  }

  /// Types a text.
  func type(_ text: String) throws {
    try desktop?.manager == .sway ? runTool("/usr/bin/wtype", [text]) : runTool("/usr/bin/xdotool", ["type", text])
  }

  /// Clicks, and moves the pointer back to the middle. X server only.
  func click(_ x: Int, _ y: Int) throws {
    try runTool("/usr/bin/xdotool", ["mousemove", String(x), String(y), "click", "1", "mousemove", "640", "360"])
  }

  /// Clicks beside all windows, at the right edge; sway needs `seat seat0 fallback true`.
  func clickOnTheDesktop() throws {
    if desktop?.manager == .sway {
      try runTool(
        "/usr/bin/swaymsg",
        ["seat seat0 cursor set 1200 600, seat seat0 cursor press button1, seat seat0 cursor release button1"])
    } else {
      try runTool("/usr/bin/xdotool", ["mousemove", "1200", "600", "click", "1"])
    }
  }

  /// Waits for a window that the window manager does not manage, such as rofi's. X server only.
  func waitForUnmanaged(_ name: String) throws {
    try runTool("/usr/bin/xdotool", ["search", "--sync", "--onlyvisible", "--class", name])
  }

  /// Runs a program and requires that it succeeds.
  func runTool(_ program: String, _ arguments: [String]) throws {
    let run = try run(program: program, arguments)
    try #require(run.exitCode == 0, "\(program) \(arguments): \(run.errorText)")
  }

  /// A part of a Wayland screen in PPM format.
  func picture(_ geometry: String) throws -> [UInt8] {
    let run = try run(program: "/usr/bin/grim", ["-t", "ppm", "-g", geometry, "-"])
    try #require(run.exitCode == 0, "\(run.errorText)")
    return run.output
  }
}
