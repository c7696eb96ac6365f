import DBusValues
import PresentationModel
import TextFormats

/// The declaration of a key (V1).
struct ContainerValueDeclaration: Hashable, Sendable {
  let type: ValueType
  let defaultValue: Value
}

/// One member of a container, with all declared values resolved (V5).
public struct Member: Hashable, Sendable {
  public let binding: BindingID
  public let id: String
  public let presentation: Handle
  public let containerValues: Properties
}

extension StateMachine {
  /// Declares a key with its default, whose type is that of the key (V1).
  /// - Throws: `Refusal`: `invalidArgument`, `containerValueType` if it is declared differently, `limitExceeded`.
  public mutating func declareContainerValue(_ key: String, defaultValue: Value) throws(Refusal) {
    guard BindingID.isName(key), key.utf8.count <= GroupTag.maxBytes else {
      throw .invalidKey(key)
    }
    try check(entriesOf: [key: defaultValue], named: "default")
    let declaration = ContainerValueDeclaration(type: defaultValue.type, defaultValue: defaultValue)
    if let known = state.containerValueDeclarations[key] {
      guard known == declaration else {
        throw Refusal(.containerValueType, known.contradiction(declaration, of: key))
      }
      return
    }
    let defaults = containerValueDefaults.merging([key: defaultValue]) { $1 }
    try limits.check("defaults", defaults.byteCount, limits.defaults, of: "bytes of all defaults of container values")
    state.containerValueDeclarations[key] = declaration
  }

  /// Declares several keys, all or none (V1).
  ///
  /// - Parameter overridingRecord: whether these declarations replace recorded ones. They do at a start, before any client declares
  ///   one. A recorded declaration stays if an item or a tag holds a value of its type (V2).
  /// - Returns: the refusals, by index; if there is one, nothing was declared.
  public mutating func declareContainerValues(
    _ values: [(key: String, defaultValue: Value)], overridingRecord: Bool = false
  ) -> [Int: Refusal] {
    let before = state.containerValueDeclarations
    var refusals: [Int: Refusal] = [:]
    for (index, value) in values.enumerated() {
      do throws(Refusal) {
        if overridingRecord { try removeDeclaration(of: value.key, for: value.defaultValue) }
        try declareContainerValue(value.key, defaultValue: value.defaultValue)
      } catch {
        refusals[index] = error
      }
    }
    if !refusals.isEmpty { state.containerValueDeclarations = before }
    return refusals
  }

  /// The declared keys and their defaults.
  public var containerValueDefaults: Properties { state.containerValueDeclarations.mapValues(\.defaultValue) }

  /// The hint for a key that is not declared. It stays short if the key is long.
  static func howToDeclare(_ key: String) -> String {
    let key = BindingID.isName(key) && key.utf8.count <= 64 ? key : "KEY"
    return "the program that sets it declares it, or: navctl value declare \(key) SIGNATURE DEFAULT"
  }

  /// Reads a key of an item: the value that was set, or the default; without a binding, the default (V3).
  /// - Throws: `Refusal`: `unknownContainerValue`, `notPresented`.
  public func containerValue(_ key: String, at binding: BindingID?) throws(Refusal) -> Value {
    guard let declaration = state.containerValueDeclarations[key] else {
      throw Refusal(
        .unknownContainerValue,
        "key \(quoted(key)) is not declared; \(Self.howToDeclare(key))")
    }
    guard let binding else { return declaration.defaultValue }
    guard let item = current(at: binding)?.item else { throw .notPresented(binding) }
    return item.containerValues[key] ?? declaration.defaultValue
  }

  /// The members of a container: for a stack in the order of its path, otherwise in the order of acceptance (V5).
  public func members(of container: Container<BindingID>) -> [Member] {
    let handles: [Handle]
    switch container {
    case .group(let name):
      let group = state.groups[name]
      let bindings = (group?.selected.map { [$0] } ?? []) + (group?.queue.entries.map(\.binding) ?? [])
      handles = bindings.compactMap { state.slots[$0]?.current }.sorted()
    case .stack(let name):
      handles = state.stacks[name]?.path.compactMap { state.slots[$0]?.current } ?? []
    case .parent(let binding):
      let children = state.slots[binding]?.current.flatMap { state.presentations[$0]?.children } ?? []
      handles = children.filter { isCurrent($0) }.sorted()
    case .everything:
      handles = state.slots.values.compactMap(\.current).sorted()
    }
    let defaults = containerValueDefaults
    return handles.compactMap { handle in
      state.presentations[handle].map { presentation in
        Member(
          binding: presentation.binding, id: presentation.item.id, presentation: handle,
          containerValues: defaults.merging(presentation.item.containerValues) { $1 })
      }
    }
  }

  /// Removes a recorded declaration, so that it can be declared with another default.
  /// - Throws: `Refusal` with the code `containerValueType` if a value of another type is held (V2).
  private mutating func removeDeclaration(of key: String, for defaultValue: Value) throws(Refusal) {
    guard let known = state.containerValueDeclarations[key] else { return }
    if known.type != defaultValue.type {
      let isHeld =
        state.presentations.values.contains { $0.item.containerValues[key] != nil }
        || state.tagMemory.inOrder.contains { $0.value.options.containerValues?[key] != nil }
      guard !isHeld else {
        throw Refusal(
          .containerValueType,
          "key “\(key)” is in use with the type “\(known.type.signature)”, by an item or by a tag that a group remembers; "
            + "found “\(defaultValue.type.signature)”; declare it as before, or use another key")
      }
    }
    state.containerValueDeclarations[key] = nil
  }
}

extension Refusal {
  static func notPresented(_ binding: BindingID) -> Refusal {
    Refusal(.notPresented, "nothing is open under the name “\(binding)”; open it first, or look at what is open")
  }
}

extension ContainerValueDeclaration {
  /// The refusal of a second declaration of a key, as a sentence for people.
  fileprivate func contradiction(_ second: ContainerValueDeclaration, of key: String) -> String {
    let why =
      type == second.type
      ? "with another default"
      : "with the type “\(type.signature)”, and the new default has the type “\(second.type.signature)”"
    return "“\(key)” is declared already, \(why); give the same default, or use another key"
  }
}
