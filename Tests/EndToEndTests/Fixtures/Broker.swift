import EventLoops
import Glibc
import TestSupport
import TextFormats

/// A mosquitto with the configuration of the recipe: TLS, passwords, a list of permissions, and persistence on disk. The user `wall`
/// listens to all topics.
final class Broker {
  let place: Session
  private let port: UInt16
  private var mosquitto: Program?
  private var observer: Program?
  /// The number of the observer's lines that were read.
  private var readCount = 0
  /// The messages of each topic, the oldest first.
  private(set) var messages: [String: [String]] = [:]
  /// The panel of the group `panels` that each screen shows.
  private(set) var shown: [String: String] = [:]

  /// - Parameter screens: the names of the screens, which are users of the broker.
  init(screens: [String]) throws {
    let recipe = try Markdown("recipes/mqtt.md")
    func block(_ start: String) throws -> String {
      guard let block = recipe.blocks.first(where: { $0.text.hasPrefix("# /etc/mosquitto/\(start)") }) else {
        throw Session.Failure("mqtt.md has no block for /etc/mosquitto/\(start)")
      }
      return block.text
    }
    guard let port = freePort() else { throw Session.Failure("no free port") }
    self.port = port
    place = try Session(starting: false)
    let directory = place.path("mosquitto")
    try place.write(try block("acl"), to: "mosquitto/acl")
    try place.write(
      (screens + ["wall"]).map { "\($0):\(Self.password(of: $0))\n" }.joined(), to: "mosquitto/passwords")
    // The user of the tests runs the broker. The certificate is its own authority.
    let configuration = try block("conf.d/navd.conf").replacing("/etc/mosquitto/certs/ca.crt", with: "/broker.crt")
      .replacing("/etc/mosquitto/certs", with: "").replacing("/etc/mosquitto", with: "")
      .replacing("file /", with: "file \(directory)/").replacing("listener 8883", with: "listener \(port) 127.0.0.1")
    try place.write(
      configuration
        + "persistence_location \(directory)/\nuser \(String(cString: getpwuid(getuid()).pointee.pw_name))\n",
      to: "mosquitto/navd.conf")
    let made = [
      try place.run(
        program: "/usr/bin/openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=broker",
          "-addext",
          "subjectAltName=IP:127.0.0.1", "-keyout", "\(directory)/broker.key", "-out", "\(directory)/broker.crt",
        ]),
      try place.run(program: "/usr/bin/mosquitto_passwd", ["-U", "\(directory)/passwords"]),
    ]
    for run in made where run.exitCode != 0 { throw Session.Failure(run.errorText) }
    for (name, text) in options(of: "wall") { try place.write(text, to: name) }
    try start()
  }

  private static func password(of user: String) -> String { "secret of \(user)" }

  /// The options of the clients, as in the recipe's files in `~/.config`.
  func options(of user: String) -> [String: String] {
    let options = """
      -h 127.0.0.1
      -p \(port)
      --cafile \(place.path("mosquitto/broker.crt"))
      -u \(user)
      -P \(Self.password(of: user))

      """
    return ["config/mosquitto_pub": options, "config/mosquitto_sub": options]
  }

  func start() throws {
    let broker = try place.start(program: "/usr/sbin/mosquitto", ["-c", place.path("mosquitto/navd.conf")])
    mosquitto = broker
    try place.wait("the broker runs") { broker.errorText.contains(" running") || broker.hasEnded }
    guard !broker.hasEnded else { throw Session.Failure("the broker ended: \(broker.errorText)") }
    try observe()
  }

  /// Starts the observer if it does not run: mosquitto_sub may end when the broker does.
  private func observe() throws {
    guard observer?.hasEnded != false else { return }
    hear()
    // The observer has a session of its own, so that it misses nothing while it or the broker is away.
    observer = try place.start(
      program: "/usr/bin/mosquitto_sub",
      ["-v", "-c", "-i", "observer", "-k", "10", "-q", "1", "-t", "navd/#", "-t", "homeassistant/#"],
      mayFail: true)
    readCount = 0
  }

  func stop(_ signal: Int32 = SIGTERM) throws {
    mosquitto?.send(signal)
    try place.wait("the broker ends") { mosquitto?.hasEnded != false }
    mosquitto = nil
  }

  /// Writes what the broker keeps to its disk.
  func save() throws {
    mosquitto?.send(SIGUSR1)
    let file = place.path("mosquitto/mosquitto.db")
    try place.poll("the broker has saved what it keeps") { !Files.contents(of: file).isEmpty }
  }

  /// The messages that the broker keeps, by topic.
  func retained() throws -> [String: String] {
    let kept = try place.run(program: "/usr/bin/mosquitto_sub", ["-v", "-t", "navd/#", "-W", "2", "--retained-only"])
    return Dictionary(
      kept.lines.compactMap { line in
        line.firstIndex(of: " ").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
      },
      uniquingKeysWith: { $1 })
  }

  /// The path of a script of the recipe, where the broker is.
  func script(_ name: String) throws -> String {
    guard let text = try Markdown("recipes/mqtt.md").files["navd/\(name)"] else { throw Session.Failure("no \(name)") }
    try place.write(text, to: name)
    return place.path(name)
  }

  func publish(_ message: String, to topic: String, retained: Bool = false) throws {
    let pub = try place.run(
      program: "/usr/bin/mosquitto_pub", ["-q", "1", "-t", topic, "-m", message] + (retained ? ["-r"] : []))
    guard pub.exitCode == 0 else { throw Session.Failure("mosquitto_pub: \(pub.errorText)") }
  }

  /// Waits until the messages heard so far meet the condition.
  func wait(_ what: String, until condition: () -> Bool) throws {
    do {
      try place.wait(what, within: Session.limit * 2) {
        hear()
        if mosquitto != nil { try? observe() }
        return condition()
      }
    } catch {
      throw Session.Failure("\(error); heard last: \(observer?.lines.suffix(3) ?? [])")
    }
  }

  /// Reads the observer's new lines.
  private func hear() {
    guard let lines = observer?.lines, lines.count > readCount else { return }
    defer { readCount = lines.count }
    for line in lines[readCount...] {
      guard let space = line.firstIndex(of: " ") else { continue }
      let (topic, message) = (String(line[..<space]), String(line[line.index(after: space)...]))
      messages[topic, default: []].append(message)
      let levels = topic.split(separator: "/")
      if levels.count == 3, levels[2] == "state" { shown[String(levels[1])] = Self.shown(in: message) }
    }
  }

  /// The selected panel of a screen, once it is shown.
  private static func shown(in state: String) -> String? {
    guard let state = try? JSON.parse(state), let tag = state["groups"]?["panels"]?["selection"]?.string,
      state["presentations"]?.array?.contains(where: { $0["tag"]?.string == tag && $0["phase"] == "presented" }) == true
    else { return nil }
    return tag
  }
}

/// A screen of the recipe: a session with the recipe's files and its running scripts.
final class BrokerScreen {
  let session: Session
  let name: String
  private var scripts: [String: Program] = [:]

  /// - Parameter beat: the seconds after which the scripts repeat what they say; nil as in the recipe.
  init(_ name: String, behind broker: Broker, running scripts: [String], beat: Int? = nil) throws {
    self.name = name
    var files = broker.options(of: name)
    for recipe in ["README", "mqtt"] {
      for (path, text) in try Markdown("recipes/\(recipe).md").files { files["config/\(path)"] = text }
    }
    files["config/navd/played.sh"] = try Markdown("kiosk.md").files["navd/played.sh"]
    // A program stands in for the terminal, since there is no desktop.
    files["bin/foot"] = "#!/bin/sh\nexec sleep 1000\n"
    session = try Session(starting: false, files: files)
    let built = Session.program("").dropLast()
    session.environment["PATH"] = "\(session.path("bin")):\(built):/usr/bin:/bin"
    session.environment["NAVD_MQTT_BEAT"] = beat.map { "\($0)" }
    try session.start()
    try run(scripts)
  }

  /// Starts scripts of the recipe.
  /// - Parameter scripts: `state` for `mqtt-state.sh`, …
  func run(_ scripts: [String]) throws {
    for script in scripts {
      self.scripts[script] = try session.start(
        program: session.path("config/navd/mqtt-\(script).sh"), [name], mayFail: true)
    }
  }

  func script(_ name: String) -> Program? { scripts[name] }

  /// Starts ended scripts again, as systemd does: mosquitto_sub may end with its broker.
  func restartEnded() {
    // The end of a script is an event of the screen's loop, and the test waits with the broker's.
    session.loop.turn(wait: .zero)
    for (name, script) in scripts where script.status != nil { try? run([name]) }
  }

  /// Ends a script and its children.
  func kill(_ name: String, _ signal: Int32 = SIGKILL) {
    guard let script = scripts.removeValue(forKey: name) else { return }
    // The script ends first, because it could start other programs.
    let children = Files.contents(of: "/proc/\(script.processID)/task/\(script.processID)/children")
    script.send(signal)
    for child in String(decoding: children, as: UTF8.self).split(separator: " ").compactMap({ pid_t($0) }) {
      Glibc.kill(child, signal)
    }
  }

  /// Kills navd, its commands, and the scripts.
  func kill() throws {
    for name in Array(scripts.keys) { kill(name) }
    try session.stop(SIGKILL)
    for process in session.processes() { Glibc.kill(process.pid, SIGKILL) }
  }

  deinit {
    scripts = [:]
    for process in Session.remains(of: session.environment["HOME"] ?? "") { Glibc.kill(process, SIGKILL) }
  }
}
