// Why this file exists: what happens to an object within a turn is told once, with the values at its end.

import DBusValues

/// What has happened to objects in this turn.
struct ObjectChanges {
  enum Existence {
    /// It was there before the turn and is.
    case kept
    case new
    case gone
    /// It was there, went, and is there again.
    case back
    /// It came and is gone again: nobody need know.
    case passing
  }

  struct Change {
    let path: ObjectPath
    /// What it implements, for when it has gone.
    let interfaces: [ImplementedInterface]
    var existence = Existence.kept
    var properties: [(interface: ImplementedInterface, name: String)] = []
  }

  /// In the order in which each was first touched.
  private(set) var all: [Change] = []
  private var index: [ObjectPath: Int] = [:]

  /// Forgets all of it, and keeps the room.
  mutating func removeAll() {
    all.removeAll(keepingCapacity: true)
    index.removeAll(keepingCapacity: true)
  }

  mutating func added(_ path: ObjectPath, _ interfaces: @autoclosure () -> [ImplementedInterface]) {
    update(path, interfaces) { change in
      change.existence = change.existence == .gone ? .back : .new
      change.properties = []
    }
  }

  mutating func removed(_ path: ObjectPath, _ interfaces: @autoclosure () -> [ImplementedInterface]) {
    update(path, interfaces) { change in
      change.existence = change.existence == .new ? .passing : .gone
      change.properties = []
    }
  }

  /// What is new is announced with its values, what is gone has none.
  mutating func changed(
    _ path: ObjectPath, _ interfaces: @autoclosure () -> [ImplementedInterface], _ property: some InterfaceMember
  ) {
    update(path, interfaces) { change in
      guard change.existence == .kept,
        let interface = change.interfaces.first(where: { $0.interface.name == property.interface }),
        !change.properties.contains(where: { $0.interface === interface && $0.name == property.name.text })
      else { return }
      change.properties.append((interface, property.name.text))
    }
  }

  private mutating func update(
    _ path: ObjectPath, _ interfaces: () -> [ImplementedInterface], _ body: (inout Change) -> Void
  ) {
    let position = index[path] ?? all.count
    if position == all.count {
      all.append(Change(path: path, interfaces: interfaces()))
      index[path] = position
    }
    body(&all[position])
  }
}

extension Connection {
  /// There is a new object. At the end of the turn the nearest ObjectManager above announces it with its values as they
  /// are then.
  public func objectAdded(_ path: ObjectPath) { changes.added(path, objects.interfaces(at: path)) }

  /// An object has gone, or is about to (an exported one: say so before ``unexport(_:)``). At the end of the turn, after
  /// its last signals, the nearest ObjectManager above says so; not a word is said of one that came in the same turn.
  public func objectRemoved(_ path: ObjectPath) { changes.removed(path, objects.interfaces(at: path)) }

  /// A property has another value. At the end of the turn PropertiesChanged says so, once for all of an interface, as
  /// the contract has it (``EmitsChanged``).
  public func propertyChanged<T>(_ path: ObjectPath, _ property: Property<T>) {
    guard property.emitsChanged == .true || property.emitsChanged == .invalidates else { return }
    changes.changed(path, objects.interfaces(at: path), property)
  }

  /// The signals for what has happened, in the order: added, changed, removed. Without those that cannot be sent, which
  /// is the fault of who set a value and ends nobody.
  func takeChangeSignals() -> [OutgoingMessage] {
    let all = changes.all
    guard !all.isEmpty else { return [] }
    changes.removeAll()
    var added: [OutgoingMessage] = []
    var changed: [OutgoingMessage] = []
    var removed: [OutgoingMessage] = []
    for change in all {
      if change.existence != .kept, let manager = objects.manager(above: change.path) {
        if change.existence == .gone || change.existence == .back, let signal = removal(change, from: manager) {
          // What is back has to go before it comes.
          if change.existence == .back { added.append(signal) } else { removed.append(signal) }
        }
        if change.existence == .new || change.existence == .back, let signal = addition(change, from: manager) {
          added.append(signal)
        }
      }
      var rest = change.properties[...]
      while let interface = rest.first?.interface {
        let names = rest.filter { $0.interface === interface }.map(\.name)
        if let signal = propertiesChanged(change.path, interface, names) { changed.append(signal) }
        rest.removeAll { $0.interface === interface }
      }
    }
    return added + changed + removed
  }

  private func removal(_ change: ObjectChanges.Change, from manager: ObjectPath) -> OutgoingMessage? {
    let names = change.interfaces.map(\.interface.name.text)
    return try? ObjectManagement.interfacesRemoved.message(from: manager, (change.path, names))
  }

  private func addition(_ change: ObjectChanges.Change, from manager: ObjectPath) -> OutgoingMessage? {
    // Straight from the objects, without a dictionary of dictionaries in between.
    try? ObjectManagement.interfacesAdded.message(from: manager) { writer throws(DBusError) in
      try writer.append(change.path)
      try writer.array(alignment: 8) { writer throws(DBusError) in
        for interface in change.interfaces {
          try writer.structure { writer throws(DBusError) in
            try writer.append(interface.interface.name.text)
            try writer.array(alignment: 8) { writer throws(DBusError) in
              var failure: DBusError?
              interface.forEachValue(of: change.path) { head, value in
                do throws(DBusError) { try writer.property(head, value) } catch { failure = error }
              }
              if let failure { throw failure }
            }
          }
        }
      }
    }
  }

  private func propertiesChanged(
    _ path: ObjectPath, _ interface: ImplementedInterface, _ names: [String]
  ) -> OutgoingMessage? {
    var values: Properties = [:]
    var invalidated: [String] = []
    for property in interface.properties where names.contains(property.name) {
      if property.emitsChanged == .invalidates {
        invalidated.append(property.name)
      } else {
        values[property.name] = property.get(path)
      }
    }
    let arguments = (interface.interface.name.text, values, invalidated)
    return try? PropertyAccessing.propertiesChanged.message(from: path, arguments)
  }
}
