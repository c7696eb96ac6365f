// Why this file exists: what can be asked for alone can be asked for with others, all or nothing (rule T1).

import CoordinatorAPI
import DBusValues

extension Coordinator {
  /// What is dismissed at once.
  public enum Scope: Hashable, Sendable {
    /// Every binding of this root.
    case root(String)
    /// Every member of this group, and its queue.
    case group(String)
    /// All that stands in this stack.
    case stack(String)
    /// All there is.
    case everything

    /// As the contract has it.
    var properties: Properties {
      var all: Properties = [:]
      switch self {
      case .root(let name): all[Options.root] = name
      case .group(let name): all[Options.group] = name
      case .stack(let name): all[Options.stack] = name
      case .everything: all[Options.all] = true
      }
      return all
    }
  }

  /// One screen that a path shall have.
  public struct PathItem: Hashable, Sendable {
    /// nil: `stack[i]` (S5).
    public var binding: String?
    /// Which item.
    public var id: String
    /// How it is shown.
    public var options: PresentationOptions

    /// A screen; without a binding, that of its place.
    public init(binding: String? = nil, id: String, _ options: PresentationOptions = PresentationOptions()) {
      self.binding = binding
      self.id = id
      self.options = options
    }

    /// As the contract has it.
    var element: Structure<String, String, Properties> { Structure(binding ?? "", id, options.properties) }
  }

  /// A change, to be made with others at once by ``Coordinator/apply(_:animated:expectedSerial:)``.
  public struct Change: Hashable, Sendable {
    let method: String
    let arguments: [Value]
    /// Of container values that it sets.
    var declarations: Properties = [:]

    private init(_ method: String, _ arguments: Value..., options: Properties, _ declarations: Properties = [:]) {
      self.method = method
      self.arguments = arguments + [options.value]
      self.declarations = declarations
    }

    /// Whether it does nothing but make something go.
    var isRemoval: Bool { ["Dismiss", "DismissAll", "Deselect", "Pop", "PopTo"].contains(method) }

    /// As ``Coordinator/present(_:id:_:expecting:)``.
    public static func present(
      _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
      expecting expectation: Expectation = Expectation()
    ) -> Change {
      Change(
        "Present", binding.value, id.value, options: options.properties(expectation),
        options.containerValues.declarations)
    }

    /// As ``Coordinator/toggle(_:id:_:expecting:)``.
    public static func toggle(
      _ binding: String, id: String? = nil, _ options: PresentationOptions = PresentationOptions(),
      expecting expectation: Expectation = Expectation()
    ) -> Change {
      var properties = options.properties(expectation)
      if id == nil { properties[Options.anyID] = true }
      return Change(
        "Toggle", binding.value, (id ?? "").value, options: properties, options.containerValues.declarations)
    }

    /// As ``Coordinator/update(_:_:remove:expecting:)``.
    public static func update(
      _ binding: String, _ value: Properties, remove: [String] = [], expecting expectation: Expectation = Expectation()
    ) -> Change {
      var properties = expectation.properties
      if !remove.isEmpty { properties[Options.remove] = remove }
      return Change("Update", binding.value, value.value, options: properties)
    }

    /// As ``Coordinator/dismiss(_:animated:expecting:)``.
    public static func dismiss(
      _ binding: String, animated: Bool? = nil, expecting expectation: Expectation = Expectation()
    ) -> Change {
      Change("Dismiss", binding.value, options: expectation.properties(animated: animated))
    }

    /// As ``Coordinator/dismissAll(_:animated:expectedSerial:)``.
    public static func dismissAll(_ scope: Scope, animated: Bool? = nil) -> Change {
      Change("DismissAll", options: Expectation().properties(animated: animated).merging(scope.properties) { $1 })
    }

    /// As ``Coordinator/select(_:_:binding:id:_:expectedSerial:)``.
    public static func select(
      _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
      _ options: PresentationOptions = PresentationOptions()
    ) -> Change {
      selecting("Select", group, tag, binding, id, options)
    }

    /// As ``Coordinator/toggleSelection(_:_:binding:id:_:expectedSerial:)``.
    public static func toggleSelection(
      _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
      _ options: PresentationOptions = PresentationOptions()
    ) -> Change {
      selecting("ToggleSelection", group, tag, binding, id, options)
    }

    private static func selecting(
      _ method: String, _ group: String, _ tag: String, _ binding: String?, _ id: String?,
      _ options: PresentationOptions
    ) -> Change {
      var properties = options.properties
      properties[Options.binding] = binding
      properties[Options.id] = id
      return Change(method, group.value, tag.value, options: properties, options.containerValues.declarations)
    }

    /// As ``Coordinator/deselect(_:_:animated:expectedSerial:)``.
    public static func deselect(_ group: String, _ tag: String? = nil, animated: Bool? = nil) -> Change {
      Change("Deselect", group.value, (tag ?? "").value, options: Expectation().properties(animated: animated))
    }

    /// As ``Coordinator/push(_:_:id:_:expecting:)``.
    public static func push(
      _ stack: String, _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
      expecting expectation: Expectation = Expectation()
    ) -> Change {
      Change(
        "Push", stack.value, binding.value, id.value, options: options.properties(expectation),
        options.containerValues.declarations)
    }

    /// As ``Coordinator/pop(_:_:animated:expectedSerial:)``.
    public static func pop(_ stack: String, _ count: Int = 1, animated: Bool? = nil) -> Change {
      Change("Pop", stack.value, UInt32(clamping: count).value, options: Expectation().properties(animated: animated))
    }

    /// As ``Coordinator/popTo(_:_:animated:expectedSerial:)``.
    public static func popTo(_ stack: String, _ binding: String?, animated: Bool? = nil) -> Change {
      Change("PopTo", stack.value, (binding ?? "").value, options: Expectation().properties(animated: animated))
    }

    /// As ``Coordinator/setPath(_:_:animated:expectedSerial:)``.
    public static func setPath(_ stack: String, _ path: [PathItem], animated: Bool? = nil) -> Change {
      let declarations = path.map(\.options.containerValues.declarations)
      return Change(
        "SetPath", stack.value, path.map(\.element).value, options: Expectation().properties(animated: animated),
        declarations.reduce([:]) { $0.merging($1) { $1 } })
    }
  }
}
