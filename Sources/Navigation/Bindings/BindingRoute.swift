import Synchronization

/// The state that a binding refers to: a model object and the steps from there (B1–B4). The route also determines the binding's
/// name on the bus.
///
///     $model.note.route == $model.note.text.route     // false: the text is another place.
public struct BindingRoute: Hashable, Sendable {
  struct Step: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case member(KeyPathIdentity)
      /// The position in a path.
      case index(Int)
      /// The element of a collection with an id.
      case element(String)
      /// The value in an optional.
      case unwrapped
      case optional
      /// Whether an optional is not nil.
      case isPresent
      /// Whether a selection equals a tag.
      case tag(String)
      /// The payload of an enum's case.
      case enumCase(String)

      /// Whether the step leads to the same place in the state.
      var isSamePlace: Bool {
        switch self {
        case .unwrapped, .optional, .isPresent: true
        case .member, .index, .element, .tag, .enumCase: false
        }
      }
    }

    let kind: Kind
    /// The step's name on the bus, if it has one. Routes that differ only in names are equal.
    let name: String?

    static func == (a: Step, b: Step) -> Bool { a.kind == b.kind }
    func hash(into hasher: inout Hasher) { hasher.combine(kind) }
  }

  let root: BindingRoot
  var steps: [Step] = []

  func appending(_ kind: Step.Kind, name: String? = nil) -> BindingRoute {
    var route = self
    route.steps.append(Step(kind: kind, name: name))
    return route
  }

  /// The enum of which this route is a case, and the case's name; nil for any other route.
  var enumCase: (whole: BindingRoute, name: String)? {
    var route = place
    guard case .enumCase(let name)? = route.steps.popLast()?.kind else { return nil }
    return (route, name)
  }

  /// The route without steps that stay at the same place in the state, such as the presence of an optional.
  var place: BindingRoute {
    var route = self
    route.steps.removeAll { $0.kind.isSamePlace }
    return route
  }

  /// Returns this route with another name for its last step.
  func named(_ name: String) -> BindingRoute {
    var route = self
    guard let last = route.steps.popLast() else { return route }
    route.steps.append(Step(kind: last.kind, name: name))
    return route
  }

  /// The text of the binding on the bus, if its root is the first with its name (B1); see
  /// ``Coordinator/text(of:)``.
  /// - Parameter client: the program's identifier on the bus, which is part of the names of roots that are not shared.
  func text(client: String) -> String { text(root: root.name.text(client: client)) }

  /// The text without the program's identifier, for messages.
  var description: String { text(root: root.name.text) }

  /// - Parameter root: the text of the root.
  func text(root: String) -> String {
    var text = root
    for step in steps {
      switch step.kind {
      case .index(let index): text += "[\(index)]"
      case .member, .element, .tag, .enumCase:
        if let name = step.name { text += "." + name }
      case .unwrapped, .optional, .isPresent: break
      }
    }
    return text
  }
}

/// The identity of a key path, as a Sendable value.
struct KeyPathIdentity: Hashable, Sendable {
  private let hash: Int
  private let description: String

  init(_ keyPath: AnyKeyPath) {
    hash = keyPath.hashValue
    // The description contains the type, and the property's name or the address of its getter.
    description = String(describing: keyPath)
  }

  /// The property's name, which Swift keeps for structures. For a property of an observable model Swift keeps only the address of the
  /// getter. Such properties are numbered in the order of first use, unless ``Navigable`` or ``Binding/named(_:file:line:)`` names
  /// them.
  var name: String {
    let last = description.split(separator: ".").last.map(String.init) ?? ""
    let bare = last.trimmingSuffix(while: { $0 == "?" || $0 == "!" })
    if BindingName.isName(bare) { return bare }
    return Self.numbers.withLock { numbers in
      let number = numbers[self] ?? numbers.count + 1
      numbers[self] = number
      return "_\(number)"
    }
  }

  private static let numbers = Mutex<[KeyPathIdentity: Int]>([:])
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
    var text = self[...]
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return String(text)
  }
}

/// The object at which a route begins. Every object has one root, which does not retain the object.
final class BindingRoot: Sendable {
  let name: RootName
  /// The place in the program that names the root.
  let file: StaticString, line: UInt
  private let object: WeakObject

  private init(_ object: AnyObject, _ name: RootName, _ file: StaticString, _ line: UInt) {
    (self.object, self.name, self.file, self.line) = (WeakObject(object), name, file, line)
  }

  var isGone: Bool { object.isGone }

  /// - Parameter name: the object's name on the bus. It has no effect if the object already has a name.
  static func of(
    _ object: AnyObject, named name: RootName, file: StaticString = #fileID, line: UInt = #line
  ) -> BindingRoot {
    known.withLock { known in
      let key = ObjectIdentifier(object)
      // An earlier object may have had the same address.
      if let root = known.roots[key], !root.isGone { return root }
      known.roots.purge(after: &known.purging) { $0.isGone }
      let root = BindingRoot(object, name, file, line)
      known.roots[key] = root
      return root
    }
  }

  private static let known = Mutex<(roots: [ObjectIdentifier: BindingRoot], purging: Purging)>(([:], Purging()))

  /// The root of bindings made of functions, which is never gone.
  static func ofFunctions(named name: RootName, file: StaticString, line: UInt) -> BindingRoot {
    functions.withLock { functions in
      let object = functions[name] ?? Immortal()
      functions[name] = object
      return of(object, named: name, file: file, line: line)
    }
  }

  private final class Immortal: Sendable {}
  private static let functions = Mutex<[RootName: Immortal]>([:])
}

extension BindingRoot: Hashable {
  static func == (a: BindingRoot, b: BindingRoot) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The numbers of objects that are items.
enum ObjectNumber {
  private struct Known {
    var last = 0
    var numbers: [ObjectIdentifier: (object: WeakObject, number: Int)] = [:]
    var purging = Purging()
  }

  private static let known = Mutex(Known())

  /// Returns the object's number, which is unique even if an earlier object had the same address.
  static func of(_ object: AnyObject) -> Int {
    known.withLock { known in
      let key = ObjectIdentifier(object)
      if let entry = known.numbers[key], !entry.object.isGone { return entry.number }
      known.numbers.purge(after: &known.purging) { $0.object.isGone }
      known.last += 1
      known.numbers[key] = (WeakObject(object), known.last)
      return known.last
    }
  }
}

/// Tells whether an object still exists. The reference has no other use, so it may be sent.
private struct WeakObject: @unchecked Sendable {
  private weak var object: AnyObject?
  init(_ object: AnyObject) { self.object = object }
  var isGone: Bool { object == nil }
}

/// The time to search a table for objects that are gone: when the table has doubled since the last
/// search, so that the cost for each entry does not depend on the size. Small tables are searched
/// each time.
private struct Purging {
  private static let least = 16
  private var limit = least

  fileprivate mutating func isDue(at count: Int) -> Bool { count < Self.least || count >= limit }
  fileprivate mutating func isDone(leaving count: Int) { limit = max(Self.least, 2 * count) }
}

extension Dictionary {
  /// Removes the entries of objects that are gone, if a search is due.
  fileprivate mutating func purge(after purging: inout Purging, _ isGone: (Value) -> Bool) {
    guard purging.isDue(at: count) else { return }
    self = filter { !isGone($0.value) }
    purging.isDone(leaving: count)
  }
}

/// The names that bindings have at one coordinator. If several roots have one name, all but the first also have a number.
final class BindingNames: Sendable {
  /// The roots with one name.
  private struct Namesakes {
    private var roots: [Int: BindingRoot] = [:]
    private var numbers: [BindingRoot: Int] = [:]
    private var purging = Purging()
    /// A number below which all numbers are taken.
    private var lowest = 1

    func number(of root: BindingRoot) -> Int? { numbers[root] }

    /// Whether all roots are gone.
    var isGone: Bool { roots.values.allSatisfy(\.isGone) }

    /// Gives a root the lowest free number. The numbers of roots that are gone become free at the
    /// next search for them.
    mutating func add(_ root: BindingRoot) -> Int {
      if purging.isDue(at: roots.count) {
        roots = roots.filter { !$0.value.isGone }
        numbers = numbers.filter { !$0.key.isGone }
        purging.isDone(leaving: roots.count)
        lowest = 1
      }
      // Users know the name without a number, so it is given again once its root is gone.
      if let first = roots[1], first.isGone {
        numbers[first] = nil
        roots[1] = nil
        lowest = 1
      }
      while roots[lowest] != nil { lowest += 1 }
      (roots[lowest], numbers[root]) = (root, lowest)
      return lowest
    }
  }

  private struct Known {
    var namesakes: [RootName: Namesakes] = [:]
    var purgingNames = Purging()
    /// The places in the state, by their texts.
    var places: [String: BindingRoute] = [:]
    var purging = Purging()
    /// The texts that were reported because they belong to several places.
    var reported: Set<String> = []
  }

  private let known = Mutex(Known())

  /// The number of names of roots that are kept.
  var count: Int { known.withLock { $0.namesakes.count } }

  /// Returns the text of a route. If another place in the program's state has the same text, this is reported as misuse, once.
  func text(of route: BindingRoute, client: String) -> String {
    let place = route.place
    let text = route.text(root: text(of: route.root, client: client))
    let isNewConflict = known.withLock { known in
      guard let other = known.places[text], !other.root.isGone, other != place else {
        known.places[text] = place
        return false
      }
      return known.reported.insert(text).inserted
    }
    if isNewConflict {
      reportMisuse(
        "two bindings are called “\(text)”, so at most one of them is presented; give each a name of its own, with named(_:) "
          + "or in memberNames", file: route.root.file, line: route.root.line)
    }
    return text
  }

  /// Returns the text of a root. If other programs know its name, and another existing object has it, this is reported as misuse.
  private func text(of root: BindingRoot, client: String) -> String {
    let (number, isNew) = known.withLock { known in
      if let number = known.namesakes[root.name]?.number(of: root) { return (number, false) }
      known.places.purge(after: &known.purging) { $0.root.isGone }
      known.namesakes.purge(after: &known.purgingNames) { $0.isGone }
      return (known.namesakes[root.name, default: Namesakes()].add(root), true)
    }
    let first = root.name.text(client: client)
    guard number > 1 else { return first }
    let text = "\(first)-\(number)"
    if isNew, root.name.isShared {
      reportMisuse(
        "the shared name “\(first)” belongs to another object that still exists, so this one is called “\(text)”, which "
          + "other programs do not expect; release the other object first, or give them two names", file: root.file,
        line: root.line)
    }
    return text
  }
}
