/// A case of an enum, with functions that extract its payload and embed one.
///
/// Its functions may be sent, as its first initialiser requires, or capture nothing but types, as the second one does.
///
///     let circle = EnumCase("circle", Shape.circle) { if case .circle(let radius) = $0 { radius } else { nil } }
///     let radius: Binding<Double>? = $model.shape.case(circle)
public struct EnumCase<Root, Payload>: @unchecked Sendable {
  /// The case's name on the bus.
  let name: String
  let embed: (Payload) -> Root
  let extract: (Root) -> Payload?

  /// - Parameters:
  ///   - name: the name of the case.
  ///   - embed: makes the enum from a payload, as the case itself does.
  ///   - extract: returns the payload; nil for any other case.
  ///   - file: the program's file, for the report of a `name` that is converted because it is not a
  ///     name (B1).
  ///   - line: the line in the file.
  public init(
    _ name: String, _ embed: @escaping @Sendable (Payload) -> Root, file: StaticString = #fileID, line: UInt = #line,
    extract: @escaping @Sendable (Root) -> Payload?
  ) {
    self.name = BindingName.checked(name, file: file, line: line)
    self.embed = embed
    self.extract = extract
  }

  /// Creates a case for the macro `@Cases`. The types of a generic enum cannot be captured by functions that may be sent.
  ///
  ///     EnumCase(generated: "circle", Shape.circle) { if case .circle(let radius) = $0 { radius } else { nil } }
  ///
  /// - Parameters:
  ///   - name: the name of the case.
  ///   - embed: the case as a function.
  ///   - extract: returns the payload; nil for any other case.
  public init(generated name: String, _ embed: @escaping (Payload) -> Root, extract: @escaping (Root) -> Payload?) {
    self.name = name
    self.embed = embed
    self.extract = extract
  }
}

extension Binding {
  /// The binding of a case's payload; its value is nil while the enum is another case, and writes then have no effect. Writing nil
  /// sets the enum to nil.
  ///
  ///     let note: Binding<Note?> = $model.destination.case(Destination.cases.edit)
  public func `case`<Root, Payload>(_ path: EnumCase<Root, Payload>) -> Binding<Payload?> where Value == Root? {
    let base = bare
    return derived(
      .enumCase(path.name), name: path.name, read: { base.wrappedValue.flatMap(path.extract) },
      write: { payload in
        guard let root = base.wrappedValue, path.extract(root) != nil else { return }
        base.wrappedValue = payload.map(path.embed)
      }, overwrite: { payload in if let payload { base.restore(path.embed(payload)) } },
      isVacant: { base.wrappedValue == nil })
  }

  /// The binding of a case's payload; nil if the enum is another case. If the enum becomes another case later, the binding keeps the
  /// last payload, and writes have no effect.
  ///
  ///     $model.shape.case(Shape.cases.circle)?.wrappedValue = 2
  public func `case`<Payload>(_ path: EnumCase<Value, Payload>) -> Binding<Payload>? {
    guard let payload = path.extract(wrappedValue) else { return nil }
    let base = bare
    let last = Last(payload)
    return derived(
      .enumCase(path.name), name: path.name, read: { last.updated(to: path.extract(base.wrappedValue)) },
      write: {
        last.value = $0
        if path.extract(base.wrappedValue) != nil { base.wrappedValue = path.embed($0) }
      })
  }
}

/// An enum whose bindings have its cases as members: `$model.destination.alert` is the same as `case(_:)`.
///
///     enum Destination: HasCases {
///       case alert(Question), help
///
///       struct Cases {
///         let alert = EnumCase("alert", Destination.alert) { if case .alert(let item) = $0 { item } else { nil } }
///         let help = EnumCase("help", { Destination.help }) { if case .help = $0 { () } else { nil } }
///       }
///       static let cases = Cases()
///     }
///
/// The macro `@Cases` of the package's trait `Macros` generates this, and the conformance to
/// ``HasBoundCases``.
public protocol HasCases {
  /// A type with a property for each case.
  associatedtype Cases
  /// The cases.
  static var cases: Cases { get }
}

extension HasCases {
  /// A case of the enum, for ``is(_:)``, ``subscript(case:)`` and ``modify(_:file:line:_:)``: `\.edit`.
  ///
  ///     let edit: Destination.CasePath<Note> = \.edit
  ///     if model.destination.is(edit) { print("edited") }
  public typealias CasePath<Payload> = KeyPath<Cases, EnumCase<Self, Payload>>

  /// Whether the enum is this case: `destination.is(\.edit)`.
  ///
  ///     if let destination = model.destination, destination.is(\.edit) { print("edited") }
  public func `is`<Payload>(_ path: CasePath<Payload>) -> Bool { self[case: path] != nil }

  /// The payload of a case; nil if the enum is another case: `destination[case: \.edit]?.text`.
  ///
  ///     let text = model.destination?[case: \.edit]?.text
  public subscript<Payload>(case path: CasePath<Payload>) -> Payload? { Self.cases[keyPath: path].extract(self) }

  /// Changes the payload of a case: `destination.modify(\.edit) { $0.text = "" }`. If the enum is another case, nothing changes, and this
  /// is reported as misuse.
  ///
  ///     model.destination?.modify(\.edit) { $0.text = "Milk" }
  ///
  /// - Parameters:
  ///   - path: the case.
  ///   - file: the program's file, for the report.
  ///   - line: the line in the file.
  ///   - body: changes the payload.
  /// - Throws: the error of `body`; nothing changes then.
  public mutating func modify<Payload>(
    _ path: CasePath<Payload>, file: StaticString = #fileID, line: UInt = #line, _ body: (inout Payload) throws -> Void
  ) rethrows {
    let path = Self.cases[keyPath: path]
    guard var payload = path.extract(self) else {
      return reportMisuse(
        "the payload of the case “\(path.name)” was to be modified, but the \(Self.self) is another case", file: file,
        line: line)
    }
    try body(&payload)
    self = path.embed(payload)
  }
}

extension Optional where Wrapped: HasCases {
  /// Whether there is an enum, and it is this case: `model.destination.is(\.edit)`.
  ///
  ///     if model.destination.is(\.help) { model.destination = nil }
  public func `is`<Payload>(_ path: Wrapped.CasePath<Payload>) -> Bool { self?.is(path) == true }
}

/// An enum with another enum of the same cases, whose payloads are bindings:
///
///     switch $model.destination.cases {
///     case .alert(let $question): print($question.wrappedValue.id)
///     case .edit(let $note): $note.text.wrappedValue = "Milk"
///     case .help: print("help")
///     case nil: print("none")
///     }
///
/// The macro `@Cases` of the package's trait `Macros` generates the conformance. Without it, the other enum is written by hand:
///
///     extension Shape: HasBoundCases {
///       enum BoundCase { case circle(Binding<Double>), none }
///       static func bound(to shape: Binding<Shape>) -> BoundCase { shape.circle.map(BoundCase.circle) ?? .none }
///     }
public protocol HasBoundCases {
  /// The enum with bindings of the payloads.
  associatedtype BoundCase
  /// Returns the present case, with a binding of its payload.
  static func bound(to binding: Binding<Self>) -> BoundCase
}

extension Optional: HasBoundCases where Wrapped: HasBoundCases {
  public static func bound(to binding: Binding<Wrapped?>) -> Wrapped.BoundCase? {
    Binding(binding).map(Wrapped.bound)
  }
}

extension Binding {
  /// The binding of the payload of an optional enum's case, as by `case(_:)`.
  ///
  ///     navigator.present(item: $model.destination.edit) { note in Window(note.wrappedValue.text) }
  public subscript<Root: HasCases, Payload>(
    dynamicMember path: KeyPath<Root.Cases, EnumCase<Root, Payload>>
  ) -> Binding<Payload?> where Value == Root? { self.case(Root.cases[keyPath: path]) }

  /// The binding of a case's payload, as by `case(_:)`; nil if the enum is another case.
  ///
  ///     if let radius = $model.shape.circle { radius.wrappedValue += 1 }
  public subscript<Payload>(
    dynamicMember path: KeyPath<Value.Cases, EnumCase<Value, Payload>>
  ) -> Binding<Payload>? where Value: HasCases { self.case(Value.cases[keyPath: path]) }
}

extension Binding where Value: HasBoundCases {
  /// The present case with a binding of its payload, for a `switch`. The binding keeps the last payload when the enum becomes another
  /// case, and writes then have no effect.
  ///
  ///     if case .edit(let note)? = $model.destination.cases { note.text.wrappedValue = "Milk" }
  public var cases: Value.BoundCase { Value.bound(to: self) }
}
