import DBusValues
import TextFormats

/// An element of the path that `SetPath` asks for.
public struct RequestedElement: Hashable, Sendable {
  /// The slot; nil means `stack[i]` (S5).
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
  /// The change, named after the contract's method. Indirect, since the options are large and are passed through many functions.
  public indirect enum Operation: Hashable, Sendable {
    case present(BindingID, id: String, ItemOptions)
    /// - Parameter anyID: whether an item with another id is dismissed, too.
    case toggle(BindingID, id: String, ItemOptions, anyID: Bool)
    case update(BindingID, value: Properties, remove: [String], containerValues: Properties?, timeout: UInt64?)
    case dismiss(BindingID)
    case dismissAll(Scope<BindingID>)
    case select(BindingID, tag: String, binding: BindingID?, id: String?, ItemOptions)
    /// - Parameter tag: nil for any selected tag.
    case deselect(BindingID, tag: String?)
    case toggleSelection(BindingID, tag: String, binding: BindingID?, id: String?, ItemOptions)
    case forget(BindingID, tag: String)
    case push(BindingID, BindingID, id: String, ItemOptions)
    case pop(BindingID, count: UInt32)
    /// The second binding is the new top; nil pops the whole stack.
    case popTo(BindingID, BindingID?)
    case setPath(BindingID, [RequestedElement])
  }

  public var operation: Operation
  public var expectation: Expectation
  /// Whether the changes are animated; nil leaves it to the transaction (T2).
  public var animated: Bool?
  /// Whether no presenter may decline to end what the request ends or still waits for (P15).
  public var isForced: Bool
  /// Whether the request is refused if it would present an item that nothing shows. So is each request
  /// of the contract that does not ask for state alone (D2).
  public var needsKnownName: Bool
  /// Whether the windows of items that are open already are brought to the front (N7).
  public var raises: Bool
  /// Whether items that are shown elsewhere come to where their user is; nil leaves it to their
  /// destinations (N11).
  public var bringsHere: Bool?
  /// The places of the windows of presentations when the request is carried out; nil if the
  /// coordinator does not know them (N11).
  package var places: WindowPlaces?
  /// The reason why windows cannot be moved to an output when the request is carried out; nil if
  /// they can, or if the coordinator does not know (U1).
  package var whyNoMoving: String?
  /// The reason why windows cannot be hidden when the request is carried out; nil if they can, or
  /// if the coordinator does not know (N8).
  package var whyNoHiding: String?

  public init(
    _ operation: Operation, expecting expectation: Expectation = Expectation(), animated: Bool? = nil,
    isForced: Bool = false, needsKnownName: Bool = false, raises: Bool = false, bringsHere: Bool? = nil
  ) {
    self.operation = operation
    self.expectation = expectation
    self.animated = animated
    self.isForced = isForced
    self.needsKnownName = needsKnownName
    self.raises = raises
    self.bringsHere = bringsHere
  }
}

/// The reply to a request, read from the final state of its transaction (T1).
public enum Reply: Hashable, Sendable {
  /// Present, Select, Push.
  case presentation(Handle?, changed: Bool)
  /// Toggle.
  case toggled(presented: Bool, Handle?)
  /// ToggleSelection.
  case selected(Bool)
  /// Update, Dismiss, Deselect, Forget.
  case changed(Bool)
  /// DismissAll, Pop, PopTo.
  case count(Int)
  /// SetPath.
  case path([Handle?])
}

extension Request {
  /// Reads a request and the options that all changing methods share.
  /// - Parameters:
  ///   - table: the options of the method.
  ///   - operation: read after the options have been checked.
  /// - Throws: `Refusal` for an unknown option or another type; the errors of `operation`.
  package init(
    _ options: Properties, _ table: OptionTable, _ operation: @autoclosure () throws(Refusal) -> Operation
  ) throws(Refusal) {
    try table.check(options)
    var expectation = Expectation(id: options[Options.expectedID])
    if let path = options[Options.expectedPresentation] {
      expectation.content =
        path == .root ? .nothing : .presentation(try Handle(path, argument: Options.expectedPresentation.name))
    }
    self.init(
      try operation(), expecting: expectation, animated: options[Options.animated],
      isForced: options[Options.force] ?? false, needsKnownName: options[Options.state] != true,
      raises: options[Options.raise] ?? false, bringsHere: options[Options.here])
  }
}

extension Request.Operation {
  /// The options of the items that the request presents.
  package var items: [ItemOptions] {
    var items: [ItemOptions] = []
    forEachItem { items.append($0) }
    return items
  }

  /// Whether the request presents an item whose options satisfy a condition. No array is made, since each request is asked several
  /// times.
  package func presents(where isSuch: (ItemOptions) -> Bool) -> Bool {
    var isFound = false
    forEachItem { isFound = isFound || isSuch($0) }
    return isFound
  }

  /// Whether the state decides if the request presents an item or ends one.
  package var isToggle: Bool {
    switch self {
    case .toggle, .toggleSelection: true
    default: false
    }
  }

  private func forEachItem(_ body: (ItemOptions) -> Void) {
    switch self {
    case .present(_, _, let options), .toggle(_, _, let options, _), .select(_, _, _, _, let options),
      .toggleSelection(_, _, _, _, let options), .push(_, _, _, let options):
      body(options)
    case .setPath(_, let elements): for element in elements { body(element.options) }
    case .update, .dismiss, .dismissAll, .deselect, .forget, .pop, .popTo: break
    }
  }

  /// The request with other options of its items.
  package func mapItems(_ change: (ItemOptions) -> ItemOptions) -> Self {
    switch self {
    case .present(let binding, let id, let options): .present(binding, id: id, change(options))
    case .toggle(let binding, let id, let options, let anyID): .toggle(binding, id: id, change(options), anyID: anyID)
    case .select(let group, let tag, let binding, let id, let options):
      .select(group, tag: tag, binding: binding, id: id, change(options))
    case .toggleSelection(let group, let tag, let binding, let id, let options):
      .toggleSelection(group, tag: tag, binding: binding, id: id, change(options))
    case .push(let stack, let binding, let id, let options): .push(stack, binding, id: id, change(options))
    case .setPath(let stack, let elements):
      .setPath(stack, elements.map { RequestedElement(binding: $0.binding, id: $0.id, options: change($0.options)) })
    case .update, .dismiss, .dismissAll, .deselect, .forget, .pop, .popTo: self
    }
  }
}

extension [Request] {
  /// Refuses requests with a command.
  /// - Throws: `refusal` for the first one, with its index in a transaction.
  package func refuseCommands(with refusal: Refusal, inTransaction: Bool) throws(Refusal) {
    guard let index = firstIndex(where: { $0.operation.presents { $0.command != nil } }) else { return }
    var refusal = refusal
    refusal.index = inTransaction ? index : nil
    throw refusal
  }
}

extension Handle {
  /// Reads the handle from an argument.
  /// - Throws: `Refusal` with the code `unknownPresentation` for every other path, `/` included.
  package init(_ path: ObjectPath, argument: String = "presentation") throws(Refusal) {
    guard let handle = Handle(path: path) else {
      throw Refusal(
        .unknownPresentation,
        "\(argument): expected the path of a presentation, as Present and GetState give it, found \(quoted(path.text))")
    }
    self = handle
  }
}
