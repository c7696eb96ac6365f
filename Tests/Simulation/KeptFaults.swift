import PresentationModel

@testable import PresentationRules

extension StateMachine {
  /// The differences between the items that are on record for the next login, and those that K4 says should be.
  func keptFaults(_ kept: [BindingID: LoginItem]) -> [String] {
    guard !state.isShuttingDown else { return kept.isEmpty ? [] : ["\(kept.keys) are kept after Quit"] }
    var faults: [String] = []
    for (binding, slot) in state.slots {
      guard let current = slot.current, let presentation = state.presentations[current] else { continue }
      let item = presentation.item
      let isFallback = state.fallbacks.contains {
        $0.group == item.membership?.group && $0.destination == item.membership?.tag
      }
      let isToBeKept =
        item.destination?.itemSettings?.restoresAtLogin == true && item.owner == nil && !isFallback
        && presentation.startsBy == nil
      guard let found = kept[binding] else {
        if isToBeKept { faults.append("\(binding) is not kept") }
        continue
      }
      if !isToBeKept { faults.append("\(binding) is kept") }
      let options = found.options
      if found.id != item.id || options.value != item.value || options.title != item.title
        || options.group != item.membership?.group || options.tag != item.membership?.tag
        || options.stack != item.position?.stack || options.timeout ?? 0 != item.timeout ?? 0
        || (found.queueAge != nil) != item.isQueued
      {
        faults.append("\(binding) is kept as it was before")
      }
      if options.optionAboutRunning != nil || options.owned != nil || options.platformData != nil {
        faults.append("\(binding) is kept with what belongs to the session")
      }
    }
    for (binding, item) in kept where state.slots[binding]?.current == nil {
      let reason = ending(of: item.handle)?.reason ?? state.presentations[item.handle]?.phase.dismissal?.reason
      if let reason, ![.closed, .failed, .lost].contains(reason) {
        faults.append("\(binding) is kept, and has ended as \(reason.rawValue)")
      }
    }
    return faults
  }
}
