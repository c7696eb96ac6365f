import Testing

@testable import WindowAdapter

@Test("A number that a compositor uses again makes another id, even if the used numbers are forgotten")
func numberedIDs_ofANumberUsedAgain_areOthers() {
  var ids = NumberedIDs(token: "run", WindowIDs(), remembered: 3)
  #expect(ids.id(of: 7) == "run-7")
  #expect(ids.id(of: .max) == "run-18446744073709551615")
  ids.close(7)
  let (again, oncemore) = (ids.id(of: 7), ids.id(of: 7))
  #expect(again.hasPrefix("run-7-") && oncemore.hasPrefix("run-7-") && again != oncemore)
  #expect(ids.id(of: 5) == "run-5", "it may open later than those after it")
  for number: UInt64 in [8, 9, 10] { ids.close(number) }
  #expect(ids.id(of: 5) != "run-5" && ids.id(of: 10) != "run-10")
  #expect(ids.id(of: 11) == "run-11")
}
