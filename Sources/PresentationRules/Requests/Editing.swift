import DBusValues
import PresentationModel

extension Transaction {
  /// Edits the value of an item (D8).
  mutating func edit(
    _ binding: BindingID, value: Properties, remove: [String], containerValues: Properties?, timeout: UInt64?
  ) throws(Refusal) {
    guard let before = item(at: binding)?.content else { throw Refusal.notPresented(binding) }
    var item = before
    func edit(_ held: Properties) throws(Refusal) -> Properties {
      try spend(copying: held)
      var edited = held
      for key in remove { edited[key] = nil }
      edited.merge(value) { $1 }
      try turn.machine.check(value: edited)
      return edited
    }
    func editContainer(_ held: Properties) throws(Refusal) -> Properties {
      try spend(copying: held)
      let edited = held.merging(containerValues ?? [:]) { $1 }
      try turn.machine.check(containerValues: edited)
      return edited
    }
    item.value = try edit(item.value)
    item.containerValues = try editContainer(item.containerValues)
    if let timeout {
      var options = ItemOptions()
      options.timeout = timeout
      try checkProtected(binding, item.destination, options)
    }
    item = item.keepingHowToRun(ifAs: before, by: author)
    try requireTrust(of: author, toReplace: before, by: item, at: binding)
    if let timeout { item.timeout = timeout == 0 ? nil : timeout }
    // If the earlier presentation stays (T1), the edit applies to its item.
    var change: SlotDraft.Change?
    if let drafted = draft.slots[binding], case .renewed(let given) = drafted.change {
      var given = given
      let before = drafted.before.flatMap { state.presentations[$0]?.item }
      given.value = try edit(given.value ?? before?.value ?? [:])
      given.containerValues = try editContainer(given.containerValues ?? before?.containerValues ?? [:])
      given.timeout = timeout ?? given.timeout
      change = .renewed(given: given)
    }
    let author = author
    withSlot(binding) { slot in
      slot.item = Shared(item)
      if let change { slot.change = change }
      slot.restartsTimeout = slot.restartsTimeout || timeout != nil
      slot.author = author
    }
    reopen(binding)
  }

  /// The cost of copying properties and checking them as a whole. An entry costs as much as a dozen values, since its key is compared and
  /// checked.
  private mutating func spend(copying properties: Properties) throws(Refusal) {
    try spend(12 * properties.count + properties.nodes)
  }
}
