import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Limits on the bus: the largest accepted sizes, the refusals beyond them, and their documentation (L1).

private typealias Rows = CoordinatorInterface

extension Session {
  /// The limits by name, as navd publishes them.
  func limits() throws -> [String: Int] {
    let value = try call(PropertyAccessing.get, (CoordinatorInterface.name.text, "Limits"))
    return ([String: UInt64](value: value) ?? [:]).mapValues { Int($0) }
  }

  /// Requires that a refusal names a limit that is published.
  fileprivate func expect(_ refusal: CoordinatorError?, limit name: String) throws {
    #expect(refusal?.name == .limitExceeded, "\(name): \(refusal?.message ?? "accepted")")
    #expect(refusal?.message.contains("“\(name)”") == true, "\(name): \(refusal?.message ?? "accepted")")
    #expect(try limits()[name] != nil)
  }
}

@Test("L1: sizes above a limit are refused with the limit's name; sizes at the limit are accepted")
func limit_ofSizes_isExact() throws {
  let session = try Session()
  let limits = try session.limits()
  func text(_ name: String, _ more: Int = 0) -> String { String(repeating: "x", count: (limits[name] ?? 0) + more) }
  try session.present(text("binding"))
  #expect(try session.refusal(Rows.present, (text("binding", 1), "", [:]))?.name == .invalidBinding)
  try session.present("a", text("id"))
  try session.expect(try session.refusal(Rows.present, ("a", text("id", 1), [:])), limit: "id")
  for option in ["title", "style"] {
    try session.expect(try session.refusal(Rows.present, ("a", "", [option: .string(text("id", 1))])), limit: "id")
  }
  try session.present("b", "", ["group": .string("g"), "tag": .string(text("tag"))])
  try session.expect(
    try session.refusal(Rows.present, ("b", "2", ["group": .string("g"), "tag": .string(text("tag", 1))])), limit: "tag"
  )
  try session.expect(
    try session.refusal(Rows.present, ("c", "", ["value": ["t": Value.string(text("value"))].value])), limit: "value")
  try session.expect(
    try session.refusal(Rows.present, ("c", "", ["platform-data": ["t": Value.string(text("value"))].value])),
    limit: "value")
  try session.expect(
    try session.refusal(Rows.present, ("c", "", ["command": ["true", text("value")].value])), limit: "value")
  try session.call(Rows.declareContainerValue, ("badge", .string("")))
  try session.expect(
    try session.refusal(
      Rows.present, ("c", "", ["container-values": ["badge": Value.string(text("container-values"))].value])),
    limit: "container-values")
  let path = try session.present("d")
  try session.expect(try session.refusal(Rows.act, (path, text("id", 1), [:])), limit: "id")
  try session.expect(try session.refusal(Rows.act, (path, "x", ["t": .string(text("value"))])), limit: "value")
  // Updates that enlarge the value count, too.
  try session.present("e", "", ["value": ["a": Value.string(String(text("value").dropLast(1000)))].value])
  try session.expect(
    try session.refusal(Rows.update, ("e", ["b": .string(String(repeating: "x", count: 1000))], [:])), limit: "value")
  // An end is never refused.
  #expect(try session.call(Rows.closed, (path, [:])).0)
}

@Test("L1: the number of requests in a transaction and of elements in a path is limited")
func limit_ofATransaction_refusesItWhole() throws {
  let session = try Session()
  let most = try #require(try session.limits()["transaction"])
  let request = TransactionRequest("Present", [Value.string("a"), .string(""), Properties().value])
  let serial = try session.state()["serial"]
  try session.expect(
    try session.refusal(Rows.apply, (Array(repeating: request, count: most + 1), [:])), limit: "transaction")
  try session.expect(
    try session.refusal(Rows.setPath, ("s", Array(repeating: Structure("", "x", [:]), count: most + 1), [:])),
    limit: "transaction")
  #expect(try session.state()["serial"] == serial)
  #expect(try session.call(Rows.apply, (Array(repeating: request, count: most), [:])).0.count == most)
}

@Test("L1: the length of a queue is limited")
func limit_ofAQueue_refusesTheNext() throws {
  let session = try Session()
  let most = try #require(try session.limits()["queue"])
  try session.present("first", "", ["group": .string("g")])
  let options: Properties = ["group": .string("g"), "if-busy": .string("queue")]
  let calls = (0..<most).map { session.begin(Rows.present, ("q[\($0)]", "", options)) }
  for call in calls { #expect(try session.answer(to: call).1) }
  try session.expect(try session.refusal(Rows.present, ("q[\(most)]", "", options)), limit: "queue")
}

@Test(
  "L1: when more presentations have ended than navd remembers, the oldest is forgotten, and its handle remains known as used"
)
func limit_ofEndings_dropsTheOldest() throws {
  let session = try Session()
  let most = try #require(try session.limits()["endings"])
  let first = try session.present("a", "first")
  let second = try session.present("a", "second")
  #expect(try session.ending(of: first).reason == "replaced")
  let calls = (0..<most).map { session.begin(Rows.present, ("a", "\($0)", [:])) }
  for call in calls { _ = try session.answer(to: call) }
  #expect(try session.ending(of: second).reason == "replaced")
  let refusal = try session.refusal(Rows.wait, (first, "gone"))
  #expect(refusal?.name == .unknownPresentation)
  #expect(refusal?.message.contains("\(most)") == true)
  #expect(try session.call(Rows.history, (0, [:])).count == most)
}

@Test("L1: the number of pending Wait calls of a client is limited")
func limit_ofWaits_refusesTheNext() throws {
  let session = try Session()
  let most = try #require(try session.limits()["waits-per-client"])
  let path = try session.present("fact")
  let other = try session.connect()
  let waits = (0..<most).map { _ in session.begin(Rows.wait, (path, "gone"), by: other) }
  try session.expect(try session.refusal(Rows.wait, (path, "gone"), by: other), limit: "waits-per-client")
  // The limit applies to each client separately.
  let own = session.begin(Rows.wait, (path, "gone"))
  try session.dismiss("fact")
  #expect(try session.answer(to: own).0 == "dismissed")
  for wait in waits { #expect(try session.answer(to: wait).0 == "dismissed") }
}

@Test("L1: the number of objects that navd keeps for clients, and the size of a request, are limited")
func limit_ofKeptObjects_refusesTheNext() throws {
  let session = try Session()
  let limits = try session.limits()
  func most(_ name: String) throws -> Int { try #require(limits[name]) }
  let nested = (0..<(try most("value-depth"))).reduce(Value.byte(1)) { value, _ in .variant(value) }
  try session.present("deep", "", ["value": ["v": nested].value])
  try session.expect(
    try session.refusal(Rows.present, ("deep", "", ["value": ["v": Value.variant(nested)].value])), limit: "value-depth"
  )

  let keys = (0..<(try most("declared-container-values"))).map {
    session.begin(Rows.declareContainerValue, ("key\($0)", .byte(0)))
  }
  for key in keys { _ = try session.answer(to: key) }
  try session.expect(
    try session.refusal(Rows.declareContainerValue, ("another", .byte(0))), limit: "declared-container-values")

  let registrations = (0..<(try most("registrations"))).map {
    session.begin(Rows.registerPresenter, ("destination\($0)", "/x", [:]))
  }
  for registration in registrations { _ = try session.answer(to: registration) }
  try session.expect(
    try session.refusal(Rows.registerPresenter, ("another", "/x", [:])), limit: "registrations")
  let long = String(repeating: "x", count: try most("destination") + 1)
  for refusal in [
    try session.refusal(Rows.registerPresenter, (long, "/x", [:])),
    try session.refusal(Rows.present, ("a", "", ["destination": .string(long)])),
  ] {
    #expect(refusal?.name == .invalidArgument && refusal?.message.contains("1 to 255 bytes") == true)
  }

  let large: Properties = ["value": ["v": Value.bytes([UInt8](repeating: 1, count: try most("value") - 100))].value]
  let room = try most("state") / most("value")
  for number in 0..<room { try session.present("large[\(number)]", "", large) }
  try session.expect(try session.refusal(Rows.present, ("large[\(room)]", "", large)), limit: "state")
  try session.expect(
    try session.refusal(
      Rows.update, ("large[0]", ["v": .bytes([UInt8](repeating: 1, count: try most("request")))], [:])),
    limit: "request")

  // An end is never refused; parts of its result that are too large are left out.
  let path = try session.present("ending")
  try session.call(Rows.closed, (path, ["r": .bytes([UInt8](repeating: 1, count: try most("result")))]))
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result["error"].flatMap { String(value: $0) }?.contains("“result”") == true)
}

@Test("L1: every published limit is hit by a test and documented")
func limit_ofEachName_isTestedAndDocumented() throws {
  let here = [
    "binding", "id", "tag", "value", "container-values", "transaction", "queue", "endings", "waits-per-client",
    "value-depth", "declared-container-values", "registrations", "destination", "state", "request", "result",
  ]
  // Other files test these limits: WindowTrackerTests, HookRunnerTests, EndingTests, WaitTests, HostilePeerTests (at full scale by
  // `make fuzz`) and UnreadTests; and for the rules alone LimitTests, WorkTests, HoldTests and SessionEnvironmentTests of
  // PresentationRulesTests.
  let elsewhere = [
    "parked", "hooks", "output", "waits", "calls-per-presenter", "calls", "items", "items-per-client", "tags",
    "remembered",
    "unread",
    "work",
    "ends",
    "stack", "tags-per-group", "members", "holds", "variables", "environment",
  ]
  let limits = try Session().limits()
  #expect(limits.keys.sorted() == (here + elsewhere).sorted())
  let lines = try Markdown("limits.md").lines
  for (name, most) in limits { #expect(lines.contains { $0.hasPrefix("| `\(name)` | \(most) | ") }, "\(name)") }
}

@Test("L1: navctl exits with 6 when a limit is exceeded, and names the limit and the allowed values")
func limit_inNavctl_isExplained() throws {
  let session = try Session()
  // The requests refer to this item.
  try session.present("b")
  let long = String(repeating: "x", count: 5000)
  let many = (0..<5000).map { "[\"Present\",\"n[\($0)]\",\"\",{}]" }.joined(separator: ",")
  for (run, verb, limit) in [
    (try session.navctl("present", "--state", "a", long), "present a", "id"),
    (try session.navctl("present", "--state", "a", "--title", long), "present a", "id"),
    (try session.navctl("apply", "-", input: "[\(many)]"), "apply -", "transaction"),
    (try session.navctl("act", "1", long), "act 1 \(long.prefix(200))", "id"),
  ] {
    #expect(run.exitCode == 6, "\(run.errorText)")
    #expect(run.errorText.hasPrefix("navctl: \(verb)"), "\(run.errorText)")
    #expect(run.errorText.utf8.count < 1000)
    #expect(run.errorText.contains("(limit “\(limit)”); "), "\(run.errorText)")
    #expect(run.errorText.count { $0 == "\n" } == 1)
  }
}
