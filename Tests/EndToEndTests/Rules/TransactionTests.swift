import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Transactions on the bus: all or nothing, and only the final state takes effect (T1).

private typealias Rows = CoordinatorInterface
private typealias Requests = [TransactionRequest]

private func dismiss(_ binding: String) -> TransactionRequest {
  TransactionRequest("Dismiss", [.string(binding), Properties().value])
}

private func present(_ binding: String, _ id: String, _ more: Properties = [:]) -> TransactionRequest {
  TransactionRequest("Present", [.string(binding), .string(id), Screen.options(more).value])
}

@Test(
  "T1: a transaction with an invalid 40th request of 50 changes nothing, not even the serial, and the error names the request"
)
func transaction_fortiethOfFiftyWrong_changesNothing() throws {
  let screen = try Screen(Session())
  let session = screen.session
  try screen.show("slot[7]", "1")
  let before = try session.state()
  var requests: Requests = (0..<50).map { present("slot[\($0)]", "2") }
  requests[10] = dismiss("slot[3]")
  requests[20] = TransactionRequest(
    "SetPath", [.string("s"), [Structure("", "1", Screen.options())].value, Properties().value])
  requests[30] = TransactionRequest(
    "Select", [.string("g"), .string("t"), Screen.options(["if-busy": .string("queue")]).value])
  for (wrong, name, why) in [
    (present("slot[39]", "2", ["destination": .string("nobody")]), .unknownDestination, "nobody"),
    (present("slot[", "2"), .invalidBinding, "slot["),
    (present("slot[39]", "2", ["from": .string("nothing")]), .notPresented, "nothing"),
    (present("slot[39]", "2", ["colour": .string("red")]), .invalidArgument, "colour"),
    (present("slot[39]", "2", ["group": .string("g"), "if-busy": .string("refuse")]), .busy, "g"),
    (
      TransactionRequest("Push", [.string("r"), .string("s[0]"), .string(""), Properties().value]), .alreadyInStack,
      "s[0]"
    ),
    (TransactionRequest("Dismiss", [.string("slot[1]"), ["expected-id": Value.string("9")].value]), .stale, "9"),
    (
      TransactionRequest("Update", [.string("nothing"), Properties().value, Properties().value]), .notPresented,
      "nothing"
    ),
    (TransactionRequest("Reload", []), .invalidArgument, "Reload"),
    (TransactionRequest("Dismiss", [.int32(1), Properties().value]), .invalidArgument, "Dismiss"),
  ] as [(TransactionRequest, CoordinatorError.Name, String)] {
    requests[39] = wrong
    let refusal = try session.refusal(Rows.apply, (requests, [:]))
    #expect(refusal?.name == name, "\(wrong): \(refusal?.message ?? "taken")")
    #expect(refusal?.message.hasPrefix("request 39: ") == true, "\(refusal?.message ?? "")")
    #expect(refusal?.message.contains(why) == true, "\(refusal?.message ?? "")")
    #expect(try session.state() == before)
  }
  try screen.expect([])
  // No handle was used up.
  let next = try session.present("next")
  #expect(CoordinatorNames.number(of: next) == 2)
}

@Test("T1: a transaction of different requests is one change: only the state after the last request takes effect")
func transaction_ofDifferentRequests_takesEffectAsAWhole() throws {
  let screen = try Screen(Session())
  try screen.show("old")
  let (replies, serial) = try screen.session.call(
    Rows.apply,
    (
      [
        present("a", "1"),
        TransactionRequest("Push", [.string("s"), .string("p"), .string(""), Screen.options().value]),
        TransactionRequest("Push", [.string("s"), .string("q"), .string(""), Screen.options().value]),
        TransactionRequest("Pop", [.string("s"), .uint32(1), Properties().value]),
        TransactionRequest("Select", [.string("g"), .string("x"), Screen.options().value]),
        TransactionRequest("ToggleSelection", [.string("g"), .string("y"), Screen.options().value]),
        present("a", "2"), dismiss("old"), present("gone", ""), dismiss("gone"),
      ], ["animated": .boolean(false)]
    ))
  #expect(replies.count == 10)
  // The answer for an item that does not exist contains “/”.
  #expect(replies[8].first == .objectPath(.root))
  // The events are in the order of acceptance, which for “a” is that of its last id.
  try screen.expect([
    "selection g y", "group g x y ·", "path s p", "phase old dismissing", "phase p presenting",
    "phase g.y presenting", "phase a 2 presenting", "dismiss old dismissed", "gone old", "present p", "shown p",
    "present g.y", "shown g.y", "present a 2", "shown a 2", "dismissed old dismissed", "presented p",
    "presented g.y", "presented a 2",
  ])
  #expect(screen.presenter.log.contains("dismiss dismissed without animation"))
  #expect(screen.watcher.events.contains { $0.serial == serial })
}
