import DBusValues

/// The options of the contract and of its methods. The daemon, navctl and the documentation read the same rows.
public enum Options {
  // MARK: The item

  public static let destination = DictionaryKey<String>(
    "destination",
    doc: "The destination that shows it. Default: the destination with the name of the binding, else state only.")
  public static let value = DictionaryKey<Properties>(
    "value", doc: "The item's value, a dictionary; replaces the former value as a whole.")
  public static let containerValues = DictionaryKey<Properties>(
    "container-values", doc: "Values for declared keys, each of its declared type.")
  public static let style = DictionaryKey<String>("style", doc: "Passed to the presenter: sheet, popover, alert, …")
  public static let title = DictionaryKey<String>("title", doc: "A name for people.")
  public static let from = DictionaryKey<String>(
    "from", doc: "The binding of the parent, which must hold an item. Default: the nearest one.")
  public static let group = DictionaryKey<String>(
    "group", doc: "The exclusive group that it is a member of. Default: the destination's.")
  public static let tag = DictionaryKey<String>(
    "tag", doc: "The name that selects it in its group. Default: the binding without a leading “group.”.")
  public static let stack = DictionaryKey<String>("stack", doc: "The stack that it is the top of.")
  public static let timeout = DictionaryKey<UInt64>(
    "timeout", doc: "Milliseconds from its presentation until it expires; giving it again restarts it.")
  public static let owned = DictionaryKey<Bool>(
    "owned", doc: "Whether it ends when the sender leaves the bus. False: it has no owner.")
  public static let ifBusy = DictionaryKey<String>(
    "if-busy", doc: "The action if another member of the group is selected: replace (the default), queue or refuse.")
  public static let priority = DictionaryKey<Int32>(
    "priority", doc: "Its priority in a queue: the highest is selected first, among equals the oldest.")
  /// Strings, or bytes if an argument is not UTF-8. `Properties.command` reads both.
  public static let command = DictionaryKey<[String]>(
    "command", alternatives: [.array(.array(.byte))],
    doc: "The program that shows it, and its arguments, instead of a destination.")
  public static let directory = DictionaryKey<String>("directory", doc: "The working directory of the command.")
  public static let environment = DictionaryKey<[String: String]>(
    "environment", doc: "Variables for the command, added to its environment.")
  public static let platformData = DictionaryKey<Properties>(
    "platform-data", doc: "Passed to the presenter: activation-token s, parent-window s, output s.")

  // MARK: The subject of a request

  public static let binding = DictionaryKey<String>("binding", doc: "The binding of the tag.")
  public static let id = DictionaryKey<String>("id", doc: "The id of the tag's item.")
  public static let anyID = DictionaryKey<Bool>("any-id", doc: "Dismiss the item also if it has another id.")
  public static let root = DictionaryKey<String>("root", doc: "All bindings of this root.")
  public static let all = DictionaryKey<Bool>("all", doc: "Everything; must be true.")

  // MARK: Execution

  public static let animated = DictionaryKey<Bool>(
    "animated", doc: "Whether presenters animate what the request changes (default true).")
  public static let expectedSerial = DictionaryKey<UInt64>(
    "expected-serial", doc: "Refused (Stale) if the slot, group or stack has changed since this serial.")
  public static let expectedID = DictionaryKey<String>(
    "expected-id", doc: "Refused (Stale) unless the slot holds an item of this id.")
  public static let expectedPresentation = DictionaryKey<ObjectPath>(
    "expected-presentation", doc: "Refused (Stale) unless this is the slot's presentation; / for none.")

  // MARK: Single methods

  public static let remove = DictionaryKey<[String]>("remove", doc: "Keys to remove from the item's value.")
  public static let startTimeout = DictionaryKey<UInt64>(
    "start-timeout", doc: "Milliseconds after which an item that is not on the screen ends as failed.")
  public static let grace = DictionaryKey<UInt64>(
    "grace", doc: "Milliseconds after which an item that is being dismissed counts as gone.")
  public static let reason = DictionaryKey<String>("reason", doc: "Only endings with this reason.")
}

extension Options {
  /// Options of every changing method.
  public static let ofChanges = OptionTable([animated.row, expectedSerial.row])
  /// Options of the methods that change one slot.
  public static let ofSlot = ofChanges + OptionTable([expectedID.row, expectedPresentation.row])
  /// Options of an item; also of an element of `SetPath`.
  public static let ofItem = OptionTable([
    destination.row, value.row, containerValues.row, style.row, title.row, from.row, group.row, tag.row, stack.row,
    timeout.row, owned.row, ifBusy.row, priority.row, command.row, directory.row, environment.row, platformData.row,
  ])

  public static let ofPresent = ofItem + ofSlot
  public static let ofToggle = ofItem + ofSlot + OptionTable([anyID.row])
  public static let ofUpdate = OptionTable([containerValues.row, remove.row, timeout.row]) + ofSlot
  public static let ofDismiss = ofSlot
  public static let ofDismissAll =
    OptionTable([
      root.row, group.row(doc: "All members of this group, and its queue."),
      stack.row(doc: "All elements of this stack."), all.row,
    ]) + ofChanges
  public static let ofSelect = OptionTable([binding.row, id.row]) + ofItem + ofChanges
  public static let ofDeselect = ofChanges
  public static let ofPush = ofItem + ofSlot
  public static let ofPop = ofChanges
  public static let ofSetPath = ofChanges
  public static let ofApply = ofChanges
  public static let ofRegisterPresenter = OptionTable([
    group.row(doc: "The group of items that name none."), style.row(doc: "The style of items that name none."),
    startTimeout.row, grace.row,
  ])
  public static let ofHistory = OptionTable([
    binding.row(doc: "Only endings of this binding."), destination.row(doc: "Only endings of this destination."),
    group.row(doc: "Only endings in this group."), stack.row(doc: "Only endings in this stack."), reason.row,
  ])
}

extension Properties {
  /// The option `command` as bytes; nil if it is absent.
  public var command: [[UInt8]]? {
    guard let value = self[Options.command.name] else { return nil }
    return [[UInt8]](value: value) ?? [String](value: value)?.map { Array($0.utf8) }
  }
}
