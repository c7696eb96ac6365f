import Testing

@testable import PresentationModel
@testable import PresentationRules

// Drafts of slots, which live only as long as they are needed.

@Test("A state machine that is gone leaves nothing in memory")
func machine_gone_isFreed() throws {
  weak var box: AnyObject?
  do {
    var machine = StateMachine()
    _ = try machine.perform(Request(.present("panel", id: "", .with())), by: nil, at: Instant(nanoseconds: 0))
    box = machine.presentation(1)?.item.box
    #expect(box != nil && machine.count == 1)
  }
  #expect(box == nil)
}

@Test("A draft of a slot is freed after it was read, even in programs that are not optimized")
func slotDraft_afterReading_isFreed() {
  var drafts = SlotDrafts()
  let author = Author(client: nil, request: 0, animated: true)
  let index = drafts.append(BindingID("panel"), Shared(SlotDraft(before: nil, item: nil, author: author)))
  weak let box = drafts[index].box
  #expect(box != nil)
  #expect(drafts[index].item == nil)
  drafts[index].restartsTimeout = true
  drafts = SlotDrafts()
  #expect(box == nil)
}
