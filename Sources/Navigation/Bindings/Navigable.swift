import Observation

/// A model whose properties have names on the bus, so that `$model.fact` needs no
/// ``Binding/named(_:file:line:)`` (B1):
///
///     @MainActor @Observable
///     final class Counter: Navigable {
///       static let memberNames: MemberNames<Counter> = [\.fact: "fact"]
///       var fact: Fact?
///     }
///
/// The macro `@Navigable` of the package's trait `Macros` generates the names of all properties.
@MainActor
public protocol Navigable: AnyObject, Observable {
  /// The class that declares the properties.
  associatedtype NamedModel: AnyObject
  /// The names. A property without a name has a number, which depends on the order of use.
  static var memberNames: MemberNames<NamedModel> { get }
}

/// The names of a class's properties: letters, digits, `_` and `-`, a letter or `_` first (B1).
///
/// A subclass overrides the table of its superclass, which is then a `class var`. Swift has different key paths for inherited
/// properties, so the subclass names them again:
///
///     @MainActor @Observable
///     class Counter: Navigable {
///       class var memberNames: MemberNames<Counter> { [\.fact: "fact"] }
///       var fact: Fact?
///     }
///
///     @MainActor @Observable
///     final class StepCounter: Counter {
///       override class var memberNames: MemberNames<Counter> {
///         super.memberNames.adding([\StepCounter.fact: "fact", \StepCounter.step: "step"])
///       }
///       var step: Fact?
///     }
public struct MemberNames<Model>: ExpressibleByDictionaryLiteral {
  fileprivate var names: [AnyKeyPath: String]

  /// Creates a table of key paths and names. If a property has several names, the last counts.
  public init(dictionaryLiteral elements: (PartialKeyPath<Model>, String)...) {
    names = Dictionary(elements.map { ($0, $1) }) { $1 }
  }

  /// Returns the table with the properties that a subclass adds.
  public func adding<Subclass>(_ names: MemberNames<Subclass>) -> MemberNames {
    var all = self
    all.names.merge(names.names) { $1 }
    return all
  }
}

extension Bindable where Model: Navigable {
  /// The binding of a property, with its name in ``Navigable/memberNames``. A text that is not a name is converted
  /// (``BindingName/name(for:)``) and reported as misuse.
  @MainActor
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Binding<Value> {
    let name = KnownNames.table(of: Model.self)[keyPath]
    return binding(keyPath, name: name.map { BindingName.checked($0, file: root.file, line: root.line) })
  }
}

/// The tables of all classes, each created once.
@MainActor
private enum KnownNames {
  private static var tables: [ObjectIdentifier: [AnyKeyPath: String]] = [:]

  static func table<Model: Navigable>(of type: Model.Type) -> [AnyKeyPath: String] {
    let id = ObjectIdentifier(type)
    if let table = tables[id] { return table }
    let table = type.memberNames.names
    tables[id] = table
    return table
  }
}
