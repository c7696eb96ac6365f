// Why this file exists: everything that a client can ask for that changes the state, as one type, so that a transaction
// is a list of them (T1).

import DBusValues

/// What a request expects of the slot, group or stack that it names (P10).
public struct Expectation: Hashable, Sendable {
  public var id: String?
  /// The slot's presentation; `.some(nil)` expects an empty slot.
  public var presentation: Handle??
  public var serial: Serial?
  public init(id: String? = nil, presentation: Handle?? = nil, serial: Serial? = nil) {
    self.id = id
    self.presentation = presentation
    self.serial = serial
  }
}

/// One element that a path shall have.
public struct PathElement: Hashable, Sendable {
  /// nil stands for `stack[i]` (S5).
  public var binding: BindingID?
  public var id: String
  public var options: ItemOptions
  public init(binding: BindingID?, id: String, options: ItemOptions = ItemOptions()) {
    self.binding = binding
    self.id = id
    self.options = options
  }
}

/// A request that may change the state.
public struct Request: Hashable, Sendable {
  /// What is asked, named as the contract's methods. It is handed on from function to function, and what is in it is large.
  public indirect enum Operation: Hashable, Sendable {
    case present(BindingID, id: String, ItemOptions)
    /// `anyID`: whatever is shown is dismissed.
    case toggle(BindingID, id: String, ItemOptions, anyID: Bool)
    case update(BindingID, value: Properties, remove: [String], containerValues: Properties?, timeout: UInt64?)
    case dismiss(BindingID)
    case dismissAll(Scope)
    case select(BindingID, tag: String, binding: BindingID?, id: String?, ItemOptions)
    /// nil: whichever is selected.
    case deselect(BindingID, tag: String?)
    case toggleSelection(BindingID, tag: String, binding: BindingID?, id: String?, ItemOptions)
    case push(BindingID, BindingID, id: String, ItemOptions)
    case pop(BindingID, count: UInt32)
    /// nil: all of it.
    case popTo(BindingID, BindingID?)
    case setPath(BindingID, [PathElement])
  }

  /// What `dismissAll` is about.
  public enum Scope: Hashable, Sendable {
    case root(String)
    case group(BindingID)
    case stack(BindingID)
    case all
  }

  public var operation: Operation
  public var expectation: Expectation
  /// Whether its changes are animated; nil leaves it to the transaction (T2).
  public var animated: Bool?

  public init(_ operation: Operation, expecting expectation: Expectation = Expectation(), animated: Bool? = nil) {
    self.operation = operation
    self.expectation = expectation
    self.animated = animated
  }
}

/// What a request came to, as the final state of its transaction has it (T1).
public enum Reply: Hashable, Sendable {
  /// Present, Select, Push.
  case presentation(Handle?, changed: Bool)
  /// Toggle.
  case toggled(presented: Bool, Handle?)
  /// ToggleSelection.
  case selected(Bool)
  /// Update, Dismiss, Deselect.
  case changed(Bool)
  /// DismissAll, Pop, PopTo.
  case count(Int)
  /// SetPath.
  case path([Handle?])
}
