import Testing
import TextFormats

// The suggestion for a misspelled name.

@Test func nearest_misspelledName_isFoundAndAnotherIsNot() {
  let names = ["command", "unit", "bus", "start-timeout"]
  #expect(nearest(to: "comand", among: names) == "command")
  #expect(nearest(to: "Command", among: names) == "command")
  #expect(nearest(to: "uint", among: names) == "unit")
  #expect(nearest(to: "start_timeout", among: names) == "start-timeout")
  #expect(nearest(to: "title", among: names) == nil)
  #expect(nearest(to: "", among: names) == nil)
  #expect(nearest(to: String(repeating: "c", count: 100_000), among: names) == nil)
}
