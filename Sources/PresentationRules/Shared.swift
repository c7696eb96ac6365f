/// A large value in one place in memory: a copy costs one reference, a change a new box.
///
/// Within one request an item passes through a dozen functions; copying its two dozen fields was most of the cost.
@dynamicMemberLookup
public struct Shared<Value: Sendable>: Sendable {
  @usableFromInline
  final class Box: Sendable {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  @inlinable
  public init(_ value: Value) { box = Box(value) }

  @inlinable
  public var content: Value {
    get { box.value }
    set { box = Box(newValue) }
  }

  @inlinable
  public subscript<Field>(dynamicMember field: KeyPath<Value, Field>) -> Field { box.value[keyPath: field] }

  @inlinable
  public subscript<Field>(dynamicMember field: WritableKeyPath<Value, Field>) -> Field {
    get { box.value[keyPath: field] }
    set {
      var changed = box.value
      changed[keyPath: field] = newValue
      box = Box(changed)
    }
  }
}

extension Shared: Equatable where Value: Equatable {
  @inlinable
  public static func == (a: Shared, b: Shared) -> Bool { a.box === b.box || a.box.value == b.box.value }
}

extension Shared: Hashable where Value: Hashable {
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}
