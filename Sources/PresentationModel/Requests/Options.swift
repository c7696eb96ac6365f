import DBusValues

/// The options of the contract and of its methods. The daemon, navctl and the documentation read the same rows.
public enum Options {
  // MARK: The subject of a request

  public static let binding = DictionaryKey<String>("binding", doc: "The binding of the tag.")
  public static let id = DictionaryKey<String>("id", doc: "The id of the tag's item.")
  public static let anyID = DictionaryKey<Bool>("any-id", doc: "Dismiss the item even if it has another id.")
  public static let root = DictionaryKey<String>("root", doc: "All bindings of this root.")
  public static let all = DictionaryKey<Bool>("all", doc: "Everything; must be true.")
  public static let parked = DictionaryKey<Bool>(
    "parked",
    doc:
      "The programs whose windows dismissals have hidden: they are asked to close, and with force they end; must be true."
  )

  // MARK: Execution

  public static let animated = DictionaryKey<Bool>(
    "animated", doc: "Whether presenters animate what the request changes (default true).")
  public static let force = DictionaryKey<Bool>(
    "force", doc: "Whether no presenter may decline to end what the request ends, or still waits for.")
  public static let expectedSerial = DictionaryKey<UInt64>(
    "expected-serial", doc: "Refused (Stale) if anything in the state has changed since this serial.")
  public static let expectedID = DictionaryKey<String>(
    "expected-id", doc: "Refused (Stale) unless the slot holds an item of this id.")
  public static let expectedPresentation = DictionaryKey<ObjectPath>(
    "expected-presentation", doc: "Refused (Stale) unless this is the slot's presentation; / for none.")

  // MARK: Single methods

  public static let state = DictionaryKey<Bool>(
    "state",
    doc: "Whether an item that neither a destination nor a command shows is accepted, as state only, for programs that "
      + "draw it themselves. By default it is refused (UnknownDestination, or UnknownTag for a tag), since its name is "
      + "usually a mistake.")
  public static let raise = DictionaryKey<Bool>(
    "raise",
    doc:
      "Whether the windows of what is shown already are brought to the front. Then Toggle and ToggleSelection dismiss it "
      + "only if it has the focus (default false).")
  public static let here = DictionaryKey<Bool>(
    "here",
    doc:
      "Whether the windows of what is shown already on another workspace or output come to the one in use, with the focus. "
      + "Then Toggle and ToggleSelection dismiss it only if it is in view there (default: the key here of the destination)."
  )
  public static let remove = DictionaryKey<[String]>("remove", doc: "Keys to remove from the item's value.")
  public static let startTimeout = DictionaryKey<UInt64>(
    "start-timeout", doc: "Milliseconds after which an item that is not on the screen ends as failed.")
  public static let grace = DictionaryKey<UInt64>(
    "grace", doc: "Milliseconds after which an item that is being dismissed counts as gone.")
  public static let reason = DictionaryKey<String>("reason", doc: "Only endings with this reason.")
  public static let afterSerial = DictionaryKey<UInt64>("after-serial", doc: "Only endings after this serial.")
}

extension Options {
  /// The options of every method that can end something.
  public static let ofChanges = OptionTable([animated.row, force.row])
  private static let expectations = OptionTable([expectedID.row, expectedPresentation.row])
  /// The options of the methods that change one slot.
  public static let ofSlot = ofChanges + expectations

  /// The options of the methods that present.
  public static let ofPresenting = ofItem + OptionTable([state.row, raise.row, here.row])
  public static let ofPresent = ofPresenting + ofSlot
  public static let ofToggle = ofPresenting + ofSlot + OptionTable([anyID.row])
  public static let ofUpdate =
    OptionTable([containerValues.row, remove.row, timeout.row, animated.row]) + expectations
  public static let ofDismiss = ofSlot
  public static let ofDismissAll =
    OptionTable([
      root.row, group.row(doc: "All members of this group, and its queue."),
      stack.row(doc: "All elements of this stack."), all.row, parked.row,
    ]) + ofChanges
  public static let ofSelect = OptionTable([binding.row, id.row]) + ofPresenting + ofChanges
  public static let ofDeselect = ofChanges
  public static let ofForget = ofChanges
  public static let ofPush = ofPresenting + ofSlot
  public static let ofPop = ofChanges
  public static let ofSetPath = OptionTable([state.row]) + ofChanges
  public static let ofApply = ofChanges + OptionTable([expectedSerial.row])
  public static let ofRegisterPresenter = OptionTable([
    group.row(doc: "The group of items that name none."), style.row(doc: "The style of items that name none."),
    startTimeout.row, grace.row,
  ])
  public static let ofHistory = OptionTable([
    binding.row(doc: "Only endings of this binding."), destination.row(doc: "Only endings of this destination."),
    group.row(doc: "Only endings in this group."), stack.row(doc: "Only endings in this stack."), reason.row,
    afterSerial.row,
  ])
}

extension Properties {
  /// The option `command` as bytes; nil if it is absent.
  public var command: [[UInt8]]? {
    guard let value = self[Options.command.name] else { return nil }
    return [[UInt8]](value: value) ?? [String](value: value)?.map { Array($0.utf8) }
  }
}
