// Why this file exists: a piece of a model's state can be handed on, to be read and written where it is used, and is
// known by where it is.

import Observation

/// A way to a piece of state: read and written there, never copied.
///
/// Bindings come from a ``Bindable`` model, and from each other: by members (`$model.fact`), by index (`$model.notes[3]`),
/// and as ``Binding`` has initialisers for. They are equal where they point to the same place (rule B2), whatever they
/// hold, and they do not keep the model alive: when it is gone they hold what they held last.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value> {
  private let read: () -> Value
  private let write: (Value) -> Void
  /// Where it points.
  public let route: BindingRoute
  /// In which its writes are made, inside of the one that is current.
  public var transaction = Transaction()

  init(
    _ route: BindingRoute, transaction: Transaction = Transaction(), read: @escaping () -> Value,
    write: @escaping (Value) -> Void
  ) {
    self.route = route
    self.transaction = transaction
    self.read = read
    self.write = write
  }

  /// What is there now. Writing it writes it there, in the binding's ``transaction``.
  public var wrappedValue: Value {
    get { read() }
    nonmutating set { withTransaction(transaction) { write(newValue) } }
  }

  /// Itself, from which others are derived: `$text.count`.
  public var projectedValue: Binding<Value> { self }

  /// The same one, handed on as `$text`.
  public init(projectedValue: Binding<Value>) { self = projectedValue }

  /// State of its own, for what has no model: `@Binding var text = ""`.
  /// - Parameters:
  ///   - wrappedValue: what it holds first.
  ///   - name: what it is called on the bus: `@Binding(.shared("launcher")) var isOpen = false`.
  public init(wrappedValue: Value, _ name: RootName = .own("state")) {
    let box = Box(wrappedValue)
    // The box lives as long as its bindings do.
    self.init(BindingRoute(root: .of(box, named: name)), read: { box.value }, write: { box.value = $0 })
  }

  /// A value that nobody can change.
  public static func constant(_ value: Value) -> Binding {
    let box = Box(value)
    return Binding(BindingRoute(root: .of(box, named: .own("constant"))), read: { box.value }, write: { _ in })
  }

  /// The same binding, with writes in a transaction.
  public func transaction(_ transaction: Transaction) -> Binding {
    var binding = self
    binding.transaction = self.transaction.merging(transaction)
    return binding
  }

  /// The same binding, with writes that are animated, or are not (T2).
  public func animated(_ animated: Bool = true) -> Binding { transaction(Transaction(animated: animated)) }

  /// The same binding, called so on the bus: a model's properties have no names there by themselves.
  /// - Precondition: `name` is a name (B1): letters, digits, `_` and `-`, a letter or `_` first.
  public func named(_ name: String) -> Binding {
    precondition(
      BindingName.isName(name), "“\(name)” is no name; letters, digits, “_” and “-”, a letter or “_” first, would do")
    return Binding(route.named(name), transaction: transaction, read: read, write: write)
  }

  // MARK: Members

  /// The binding of a member.
  public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Binding<Member> {
    derived(
      keyPath, read: { [read] in read()[keyPath: keyPath] },
      write: { [read, write] in
        var value = read()
        value[keyPath: keyPath] = $0
        write(value)
      })
  }

  /// The binding of a member of what may be nil: nil where that is, and writing nil makes that nil.
  public subscript<Wrapped, Member>(dynamicMember keyPath: WritableKeyPath<Wrapped, Member>) -> Binding<Member?>
  where Value == Wrapped? {
    derived(
      keyPath, read: { [read] in read()?[keyPath: keyPath] },
      write: { [read, write] in
        guard var value = read() else { return }
        guard let member = $0 else { return write(nil) }
        value[keyPath: keyPath] = member
        write(value)
      })
  }

  private func derived<Member>(
    _ keyPath: AnyKeyPath, read: @escaping () -> Member, write: @escaping (Member) -> Void
  ) -> Binding<Member> {
    let identity = KeyPathIdentity(keyPath)
    return derived(.member(identity), name: identity.name, read: read, write: write)
  }

  /// The same, its writes in no transaction but the current one: what is derived has the transaction already, or another.
  var bare: Binding {
    var binding = self
    binding.transaction = Transaction()
    return binding
  }

  /// A binding one step on.
  func derived<Other>(
    _ step: BindingRoute.Step.Kind, name: String? = nil, read: @escaping () -> Other, write: @escaping (Other) -> Void
  ) -> Binding<Other> {
    Binding<Other>(route.appending(step, name: name), transaction: transaction, read: read, write: write)
  }
}

extension Binding: Hashable {
  public static func == (a: Binding, b: Binding) -> Bool { a.route == b.route }
  public func hash(into hasher: inout Hasher) { hasher.combine(route) }
}

extension Binding: Identifiable where Value: Identifiable {
  /// That of what is there now.
  public var id: Value.ID { wrappedValue.id }
}

/// State of its own, observed as a model's.
final class Box<Value>: Observable {
  private let registrar = ObservationRegistrar()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      return stored
    }
    set { registrar.withMutation(of: self, keyPath: \.value) { stored = newValue } }
  }
}
