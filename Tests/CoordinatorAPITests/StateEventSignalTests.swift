import DBus
import DBusValues
import PresentationModel
import Testing
import TextFormats

@testable import CoordinatorAPI

// Events as signals and as JSON: the members that each has.

@Test func event_json_omitsMissingMembers() {
  #expect(
    StateEvent(.selection(group: "panels", tag: nil), serial: 3).json
      == ["serial": 3, "event": "selection", "group": "panels"])
}

@Test func event_ofAPresentation_carriesItsNumber() {
  let subject = StateEvent.Subject(
    binding: "volume", id: "", presentation: Handle(17))
  let event = StateEvent(.dismissed(subject, .deselected), serial: 43)
  #expect(event.serial == 43)
  #expect(
    event.json.text
      == #"{"binding":"volume","event":"dismissed","id":"","presentation":17,"reason":"deselected","serial":43}"#)
}

@Test("The items that a program keeps are in the event with their destinations and values (D20)")
func event_ofRequestedItems_hasThem() {
  let item = RequestedEntry("shop.item", id: "3", destination: "shop", value: ["count": .int64(1)])
  #expect(
    StateEvent(.requested([item]), serial: 44).json.text
      == #"{"event":"requested","items":[{"binding":"shop.item","destination":"shop","id":"3","value":{"count":1}}],"serial":44}"#
  )
}
