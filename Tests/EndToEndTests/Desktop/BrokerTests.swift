import CoordinatorAPI
import Glibc
import TestSupport
import Testing
import TextFormats

/// A screen of the recipe: a session with the recipe's files and its two running scripts.
private final class BrokerScreen {
  let session: Session
  let name: String
  private(set) var requests: Program?
  private var state: Program?

  init(_ name: String, brokerAt port: UInt16) throws {
    self.name = name
    var files: [String: String] = [:]
    for recipe in ["README", "mqtt"] {
      for (path, text) in try Markdown("recipes/\(recipe).md").files { files["config/\(path)"] = text }
    }
    // There is no desktop.
    files["bin/foot"] = "#!/bin/sh\nexec sleep 1000\n"
    for program in ["mosquitto_pub", "mosquitto_sub"] { files["config/\(program)"] = "-h 127.0.0.1\n-p \(port)\n" }
    session = try Session(starting: false, files: files)
    let built = Session.program("").dropLast()
    session.environment["PATH"] = "\(session.path("bin")):\(built):/usr/bin:/bin"
    try session.start()
    state = try start("mqtt-state")
    try listen()
  }

  private func start(_ script: String) throws -> Program {
    try session.start(program: session.path("config/navd/\(script).sh"), [name])
  }

  func listen() throws { requests = try start("mqtt-requests") }

  /// Ends the script and its children.
  func stopListening() {
    guard let script = requests else { return }
    // End the script first, because it restarts its children.
    let children = Files.contents(of: "/proc/\(script.processID)/task/\(script.processID)/children")
    script.send(SIGKILL)
    for child in String(decoding: children, as: UTF8.self).split(separator: " ").compactMap({ pid_t($0) }) {
      kill(child, SIGKILL)
    }
    requests = nil
  }

  deinit {
    requests = nil
    state = nil
    for process in Session.remains(of: session.environment["HOME"] ?? "") { kill(process, SIGKILL) }
  }
}

@Test("The recipe for MQTT: one retained message switches the panel on all screens, and invalid messages do no harm")
func recipe_mqtt_switchesAllScreens() throws {
  let place = try Session(starting: false)
  let port = try #require(freePort())
  try place.write("listener \(port) 127.0.0.1\nallow_anonymous true\n", to: "broker.conf")
  let broker = try place.start(program: "/usr/sbin/mosquitto", ["-c", place.path("broker.conf")])
  try place.wait("the broker runs: \(broker.errorText)") {
    broker.errorText.contains(" running") || broker.hasEnded
  }
  func publish(_ message: String, to topic: String, retained: Bool = false) throws {
    let pub = try place.run(
      program: "/usr/bin/mosquitto_pub",
      ["-p", "\(port)", "-q", "1", "-t", topic, "-m", message] + (retained ? ["-r"] : []))
    #expect(pub.exitCode == 0, "\(pub.errorText)")
  }
  let observer = try place.start(program: "/usr/bin/mosquitto_sub", ["-p", "\(port)", "-v", "-t", "navd/#"])
  /// The last message published by a screen: the selected panel, once it is shown.
  func shown(_ screen: String) -> String? {
    let prefix = "navd/\(screen)/state "
    guard let line = observer.lines.last(where: { $0.hasPrefix(prefix) }),
      let state = try? JSON.parse(String(line.dropFirst(prefix.count))),
      let tag = state["groups"]?["panels"]?["selection"]?.string,
      state["presentations"]?.array?.contains(where: { $0["tag"]?.string == tag && $0["phase"] == "presented" }) == true
    else { return nil }
    return tag
  }
  func wait(_ left: String, _ right: String) throws {
    try place.wait("left shows \(left), right \(right); heard: \(observer.lines.suffix(4))") {
      shown("left") == left && shown("right") == right
    }
  }

  let left = try BrokerScreen("left", brokerAt: port)
  let right = try BrokerScreen("right", brokerAt: port)
  try publish(#"[["Select", "panels", "wifi", {}]]"#, to: "navd/all/apply", retained: true)
  try wait("wifi", "wifi")

  for bad in [
    "nonsense", "[[\"Select\"]]", "[[\"Frobnicate\", 1]]", "{\"a\":", "[]]", "\u{1}",
    "[[\"Select\", \"pa nels\", \"\", {}]]",
    "two\nlines", String(repeating: "[", count: 10_000), #"[["Present", "x", "", {"command": ["touch", "ran"]}]]"#,
  ] {
    try publish(bad, to: "navd/all/apply")
  }
  try publish("", to: "navd/left/apply")
  try publish(#"[["Select", "panels", "mixer", {}]]"#, to: "navd/left/apply")
  try wait("mixer", "wifi")
  for screen in [left, right] {
    #expect(screen.requests?.status == nil)
    try screen.session.wait("the refusal is reported: \(screen.requests?.errorText ?? "")") {
      screen.requests?.errorText.contains("refused: nonsense") == true
        && screen.requests?.errorText.contains("inline-commands") == true
    }
    #expect(try screen.session.navctl("show", "x").exitCode == 3)
  }

  // A screen that was away applies the latest message, and a late subscriber learns what all screens show.
  right.stopListening()
  try publish(#"[["Select", "panels", "calendar", {}]]"#, to: "navd/all/apply", retained: true)
  try wait("calendar", "wifi")
  try right.listen()
  try wait("calendar", "calendar")
  let late = try place.run(
    program: "/usr/bin/mosquitto_sub",
    ["-p", "\(port)", "-v", "-t", "navd/+/state", "-t", "navd/+/online", "-C", "4", "-W", "20", "--retained-only"])
  #expect(late.exitCode == 0)
  #expect(late.lines.count { $0.contains("/state {") && $0.contains("calendar") } == 2, "\(late.lines)")
  #expect(late.lines.count { $0.hasSuffix("/online 1") } == 2)
}
