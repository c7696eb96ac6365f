import Glibc
import TestSupport
import Testing
import TextFormats

// The recipe for MQTT, with a real broker and several screens.

/// Messages that screens refuse.
private let refusedMessages = [
  "nonsense", "[[\"Select\"]]", "[[\"Frobnicate\", 1]]", "{\"a\":", "[]]", "\u{1}",
  "[[\"Select\", \"pa nels\", \"\", {}]]", "two\nlines", String(repeating: "[", count: 10_000),
  #"[["Present", "x", "", {"command": ["touch", "ran"]}]]"#,
]

extension Broker {
  /// Publishes a request to select a panel.
  fileprivate func select(_ panel: String, on screens: String, retained: Bool = false) throws {
    try publish("[[\"Select\", \"panels\", \"\(panel)\", {}]]", to: "navd/\(screens)/apply", retained: retained)
  }

  fileprivate func wait(forLeft left: String, right: String) throws {
    try wait("left shows \(left), right \(right)") { shown["left"] == left && shown["right"] == right }
  }

  /// Whether a screen has published last that it is online.
  fileprivate func isOnline(_ screen: String) -> Bool {
    messages["navd/\(screen)/online"]?.last.map { $0 != "0" } == true
  }

  /// The answers of each screen to messages with an id.
  fileprivate func results(of screen: String) -> [String] {
    (messages["navd/\(screen)/done"] ?? []).compactMap { try? JSON.parse($0)["result"]?.string }
  }

  /// Runs a script of the recipe where the broker is, with a beat of a second.
  fileprivate func runScript(_ name: String, _ arguments: String...) throws -> Program {
    place.environment["NAVD_MQTT_BEAT"] = "1"
    return try place.run(program: script(name), arguments)
  }

  /// Waits until screens have published whether they are online.
  fileprivate func wait(for screens: String..., isOnline: Bool) throws {
    try wait("\(screens) are \(isOnline ? "online" : "offline")") {
      screens.allSatisfy { messages["navd/\($0)/online"]?.last.map { $0 != "0" } == isOnline }
    }
  }

  /// Requires that a screen publishes the refusal of each line of the messages that it refuses, runs nothing, and goes on.
  fileprivate func expectRefusals(by screen: BrokerScreen) throws {
    #expect(screen.script("requests")?.status == nil)
    let lines = refusedMessages.flatMap { $0.split(separator: "\n") }.map { String($0.prefix(300)) }
    func answers() -> [JSON] {
      (messages["navd/\(screen.name)/refused"] ?? []).compactMap { try? JSON.parse($0) }
    }
    try wait("the refusals of \(screen.name) are published") { answers().count >= lines.count }
    #expect(answers().map { $0["requests"]?.string } == lines)
    #expect(answers().allSatisfy { $0["error"]?.string?.hasPrefix("navctl: ") == true }, "\(answers())")
    #expect(answers().last?["error"]?.string?.contains("inline-commands") == true)
    #expect(try screen.session.navctl("show", "x").exitCode == 3)
  }

  /// Requires that a screen may not control another one, and that nobody may without a password.
  fileprivate func expectAccessControl(of screen: BrokerScreen, _ other: String) throws {
    let foreign = try screen.session.run(
      program: "/usr/bin/mosquitto_pub",
      ["-V", "mqttv5", "-q", "1", "-t", "navd/\(other)/apply", "-m", #"[["Select", "panels", "mixer", {}]]"#])
    #expect(foreign.errorText.contains("Not authorized"), "\(foreign.errorText)")
    let unknown = try screen.session.run(
      program: "/usr/bin/mosquitto_pub", ["-u", "wall", "-P", "guessed", "-t", "navd/all/apply", "-m", "[]"])
    #expect(unknown.exitCode != 0)
  }

  /// Requires that a subscriber who comes later learns what all screens show.
  fileprivate func expectRetained(_ panel: String, screens: Int) throws {
    let late = try place.run(
      program: "/usr/bin/mosquitto_sub",
      ["-v", "-t", "navd/+/state", "-t", "navd/+/online", "-C", "\(2 * screens)", "-W", "20", "--retained-only"])
    #expect(late.exitCode == 0)
    #expect(late.lines.count { $0.contains("/state {") && $0.contains(panel) } == screens, "\(late.lines)")
    #expect(late.lines.count { $0.contains("/online ") && !$0.hasSuffix(" 0") } == screens)
  }
}

@Test("The recipe for MQTT: one retained message switches the panel on all screens, and refused messages are published")
func recipe_mqtt_switchesAllScreens() throws {
  let broker = try Broker(screens: ["left", "right"])
  let left = try BrokerScreen("left", behind: broker, running: ["state", "requests"])
  let right = try BrokerScreen("right", behind: broker, running: ["state", "requests"])
  try broker.select("wifi", on: "all", retained: true)
  try broker.wait(forLeft: "wifi", right: "wifi")

  for message in refusedMessages { try broker.publish(message, to: "navd/all/apply") }
  try broker.publish("", to: "navd/left/apply")
  try broker.select("mixer", on: "left")
  try broker.wait(forLeft: "mixer", right: "wifi")
  for screen in [left, right] { try broker.expectRefusals(by: screen) }
  try broker.expectAccessControl(of: left, "right")

  // A screen that was away is offline, then applies the latest message.
  right.kill("requests")
  try broker.wait(for: "right", isOnline: false)
  try broker.select("calendar", on: "all", retained: true)
  try broker.wait(forLeft: "calendar", right: "wifi")
  try right.run(["requests"])
  try broker.wait(forLeft: "calendar", right: "calendar")
  try broker.wait(for: "left", "right", isOnline: true)
  try broker.expectRetained("calendar", screens: 2)

  // The scripts end by SIGTERM, as systemd ends them.
  left.kill("requests", SIGTERM)
  try broker.wait(for: "left", isOnline: false)
}

/// A broker that ends publishes the last wills first. A mosquitto_pub that connects to it then may try until its keepalive of 60
/// seconds is over.
@Test("The recipe for MQTT: no request waits for a connection to a broker that ends, whose restart is noticed")
func recipe_mqtt_brokerEnds_delaysNoRequest() throws {
  let broker = try Broker(screens: ["left"])
  let left = try BrokerScreen("left", behind: broker, running: [])
  // The script connects to a broker that ends, and never succeeds.
  try left.session.write(
    """
    #!/bin/sh
    case $* in */online*) [ ! -e "$HOME/broker-ends" ] || exec sleep 1000 ;; esac
    exec /usr/bin/mosquitto_pub "$@"

    """, to: "bin/mosquitto_pub")
  try left.run(["state", "requests"])
  try broker.wait(for: "left", isOnline: true)
  try left.session.write("", to: "broker-ends")
  // The last will arrives so: not retained.
  try broker.publish("0", to: "navd/left/online")
  try broker.select("wifi", on: "all")
  try broker.wait("left shows wifi") { broker.shown["left"] == "wifi" }

  unlink(left.session.path("broker-ends"))
  try broker.stop()
  try broker.start()
  try broker.wait("left is online again") {
    left.restartEnded()
    return broker.isOnline("left")
  }
}

/// A broker that is killed closes no TLS connection properly. mosquitto_sub may take that as an error and end. The thread of
/// mosquitto_pub that publishes may end, too, but not its process.
@Test("The recipe for MQTT: the state is published, and requests are carried out, after the broker was killed")
func recipe_mqtt_brokerIsKilled_screenFollows() throws {
  let broker = try Broker(screens: ["left"])
  let left = try BrokerScreen("left", behind: broker, running: ["state", "requests"])
  try broker.select("wifi", on: "all", retained: true)
  try broker.wait("left shows wifi") { broker.shown["left"] == "wifi" }
  try broker.stop(SIGKILL)
  try broker.start()
  #expect(try left.session.navctl("select", "panels", "mixer").exitCode == 0)
  try broker.wait("left shows mixer") { broker.shown["left"] == "mixer" }
  try broker.select("calendar", on: "all", retained: true)
  try broker.wait("left shows calendar") {
    left.restartEnded()
    return broker.shown["left"] == "calendar"
  }
}

/// The machines that lose their power, in this order, before the broker starts again.
private let powerCuts: [[String]] = [["broker"], ["left"], ["broker", "left"], ["left", "broker"]]

@Test(
  "The recipe for MQTT: which screens are dead is right after a loss of power of the broker, of a screen, and of both",
  arguments: powerCuts, [false, true])
func recipe_mqtt_deadScreens_areKnown(_ cut: [String], hasSaved: Bool) throws {
  let broker = try Broker(screens: ["left", "right"])
  let screens = try ["left", "right"].map { try BrokerScreen($0, behind: broker, running: [], beat: 1) }
  for screen in screens { try screen.run(["state", "requests"]) }
  try broker.wait(for: "left", "right", isOnline: true)
  try broker.wait("the states are there") {
    ["left", "right"].allSatisfy { broker.messages["navd/\($0)/state"] != nil }
  }
  if hasSaved { try broker.save() }
  for lost in cut {
    if lost == "broker" { try broker.stop(SIGKILL) } else { try screens[0].kill() }
  }
  let cutTime = Int(time(nil))
  if cut.contains("broker") { try broker.start() }

  let dead = cut.contains("left") ? ["left"] : []
  let living = screens.filter { !dead.contains($0.name) }
  // The times that the broker has saved are recent for a while, so all screens seem to be there.
  try broker.wait("the living screens have said since that they are there") {
    for screen in living { screen.restartEnded() }
    return living.allSatisfy { Int(broker.messages["navd/\($0.name)/online"]?.last ?? "") ?? 0 > cutTime }
  }
  try broker.wait("the dead screens are \(dead)") {
    for screen in living { screen.restartEnded() }
    return (try? broker.runScript("mqtt-dead.sh", "left", "right").lines) == dead
  }
  // It stays so, and who looks only for 0 sees the same.
  #expect(try broker.runScript("mqtt-dead.sh", "left", "right").lines == dead)
  let kept = try broker.retained()
  #expect(kept["navd/left/online"] == "0" || dead.isEmpty, "\(kept)")
  #expect(kept["navd/right/online"] != "0" && kept["navd/right/state"] != nil, "\(kept)")
}

@Test("The recipe for MQTT: a message with an id is carried out once, whether it is lost, repeated or late")
func recipe_mqtt_messageWithId_isCarriedOutOnce() throws {
  let broker = try Broker(screens: ["left"])
  let left = try BrokerScreen("left", behind: broker, running: ["requests"])
  try broker.wait(for: "left", isOnline: true)
  let now = Int(time(nil))
  // A second one would close it again.
  let toggle = #"[["Toggle", "mixer", "", {}]]"#
  func isShown() throws -> Bool { try left.session.navctl("is-presented", "mixer").exitCode == 0 }
  func message(_ id: String, until: Int) -> String { #"{"id": "\#(id)", "until": \#(until), "requests": \#(toggle)}"# }

  for _ in 1...3 { try broker.publish(message("a", until: now + 600), to: "navd/left/apply") }
  try broker.wait("three answers") { broker.results(of: "left").count == 3 }
  #expect(broker.results(of: "left") == ["done", "repeated", "repeated"])
  #expect(try isShown())
  try broker.publish(message("b", until: now - 1), to: "navd/left/apply")
  try broker.wait("the answer to the late one") { broker.results(of: "left").last == "expired" }
  try broker.publish(#"{"id": "c", "requests": [["Frobnicate"]]}"#, to: "navd/left/apply")
  try broker.wait("the answer to the wrong one") { broker.results(of: "left").last == "refused" }
  #expect(try isShown())

  // It is known after a restart, and what came meanwhile is carried out.
  left.kill("requests")
  try broker.publish(message("a", until: now + 600), to: "navd/left/apply")
  try broker.publish(message("d", until: now + 600), to: "navd/left/apply")
  try left.run(["requests"])
  try broker.wait("both answers") { broker.results(of: "left").suffix(2) == ["repeated", "done"] }
  #expect(try !isShown())

  // The broker loses the message, and the sender repeats it.
  try broker.stop(SIGKILL)
  let order = try broker.place.start(
    program: "/bin/bash", [broker.script("mqtt-order.sh"), "60", toggle, "left"], mayFail: true)
  try broker.start()
  try broker.wait("the sender has the answer") {
    left.restartEnded()
    return order.hasEnded
  }
  #expect(order.lines == ["left: done"] && order.exitCode == 0, "\(order.lines) \(order.errorText)")
  #expect(try isShown())
}

/// A hundred screens, in a thorough run, take two minutes of two processors.
@Test(
  "The recipe for MQTT: many screens switch by one message, and agree after a restart of the broker and the loss of a third of them"
)
func recipe_mqtt_manyScreensAgree() throws {
  let names = (1...(isThorough ? 100 : 6)).map { "screen\($0)" }
  let broker = try Broker(screens: names)
  let screens = try names.map { try BrokerScreen($0, behind: broker, running: ["state", "requests"]) }
  func missing(_ tag: String) -> [String] { names.filter { broker.shown[$0] != tag } }
  func wait(_ tag: String) throws {
    try broker.wait("all show \(tag), but \(missing(tag).prefix(5))") { missing(tag).isEmpty }
  }
  try broker.wait("all are online") { names.allSatisfy(broker.isOnline) }
  let clock = ContinuousClock()
  var figures: [String] = []
  func measure(_ what: String, _ body: () throws -> Void) rethrows {
    let elapsed = try clock.measure(body) / .milliseconds(1)
    figures.append("\(what) \(Int(elapsed)) ms")
  }
  for tag in ["wifi", "mixer", "wifi"] {
    try measure("until the last has switched") {
      try broker.select(tag, on: "all", retained: true)
      try wait(tag)
    }
  }

  // While the broker is away, a third of the screens loses its power.
  let lost = screens.indices.filter { $0 % 3 == 0 }.map { screens[$0] }
  let survivors = names.indices.filter { $0 % 3 != 0 }.map { names[$0] }
  try broker.stop()
  for screen in lost { try screen.kill() }
  try broker.start()
  try broker.select("calendar", on: "all", retained: true)
  try measure("until the survivors of the broker's restart have switched") {
    try broker.wait("the survivors show calendar") {
      for screen in screens { screen.restartEnded() }
      return survivors.allSatisfy { broker.shown[$0] == "calendar" }
    }
  }
  try measure("until the third that was killed is there again") {
    for screen in lost {
      try screen.session.start()
      try screen.run(["state", "requests"])
    }
    try wait("calendar")
  }
  for screen in screens { #expect(try screen.session.navctl("selection", "panels").outputText == "calendar\n") }
  print("MQTT, \(names.count) screens: \(figures.joined(separator: "; "))")
}

@Test(
  "The recipe for MQTT: every ending is published once, even if the broker was away at the time, or the power was lost (K5)"
)
func recipe_mqtt_publishesEachEnding() throws {
  let broker = try Broker(screens: ["left"])
  let left = try BrokerScreen("left", behind: broker, running: ["played"])
  /// Starts what writes the endings to the file that is published.
  func write() throws -> Program {
    try left.session.start(program: "/bin/sh", [left.session.path("config/navd/played.sh")], mayFail: true)
  }
  var writer = try write()
  func select(_ tag: String) throws {
    for arguments in [["select", "panels", tag], ["wait", tag, "--for", "presented"]] {
      let run = try left.session.run(program: Session.program("navctl"), arguments)
      #expect(run.exitCode == 0, "\(run.errorText)")
    }
  }
  var expected: [String] = []
  /// The published endings, without those that the broker has delivered again after its restart.
  func endings() -> [JSON] {
    var last: UInt64 = 0
    let lines = (broker.messages["navd/left/played"] ?? []).compactMap { try? JSON.parse($0) }
    return lines.filter { $0["reason"] != nil }.filter { ending in
      defer { last = max(last, ending["serial"]?.unsigned ?? 0) }
      return ending["serial"]?.unsigned ?? 0 > last
    }
  }
  /// Waits for the endings of some items, in addition to the earlier ones.
  func wait(for tags: String...) throws {
    expected += tags
    try broker.wait("\(expected) are published") { endings().count >= expected.count }
    #expect(endings().map { $0["binding"]?.string } == expected)
  }
  try select("wifi")
  try select("mixer")
  try wait(for: "wifi")
  try broker.stop()
  try select("calendar")
  try select("wifi")
  try broker.start()
  try wait(for: "mixer", "calendar")
  left.kill("played")
  try select("mixer")
  try left.run(["played"])
  try wait(for: "wifi")

  // A loss of power, after which the last line and what was published last are incomplete.
  try broker.stop()
  try select("wifi")
  let file = left.session.path("state/played")
  try left.session.poll("it is on file") {
    String(decoding: Files.contents(of: file), as: UTF8.self).split(separator: "\n").count { $0.contains("\"reason\"") }
      == 5
  }
  left.kill("played")
  writer.send(SIGKILL)
  try left.session.wait("its writer has ended") { writer.hasEnded }
  try #require(truncate(file, off_t(Files.contents(of: file).count - 10)) == 0)
  try #require(truncate(file + "-published", 0) == 0)
  writer = try write()
  try left.run(["played"])
  try broker.start()
  try wait(for: "mixer")
  #expect(writer.status == nil)
  #expect(endings().allSatisfy { $0["reason"] != nil && $0["time"] != nil && $0["shown-for"] != nil })
}

@Test("The recipe for MQTT: Home Assistant's discovery messages have its keys, and their topics and templates work")
func recipe_mqtt_isDiscoveredByHomeAssistant() throws {
  let broker = try Broker(screens: ["left"])
  let left = try BrokerScreen("left", behind: broker, running: ["state", "requests"])
  let announced = try left.session.run(
    program: left.session.path("config/navd/mqtt-discovery.sh"), ["left"])
  #expect(announced.exitCode == 0 && announced.errorText.isEmpty, "\(announced.errorText)")
  let topics =
    ["sensor/left/failed", "select/left/group-panels"]
    .map { "homeassistant/\($0)/config" }
    + ["mixer", "wifi", "calendar"].map { "homeassistant/switch/left/destination-\($0)/config" }
  try broker.wait("the messages arrive") { topics.allSatisfy { broker.messages[$0] != nil } }
  let messages = try topics.map { try JSON.parse(try #require(broker.messages[$0]?.last)) }
  for (topic, message) in zip(topics, messages) { #expect(HomeAssistant.faults(in: message, at: topic) == []) }
  #expect(Set(messages.map { $0["unique_id"]?.string }).count == topics.count)

  let menu = messages[1]
  let command = try #require(menu["command_template"]?.string)
  try broker.publish(
    command.replacing("{{ value | tojson }}", with: #""wifi""#), to: try #require(menu["command_topic"]?.string))
  try broker.wait("left shows wifi") { broker.shown["left"] == "wifi" }
  #expect(broker.messages[try #require(menu["state_topic"]?.string)] != nil)
  let availability = try #require(menu["availability"]?.array?.first)
  let topic = try #require(availability["topic"]?.string)
  #expect(availability["value_template"]?.string?.contains("value | int(0) > now().timestamp() - 90") == true)
  #expect((UInt64(broker.messages[topic]?.last ?? "") ?? 0) + 90 > UInt64(time(nil)))
  try broker.publish(
    try #require(messages[2]["payload_on"]?.string), to: try #require(messages[2]["command_topic"]?.string))
  try broker.wait("left shows mixer") { broker.shown["left"] == "mixer" }
  left.kill("requests")
  try broker.wait("left is unavailable") { broker.messages[topic]?.last == "0" }
}

/// The keys of Home Assistant's discovery messages, from its documentation of the MQTT integrations.
private enum HomeAssistant {
  private enum Kind { case text, list, number, flag, device, availability }

  private static let common: [String: Kind] = [
    "availability": .availability, "availability_mode": .text, "availability_topic": .text, "device": .device,
    "enabled_by_default": .flag, "entity_category": .text, "icon": .text, "json_attributes_template": .text,
    "json_attributes_topic": .text, "name": .text, "object_id": .text, "qos": .number, "state_topic": .text,
    "unique_id": .text, "value_template": .text,
  ]
  private static let components: [String: (keys: [String: Kind], required: Set<String>)] = [
    "sensor": (
      ["device_class": .text, "expire_after": .number, "state_class": .text, "unit_of_measurement": .text],
      ["state_topic"]
    ),
    "switch": (
      [
        "command_topic": .text, "optimistic": .flag, "payload_off": .text, "payload_on": .text, "retain": .flag,
        "state_off": .text, "state_on": .text,
      ], ["command_topic"]
    ),
    "select": (
      [
        "availability_template": .text, "command_template": .text, "command_topic": .text, "optimistic": .flag,
        "options": .list, "retain": .flag,
      ], ["command_topic", "options"]
    ),
  ]
  private static let device: [String: Kind] = [
    "configuration_url": .text, "identifiers": .list, "manufacturer": .text, "model": .text, "name": .text,
    "suggested_area": .text, "sw_version": .text, "via_device": .text,
  ]
  private static let availability: [String: Kind] = [
    "payload_available": .text, "payload_not_available": .text, "topic": .text, "value_template": .text,
  ]

  /// The mistakes in a message at `homeassistant/COMPONENT/NODE/OBJECT/config`.
  static func faults(in message: JSON, at topic: String) -> [String] {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count == 5, levels[0] == "homeassistant", levels[4] == "config",
      let (keys, required) = components[String(levels[1])]
    else { return ["the topic \(topic)"] }
    var faults = levels[2...3].filter {
      !$0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
    }
    .map { "a level of the topic, \($0)" }
    faults += check(message, common.merging(keys) { $1 }, required)
    // A device is identified by the id of the entity.
    if message["device"] != nil, message["unique_id"] == nil { faults.append("no unique_id") }
    return faults
  }

  private static func check(_ json: JSON, _ keys: [String: Kind], _ required: Set<String>) -> [String] {
    guard let object = json.object else { return ["not an object: \(json)"] }
    return required.filter { object[$0] == nil }.map { "no \($0)" }
      + object.flatMap { key, value -> [String] in
        switch keys[key] {
        case nil: ["the unknown key \(key)"]
        case .text: value.string?.isEmpty == false ? [] : ["\(key): expected a text"]
        case .list: value.array?.allSatisfy { $0.string?.isEmpty == false } == true ? [] : ["\(key): expected texts"]
        case .number: [0, 1, 2].contains(value) ? [] : ["\(key): expected 0 to 2"]
        case .flag: value == true || value == false ? [] : ["\(key): expected true or false"]
        case .device: check(value, device, ["identifiers"])
        case .availability: (value.array ?? [.null]).flatMap { check($0, availability, ["topic"]) }
        }
      }
  }
}
