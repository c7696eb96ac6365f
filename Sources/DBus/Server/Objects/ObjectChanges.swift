import DBusValues

/// The changes of objects in a turn. They are announced once at its end, with the values at that time.
struct ObjectChanges {
  /// The fate of an object in the turn, as seen at its end.
  enum Existence {
    /// The object existed before the turn, and still exists.
    case existing
    case added
    case removed
    /// The object was removed and added again.
    case replaced
    /// The object was added and removed again. It is not announced.
    case transient
  }

  struct Change {
    let path: ObjectPath
    /// The object's interfaces, kept for its removal.
    let interfaces: [ImplementedInterface]
    var existence = Existence.existing
    var properties: [(interface: ImplementedInterface, name: String)] = []
  }

  /// The changes, in the order of each object's first one.
  private(set) var all: [Change] = []
  /// The indices in `all`, once there are many: a few paths are compared faster than they are hashed.
  private var index: [ObjectPath: Int] = [:]
  private static let few = 8

  /// Removes and returns all changes.
  mutating func take() -> [Change] {
    defer {
      all = []
      index.removeAll(keepingCapacity: true)
    }
    return all
  }

  mutating func added(_ path: ObjectPath, _ interfaces: @autoclosure () -> [ImplementedInterface]) {
    update(path, interfaces) { change in
      change.existence = change.existence == .removed ? .replaced : .added
      change.properties = []
    }
  }

  mutating func removed(_ path: ObjectPath, _ interfaces: @autoclosure () -> [ImplementedInterface]) {
    update(path, interfaces) { change in
      change.existence = change.existence == .added ? .transient : .removed
      change.properties = []
    }
  }

  /// Notes a change of a property. An object that was added or removed in this turn is announced without such changes.
  mutating func changed(
    _ path: ObjectPath, _ interfaces: @autoclosure () -> [ImplementedInterface], _ property: MemberName,
    of declared: InterfaceName
  ) {
    update(path, interfaces) { change in
      guard change.existence == .existing,
        let interface = change.interfaces.first(where: { $0.interface.name == declared }),
        !change.properties.contains(where: { $0.interface === interface && $0.name == property.text })
      else { return }
      change.properties.append((interface, property.text))
    }
  }

  /// Whether the last object to change was added in this turn, so that it is announced with all its properties.
  func isNew(_ path: ObjectPath) -> Bool {
    guard let last = all.last, last.existence == .added else { return false }
    return last.path == path
  }

  private mutating func update(
    _ path: ObjectPath, _ interfaces: () -> [ImplementedInterface], _ body: (inout Change) -> Void
  ) {
    let position = index(of: path) ?? all.count
    if position == all.count {
      all.append(Change(path: path, interfaces: interfaces()))
      if all.count > Self.few + 1 {
        index[path] = position
      } else if all.count > Self.few {
        for (position, change) in all.enumerated() { index[change.path] = position }
      }
    }
    body(&all[position])
  }

  private func index(of path: ObjectPath) -> Int? {
    all.count > Self.few ? index[path] : all.firstIndex { $0.path == path }
  }
}

extension Connection {
  /// Announces a new object. At the end of the turn, the nearest ObjectManager above it emits InterfacesAdded with the values at that
  /// time.
  public func objectAdded(_ path: ObjectPath) {
    objects.changes.added(path, objects.tree.interfaces(at: path))
  }

  /// Announces the removal of an object. At the end of the turn, the nearest ObjectManager above it emits InterfacesRemoved, unless the
  /// object was added in the same turn. Call this before ``unexport(_:)``.
  public func objectRemoved(_ path: ObjectPath) {
    objects.changes.removed(path, objects.tree.interfaces(at: path))
  }

  /// Announces a changed property. At the end of the turn, one PropertiesChanged for each interface of the object is emitted, as the
  /// contract declares (``EmitsChanged``).
  ///
  /// Inlined, so that nothing is made for a new object, which is announced with all its properties.
  @inlinable
  public func propertyChanged<T>(_ path: ObjectPath, _ property: Property<T>) {
    if !isNew(path) { noteChange(of: property.name, of: property.interface, property.emitsChanged, at: path) }
  }

  @usableFromInline
  func isNew(_ path: ObjectPath) -> Bool { objects.changes.isNew(path) }

  @usableFromInline
  func noteChange(
    of property: MemberName, of interface: InterfaceName, _ emitsChanged: EmitsChanged, at path: ObjectPath
  ) {
    guard emitsChanged == .true || emitsChanged == .invalidates else { return }
    objects.changes.changed(path, objects.tree.interfaces(at: path), property, of: interface)
  }

  /// Removes and returns the signals of all changes. A signal whose values cannot be sent is left out.
  func takeChangeSignals() -> (added: [OutgoingMessage], changed: [OutgoingMessage], removed: [OutgoingMessage]) {
    guard !objects.changes.all.isEmpty else { return ([], [], []) }
    let all = objects.changes.take()
    var added: [OutgoingMessage] = []
    var changed: [OutgoingMessage] = []
    var removed: [OutgoingMessage] = []
    for change in all {
      if change.existence != .existing, let manager = objects.tree.manager(above: change.path) {
        if change.existence == .removed || change.existence == .replaced, let signal = removal(change, from: manager) {
          // A replaced object must be removed before it is added.
          if change.existence == .replaced { added.append(signal) } else { removed.append(signal) }
        }
        if change.existence == .added || change.existence == .replaced, let signal = addition(change, from: manager) {
          added.append(signal)
        }
      }
      var rest = change.properties[...]
      while let interface = rest.first?.interface {
        let names = rest.filter { $0.interface === interface }.map { $0.name }
        if let signal = propertiesChanged(change.path, interface, names) { changed.append(signal) }
        rest.removeAll { $0.interface === interface }
      }
    }
    return (added, changed, removed)
  }

  private func removal(_ change: ObjectChanges.Change, from manager: ObjectPath) -> OutgoingMessage? {
    try? ObjectManagement.interfacesRemoved.message(from: manager) { writer throws(DBusError) in
      try writer.text(change.path.text)
      try writer.array(alignment: 4) { writer throws(DBusError) in
        for interface in change.interfaces { try writer.text(interface.interface.name.text) }
      }
    }
  }

  private func addition(_ change: ObjectChanges.Change, from manager: ObjectPath) -> OutgoingMessage? {
    try? ObjectManagement.interfacesAdded.message(from: manager) { writer throws(DBusError) in
      try writer.object(change.path, change.interfaces)
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

extension MessageWriter {
  private mutating func properties(of path: ObjectPath, _ interface: ImplementedInterface) throws(DBusError) {
    var failure: DBusError?
    interface.forEachValue(of: path) { header, value in
      guard failure == nil else { return }
      do throws(DBusError) { try property(header, value) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Appends the path of an object, and the values of its properties by interface. They are written directly from the object, without a
  /// dictionary of dictionaries.
  mutating func object(_ path: ObjectPath, _ interfaces: [ImplementedInterface]) throws(DBusError) {
    try text(path.text)
    try array(alignment: 8) { writer throws(DBusError) in
      for interface in interfaces {
        try writer.structure { writer throws(DBusError) in
          try writer.text(interface.interface.name.text)
          try writer.array(alignment: 8) { writer throws(DBusError) in
            try writer.properties(of: path, interface)
          }
        }
      }
    }
  }
}
