// Why this file exists: bindings begin at a model object.

import Observation

/// A model whose properties have bindings: `@Bindable var model = Counter()`, then `$model.fact`.
///
/// A model is one place, however many of these there are for it; two models of one type are two.
@propertyWrapper
@dynamicMemberLookup
public struct Bindable<Model: AnyObject & Observable> {
  /// The model.
  public var wrappedValue: Model
  private let root: BindingRoot

  /// - Parameters:
  ///   - wrappedValue: the model.
  ///   - name: what it is called on the bus, unless it is called something already; without one, as its type.
  public init(wrappedValue: Model, _ name: RootName? = nil) {
    self.wrappedValue = wrappedValue
    root = .of(wrappedValue, named: name ?? .own(BindingName.name(for: "\(Model.self)")))
  }

  /// The same in an expression: `Bindable(model).fact`.
  public init(_ wrappedValue: Model, _ name: RootName? = nil) { self.init(wrappedValue: wrappedValue, name) }

  /// Itself, from which bindings are taken: `$model.fact`.
  public var projectedValue: Bindable<Model> { self }

  /// The same one, handed on as `$model`.
  public init(projectedValue: Bindable<Model>) { self = projectedValue }

  /// The binding of a property. It holds the model weakly, and what the model held last.
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Binding<Value> {
    let identity = KeyPathIdentity(keyPath)
    let last = Last(wrappedValue[keyPath: keyPath])
    return Binding(
      BindingRoute(root: root).appending(.member(identity), name: identity.name),
      read: { [weak model = wrappedValue] in last.updated(to: model?[keyPath: keyPath]) },
      write: { [weak model = wrappedValue] in
        last.value = $0
        model?[keyPath: keyPath] = $0
      })
  }
}

extension Bindable: Hashable {
  public static func == (a: Bindable, b: Bindable) -> Bool { a.root == b.root }
  public func hash(into hasher: inout Hasher) { hasher.combine(root) }
}

/// What was there last, for when there is nothing any more.
final class Last<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }

  /// What there is, else what there was.
  func updated(to value: Value?) -> Value {
    if let value { self.value = value }
    return self.value
  }
}
