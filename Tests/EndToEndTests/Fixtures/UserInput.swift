// Why this file exists: what the user of a desktop does: looks, presses keys, clicks, and types commands.

import TestSupport
import Testing

extension Session {
  /// Runs navctl, which has to succeed.
  func order(_ arguments: String...) throws {
    let run = try run(program: executable("navctl"), arguments)
    try #require(run.exitCode == 0, "navctl \(arguments): \(run.errorText)")
  }

  /// Presses a key, by its X name, with the key that has a logo where that is asked for.
  func press(_ key: String, withLogo: Bool = false) throws {
    if desktop?.manager == .sway {
      try hand("/usr/bin/wtype", (withLogo ? ["-M", "logo"] : []) + ["-k", key])
    } else {
      try hand("/usr/bin/xdotool", ["key", withLogo ? "super+\(key)" : key])
    }
  }

  /// Types a text, on an X server.
  func type(_ text: String) throws { try hand("/usr/bin/xdotool", ["type", text]) }

  /// Clicks, on an X server, and takes the pointer back to the middle.
  func click(_ x: Int, _ y: Int) throws {
    try hand("/usr/bin/xdotool", ["mousemove", String(x), String(y), "click", "1", "mousemove", "640", "360"])
  }

  /// Waits for a window that the manager does not manage, as rofi's is, on an X server.
  func waitForUnmanaged(_ name: String) throws {
    try hand("/usr/bin/xdotool", ["search", "--sync", "--onlyvisible", "--class", name])
  }

  private func hand(_ program: String, _ arguments: [String]) throws {
    let run = try run(program: program, arguments)
    try #require(run.exitCode == 0, "\(program) \(arguments): \(run.errorText)")
  }

  /// A part of a Wayland screen, as a PPM.
  func picture(_ geometry: String) throws -> [UInt8] {
    let run = try run(program: "/usr/bin/grim", ["-t", "ppm", "-g", geometry, "-"])
    try #require(run.exitCode == 0, "\(run.errorText)")
    return run.output
  }
}
