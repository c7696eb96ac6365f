// Why this file exists: what a request gives is checked before anything is touched, and the answer says which argument
// it was, what it was, and what would do.

import DBusValues

extension StateMachine {
  /// Checks an id's size (L1).
  func check(id: String) throws(Refusal) {
    try limits.check("id", id.utf8.count, limits.id, of: "bytes of the id")
  }

  /// Checks a tag (B5).
  func check(tag: String) throws(Refusal) {
    if tag.isEmpty { throw Refusal(.invalidArgument, "tag is empty; a text of 1 to \(limits.tag) bytes would do") }
    if tag.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw Refusal(
        .invalidArgument, "tag “\(abridged(tag))” has a control character; a text without one would do")
    }
    try limits.check("tag", tag.utf8.count, limits.tag, of: "bytes of the tag")
  }

  /// Checks an item's value: names as keys, nothing that cannot be kept (B5, L1).
  func check(value: Properties, named name: String = "value") throws(Refusal) {
    try check(entriesOf: value, named: name)
    try limits.check("value", value.byteCount, limits.value, of: "bytes of \(name)")
  }

  /// Checks all but the size: names as keys, nothing that cannot be kept (B5).
  func check(entriesOf value: Properties, named name: String) throws(Refusal) {
    for (key, entry) in value {
      guard BindingID.isName(key) else {
        throw Refusal(
          .invalidArgument,
          "\(name): the key “\(abridged(key))” is no name; letters, digits, “_” and “-”, a letter or “_” first, would do"
        )
      }
      try limits.check(
        "value-depth", entry.depth, limits.valueDepth, of: "containers in each other in \(name).\(abridged(key))")
      guard !entry.holdsDescriptor else {
        throw Refusal(.invalidArgument, "\(name): “\(abridged(key))” holds a file descriptor, which cannot be kept")
      }
    }
  }

  /// Checks container values against their declarations (V2).
  func check(containerValues: Properties) throws(Refusal) {
    try check(entriesOf: containerValues, named: "container-values")
    for (key, entry) in containerValues {
      guard let declaration = state.containerValueDeclarations[key] else {
        throw Refusal(
          .unknownContainerValue,
          "container-values: “\(abridged(key))” is not declared; DeclareContainerValue declares it")
      }
      guard entry.type == declaration.type else {
        throw Refusal(
          .containerValueType,
          "container-values: “\(key)” is of the type “\(entry.type.signature)”; it is declared as "
            + "“\(declaration.type.signature)”")
      }
    }
    try limits.check(
      "container-values", containerValues.byteCount, limits.containerValues, of: "bytes of container-values")
  }

  func check(_ options: ItemOptions) throws(Refusal) {
    if let value = options.value { try check(value: value) }
    if let containerValues = options.containerValues { try check(containerValues: containerValues) }
    if let data = options.platformData { try check(value: data, named: "platform-data") }
    if let tag = options.tag { try check(tag: tag) }
    if let style = options.style { try limits.check("id", style.utf8.count, limits.id, of: "bytes of style") }
    if let title = options.title { try limits.check("id", title.utf8.count, limits.id, of: "bytes of title") }
    if let name = options.destination, !Destination.isName(name) {
      throw Refusal(
        .invalidArgument,
        "destination “\(abridged(name))” is no name; 1 to \(limits.destination) bytes without “/” and without a leading "
          + "“.” would do")
    }
    if options.destination != nil, options.command != nil {
      throw Refusal(.invalidArgument, "destination and command are both given; one of them would do")
    }
    if let command = options.command {
      guard let program = command.arguments.first, !program.isEmpty else {
        throw Refusal(.invalidArgument, "command is empty; a program and its arguments would do")
      }
      guard !command.arguments.contains(where: { $0.contains(0) }) else {
        throw Refusal(.invalidArgument, "command has a NUL byte in an argument; arguments without one would do")
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
          .invalidArgument, "environment: “\(abridged(name))” is no variable's name; one without “=” would do")
      }
      let bytes = environment.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 2 }
      try limits.check("value", bytes, limits.value, of: "bytes of environment")
    }
  }

  /// A queued item stands in no stack (G9), whether or not it would have to wait now.
  func check(_ policy: BusyPolicy?, with stack: BindingID?) throws(Refusal) {
    guard policy == .queue, let stack else { return }
    throw Refusal(
      .invalidArgument, "if-busy is “queue” for an item of the stack “\(stack)”; “replace” or “refuse” would do")
  }
}

extension Value {
  /// Whether a descriptor stands anywhere in it.
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
