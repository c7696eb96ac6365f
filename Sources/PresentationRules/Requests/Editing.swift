import DBusValues
import PresentationModel

/// Edits of a dictionary, joined: entries that are set, and keys that are removed.
struct Edits: Sendable {
  private var entries: Properties = [:]
  private var removed: Set<String> = []

  var isEmpty: Bool { entries.isEmpty && removed.isEmpty }

  init() {}

  /// - Parameter remove: keys to remove, unless they are set.
  init(set: Properties, remove: [String] = []) {
    entries = set
    removed = Set(remove.filter { set[$0] == nil })
  }

  /// Adds later edits.
  mutating func add(_ later: Edits) {
    for key in later.removed { entries[key] = nil }
    removed.formUnion(later.removed)
    for (key, value) in later.entries {
      entries[key] = value
      removed.remove(key)
    }
  }

  func applied(to properties: Properties) -> Properties {
    var edited = properties
    _ = apply(to: &edited)
    return edited
  }

  /// Edits a dictionary in place. The cost is that of the edits.
  /// - Returns: whether any entry has changed, and the bytes by which the dictionary has grown.
  func apply(to properties: inout Properties) -> (hasChanged: Bool, growth: Int) {
    var (hasChanged, growth) = (false, 0)
    for key in removed {
      guard let old = properties.removeValue(forKey: key) else { continue }
      hasChanged = true
      growth -= ([key: old] as Properties).byteCount
    }
    for (key, new) in entries {
      let old = properties.updateValue(new, forKey: key)
      guard old != new else { continue }
      hasChanged = true
      growth += ([key: new] as Properties).byteCount - (old.map { ([key: $0] as Properties).byteCount } ?? 0)
    }
    return (hasChanged, growth)
  }
}

/// Edits of an item.
struct ItemEdits: Sendable {
  var value = Edits()
  var containerValues = Edits()
  var isEmpty: Bool { value.isEmpty && containerValues.isEmpty }
}

/// The sizes of an item's value and container values after edits, in bytes.
struct EditedSizes: Sendable {
  var value: Int
  var containerValues: Int
}

extension Planner {
  /// Edits the value of an item (D8).
  ///
  /// The item is edited in place, so that many edits of one large value cost no more than one.
  mutating func edit(
    _ binding: BindingID, value: Properties, remove: [String], containerValues: Properties?, timeout: UInt64?
  ) throws(Refusal) {
    guard item(at: binding) != nil else { throw Refusal.notPresented(binding) }
    try machine.check(entriesOf: value, named: "value")
    if let containerValues { try machine.check(containerValues: containerValues) }
    if let timeout {
      var options = ItemOptions()
      options.timeout = timeout
      try checkProtected(binding, item(at: binding)?.destination, options)
    }
    try checkServed(binding, value: value, remove: remove)
    try measure(binding)
    try edit(binding, Edits(set: value, remove: remove), Edits(set: containerValues ?? [:]), timeout: timeout)
    reopen(binding)
  }

  /// Measures the item of a slot before the first edit, which copies it. Nothing else may refer to the item during the edit.
  private mutating func measure(_ binding: BindingID) throws(Refusal) {
    guard draft.slots[binding]?.sizes == nil, let item = item(at: binding) else { return }
    let sizes = EditedSizes(value: item.value.byteCount, containerValues: item.containerValues.byteCount)
    try countSteps((sizes.value + sizes.containerValues) / 32, of: "edits")
    withSlot(binding) { $0.sizes = sizes }
  }

  private mutating func edit(
    _ binding: BindingID, _ value: Edits, _ containerValues: Edits, timeout: UInt64?
  ) throws(Refusal) {
    let author = author
    var hasChanged = false
    var sizes = EditedSizes(value: 0, containerValues: 0)
    var mayChange = true
    withSlot(binding) { slot in
      let ofValue = value.apply(to: &slot.item!.content.value)
      let ofContainers = containerValues.apply(to: &slot.item!.content.containerValues)
      slot.sizes!.value += ofValue.growth
      slot.sizes!.containerValues += ofContainers.growth
      sizes = slot.sizes!
      hasChanged = ofValue.hasChanged || ofContainers.hasChanged
      if hasChanged { slot.item!.content.leaveHowToRun(to: author) }
      mayChange = !hasChanged || !slot.item!.content.needsTrustToChange(by: author)
      if let timeout { slot.item!.content.timeout = timeout == 0 ? nil : timeout }
      // The edit applies to the item of the earlier presentation, if that stays (T1).
      if case .renewed(var given) = slot.change {
        given.timeout = timeout ?? given.timeout
        slot.change = .renewed(given: given)
        slot.edits.value.add(value)
        slot.edits.containerValues.add(containerValues)
      }
      slot.restartsTimeout = slot.restartsTimeout || timeout != nil
      slot.author = author
    }
    try state.limits.check("value", sizes.value, state.limits.value, of: "bytes of value")
    try state.limits.check("value", sizes.containerValues, state.limits.value, of: "bytes of container-values")
    guard mayChange else { throw needsTrust(toReplaceItemAt: binding) }
  }

  /// Refuses an earlier item that stays and is too large with the edits of this transaction (T1).
  func checkEdits(of slot: Shared<SlotDraft>, _ before: Shared<Item>) throws(Refusal) {
    guard !slot.edits.isEmpty else { return }
    let updated = slot.updated(before)
    do throws(Refusal) {
      try state.limits.check("value", updated.value.byteCount, state.limits.value, of: "bytes of value")
      try state.limits.check(
        "value", updated.containerValues.byteCount, state.limits.value, of: "bytes of container-values")
    } catch {
      throw error.about(slot.author)
    }
  }

  /// Counts steps of a transaction whose number does not follow from the requests alone (L2).
  mutating func countSteps(_ steps: Int, of what: String) throws(Refusal) {
    draft.steps += steps
    let limit = max(state.limits.transaction, 1024)
    let (most, overflow) = limit.multipliedReportingOverflow(by: 256)
    try state.limits.check("transaction", draft.steps, overflow ? .max : most, of: "steps of \(what)")
  }
}
