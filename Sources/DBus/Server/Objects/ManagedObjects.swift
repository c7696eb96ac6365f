import DBusValues

/// The objects of providers in the form of `GetManagedObjects`. If there are very many, most of them are made in advance, some in each
/// turn, so that no call waits for all of them. They are kept until the answer; those that change meanwhile are made anew.
struct ManagedObjects {
  /// Objects one after the other, each at a multiple of 8 bytes, like the elements of an array.
  private struct Part {
    var objects: [(path: ObjectPath, range: Range<Int>)] = []
    var bytes: [UInt8] = []
  }

  /// The number of objects that are made in one turn.
  private static let countPerTurn = 2000
  /// The largest number of bytes that are kept. Further objects are made with the answer.
  private static let maxBytes = 32 << 20
  /// The largest number of changes that are noted. Beyond it, all objects are made anew. The caller may not read for long.
  private static let maxChanges = 4096

  /// The path above the objects.
  private var path: ObjectPath = .root
  private var parts: [Part] = []
  private var size = 0
  /// The objects that are still to be made; nil if no call waits for an answer.
  private var rest: ArraySlice<ObjectPath>?
  /// The objects that were added, changed or removed meanwhile.
  private var changed: Set<ObjectPath> = []

  /// The number of objects that were made.
  var count: Int { parts.reduce(0) { $0 + $1.objects.count } }

  mutating func noteChange(_ path: ObjectPath) {
    guard rest != nil else { return }
    changed.insert(path)
    if changed.count > Self.maxChanges { self = ManagedObjects() }
  }

  /// Makes some objects below a path in advance.
  /// - Returns: whether the answer can be written.
  mutating func prepare(below path: ObjectPath, in objects: ObjectTree) -> Bool {
    if path != self.path {
      self = ManagedObjects()
      self.path = path
    }
    var rest = rest ?? objects.provided(below: path)[...]
    var part = Part()
    var writer = MessageWriter()
    for path in rest.prefix(Self.countPerTurn) {
      writer.align(8)
      let start = writer.count
      do throws(DBusError) {
        try writer.element(path, in: objects)
        part.objects.append((path, start..<writer.count))
      } catch {
        // The same error occurs in the answer.
        changed.insert(path)
      }
    }
    part.bytes = Array(writer.bytes)
    parts.append(part)
    size += part.bytes.count
    rest = rest.dropFirst(Self.countPerTurn)
    self.rest = rest
    return rest.isEmpty || size >= Self.maxBytes
  }

  /// Writes the answer, and forgets the objects that were made for it.
  mutating func write(below path: ObjectPath, in objects: ObjectTree, to writer: inout MessageWriter) throws(DBusError)
  {
    let made = path == self.path ? self : ManagedObjects()
    self = ManagedObjects()
    try writer.array(alignment: 8) { writer throws(DBusError) in
      for part in made.parts {
        writer.align(8)
        guard !made.changed.isEmpty else {
          writer.copy(part.bytes)
          continue
        }
        for object in part.objects where !made.changed.contains(object.path) {
          writer.align(8)
          writer.copy(Array(part.bytes[object.range]))
        }
      }
      for path in made.rest ?? objects.provided(below: path)[...] where !made.changed.contains(path) {
        try writer.element(path, in: objects)
      }
      let others = made.changed.filter { $0.isBelow(path) && objects.provides($0) }
      for path in others.sorted(by: { $0.text < $1.text }) + objects.exported(below: path) {
        try writer.element(path, in: objects)
      }
    }
  }
}

extension MessageWriter {
  /// Appends an object as an element of the array of `GetManagedObjects`.
  fileprivate mutating func element(_ path: ObjectPath, in objects: ObjectTree) throws(DBusError) {
    try structure { writer throws(DBusError) in try writer.object(path, objects.interfaces(at: path)) }
  }
}
