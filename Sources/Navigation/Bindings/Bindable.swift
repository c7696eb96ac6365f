import Observation

/// Gives the properties of a model bindings: `@Bindable var model = Counter()`, then `$model.fact`.
///
/// All `Bindable`s of one model object are equal. Two models of the same type are different.
@propertyWrapper
@dynamicMemberLookup
public struct Bindable<Model: AnyObject & Observable> {
  /// The model.
  public var wrappedValue: Model
  private let root: BindingRoot

  /// - Parameters:
  ///   - wrappedValue: the model.
  ///   - name: the model's name on the bus. It has no effect if the model already has one. By default the name of its
  ///     type.
  ///   - file: the file of the program for reports of misuse.
  ///   - line: the line in it.
  public init(wrappedValue: Model, _ name: RootName? = nil, file: StaticString = #fileID, line: UInt = #line) {
    self.wrappedValue = wrappedValue
    root = .of(wrappedValue, named: name ?? .own(BindingName.name(for: "\(Model.self)")), file: file, line: line)
  }

  /// Creates the same in an expression: `Bindable(model).fact`.
  public init(_ wrappedValue: Model, _ name: RootName? = nil, file: StaticString = #fileID, line: UInt = #line) {
    self.init(wrappedValue: wrappedValue, name, file: file, line: line)
  }

  /// This value, for bindings of its properties: `$model.fact`.
  public var projectedValue: Bindable<Model> { self }

  /// Passes on `$model`.
  public init(projectedValue: Bindable<Model>) { self = projectedValue }

  /// The binding of a property. It holds the model weakly, and keeps the property's last value.
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Binding<Value> {
    binding(keyPath, name: nil)
  }

  /// - Parameter name: the property's name on the bus; nil: a number.
  private func binding<Value>(_ keyPath: ReferenceWritableKeyPath<Model, Value>, name: String?) -> Binding<Value> {
    let identity = KeyPathIdentity(keyPath)
    let last = Last(wrappedValue[keyPath: keyPath])
    return Binding(
      BindingRoute(root: root).appending(.member(identity), name: name ?? identity.name),
      read: { [weak model = wrappedValue] in last.updated(to: model?[keyPath: keyPath]) },
      write: { [weak model = wrappedValue] in
        last.value = $0
        model?[keyPath: keyPath] = $0
      })
  }
}

/// A model whose properties have names on the bus (B1), so that `$model.fact` needs no ``Binding/named(_:)``:
///
///     @MainActor @Observable
///     final class Counter: Navigable {
///       static let memberNames: MemberNames<Counter> = [\.fact: "fact"]
///       var fact: Fact?
///     }
///
/// With the package's trait `Macros`, `@Navigable` writes the names of all properties.
@MainActor
public protocol Navigable: AnyObject, Observable {
  /// The class that has the properties.
  associatedtype NamedModel: AnyObject
  /// The names. A property without one has a number, which depends on the order of use.
  static var memberNames: MemberNames<NamedModel> { get }
}

/// The names of a class's properties (B1): letters, digits, `_` and `-`, a letter or `_` first.
public typealias MemberNames<Model> = [PartialKeyPath<Model>: String]

extension Bindable where Model: Navigable {
  /// The binding of a property, with its name in ``Navigable/memberNames``.
  /// - Precondition: the name is one.
  @MainActor
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Binding<Value> {
    let name = (keyPath as? PartialKeyPath<Model.NamedModel>).flatMap { Model.memberNames[$0] }
    if let name { BindingName.require(name) }
    return binding(keyPath, name: name)
  }
}

extension Bindable: Hashable {
  public static func == (a: Bindable, b: Bindable) -> Bool { a.root == b.root }
  public func hash(into hasher: inout Hasher) { hasher.combine(root) }
}

/// The last value of state that may no longer exist.
final class Last<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }

  /// Returns `value` and keeps it; returns the last value if `value` is nil.
  func updated(to value: Value?) -> Value {
    if let value { self.value = value }
    return self.value
  }
}
