import DBusValues
import PresentationModel
import TextFormats

/// Checks of the arguments of requests, before anything changes. A refusal names the argument, the value found and the value expected.
extension StateMachine {
  /// Checks an id's size (L1).
  func check(id: String) throws(Refusal) {
    try limits.check(text: id, as: "the id")
  }

  /// Checks that a tag is neither empty nor too long, and has no control character (B5).
  func check(tag: String) throws(Refusal) {
    if tag.isEmpty { throw Refusal(.invalidArgument, "tag is empty; expected 1 to \(GroupTag.maxBytes) bytes") }
    if tag.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw Refusal(.invalidArgument, "tag \(quoted(tag)) has a control character; remove it")
    }
    guard tag.utf8.count <= GroupTag.maxBytes else {
      throw Refusal(
        .invalidArgument, "tag: expected 1 to \(GroupTag.maxBytes) bytes, found \(tag.utf8.count); use a shorter one")
    }
  }

  /// Checks the name of a destination (B5).
  func check(destination name: String) throws(Refusal) {
    guard !Destination.isName(name) else { return }
    throw Refusal(
      .invalidArgument,
      "destination \(quoted(name)) is not a valid name; use 1 to \(Destination.maxNameBytes) bytes without “/” and without a "
        + "leading “.”")
  }

  /// Checks an item's value: its size, its keys, which must be names, and whether it can be recorded (B5, L1).
  func check(value: Properties, named name: String = "value") throws(Refusal) {
    try check(entriesOf: value, named: name)
    try limits.check("value", value.byteCount, limits.value, of: "bytes of \(name)")
  }

  /// Checks a dictionary, except for its size: keys must be names, and it must be possible to record the values (B5).
  func check(entriesOf value: Properties, named name: String) throws(Refusal) {
    for (key, entry) in value {
      guard BindingID.isName(key) else { throw .invalidKey(key, in: name) }
      try limits.check(
        "value", entry.depth, Limits.valueDepth, of: "nested containers in \(quoted("\(name).\(key)"))")
      guard !entry.holdsDescriptor else {
        throw Refusal(
          .invalidArgument, "\(name): \(quoted(key)) holds a file descriptor, which navd cannot keep; leave it out")
      }
    }
  }

  /// Checks container values against their declarations (V2).
  func check(containerValues: Properties) throws(Refusal) {
    try check(entriesOf: containerValues, named: Options.containerValues.name)
    for (key, entry) in containerValues {
      guard let declaration = state.containerValueDeclarations[key] else {
        throw Refusal(
          .unknownContainerValue,
          "container-values: the key \(quoted(key)) is not declared; \(Self.howToDeclare(key))"
        )
      }
      guard entry.type == declaration.type else {
        throw Refusal(
          .containerValueType,
          "container-values: “\(key)” has the type “\(entry.type.signature)”; expected the declared type "
            + "“\(declaration.type.signature)”")
      }
    }
    try limits.check("value", containerValues.byteCount, limits.value, of: "bytes of container-values")
  }

  func check(_ options: ItemOptions) throws(Refusal) {
    if let value = options.value { try check(value: value) }
    if let containerValues = options.containerValues { try check(containerValues: containerValues) }
    if let data = options.platformData { try check(value: data, named: "platform-data") }
    if let tag = options.tag { try check(tag: tag) }
    try limits.check(appearanceOf: options)
    if let name = options.destination { try check(destination: name) }
    if options.destination != nil, options.command != nil {
      throw Refusal(.invalidArgument, "destination and command are both given; give only one of them")
    }
    if let command = options.command {
      guard let program = command.arguments.first, !program.isEmpty else {
        throw Refusal(.invalidArgument, "command is empty; expected a program and its arguments")
      }
      guard !command.arguments.contains(where: { $0.contains(0) }) else {
        throw Refusal(.invalidArgument, "command has a NUL byte in an argument; remove it")
      }
      let bytes = command.arguments.reduce(0) { $0 + $1.count + 1 }
      try limits.check("value", bytes, limits.value, of: "bytes of command")
    }
    if let directory = options.directory {
      try limits.check("value", directory.utf8.count, limits.value, of: "bytes of directory")
    }
    if let environment = options.environment {
      for name in environment.keys where name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) {
        throw Refusal(
          .invalidArgument, "environment: \(quoted(name)) is not a variable's name; use a name without “=”")
      }
      let bytes = environment.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 2 }
      try limits.check("value", bytes, limits.value, of: "bytes of environment")
    }
    if let input = options.input { try limits.check("value", input.count, limits.value, of: "bytes of input") }
  }

  /// Refuses an input for an item without a command to read it, or with a command that could not read another input (D16).
  func check(_ input: [UInt8]?, for destination: Destination?, at binding: BindingID) throws(Refusal) {
    guard input != nil else { return }
    let why: String
    switch destination?.presenter {
    case .command where destination?.window?.hides != true: return
    case .command:
      why = "is kept when it is dismissed (dismissal = \"hide\"), and its program cannot read another one then"
    case .unit: why = "is shown by a systemd unit, which gets none"
    case .bus: why = "is shown by a program on the bus, which gets none"
    case .none?, nil: why = "is state only, and no program reads it"
    }
    throw Refusal(.invalidArgument, "input is given, but “\(binding)” \(why); leave input out")
  }

  /// Refuses to queue an item of a stack, even if it would not have to wait now (G9).
  func check(_ policy: BusyPolicy?, with stack: BindingID?) throws(Refusal) {
    guard policy == .queue, let stack else { return }
    throw Refusal(
      .invalidArgument, "if-busy is “queue” for an item of the stack “\(stack)”; use “replace” or “refuse”")
  }
}

extension Refusal {
  /// - Parameter argument: the argument that has the key; nil if the key is an argument itself.
  static func invalidKey(_ key: String, in argument: String? = nil) -> Refusal {
    Refusal(
      .invalidArgument,
      "\(argument.map { "\($0): " } ?? "")the key \(quoted(key)) is not a valid name; use letters, digits, “_” and “-”, starting with a letter "
        + "or “_”")
  }
}

extension Value {
  /// Whether the value contains a file descriptor, at any depth.
  var holdsDescriptor: Bool {
    switch self {
    case .descriptor: true
    case .variant(let value): value.holdsDescriptor
    case .array(_, let values), .structure(let values): values.contains(where: \.holdsDescriptor)
    case .dictionary(_, _, let entries): entries.contains { $0.key.holdsDescriptor || $0.value.holdsDescriptor }
    case .properties(let entries): entries.values.contains(where: \.holdsDescriptor)
    default: false
    }
  }
}
