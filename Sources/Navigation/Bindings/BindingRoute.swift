// Why this file exists: a binding is equal to another if it points to the same place, whatever stands there; and the same
// place has one name on the bus, by which others watch and drive it (rules B1–B4).

import Synchronization

/// Where a binding points: a model object, and the way from there.
public struct BindingRoute: Hashable, Sendable {
  /// One step of the way.
  struct Step: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case member(KeyPathIdentity)
      case index(Int)
      /// What is in an optional.
      case unwrapped
      /// What is there, as something that could be nil.
      case optional
      /// Whether an optional is not nil.
      case isPresent
      /// Whether a selection is this tag.
      case tag(String)
      /// What an enum's case carries.
      case enumCase(String)
    }

    let kind: Kind
    /// What it is called on the bus, if it is called at all; the same place may be named otherwise by others.
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

  /// The same route, its last step called otherwise on the bus.
  func named(_ name: String) -> BindingRoute {
    var route = self
    guard let last = route.steps.popLast() else { return route }
    route.steps.append(Step(kind: last.kind, name: name))
    return route
  }

  /// The binding's text on the bus (B1).
  /// - Parameter client: what tells this program from others on the bus; a root of its own is not theirs.
  public func text(client: String) -> String {
    var text = root.text(client: client)
    for step in steps {
      switch step.kind {
      case .index(let index): text += "[\(index)]"
      case .member, .tag, .enumCase:
        if let name = step.name { text += "." + name }
      // The same place, looked at in another way.
      case .unwrapped, .optional, .isPresent: break
      }
    }
    return text
  }
}

/// A key path's identity, kept without the key path, which cannot be sent.
struct KeyPathIdentity: Hashable, Sendable {
  private let hash: Int
  private let description: String

  init(_ keyPath: AnyKeyPath) {
    hash = keyPath.hashValue
    // Names the type, and the property or the place of its getter.
    description = String(describing: keyPath)
  }

  /// The property's name: Swift keeps those of structures. Of an observable model's properties it keeps only where their
  /// getters are, so these are numbered in the order of their use, unless they are named with ``Binding/named(_:)``.
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

/// Names of which a binding's text is made (B1).
enum BindingName {
  static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// A name for any text: itself where it is one; else what of it may stand there, and a checksum that tells it from others.
  static func name(for text: String) -> String {
    if isName(text), text.utf8.count <= 64 { return text }
    let kept = text.unicodeScalars.prefix(24).map { isName("_\($0)") ? Character($0) : "_" }
    // FNV-1a: the same in every run, unlike Hasher.
    let checksum = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "_" + String(kept) + "-" + String(checksum, radix: 16)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "_")
  }
}

/// The object that a route begins at. Two objects are two roots, and have two names.
struct BindingRoot: Hashable, Sendable {
  private let object: ObjectIdentifier
  /// Tells an object from an earlier one at the same address.
  private let number: Int
  private let name: String
  private let isShared: Bool
  /// Counts the roots of that name, from 1.
  private let ordinal: Int

  static func == (a: BindingRoot, b: BindingRoot) -> Bool { a.number == b.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// - Parameter name: what the object is called on the bus; the first one counts.
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

/// Whether an object is still there; nothing else is ever asked of it.
private struct WeakObject: @unchecked Sendable {
  private weak var object: AnyObject?
  init(_ object: AnyObject) { self.object = object }
  var isGone: Bool { object == nil }
}

/// What a model is called on the bus: the root of its bindings (B1).
public struct RootName: Hashable, Sendable {
  let text: String
  let isShared: Bool

  /// A name that this program has for itself: on the bus, what tells programs apart is added to it, so that two copies of
  /// the program are not in each other's way.
  /// - Precondition: `name` is a name: letters, digits, `_` and `-`, a letter or `_` first.
  public static func own(_ name: String) -> RootName { RootName(name, isShared: false) }

  /// A name as it stands, for what others drive by name, such as a key binding: `navctl dismiss counter.fact`.
  /// - Precondition: as of ``own(_:)``.
  public static func shared(_ name: String) -> RootName { RootName(name, isShared: true) }

  private init(_ name: String, isShared: Bool) {
    precondition(
      BindingName.isName(name), "“\(name)” is no name; letters, digits, “_” and “-”, a letter or “_” first, would do")
    text = name
    self.isShared = isShared
  }
}
