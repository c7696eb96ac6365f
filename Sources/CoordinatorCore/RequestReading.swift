// Why this file exists: a method's arguments become a request of the rules, or a refusal that names the argument.

import CoordinatorAPI
import DBusValues
import PresentationRules
import TextFormats

/// The changing methods of the contract, as requests of the rules; alone and in `Apply` they are read alike.
extension Request {
  package static func present(_ binding: String, _ id: String, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofPresent.refuse(options)
    return try Request(.present(BindingID(binding), id: id, ItemOptions(options)), options)
  }

  package static func toggle(_ binding: String, _ id: String, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofToggle.refuse(options)
    let operation = Operation.toggle(
      try BindingID(binding), id: id, try ItemOptions(options), anyID: options[Options.anyID] ?? false)
    return try Request(operation, options)
  }

  package static func update(_ binding: String, _ value: Properties, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofUpdate.refuse(options)
    let operation = Operation.update(
      try BindingID(binding), value: value, remove: options[Options.remove] ?? [],
      containerValues: options[Options.containerValues], timeout: options[Options.timeout])
    return try Request(operation, options)
  }

  package static func dismiss(_ binding: String, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofDismiss.refuse(options)
    return try Request(.dismiss(BindingID(binding)), options)
  }

  package static func dismissAll(_ options: Properties) throws(Refusal) -> Request {
    try Options.ofDismissAll.refuse(options)
    let names = [Options.root.name, Options.group.name, Options.stack.name, Options.all.name]
    let given = names.filter { options[$0] != nil }
    guard given.count == 1 else {
      throw Refusal(
        .invalidArgument,
        "options: \(given.isEmpty ? "none" : given.joined(separator: " and ")) given; exactly one of "
          + names.joined(separator: ", ") + " would do")
    }
    if let root = options[Options.root] {
      let binding = try BindingID(root)
      guard binding.deriving == nil else {
        throw Refusal(.invalidArgument, "root is \(quoted(root)), which is no root; “\(binding.root)” would do")
      }
      return try Request(.dismissAll(.root(root)), options)
    }
    if let group = options[Options.group] { return try Request(.dismissAll(.group(BindingID(group))), options) }
    if let stack = options[Options.stack] { return try Request(.dismissAll(.stack(BindingID(stack))), options) }
    guard options[Options.all] == true else {
      throw Refusal(.invalidArgument, "all is false; true, or another option, would do")
    }
    return try Request(.dismissAll(.all), options)
  }

  package static func select(_ group: String, _ tag: String, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofSelect.refuse(options)
    let operation = Operation.select(
      try BindingID(group), tag: tag, binding: try BindingID(optional: options[Options.binding]),
      id: options[Options.id], try ItemOptions(options))
    return try Request(operation, options)
  }

  package static func toggleSelection(_ group: String, _ tag: String, _ options: Properties) throws(Refusal) -> Request
  {
    try Options.ofSelect.refuse(options)
    let operation = Operation.toggleSelection(
      try BindingID(group), tag: tag, binding: try BindingID(optional: options[Options.binding]),
      id: options[Options.id], try ItemOptions(options))
    return try Request(operation, options)
  }

  package static func deselect(_ group: String, _ tag: String, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofDeselect.refuse(options)
    return try Request(.deselect(BindingID(group), tag: tag.isEmpty ? nil : tag), options)
  }

  package static func push(
    _ stack: String, _ binding: String, _ id: String, _ options: Properties
  ) throws(Refusal) -> Request {
    try Options.ofPush.refuse(options)
    return try Request(.push(BindingID(stack), BindingID(binding), id: id, ItemOptions(options)), options)
  }

  package static func pop(_ stack: String, _ count: UInt32, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofPop.refuse(options)
    return try Request(.pop(BindingID(stack), count: count), options)
  }

  package static func popTo(_ stack: String, _ binding: String, _ options: Properties) throws(Refusal) -> Request {
    try Options.ofPop.refuse(options)
    let target = binding.isEmpty ? nil : binding
    return try Request(.popTo(BindingID(stack), BindingID(optional: target)), options)
  }

  package static func setPath(
    _ stack: String, _ elements: [(binding: String, id: String, options: Properties)], _ options: Properties
  ) throws(Refusal) -> Request {
    try Options.ofSetPath.refuse(options)
    var path: [PathElement] = []
    path.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      do throws(Refusal) {
        try Options.ofItem.refuse(element.options)
        let binding = try BindingID(optional: element.binding.isEmpty ? nil : element.binding)
        path.append(PathElement(binding: binding, id: element.id, options: try ItemOptions(element.options)))
      } catch {
        throw Refusal(error.code, "element \(index): \(error.message)")
      }
    }
    return try Request(.setPath(BindingID(stack), path), options)
  }
}

extension Request {
  /// A request with the options that every changing method takes.
  private init(_ operation: Operation, _ options: Properties) throws(Refusal) {
    var presentation: Handle??
    if let path = options[Options.expectedPresentation] {
      presentation = .some(try Handle(optional: path, argument: Options.expectedPresentation.name))
    }
    self.init(
      operation,
      expecting: Expectation(
        id: options[Options.expectedID], presentation: presentation,
        serial: options[Options.expectedSerial].map { Serial($0) }),
      animated: options[Options.animated])
  }
}

extension Handle {
  /// The handle that an object path names; nil for `/`.
  /// - Throws: `Refusal` with the code `unknownPresentation` for every other path.
  package init?(optional path: ObjectPath, argument: String) throws(Refusal) {
    if path == .root { return nil }
    try self.init(path, argument: argument)
  }

  /// The handle that an object path names.
  /// - Throws: `Refusal` with the code `unknownPresentation` for every other path.
  package init(_ path: ObjectPath, argument: String = "presentation") throws(Refusal) {
    guard let number = CoordinatorNames.number(of: path) else {
      throw Refusal(
        .unknownPresentation,
        "\(argument) is \(quoted(path.text)), which names no presentation; a path as Present and GetState give it would do"
      )
    }
    self.init(number)
  }

  package var path: ObjectPath { CoordinatorNames.presentation(number) }
}

extension BindingID {
  /// - Throws: `Refusal` with the code `invalidBinding`.
  package init?(optional text: String?) throws(Refusal) {
    guard let text else { return nil }
    try self.init(text)
  }
}

extension ItemOptions {
  /// - Throws: `Refusal` where a text names no binding, policy or number that the contract knows.
  init(_ options: Properties) throws(Refusal) {
    self.init()
    // What most requests give.
    if options.isEmpty { return }
    destination = options[Options.destination]
    value = options[Options.value]
    containerValues = options[Options.containerValues]
    style = options[Options.style]
    title = options[Options.title]
    from = try BindingID(optional: options[Options.from])
    group = try BindingID(optional: options[Options.group])
    tag = options[Options.tag]
    stack = try BindingID(optional: options[Options.stack])
    timeout = options[Options.timeout]
    owned = options[Options.owned]
    priority = options[Options.priority]
    command = options.command.map { InlineCommand(arguments: $0) }
    directory = options[Options.directory]
    environment = options[Options.environment]
    platformData = options[Options.platformData]
    if let word = options[Options.ifBusy] {
      guard let policy = BusyPolicy(rawValue: word) else {
        let words = BusyPolicy.allCases.map(\.rawValue).joined(separator: ", ")
        throw Refusal(.invalidArgument, "if-busy is \(quoted(word)); \(words) would do")
      }
      ifBusy = policy
    }
  }
}

extension OptionTable {
  /// Refuses options that the table does not know, or of another type.
  package func refuse(_ options: Properties) throws(Refusal) {
    do throws(CoordinatorError) {
      try check(options)
    } catch {
      throw Refusal(.invalidArgument, error.message)
    }
  }
}
