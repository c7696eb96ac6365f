import DBusValues

/// Provides the objects below a path. There may be hundreds of thousands. Their changes are announced as they happen
/// (``Connection/objectAdded(_:)``, …).
public protocol ObjectProvider: AnyObject {
  var interfaces: [ImplementedInterface] { get }
  func contains(_ path: ObjectPath) -> Bool
  /// The paths of all objects, for introspection and GetManagedObjects.
  var paths: [ObjectPath] { get }
}

/// The exported objects of a connection.
final class ExportedObjects {
  var tree = ObjectTree()
  var changes = ObjectChanges()
}

/// The objects of a connection by their paths. All objects below the path of a provider belong to it.
struct ObjectTree {
  struct Object {
    var interfaces: [ImplementedInterface]
    var isManager: Bool
  }

  private(set) var objects: [ObjectPath: Object] = [:]
  private(set) var subtrees: [(prefix: ObjectPath, provider: any ObjectProvider)] = []

  mutating func export(_ path: ObjectPath, _ object: Object) { objects[path] = object }

  mutating func unexport(_ path: ObjectPath) { objects[path] = nil }

  mutating func exportSubtree(_ prefix: ObjectPath, _ provider: any ObjectProvider) {
    subtrees.append((prefix, provider))
  }

  /// The object at the path; nil if there is none.
  func object(at path: ObjectPath) -> Object? {
    if let object = objects[path] { return object }
    guard let provider = provider(for: path), provider.contains(path) else { return nil }
    return Object(interfaces: provider.interfaces, isManager: false)
  }

  /// The interfaces of the object at the path, even if its provider no longer contains it.
  func interfaces(at path: ObjectPath) -> [ImplementedInterface] {
    // Most objects belong to a provider, and a prefix is compared faster than a path is hashed.
    provider(for: path)?.interfaces ?? objects[path]?.interfaces ?? []
  }

  private func provider(for path: ObjectPath) -> (any ObjectProvider)? {
    for subtree in subtrees where path.isBelow(subtree.prefix) { return subtree.provider }
    return nil
  }

  /// Whether there are, or may be, objects below the path.
  func hasDescendants(_ path: ObjectPath) -> Bool {
    subtrees.contains { $0.prefix == path || $0.prefix.isBelow(path) }
      || objects.keys.contains { $0.isBelow(path) }
  }

  /// The sorted names of the nodes directly below the path.
  func children(of path: ObjectPath) -> [String] {
    var children: Set<Substring> = []
    for other in descendants(of: path) {
      if let rest = other.below(path) { children.insert(rest.prefix { $0 != "/" }) }
    }
    return children.sorted().map(String.init)
  }

  private func descendants(of path: ObjectPath) -> [ObjectPath] {
    exported(below: path) + subtrees.map(\.prefix).filter { $0.isBelow(path) } + provided(below: path)
  }

  /// The objects below the path that do not belong to a provider.
  func exported(below path: ObjectPath) -> [ObjectPath] { objects.keys.filter { $0.isBelow(path) } }

  /// The objects of providers below the path.
  func provided(below path: ObjectPath) -> [ObjectPath] {
    subtrees.flatMap { prefix, provider in
      if prefix == path || prefix.isBelow(path) { return provider.paths }
      return path.isBelow(prefix) ? provider.paths.filter { $0.isBelow(path) } : []
    }
  }

  /// Whether a provider has the object.
  func provides(_ path: ObjectPath) -> Bool { provider(for: path)?.contains(path) == true }

  func manager(above path: ObjectPath) -> ObjectPath? {
    var nearest: ObjectPath?
    for (other, object) in objects where object.isManager && other.text.utf8.count > nearest?.text.utf8.count ?? 0 {
      if path.isBelow(other) { nearest = other }
    }
    return nearest
  }
}
