// Why this file exists: every size has a limit; going past it is refused by its name, with nothing changed (L1).
import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing

private typealias Rows = CoordinatorInterface

extension Session {
  /// The limits by their names, as navd tells them.
  func limits() throws -> [String: Int] {
    let value = try call(PropertyAccessing.get, (CoordinatorInterface.name.text, "Limits"))
    return ([String: UInt64](value: value) ?? [:]).mapValues { Int($0) }
  }

  /// Requires that a refusal names a limit, and that the limit is one that is published.
  fileprivate func expect(_ refusal: CoordinatorError?, limit name: String) throws {
    #expect(refusal?.name == .limitExceeded, "\(name): \(refusal?.message ?? "accepted")")
    #expect(refusal?.message.contains("“\(name)”") == true, "\(name): \(refusal?.message ?? "accepted")")
    #expect(try limits()[name] != nil)
  }
}

@Test("L1: what is too long is refused by the name of the limit, what is as long as that is not")
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
  // Growing by updates counts as well.
  try session.present("e", "", ["value": ["a": Value.string(String(text("value").dropLast(1000)))].value])
  try session.expect(
    try session.refusal(Rows.update, ("e", ["b": .string(String(repeating: "x", count: 1000))], [:])), limit: "value")
  // An end is never refused.
  #expect(try session.call(Rows.closed, (path, [:])).0)
}

@Test("L1: a transaction and a path have so many members")
func limit_ofATransaction_refusesItWhole() throws {
  let session = try Session()
  let most = try #require(try session.limits()["transaction"])
  let request = Structure("Present", [Value.string("a"), .string(""), Properties().value])
  let serial = try session.state()["serial"]
  try session.expect(
    try session.refusal(Rows.apply, (Array(repeating: request, count: most + 1), [:])), limit: "transaction")
  try session.expect(
    try session.refusal(Rows.setPath, ("s", Array(repeating: Structure("", "x", [:]), count: most + 1), [:])),
    limit: "transaction")
  #expect(try session.state()["serial"] == serial)
  #expect(try session.call(Rows.apply, (Array(repeating: request, count: most), [:])).0.count == most)
}

@Test("L1: a queue has so many members")
func limit_ofAQueue_refusesTheNext() throws {
  let session = try Session()
  let most = try #require(try session.limits()["queue"])
  try session.present("first", "", ["group": .string("g")])
  let options: Properties = ["group": .string("g"), "if-busy": .string("queue")]
  let calls = (0..<most).map { session.begin(Rows.present, ("q[\($0)]", "", options)) }
  for call in calls { #expect(try session.answer(to: call).1) }
  try session.expect(try session.refusal(Rows.present, ("q[\(most)]", "", options)), limit: "queue")
}

@Test("L1: of endings the oldest is forgotten, and its handle still known to be one")
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

@Test("L1: a client has so many calls that wait")
func limit_ofWaits_refusesTheNext() throws {
  let session = try Session()
  let most = try #require(try session.limits()["waits-per-client"])
  let path = try session.present("fact")
  let other = try session.connect()
  let waits = (0..<most).map { _ in session.begin(Rows.wait, (path, "gone"), by: other) }
  try session.expect(try session.refusal(Rows.wait, (path, "gone"), by: other), limit: "waits-per-client")
  // Of somebody else it is another matter.
  let own = session.begin(Rows.wait, (path, "gone"))
  try session.dismiss("fact")
  #expect(try session.answer(to: own).0 == "dismissed")
  for wait in waits { #expect(try session.answer(to: wait).0 == "dismissed") }
}
