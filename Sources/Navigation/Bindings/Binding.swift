import Observation

/// A reference to a piece of state, which it reads and writes in place.
///
/// Bindings come from a ``Bindable`` model and from other bindings: by member (`$model.fact`), by the id of an element
/// (`$model.notes[id: 7]`), and by the initialisers of ``Binding``. Two bindings are equal if they refer to the
/// same state, whatever its value (B2). A binding does not retain the model; after the model is gone,
/// the binding keeps the last value.
///
///     @MainActor func edit(@Binding note: Note) {
///       note.text = "Milk"                          // The state has it at once.
///       let text: Binding<String> = $note.text      // To pass on.
///     }
///     for note in $model.notes { edit($note: note) }
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value> {
  private let read: () -> Value
  private let write: (Value) -> Void
  /// Writes a value against the state, where this differs from `write`; see ``restore(_:)``.
  private let overwrite: ((Value) -> Void)?
  /// The state that the binding refers to.
  ///
  ///     let isSamePlace = $model.note.named("letter").route == $model.note.route    // true: a name changes no place.
  public let route: BindingRoute
  /// The transaction of the binding's writes. It is merged into the current transaction.
  ///
  ///     var isOpen = $model.isOpen
  ///     isOpen.transaction.isForced = true
  ///     isOpen.wrappedValue = false        // Its screen is not asked.
  public var transaction = Transaction()
  /// Whether the state presents nothing; nil if its value tells. An enum may be another case than that of the binding.
  private(set) var isVacant: (() -> Bool)?
  /// Whether other clients of the coordinator get the values that screens of the program show.
  private(set) var isPublished = false

  init(
    _ route: BindingRoute, transaction: Transaction = Transaction(), read: @escaping () -> Value,
    write: @escaping (Value) -> Void, overwrite: ((Value) -> Void)? = nil, isVacant: (() -> Bool)? = nil
  ) {
    self.isVacant = isVacant
    self.route = route
    self.transaction = transaction
    self.read = read
    self.write = write
    self.overwrite = overwrite
  }

  /// The current value. A write happens in the binding's ``transaction``.
  ///
  ///     let text = $note.text
  ///     text.wrappedValue += "!"
  public var wrappedValue: Value {
    get { read() }
    nonmutating set { withTransaction(transaction) { write(newValue) } }
  }

  /// Writes the presented value, even where the program's own write has no effect because the state has changed.
  func restore(_ value: Value) { withTransaction(transaction) { (overwrite ?? write)(value) } }

  /// This binding, from which others are derived: `$text.count`.
  ///
  ///     let text: Binding<String> = $note.text
  public var projectedValue: Binding<Value> { self }

  /// Passes on `$text`.
  ///
  ///     @MainActor func edit(@Binding note: Note) { note.isDone = true }
  ///     edit($note: $note)
  public init(projectedValue: Binding<Value>) { self = projectedValue }

  /// Creates state that belongs to no model: `@Binding var text = ""`.
  ///
  ///     @Binding(.shared("launcher")) var isOpen = false
  ///     navigator.present(isPresented: $isOpen) { Window() }
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value.
  ///   - name: the state's name on the bus: `@Binding(.shared("launcher")) var isOpen = false`.
  ///   - file: the program's file, for reports of misuse.
  ///   - line: the line in the file.
  public init(
    wrappedValue: Value, _ name: RootName = .own("state"), file: StaticString = #fileID, line: UInt = #line
  ) {
    let box = Box(wrappedValue)
    // The closures retain the box, so the box lives as long as its bindings.
    self.init(
      BindingRoute(root: .of(box, named: name, file: file, line: line)), read: { box.value }, write: { box.value = $0 })
  }

  /// Creates a binding from two functions. Two bindings of one name are equal.
  ///
  ///     let isCrowded = Binding(named: .own("isCrowded")) { model.count > 9 } set: { model.count = $0 ? 10 : 0 }
  ///     navigator.present(isPresented: isCrowded) { Window() }
  ///
  /// - Parameters:
  ///   - name: the binding's name on the bus.
  ///   - get: reads the value. The properties of observable models that it reads are observed.
  ///   - set: writes the value.
  ///   - file: the program's file, for reports of misuse.
  ///   - line: the line in the file.
  public init(
    named name: RootName, get: @escaping () -> Value, set: @escaping (Value) -> Void, file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(BindingRoute(root: .ofFunctions(named: name, file: file, line: line)), read: get, write: set)
  }

  /// Returns a binding whose value never changes. Writes have no effect.
  ///
  ///     navigator.present(isPresented: .constant(true)) { Window() }
  public static func constant(_ value: Value) -> Binding {
    let box = Box(value)
    return Binding(BindingRoute(root: .of(box, named: .own("constant"))), read: { box.value }, write: { _ in })
  }

  /// Returns this binding with a transaction for its writes.
  ///
  ///     bind($model.isOpen.transaction(Transaction(animated: false)), to: $model.isHinted).store(in: &observings)
  public func transaction(_ transaction: Transaction) -> Binding {
    var binding = self
    binding.transaction = self.transaction.merging(transaction)
    return binding
  }

  /// Returns this binding with animated or unanimated writes (T2).
  ///
  ///     $model.isOpen.animated(false).wrappedValue = true
  public func animated(_ animated: Bool = true) -> Binding { transaction(Transaction(animated: animated)) }

  /// Returns this binding with a name for its last step on the bus. By default, properties of models have no names there.
  ///
  ///     navigator.present(item: $model.letter.named("letter")) { letter in Window(letter.wrappedValue.text) }
  ///
  /// - Parameters:
  ///   - name: letters, digits, `_` and `-`, a letter or `_` first (B1). Any other text is converted (``BindingName/name(for:)``) and
  ///     reported as misuse.
  ///   - file: the program's file, for that report.
  ///   - line: the line in the file.
  public func named(_ name: String, file: StaticString = #fileID, line: UInt = #line) -> Binding {
    let name = BindingName.checked(name, file: file, line: line)
    return published(isPublished, as: route.named(name))
  }

  /// Returns this binding with values that all clients of the coordinator may read and edit, as they change.
  ///
  ///     navigator.present(item: $model.note.published()) { note in NoteWindow(note) }
  ///
  /// Other bindings keep the values of a program's own screens in the program, so such a value may be secret, and of any size. An item
  /// that a destination of the session shows always has its value on the bus.
  public func published() -> Binding { published(true, as: route) }

  private func published(_ isPublished: Bool, as route: BindingRoute) -> Binding {
    var binding = Binding(
      route, transaction: transaction, read: read, write: write, overwrite: overwrite, isVacant: isVacant)
    binding.isPublished = isPublished
    return binding
  }

  // MARK: Members

  /// The binding of a member.
  ///
  ///     let text: Binding<String> = $note.text
  public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Binding<Member> {
    derived(
      keyPath, read: { [read] in read()[keyPath: keyPath] },
      write: { [read, write] in
        var value = read()
        value[keyPath: keyPath] = $0
        write(value)
      })
  }

  /// The binding of a member of an optional; its value is nil while the optional is nil. Writing nil sets the optional to nil.
  ///
  ///     let text: Binding<String?> = $model.note.text
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

  /// The binding of an optional member of an optional; its value is nil while either is nil. Writing nil sets the member to nil.
  ///
  ///     let due: Binding<String?> = $model.note.due
  public subscript<Wrapped, Member>(dynamicMember keyPath: WritableKeyPath<Wrapped, Member?>) -> Binding<Member?>
  where Value == Wrapped? {
    derived(
      keyPath, read: { [read] in read()?[keyPath: keyPath] },
      write: { [read, write] in
        guard var value = read() else { return }
        value[keyPath: keyPath] = $0
        write(value)
      })
  }

  private func derived<Member>(
    _ keyPath: AnyKeyPath, read: @escaping () -> Member, write: @escaping (Member) -> Void
  ) -> Binding<Member> {
    let identity = KeyPathIdentity(keyPath)
    return derived(.member(identity), name: identity.name, read: read, write: write)
  }

  /// This binding without a transaction. Derived bindings read and write through it, because they have the transaction themselves.
  var bare: Binding {
    var binding = self
    binding.transaction = Transaction()
    return binding
  }

  /// Returns a binding one step further along the route.
  func derived<Other>(
    _ step: BindingRoute.Step.Kind, name: String? = nil, read: @escaping () -> Other, write: @escaping (Other) -> Void,
    overwrite: ((Other) -> Void)? = nil, isVacant: (() -> Bool)? = nil
  ) -> Binding<Other> {
    var other = Binding<Other>(
      route.appending(step, name: name), transaction: transaction, read: read, write: write, overwrite: overwrite,
      isVacant: isVacant)
    other.isPublished = isPublished
    return other
  }
}

extension Binding: Hashable {
  public static func == (a: Binding, b: Binding) -> Bool { a.route == b.route }
  public func hash(into hasher: inout Hasher) { hasher.combine(route) }
}

extension Binding: Identifiable where Value: Identifiable {
  /// The ID of the current value.
  ///
  ///     let id: Note.ID = $note.id
  public var id: Value.ID { wrappedValue.id }
}

/// An observable box for state that belongs to no model.
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
