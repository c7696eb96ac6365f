import Synchronization

/// The state that a binding refers to: a model object and the steps from there (rules B1–B4). It also determines the
/// binding's name on the bus.
public struct BindingRoute: Hashable, Sendable {
  struct Step: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case member(KeyPathIdentity)
      case index(Int)
      /// The value in an optional.
      case unwrapped
      case optional
      /// Whether an optional is not nil.
      case isPresent
      /// Whether a selection equals this tag.
      case tag(String)
      /// The payload of an enum's case.
      case enumCase(String)
    }

    let kind: Kind
    /// Its name on the bus, if it has one. Routes that differ only in names are equal.
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

  /// Returns this route with another name for its last step.
  func named(_ name: String) -> BindingRoute {
    var route = self
    guard let last = route.steps.popLast() else { return route }
    route.steps.append(Step(kind: last.kind, name: name))
    return route
  }

  /// The text of the binding on the bus (B1).
  /// - Parameter client: identifies this program on the bus; it is part of the names of roots that are not shared.
  public func text(client: String) -> String {
    var text = root.text(client: client)
    for step in steps {
      switch step.kind {
      case .index(let index): text += "[\(index)]"
      case .member, .tag, .enumCase:
        if let name = step.name { text += "." + name }
      // These steps refer to the same place in the state.
      case .unwrapped, .optional, .isPresent: break
      }
    }
    return text
  }
}

/// The identity of a key path, as a value that is Sendable.
struct KeyPathIdentity: Hashable, Sendable {
  private let hash: Int
  private let description: String

  init(_ keyPath: AnyKeyPath) {
    hash = keyPath.hashValue
    // Contains the type, and the property's name or the address of its getter.
    description = String(describing: keyPath)
  }

  /// The property's name, which Swift keeps for structures. For properties of observable models it keeps only the
  /// address of the getter, so these are numbered in the order of first use, unless they are named with
  /// ``Binding/named(_:)``.
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

/// The syntax of names in a binding's text (B1).
enum BindingName {
  static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// Returns a valid name for any text: the text itself if it is valid, and otherwise its valid characters and a
  /// checksum that makes it unique.
  static func name(for text: String) -> String {
    if isName(text), text.utf8.count <= 64 { return text }
    let kept = text.unicodeScalars.prefix(24).map { isName("_\($0)") ? Character($0) : "_" }
    // FNV-1a, because unlike Hasher it is the same in every run.
    let checksum = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "_" + String(kept) + "-" + String(checksum, radix: 16)
  }

  /// Traps if a text is not a valid name.
  static func require(_ text: String) {
    precondition(
      isName(text), "“\(text)” is not a valid name; use letters, digits, “_” and “-”, beginning with a letter or “_”")
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "_")
  }
}

/// The object at which a route begins. Every object has a root and a name of its own.
struct BindingRoot: Hashable, Sendable {
  private let object: ObjectIdentifier
  /// Distinguishes an object from an earlier one at the same address.
  private let number: Int
  private let name: String
  private let isShared: Bool
  /// Numbers the roots of the same name from 1.
  private let ordinal: Int

  static func == (a: BindingRoot, b: BindingRoot) -> Bool { a.number == b.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// - Parameter name: the object's name on the bus. It has no effect if the object already has one.
  static func of(_ object: AnyObject, named name: RootName) -> BindingRoot {
    let observed = WeakObject(object)
    let key = ObjectIdentifier(object)
    return known.withLock { known in
      if let (root, former) = known.roots[key], !former.isGone { return root }
      known.roots = known.roots.filter { !$0.value.observed.isGone }
      known.lastNumber += 1
      let taken = Set(known.roots.values.lazy.map(\.root).filter { $0.name == name.text }.map(\.ordinal))
      let root = BindingRoot(
        object: key, number: known.lastNumber, name: name.text, isShared: name.isShared,
        ordinal: (1...).first { !taken.contains($0) }!)
      known.roots[key] = (root, observed)
      return root
    }
  }

  func text(client: String) -> String {
    (isShared ? name : "\(name)-\(client)") + (ordinal == 1 ? "" : "-\(ordinal)")
  }

  private struct Known: ~Copyable {
    var roots: [ObjectIdentifier: (root: BindingRoot, observed: WeakObject)] = [:]
    var lastNumber = 0
  }

  private static let known = Mutex(Known())
}

/// Whether an object still exists. Its reference is used for nothing else, so it may be sent.
private struct WeakObject: @unchecked Sendable {
  private weak var object: AnyObject?
  init(_ object: AnyObject) { self.object = object }
  var isGone: Bool { object == nil }
}

/// The name of a model on the bus: the root of its bindings (B1).
public struct RootName: Hashable, Sendable {
  let text: String
  let isShared: Bool

  /// A name that is unique to this program. On the bus it is followed by an identifier of the program, so that two
  /// running copies do not collide.
  /// - Precondition: `name` is a name: letters, digits, `_` and `-`, a letter or `_` first.
  public static func own(_ name: String) -> RootName { RootName(name, isShared: false) }

  /// A name that other programs know, for example for a key binding: `navctl dismiss counter.fact`.
  /// - Precondition: as for ``own(_:)``.
  public static func shared(_ name: String) -> RootName { RootName(name, isShared: true) }

  private init(_ name: String, isShared: Bool) {
    BindingName.require(name)
    text = name
    self.isShared = isShared
  }
}
