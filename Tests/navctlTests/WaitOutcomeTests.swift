import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import Testing
import TextFormats

@testable import navctl

// The outcome of navctl wait: its JSON, its exit status, and why there is no answer.

@Test func waitOutcome_json_hasCommandMembersAndOthersInResult() {
  let outcome = WaitOutcome(
    reason: "closed",
    result: PresentationResult([
      "status": .int32(3), "output": .bytes(Array("out\n".utf8)), "output-truncated": .boolean(true),
      "choice": .string("yes"),
    ]))
  #expect(
    outcome.json.text
      == #"{"output":"out\n","output-truncated":true,"reason":"closed","result":{"choice":"yes"},"status":3}"#)
  #expect(WaitOutcome(reason: "", result: PresentationResult([:])).json.text == #"{"reason":""}"#)
}

@Test(
  arguments: [
    (["status": .int32(0)], 0), (["status": .int32(3)], 3), (["status": .int32(256 + 3)], 3),
    (["status": .int64(3)], 3),
    (["signal": .string("TERM")], 143), (["signal": .string("SIGKILL")], 137), (["signal": .string("15")], 143),
    ([:], nil), (["error": .string("x")], nil), (["signal": .string("NOPE")], nil),
  ] as [(Properties, Int32?)])
func waitOutcome_exitStatus_isTheCommands(result: Properties, status: Int32?) {
  #expect(WaitOutcome(reason: "closed", result: PresentationResult(result)).exitStatus == status)
}

@Test("Only an end by itself, or a replacement, which has a successor, is an answer")
func waitOutcome_whyUnanswered_isForEachReason() {
  for reason in Reason.allCases {
    let why = WaitOutcome(reason: reason.rawValue, result: PresentationResult([:])).whyUnanswered
    #expect((why == nil) == [.closed, .replaced, .failed].contains(reason), "\(reason)")
  }
}

@Test func waitOutcome_signalNumbers_areThoseOfTheSystem() {
  for number in 1..<Int32(32) {
    guard let name = sigabbrev(number) else { continue }
    #expect(WaitOutcome.number(ofSignal: name) == number, "\(name)")
  }
}

/// Returns the abbreviation of a signal. Only GNU has such a function; strsignal(3) returns descriptions.
private func sigabbrev(_ number: Int32) -> String? {
  typealias Function = @convention(c) (Int32) -> UnsafePointer<CChar>?
  guard let symbol = dlsym(nil, "sigabbrev_np") else { return nil }
  return unsafeBitCast(symbol, to: Function.self)(number).map { String(cString: $0) }
}
