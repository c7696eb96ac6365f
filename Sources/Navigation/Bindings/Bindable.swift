import Observation

/// Provides bindings of a model's properties: `@Bindable var model = Counter()`, then `$model.fact`.
///
/// All `Bindable`s of one model object are equal. Two models of the same type are different.
///
///     @Bindable(.shared("inventory")) var model = Model()
///     navigator.present(item: $model.note) { note in Window(note.wrappedValue.text) }
@propertyWrapper
@dynamicMemberLookup
public struct Bindable<Model: AnyObject & Observable> {
  /// The model.
  public var wrappedValue: Model
  let root: BindingRoot

  /// Creates a `Bindable` of a model, as the property wrapper does.
  ///
  ///     @Bindable(.shared("editor")) var model = Model()
  ///     navigator.present(item: $model.note) { note in Window(note.wrappedValue.text) }
  ///
  /// - Parameters:
  ///   - wrappedValue: the model.
  ///   - name: the model's name on the bus, by default the name of its type. It has no effect if the model already has a name.
  ///   - file: the program's file, for reports of misuse.
  ///   - line: the line in the file.
  public init(wrappedValue: Model, _ name: RootName? = nil, file: StaticString = #fileID, line: UInt = #line) {
    self.wrappedValue = wrappedValue
    root = .of(wrappedValue, named: name ?? .own(BindingName.name(for: "\(Model.self)")), file: file, line: line)
  }

  /// Creates a `Bindable` in an expression: `Bindable(model).fact`.
  ///
  ///     navigator.present(item: Bindable(model).note) { note in Window(note.wrappedValue.text) }
  public init(_ wrappedValue: Model, _ name: RootName? = nil, file: StaticString = #fileID, line: UInt = #line) {
    self.init(wrappedValue: wrappedValue, name, file: file, line: line)
  }

  /// This value, for bindings of its properties: `$model.fact`.
  ///
  ///     let isOpen: Binding<Bool> = $model.isOpen
  public var projectedValue: Bindable<Model> { self }

  /// Passes on `$model`.
  ///
  ///     @MainActor func show(@Bindable of model: Model) { navigator.present(isPresented: $model.isOpen) { Window() } }
  ///     show($of: $model)
  public init(projectedValue: Bindable<Model>) { self = projectedValue }

  /// The binding of a property. The binding holds the model weakly, and keeps the property's last value.
  ///
  ///     let name: Binding<String> = $form.name
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Binding<Value> {
    binding(keyPath, name: nil)
  }

  /// - Parameter name: the property's name on the bus; nil for a number.
  func binding<Value>(_ keyPath: ReferenceWritableKeyPath<Model, Value>, name: String?) -> Binding<Value> {
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

extension Bindable: Hashable {
  public static func == (a: Bindable, b: Bindable) -> Bool { a.root == b.root }
  public func hash(into hasher: inout Hasher) { hasher.combine(root) }
}

/// The last value of state that may no longer exist.
final class Last<Value> {
  var value: Value

  init(_ value: Value) { self.value = value }

  /// Returns `value` and keeps it, or returns the last value if `value` is nil.
  func updated(to value: Value?) -> Value {
    if let value { self.value = value }
    return self.value
  }
}
