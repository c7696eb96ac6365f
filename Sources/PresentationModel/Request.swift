// Why this file exists: everything that a client can ask for that changes the state, as one type, so that a transaction
// is a list of them (T1).

import DBusValues
import TextFormats

/// An element of the path that `SetPath` asks for.
public struct RequestedElement: Hashable, Sendable {
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
    case dismissAll(Scope<BindingID>)
    case select(BindingID, tag: String, binding: BindingID?, id: String?, ItemOptions)
    /// nil: whichever is selected.
    case deselect(BindingID, tag: String?)
    case toggleSelection(BindingID, tag: String, binding: BindingID?, id: String?, ItemOptions)
    case push(BindingID, BindingID, id: String, ItemOptions)
    case pop(BindingID, count: UInt32)
    /// nil: all of it.
    case popTo(BindingID, BindingID?)
    case setPath(BindingID, [RequestedElement])
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

extension Request {
  /// Reads a request with the options that every changing method takes.
  /// - Parameters:
  ///   - table: the options that the method takes.
  ///   - operation: read only when the options are known to be of the table.
  /// - Throws: `Refusal` for an unknown option, one of another type, or what `operation` throws.
  package init(
    _ options: Properties, _ table: OptionTable, _ operation: () throws(Refusal) -> Operation
  ) throws(Refusal) {
    try table.check(options)
    var expectation = Expectation(id: options[Options.expectedID], serial: options[Options.expectedSerial])
    if let path = options[Options.expectedPresentation] {
      expectation.content =
        path == .root ? .nothing : .presentation(try Handle(path, argument: Options.expectedPresentation.name))
    }
    self.init(try operation(), expecting: expectation, animated: options[Options.animated])
  }
}

extension Request.Operation {
  /// The options of the items that the request presents.
  package var items: [ItemOptions] {
    switch self {
    case .present(_, _, let options), .toggle(_, _, let options, _), .select(_, _, _, _, let options),
      .toggleSelection(_, _, _, _, let options), .push(_, _, _, let options):
      [options]
    case .setPath(_, let elements): elements.map(\.options)
    case .update, .dismiss, .dismissAll, .deselect, .pop, .popTo: []
    }
  }
}

extension Handle {
  /// The handle that an argument names.
  /// - Throws: `Refusal` with the code `unknownPresentation` for every other path, `/` among them.
  package init(_ path: ObjectPath, argument: String = "presentation") throws(Refusal) {
    guard let handle = Handle(path: path) else {
      throw Refusal(
        .unknownPresentation,
        "\(argument): expected the path of a presentation, as Present and GetState give it, found \(quoted(path.text))")
    }
    self = handle
  }
}
