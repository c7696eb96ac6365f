/// A large value in one place in memory: a copy costs one reference, and a change of the only copy is made in place.
///
/// Within one request an item passes through a dozen functions; copying its two dozen fields was most of the cost. Read a field in a
/// closure, as in `{ $0.id }`: a key path such as `\.id` is evaluated at run time, which is slower. The type is Sendable, since a box
/// is changed only while nothing else refers to it.
@dynamicMemberLookup
public struct Shared<Value: Sendable>: @unchecked Sendable {
  @usableFromInline
  final class Box {
    @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  @inlinable
  public init(_ value: Value) { box = Box(value) }

  @inlinable
  public var content: Value {
    _read { yield box.value }
    _modify {
      becomeOnlyCopy()
      yield &box.value
    }
  }

  @inlinable
  public subscript<Field>(dynamicMember field: KeyPath<Value, Field>) -> Field { box.value[keyPath: field] }

  @inlinable
  public subscript<Field>(dynamicMember field: WritableKeyPath<Value, Field>) -> Field {
    get { box.value[keyPath: field] }
    _modify {
      becomeOnlyCopy()
      yield &box.value[keyPath: field]
    }
  }

  @inlinable
  mutating func becomeOnlyCopy() {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
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
