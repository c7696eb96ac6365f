// Why this file exists: a value that an item carries for whoever contains it, with a default for those who set none
// (V1–V5).

import DBusValues
import PresentationModel

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
  /// Declares a key; the default's type is the key's (V1).
  /// - Throws: `Refusal`: `invalidArgument`, `containerValueType` where it is declared otherwise, `limitExceeded`.
  public mutating func declareContainerValue(_ key: String, defaultValue: Value) throws(Refusal) {
    guard BindingID.isName(key), key.utf8.count <= limits.tag else {
      throw Refusal(
        .invalidArgument,
        "key “\(abridged(key))” is no name; letters, digits, “_” and “-”, a letter or “_” first, would do")
    }
    try check(entriesOf: [key: defaultValue], named: "default")
    try limits.check("container-values", defaultValue.byteCount, limits.containerValues, of: "bytes of the default")
    let declaration = ContainerValueDeclaration(type: defaultValue.type, defaultValue: defaultValue)
    if let known = containerValueDeclarations[key] {
      guard known == declaration else {
        throw Refusal(
          .containerValueType,
          "key “\(key)” is declared with the type “\(known.type.signature)” and another default, or another type, than "
            + "“\(declaration.type.signature)”; declare it as before, or another key")
      }
      return
    }
    try limits.check(
      "declared-container-values", containerValueDeclarations.count + 1, limits.declaredContainerValues,
      of: "declared container values")
    containerValueDeclarations[key] = declaration
  }

  /// Declares a key before anybody could, in place of what is on record of it from before.
  /// - Throws: `Refusal`: as above, `containerValueType` only where something still holds a value of another type (V2).
  public mutating func redeclareContainerValue(_ key: String, defaultValue: Value) throws(Refusal) {
    let known = containerValueDeclarations[key]
    if let known, known.type != defaultValue.type {
      let isHeld =
        presentations.values.contains { $0.item.containerValues[key] != nil }
        || tagMemory.inOrder.contains { $0.value.options.containerValues?[key] != nil }
      guard !isHeld else {
        throw Refusal(
          .containerValueType,
          "key “\(key)” is set with the type “\(known.type.signature)”, by an item or in what a group remembers, not "
            + "“\(defaultValue.type.signature)”; declare it as before, or another key")
      }
    }
    containerValueDeclarations[key] = nil
    do throws(Refusal) {
      try declareContainerValue(key, defaultValue: defaultValue)
    } catch {
      containerValueDeclarations[key] = known
      throw error
    }
  }

  /// The declared keys and their defaults.
  public var containerValueDefaults: Properties { containerValueDeclarations.mapValues(\.defaultValue) }

  /// Reads a key of an item: what was set, else the default; without a binding the default (V3).
  /// - Throws: `Refusal`: `unknownContainerValue`, `notPresented`.
  public func containerValue(_ key: String, at binding: BindingID?) throws(Refusal) -> Value {
    guard let declaration = containerValueDeclarations[key] else {
      throw Refusal(
        .unknownContainerValue, "key “\(abridged(key))” is not declared; DeclareContainerValue declares it")
    }
    guard let binding else { return declaration.defaultValue }
    guard let item = item(at: binding) else { throw notPresented(binding) }
    return item.containerValues[key] ?? declaration.defaultValue
  }

  /// The members of a container: a stack's in the order of its path, the others' in the order of acceptance (V5).
  public func members(of container: Container<BindingID>) -> [Member] {
    let handles: [Handle]
    switch container {
    case .group(let name):
      let group = groups[name]
      let bindings = (group?.selected.map { [$0] } ?? []) + (group?.queue.map(\.binding) ?? [])
      handles = bindings.compactMap { slots[$0]?.current }.sorted()
    case .stack(let name):
      handles = stacks[name]?.path.compactMap { slots[$0]?.current } ?? []
    case .parent(let binding):
      let children = slots[binding]?.current.flatMap { presentations[$0]?.children } ?? []
      handles = children.filter(isCurrent).sorted()
    case .everything:
      handles = slots.values.compactMap(\.current).sorted()
    }
    let defaults = containerValueDefaults
    return handles.compactMap { handle in
      presentations[handle].map { presentation in
        Member(
          binding: presentation.binding, id: presentation.item.id, presentation: handle,
          containerValues: defaults.merging(presentation.item.containerValues) { $1 })
      }
    }
  }

  private func isCurrent(_ handle: Handle) -> Bool {
    presentations[handle].map { slots[$0.binding]?.current == handle } ?? false
  }
}
