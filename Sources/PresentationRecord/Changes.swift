// Why this file exists: what a turn has to put on record, as rows of the tables.

import DBusValues
import PresentationModel
import PresentationRules

extension Record {
  /// What is to be put on record.
  struct Changes {
    var state = RecordChanges()
    var memories: [(handle: Handle, memory: Properties)] = []
    var session: Session?
    var isEmpty: Bool { state.isEmpty && memories.isEmpty && session == nil }
  }
}

extension Record.Changes {
  var rows: [TableRow] {
    var rows: [TableRow] = []
    func put(_ key: TableRow.Key, _ content: [Column]?) { rows.append(TableRow(key, content)) }
    if let session {
      put(
        .init(.session, number: 1),
        [.text(session.bus), .text(session.boot), .integer(session.clock), .text(session.token)])
    }
    if let numbers = state.numbers {
      put(
        .init(.numbers, number: 1),
        [
          .bits(numbers.serial.number), .bits(numbers.lastHandle.number), .bits(numbers.lastQueueAge),
          .bits(numbers.changesForgotten.number),
        ])
    }
    for (handle, row) in state.presentations {
      put(
        .init(.presentation, handle),
        row.map { [.text($0.binding.text), .text($0.item.id), .text($0.phase.name.rawValue), .blob($0.body)] })
    }
    for (handle, memory) in memories {
      var body = BodyWriter()
      body.put(memory)
      put(.init(.memory, handle), [.blob(body.bytes)])
    }
    for (subject, row) in state.changed {
      put(
        .init(.changed, number: Int64(subject.kind), name: subject.name),
        row.map { [.bits($0.present?.number), .bits($0.absent?.serial.number), .bits($0.absent?.stamp)] })
    }
    for (key, row) in state.tags {
      put(
        .init(.tag, name: key.group.text, detail: key.tag),
        row.map { [.text($0.binding.text), .text($0.id), .blob($0.options.body), .bits($0.stamp)] })
    }
    for (handle, ending) in state.endings {
      put(
        .init(.ending, handle),
        ending.map {
          [.text($0.binding.text), .text($0.id), .text($0.reason.rawValue), .bits($0.serial.number), .blob($0.body)]
        })
    }
    for (key, value) in state.containerValues {
      put(.init(.containerValue, name: key), value.map { [.blob($0.body)] })
    }
    for (name, registrations) in state.registrations {
      put(.init(.registration, name: name), registrations.map { [.blob($0.body)] })
    }
    return rows
  }
}

extension TableRow.Key {
  fileprivate init(_ table: Table, _ handle: Handle) { self.init(table, number: Int64(bitPattern: handle.number)) }
}
