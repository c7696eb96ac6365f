import DBusValues
import PresentationModel
import TextFormats

extension RecordedState {
  /// The largest number of a serial, a handle, an age or a stamp. The numbers beyond it are enough for as long as any navd runs.
  private static let maxNumber = UInt64(Int64.max)
  /// The limits of items and of their bytes, as multiples of ``Limits``. A release may have smaller limits than the one before, but one message
  /// has to hold the whole state.
  private static let spare = 4

  /// Refuses a record that no navd has written and whose faults could not be refused later: numbers
  /// too large to count on from, texts that neither the bus nor a process accepts, and rows that
  /// contradict each other. A release may have smaller limits than the one before, so single sizes
  /// are not checked (L1).
  ///
  /// Presentations are checked while they are restored: with many, most of the time is spent on reading them from memory.
  func check(_ limits: Limits) throws(RecordFault) {
    try check("the serial", numbers.serial.number, Self.maxNumber)
    try check("the last handle", numbers.lastHandle.number, Self.maxNumber)
    try check("the last age in a queue", numbers.lastQueueAge, Self.maxNumber)
    try check("the number of items", UInt64(presentations.count), UInt64(Self.spare * limits.items))
    for ending in endings.values {
      try check(ending.handle, "an ending")
      try check(ending.serial, "the ending of \(ending.handle)")
      if let row = presentations[ending.handle], !row.isParked {
        throw RecordFault("presentation \(ending.handle) has ended, and is there")
      }
      try check(result: ending.result)
    }
    for (key, row) in tags {
      try check("a stamp", row.stamp, Self.maxNumber)
      try check(textsOf: key, row)
      for value in [row.options.value, row.options.containerValues, row.options.platformData].compactMap(\.self) {
        try check(depthOf: value, limits)
      }
    }
    try check(depthOf: containerValues, limits)
    for (name, list) in registrations {
      for destination in list where destination.name != name {
        throw RecordFault("the destination \(quoted(destination.name)) is recorded as \(quoted(name))")
      }
      for destination in list { try check(destination) }
    }
    for (key, holder) in holders {
      try check("a holder", key.cookie, Self.maxNumber)
      guard HoldRequest.isName(key.name), key.cookie != 0 || SessionFact(rawValue: key.name) != nil,
        (key.cookie == 0) == (holder.client == nil)
      else { throw RecordFault("\(quoted(key.name)) is no hold of a client, and no fact of a session") }
    }
    try check("the number of holders", UInt64(holders.count), UInt64(Self.spare * limits.entries))
    for (name, value) in environment {
      do throws(Refusal) { try EnvironmentVariable.check(name, value) } catch { throw RecordFault(error.message) }
    }
    try check("the number of variables", UInt64(environment.count), UInt64(Self.spare * limits.entries))
  }

  // MARK: Texts

  private func check(textsOf item: Item) throws(RecordFault) {
    if let destination = item.destination { try check(destination.content) }
    if let tag = item.membership?.tag { try check(tag: tag) }
    try check(item.environment)
  }

  private func check(textsOf key: GroupTag, _ row: Tag) throws(RecordFault) {
    try check(tag: key.tag)
    if let tag = row.options.tag { try check(tag: tag) }
    if let command = row.options.command { try check(command.arguments) }
    if let name = row.options.destination { try check(destination: name) }
    try check(row.options.environment ?? [:])
  }

  // MARK: Presentations

  func check(bytesOfItems: Int, _ limits: Limits) throws(RecordFault) {
    try check("the bytes of all items", UInt64(bytesOfItems), UInt64(Self.spare * limits.state))
  }

  func check(_ row: PresentationRow, _ limits: Limits) throws(RecordFault) {
    let (presentation, item) = (row.presentation, row.presentation.item)
    let handle = presentation.handle
    try check(handle, "a presentation")
    if let program = presentation.program { try check(program, "the program of \(handle)") }
    if row.isParked, item.membership != nil || item.position != nil || presentation.phase != .presented {
      throw RecordFault("presentation \(handle) is parked, and is dismissed, in a stack or in a group")
    }
    if row.stays != nil, !row.isParked { throw RecordFault("presentation \(handle) stays parked, and is not parked") }
    try check("the age of \(handle) in its queue", item.queueAge ?? 0, numbers.lastQueueAge)
    try check(textsOf: item.content)
    try check(depthOf: item.value, limits)
    try check(depthOf: item.containerValues, limits)
    try check(depthOf: item.platformData, limits)
    try check(result: presentation.result)
    if item.isQueued, item.membership == nil || item.position != nil || presentation.phase != .waiting {
      throw RecordFault("presentation \(handle) is queued, and is shown, in a stack or in no group")
    }
    if item.queueAge != nil, item.membership == nil || item.position != nil {
      throw RecordFault("presentation \(handle) has an age in a queue, and is in a stack or in no group")
    }
    switch (presentation.phase, presentation.phase.dismissal?.stage) {
    case (.presenting, _), (_, .asked), (_, .asking), (_, .settling), (_, .killed):
      guard item.destination.map({ $0.presenter != .none }) ?? false else {
        throw RecordFault("presentation \(handle) waits for a presenter, and has none")
      }
    case (_, .overtaken): throw RecordFault("presentation \(handle) was never shown, and is not gone")
    default: break
    }
    if let parent = presentation.parent {
      guard let row = presentations[parent], !row.isParked else {
        throw RecordFault("presentation \(handle) has the parent \(parent), which does not exist")
      }
      let (item, phase) = (row.presentation.item, row.presentation.phase)
      if item.isQueued || phase.isDismissing && !presentation.phase.isDismissing {
        throw RecordFault("presentation \(handle) stays while its parent \(parent) ends or is queued")
      }
      guard presentation.hasNamedParent || presentation.binding.derives(from: row.presentation.binding) else {
        throw RecordFault("presentation \(handle) has the parent \(parent), which no request named")
      }
    } else if presentation.hasNamedParent {
      throw RecordFault("presentation \(handle) has no parent, though a request named one")
    }
  }

  private func check(_ destination: Destination) throws(RecordFault) {
    // A command of a request has no name.
    if destination.source != .request { try check(destination: destination.name) }
    if case .command(let arguments, _) = destination.presenter { try check(arguments) }
  }

  /// Checks that no presentation depends on itself, directly or through others (C7).
  /// - Parameter dependents: at least the presentations that have a parent or are in a stack.
  func checkDependencies(of dependents: [Presentation]) throws(RecordFault) {
    var onStack: [StackPosition: Handle] = [:]
    for presentation in dependents where !presentation.phase.isDismissing {
      if let position = presentation.item.position { onStack[position] = presentation.handle }
    }
    func dependencies(of handle: Handle) -> [Handle] {
      guard let presentation = presentations[handle]?.presentation else { return [] }
      var below: Handle?
      if let position = presentation.item.position, position.index > 0 {
        below = onStack[StackPosition(stack: position.stack, index: position.index - 1)]
      }
      return [presentation.parent, below].compactMap(\.self)
    }
    if let handle = visit(dependents.map(\.handle), dependencies: dependencies) {
      throw RecordFault("presentation \(handle) depends on itself")
    }
  }

  // MARK: Numbers and texts

  private func check(_ what: @autoclosure () -> String, _ number: UInt64, _ max: UInt64) throws(RecordFault) {
    guard number > max else { return }
    throw RecordFault("\(what()): expected 0 to \(max), found \(number)")
  }

  private func check(_ handle: Handle, _ what: String) throws(RecordFault) {
    guard handle.number == 0 || handle > numbers.lastHandle else { return }
    throw RecordFault("the handle of \(what): expected 1 to \(numbers.lastHandle), found \(handle)")
  }

  private func check(_ serial: Serial, _ what: @autoclosure () -> String) throws(RecordFault) {
    try check("the serial of \(what())", serial.number, numbers.serial.number)
  }

  private func check(depthOf value: Properties, _ limits: Limits) throws(RecordFault) {
    guard let deepest = value.values.lazy.map({ $0.depth }).max() else { return }
    try check("nested containers in a value", UInt64(deepest), UInt64(Limits.valueDepth))
  }

  /// A result has no limit of its own, only that of messages.
  private func check(result: Properties) throws(RecordFault) {
    try check("nested containers in a result", UInt64(Value.properties(result).depth), 64)
  }

  private func check(tag: String) throws(RecordFault) {
    guard tag.isEmpty || tag.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return
    }
    throw RecordFault("the tag \(quoted(tag)) is empty or has a control character")
  }

  private func check(destination name: String) throws(RecordFault) {
    guard !Destination.isName(name) else { return }
    throw RecordFault("\(quoted(name)) is not the name of a destination")
  }

  private func check(_ arguments: [[UInt8]]) throws(RecordFault) {
    if arguments.first?.isEmpty ?? true { throw RecordFault("a command is empty") }
    if arguments.contains(where: { $0.contains(0) }) { throw RecordFault("a command has a NUL byte in an argument") }
  }

  private func check(_ environment: [String: String]) throws(RecordFault) {
    for name in environment.keys where name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) {
      throw RecordFault("\(quoted(name)) is not the name of a variable")
    }
  }
}
