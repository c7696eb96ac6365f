import TextFormats

/// A container of presentations (rule V5). `Name` is ``BindingID`` for checked names, `String` for unchecked ones.
public enum Container<Name: Hashable & Sendable>: Hashable, Sendable {
  /// The members of a group.
  case group(Name)
  /// The elements of a stack.
  case stack(Name)
  /// The presentations whose parent is this binding's item.
  case parent(Name)
  /// All presentations.
  case everything
}

/// The kind of a container, as the contract spells it.
public enum ContainerKind: String, Hashable, Sendable, CaseIterable {
  case group, stack, parent, all
}

extension Container where Name == String {
  /// The kind and name as the contract's method `Members` takes them; the name is empty for the kind `all`.
  package var arguments: (kind: String, name: String) {
    let (kind, name): (ContainerKind, String) =
      switch self {
      case .group(let name): (.group, name)
      case .stack(let name): (.stack, name)
      case .parent(let binding): (.parent, binding)
      case .everything: (.all, "")
      }
    return (kind.rawValue, name)
  }
}

extension Container where Name == BindingID {
  /// - Throws: `Refusal`: `invalidArgument` for an unknown kind or a name that the kind does not have; `invalidBinding`.
  package init(kind: String, name: String) throws(Refusal) {
    switch ContainerKind(rawValue: kind) {
    case .group: self = .group(try BindingID(name))
    case .stack: self = .stack(try BindingID(name))
    case .parent: self = .parent(try BindingID(name))
    case .all:
      guard name.isEmpty else {
        throw Refusal(
          .invalidArgument, "name is \(quoted(name)), but the kind “all” has none; expected an empty name")
      }
      self = .everything
    case nil:
      throw Refusal(.invalidArgument, "kind is \(quoted(kind)); expected group, stack, parent or all")
    }
  }
}

/// The bindings that `DismissAll` clears.
public enum Scope<Name: Hashable & Sendable>: Hashable, Sendable {
  /// Every binding of this root.
  case root(String)
  /// Every member of this group, and its queue.
  case group(Name)
  /// Every element of this stack.
  case stack(Name)
  /// Every binding.
  case everything
  /// The programs whose windows dismissals have hidden, and no binding (N8).
  case parked
}
