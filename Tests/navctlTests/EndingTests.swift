// Why this file exists: exit statuses and the JSON of a result are what scripts branch on.

import CoordinatorAPI
import DBusValues
import Glibc
import Testing
import TextFormats

@testable import navctl

@Test func ending_json_hasTheKnownMembersAndTheRestAsResult() {
  let ending = Ending(
    reason: "closed",
    result: [
      "status": .int32(3), "output": .bytes(Array("out\n".utf8)), "output-truncated": .boolean(true),
      "choice": .string("yes"),
    ])
  #expect(
    ending.json.text
      == #"{"output":"out\n","output-truncated":true,"reason":"closed","result":{"choice":"yes"},"status":3}"#)
  #expect(Ending(reason: "", result: [:]).json.text == #"{"reason":""}"#)
}

@Test(
  arguments: [
    (["status": .int32(0)], 0), (["status": .int32(3)], 3), (["status": .int32(256 + 3)], 3),
    (["signal": .string("TERM")], 143), (["signal": .string("SIGKILL")], 137), (["signal": .string("15")], 143),
    ([:], nil), (["error": .string("x")], nil), (["signal": .string("NOPE")], nil),
  ] as [(Properties, Int32?)])
func ending_propagated_isTheCommandsOwnStatus(result: Properties, status: Int32?) {
  #expect(Ending(reason: "closed", result: result).propagated == status)
}

@Test func ending_signalNames_areThoseOfTheSystem() {
  for number in 1..<Int32(32) {
    guard let name = sigabbrev(number) else { continue }
    #expect(Ending.number(ofSignal: name) == number, "\(name)")
  }
}

/// strsignal(3) tells sentences; the abbreviations are only in GNU's sys_sigabbrev.
private func sigabbrev(_ number: Int32) -> String? {
  typealias Function = @convention(c) (Int32) -> UnsafePointer<CChar>?
  guard let symbol = dlsym(nil, "sigabbrev_np") else { return nil }
  return unsafeBitCast(symbol, to: Function.self)(number).map { String(cString: $0) }
}
