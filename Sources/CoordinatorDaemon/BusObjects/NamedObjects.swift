import CoordinatorAPI
import DBus
import DBusValues

/// The objects of groups, of stacks or of holds, which the state knows by name. They are computed from their paths, like the
/// objects of presentations.
final class NamedObjects: ObjectProvider {
  /// A kind of objects: their interface and where they are.
  struct Kind {
    /// The path above the objects.
    let parent: ObjectPath
    let interface: Interface
    /// The properties of the interface, read by the name of an object.
    let properties: [PropertyOf<String>]
    let names: () -> [String]
    let exists: (String) -> Bool
  }

  private let kind: Kind
  /// The names of the objects that clients may know of: those of the state that navd began with, and those announced since.
  private var announced: Set<String>
  private(set) lazy var interfaces: [ImplementedInterface] = {
    let object = ImplementedInterface(kind.interface)
    object.implement(kind.properties) { [unowned self] in name(of: $0) }
    return [object]
  }()

  init(_ kind: Kind) {
    self.kind = kind
    announced = Set(kind.names())
  }

  func contains(_ path: ObjectPath) -> Bool { name(of: path) != nil }

  var paths: [ObjectPath] { kind.names().map { kind.parent.appending(encoding: $0) } }

  private func name(of path: ObjectPath) -> String? {
    path.decodedName(below: kind.parent).flatMap { kind.exists($0) ? $0 : nil }
  }

  /// Announces that an object was added, was removed or has changed.
  /// - Parameter announceChange: announces the changed properties of the object at a path.
  func noteDifference(of name: String, on connection: Connection, _ announceChange: (ObjectPath) -> Void) {
    let path = kind.parent.appending(encoding: name)
    switch (announced.contains(name), kind.exists(name)) {
    case (true, true): announceChange(path)
    case (false, true):
      announced.insert(name)
      connection.objectAdded(path)
    case (true, false):
      announced.remove(name)
      connection.objectRemoved(path)
    case (false, false): break
    }
  }
}
