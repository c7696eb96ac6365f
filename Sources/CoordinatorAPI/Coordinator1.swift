// Why this file exists: org.navd.Coordinator1, a row a member. Dispatch in the daemon, the calls of clients, what
// `Introspect` answers and dbus/org.navd.Coordinator1.xml are all made of these rows.

import DBus
import DBusValues
import PresentationModel
import TextFormats

/// `org.navd.Coordinator1`, on ``CoordinatorNames/object``.
public enum CoordinatorInterface {
  public static let name: InterfaceName = "org.navd.Coordinator1"

  public static let interface = Interface(
    name,
    doc: """
      Presents, replaces and dismisses whatever a desktop session shows, from state that everybody can watch and drive. \
      State is a dictionary of slots, one a binding (“counter.fact”, “notes[3].body”). A slot holds an item or nil: \
      setting an item presents it, setting one with another id dismisses the old one and presents the new one when the \
      old one is gone, setting nil dismisses.

      Requests are carried out in the order of their arrival. Every difference between two states is one signal with a \
      serial, one more than the last; a request's signals come before its reply, and the reply carries the serial after \
      it. Options that a method does not know are refused by name. Enumerations travel as words, durations as \
      milliseconds. An object path “/” stands for no presentation.

      Errors are org.navd.Error.*: InvalidBinding, InvalidArgument, UnknownDestination, UnknownTag, \
      UnknownPresentation, NotPresented, Stale, Busy, AlreadyInStack, UnknownContainerValue, ContainerValueType, \
      LimitExceeded, InvalidConfiguration, AccessDenied, ShuttingDown, NotRecorded. The message says which argument, \
      what it was, and what would do.
      """,
    members: changingMethods + otherMembers)

  /// The methods that may be requests of `Apply`, in the order of the interface.
  package static let changingMethods: [any AnyChangingMethod] = [
    present, toggle, update, dismiss, dismissAll, select, deselect, toggleSelection, push, pop, popTo, setPath,
  ]

  private static let otherMembers: [any InterfaceMember] = [
    apply, wait, get, getState, members,
    declareContainerValue, containerValue,
    registerPresenter, unregisterPresenter, destinations,
    closed, act, history, reload, quit,
    presented, updated, phaseChanged, dismissed, action,
    selectionChanged, pathChanged, groupChanged, destinationsChanged,
    version, release, serial, limits,
  ]
}

// MARK: Presenting

extension CoordinatorInterface {
  public static let present = ChangingMethod(
    "Present", in: Arg<String>("binding", doc: "Which slot."),
    Arg<String>("id", doc: "Which item; empty for an item without an id."), Arg<Properties>("options"),
    options: Options.ofPresent, out: Arg<ObjectPath>("presentation", doc: "The handle; never given out twice."),
    Arg<Bool>("changed", doc: "Whether anything is different now."), Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Sets the slot's item. With the id that the slot holds already nothing is dismissed: what the options give is \
      replaced whole, the rest stays. With another id the item that is shown is dismissed (“replaced”), and this one is \
      presented once that one is gone. The reply does not wait for it to be shown: Wait does.

      Options:
      \(Options.ofPresent.doc)
      """,
    read: { binding, id, options throws(Refusal) in
      try Request(options, Options.ofPresent) { () throws(Refusal) in
        .present(try BindingID(binding), id: id, try ItemOptions(options))
      }
    },
    answer: presentation)

  public static let toggle = ChangingMethod(
    "Toggle", in: Arg<String>("binding", doc: "Which slot."), Arg<String>("id", doc: "Which item."),
    Arg<Properties>("options"),
    options: Options.ofToggle, out: Arg<Bool>("presented", doc: "Whether the slot holds the item now."),
    Arg<ObjectPath>("presentation", doc: "Of the item, or “/”."), Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Dismisses the slot's item if it has this id, else does what Present does. What is being dismissed already counts \
      as gone.

      Options: those of Present, and
      \(OptionTable([Options.anyID.row]).doc)
      """,
    read: { binding, id, options throws(Refusal) in
      try Request(options, Options.ofToggle) { () throws(Refusal) in
        .toggle(
          try BindingID(binding), id: id, try ItemOptions(options), anyID: options[Options.anyID] ?? false)
      }
    },
    answer: toggled)

  public static let update = ChangingMethod(
    "Update", in: Arg<String>("binding", doc: "Which slot; it must hold an item (NotPresented)."),
    Arg<Properties>("value", doc: "The keys to set in the item's value; the others stay."), Arg<Properties>("options"),
    options: Options.ofUpdate, out: Arg<Bool>("changed", doc: "Whether anything is different now."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Edits the item's value in place: its id stays, everybody who watches is told (Updated), and so is its presenter, \
      unless it is the one who asks.

      Options:
      \(Options.ofUpdate.doc)
      """,
    read: { binding, value, options throws(Refusal) in
      try Request(options, Options.ofUpdate) { () throws(Refusal) in
        .update(
          try BindingID(binding), value: value, remove: options[Options.remove] ?? [],
          containerValues: options[Options.containerValues], timeout: options[Options.timeout])
      }
    },
    answer: changed)

  public static let dismiss = ChangingMethod(
    "Dismiss", in: Arg<String>("binding", doc: "Which slot."), Arg<Properties>("options"),
    options: Options.ofDismiss, isRemoval: true, out: Arg<Bool>("changed", doc: "False where the slot held nothing."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Sets the slot to nil. What is presented from its item goes first.

      Options:
      \(Options.ofDismiss.doc)
      """,
    read: { binding, options throws(Refusal) in
      try Request(options, Options.ofDismiss) { () throws(Refusal) in
        .dismiss(try BindingID(binding))
      }
    },
    answer: changed)

  public static let dismissAll = ChangingMethod(
    "DismissAll", inOne: Arg<Properties>("options"),
    options: Options.ofDismissAll, isRemoval: true, out: Arg<UInt32>("count", doc: "How many slots held something."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Sets many slots to nil at once. Exactly one of root, group, stack and all says which.

      Options:
      \(Options.ofDismissAll.doc)
      """,
    read: { options throws(Refusal) in
      try Request(options, Options.ofDismissAll) { () throws(Refusal) in .dismissAll(try Scope(options)) }
    },
    answer: count)
}

// MARK: Groups

extension CoordinatorInterface {
  public static let select = ChangingMethod(
    "Select", in: Arg<String>("group", doc: "Which group."), Arg<String>("tag", doc: "Which member."),
    Arg<Properties>("options"),
    options: Options.ofSelect, out: Arg<ObjectPath>("presentation", doc: "Of the member's item."),
    Arg<Bool>("changed", doc: "Whether anything is different now."), Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Makes the tag the group's selection; the other members' slots become nil (“deselected”). The group remembers the \
      last request for each tag, and selecting the tag repeats it; what the options give wins. A tag that nobody \
      declared or asked for presents state only, at the binding “group.tag”.

      Options: those of Present but expected-id and expected-presentation, and
      \(OptionTable([Options.binding.row, Options.id.row]).doc)
      """,
    read: { group, tag, options throws(Refusal) in
      try Request(options, Options.ofSelect) { () throws(Refusal) in
        .select(
          try BindingID(group), tag: tag, binding: try BindingID(optional: options[Options.binding]),
          id: options[Options.id], try ItemOptions(options))
      }
    },
    answer: presentation)

  public static let deselect = ChangingMethod(
    "Deselect", in: Arg<String>("group", doc: "Which group."),
    Arg<String>("tag", doc: "Nothing happens unless it is the selected one; empty: whichever is."),
    Arg<Properties>("options"),
    options: Options.ofDeselect, isRemoval: true, out: Arg<Bool>("changed", doc: "Whether anything is different now."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Makes the group's selection nil.

      Options:
      \(Options.ofDeselect.doc)
      """,
    read: { group, tag, options throws(Refusal) in
      try Request(options, Options.ofDeselect) { () throws(Refusal) in
        .deselect(try BindingID(group), tag: tag.isEmpty ? nil : tag)
      }
    },
    answer: changed)

  public static let toggleSelection = ChangingMethod(
    "ToggleSelection", in: Arg<String>("group", doc: "Which group."), Arg<String>("tag", doc: "Which member."),
    Arg<Properties>("options"),
    options: Options.ofSelect, out: Arg<Bool>("selected", doc: "Whether the tag is selected now."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: "Deselects the tag where it is selected, else does what Select does. Options: those of Select.",
    read: { group, tag, options throws(Refusal) in
      try Request(options, Options.ofSelect) { () throws(Refusal) in
        .toggleSelection(
          try BindingID(group), tag: tag, binding: try BindingID(optional: options[Options.binding]),
          id: options[Options.id], try ItemOptions(options))
      }
    },
    answer: selected)
}

// MARK: Stacks

extension CoordinatorInterface {
  public static let push = ChangingMethod(
    "Push", in: Arg<String>("stack", doc: "Which stack."), Arg<String>("binding", doc: "Which slot."),
    Arg<String>("id", doc: "Which item."), Arg<Properties>("options"),
    options: Options.ofPush, out: Arg<ObjectPath>("presentation", doc: "The handle."),
    Arg<Bool>("changed", doc: "Whether anything is different now."), Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Puts the item on the top of the stack; it is shown once what is below it is. Pushing what is on the top already \
      presents it again, as Present does; a binding that stands elsewhere in a stack is refused (AlreadyInStack).

      Options: those of Present.
      """,
    read: { stack, binding, id, options throws(Refusal) in
      try Request(options, Options.ofPush) { () throws(Refusal) in
        .push(try BindingID(stack), try BindingID(binding), id: id, try ItemOptions(options))
      }
    },
    answer: presentation)

  public static let pop = ChangingMethod(
    "Pop", in: Arg<String>("stack", doc: "Which stack."),
    Arg<UInt32>("count", doc: "How many; 0 pops nothing, more than there are pops all."), Arg<Properties>("options"),
    options: Options.ofPop, isRemoval: true, out: Arg<UInt32>("popped", doc: "How many went."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Takes items from the top, each gone before the next goes.

      Options:
      \(Options.ofPop.doc)
      """,
    read: { stack, count, options throws(Refusal) in
      try Request(options, Options.ofPop) { () throws(Refusal) in
        .pop(try BindingID(stack), count: count)
      }
    },
    answer: count)

  public static let popTo = ChangingMethod(
    "PopTo", in: Arg<String>("stack", doc: "Which stack."),
    Arg<String>("binding", doc: "What is to be the top; empty: all of the stack goes."), Arg<Properties>("options"),
    options: Options.ofPop, isRemoval: true, out: Arg<UInt32>("popped", doc: "How many went."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Takes items from the top until the binding is the top. A binding that is not in the stack is NotPresented.

      Options:
      \(Options.ofPop.doc)
      """,
    read: { stack, binding, options throws(Refusal) in
      try Request(options, Options.ofPop) { () throws(Refusal) in
        .popTo(try BindingID(stack), try BindingID(optional: binding.isEmpty ? nil : binding))
      }
    },
    answer: count)

  public static let setPath = ChangingMethod(
    "SetPath", in: Arg<String>("stack", doc: "Which stack."),
    Arg<[Structure<String, String, Properties>]>(
      "elements", doc: "Binding (empty: “stack[i]”), id and the options of the item, from the bottom to the top."),
    Arg<Properties>("options"),
    options: Options.ofSetPath, out: Arg<[ObjectPath]>("presentations", doc: "The handles, in the order of the path."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Makes the stack's path this one: the longest common beginning stays on screen, the rest is popped from the top, \
      the new rest is pushed in order. If one element is refused, all is, and nothing changes.

      An element's options:
      \(Options.ofItem.doc)

      Options:
      \(Options.ofSetPath.doc)
      """,
    read: { stack, elements, options throws(Refusal) in
      try Request(options, Options.ofSetPath) { () throws(Refusal) in
        .setPath(try BindingID(stack), try RequestedElement.path(elements))
      }
    },
    answer: path)
}

// MARK: Transactions

extension CoordinatorInterface {
  public static let apply = Method(
    name, "Apply",
    in: Arg<[Structure<String, [Value]>]>(
      "requests", doc: "The name of a changing method and its arguments, options included."),
    Arg<Properties>("options"),
    out: Arg<[[Value]]>("replies", doc: "What each request's method would have answered."),
    Arg<UInt64>("serial", doc: "After the last request."),
    doc: """
      Carries out all of the requests or, if one is refused, none; the error says which. Only the state after the last \
      one is acted on: what is set and set back has never changed. Methods: \
      \(namesOfChangingMethods).

      Options:
      \(Options.ofApply.doc)
      """)
}

// MARK: Asking

extension CoordinatorInterface {
  public static let wait = Method(
    name, "Wait", in: Arg<ObjectPath>("presentation", doc: "The handle, also of a presentation that has ended."),
    Arg<String>("phase", doc: "presented or gone."),
    out: Arg<String>("reason", doc: "Why it is gone; empty where it is presented."),
    Arg<Properties>("result", doc: "What the presenter handed back at the end."),
    doc: """
      Replies when the presentation has come that far, or has ended before. It may take for ever: call it without a \
      time-out. When navd is restarted the call fails with ShuttingDown, or with the name's leaving, and may be made \
      again.

      The result: status (i) and signal (s) of a command, its output (ay), output-truncated (b) where that was cut, \
      error (s) where it failed, and what a D-Bus presenter adds.
      """)

  public static let get = Method(
    name, "Get", in: Arg<String>("binding", doc: "Which slot."),
    out: Arg<ObjectPath>("presentation", doc: "Of what the slot should show; “/” where it is nil."),
    Arg<Properties>(
      "item",
      doc: """
        As GetState shows it, and timeout-left (t), the milliseconds that are left of its timeout, where that runs. \
        Empty where the slot is nil.
        """),
    Arg<UInt64>("serial", doc: "Of the state that this is from."),
    doc: "What the slot should show. An item that is being dismissed is not in its slot any more.")

  public static let getState = Method(
    name, "GetState",
    out: Arg<Properties>("state"), Arg<UInt64>("serial", doc: "Of the state; the next signal has one more."),
    doc: """
      The whole state. Whoever subscribes to the signals first and asks then, knows all that comes after.

      serial (t).
      presentations (aa{sv}): one entry a presentation that is not gone, in the order of acceptance: binding (s), \
      id (s), presentation (t), phase (s), destination (s), style (s), title (s), group (s), tag (s), stack (s), \
      parent (t), owner (s), value (a{sv}), container-values (a{sv}), since (t, when it was presented, in \
      milliseconds since 1970), timeout (t), priority (i), pid (t), unit (s); absent where there is none.
      groups (a{sv}): by name, selection (s), tags (as), queue (as).
      stacks (a{sv}): by name, the path as an array of binding (s) and id (s).
      """)

  public static let members = Method(
    name, "Members", in: Arg<String>("kind", doc: "group, stack, parent or all."),
    Arg<String>("name", doc: "Of the group or stack, the parent's binding, or empty."),
    out: Arg<[Structure<String, String, ObjectPath, Properties>]>(
      "members", doc: "Binding, id, presentation, and every declared container value: what was set, else the default."),
    doc: "What a container holds: a stack in the order of its path, the others in the order of acceptance.")
}

// MARK: Container values

extension CoordinatorInterface {
  public static let declareContainerValue = Method(
    name, "DeclareContainerValue", in: Arg<String>("key", doc: "What it is called."),
    Arg<Value>("default", doc: "What it is where an item sets none; its type is the key's."),
    doc: """
      Declares a key that items may set. Declaring it again with another type or default is refused, whoever declared \
      it first: a client, or the file navd.toml.
      """)

  public static let containerValue = Method(
    name, "ContainerValue", in: Arg<String>("binding", doc: "Which slot; empty: the default itself."),
    Arg<String>("key", doc: "A declared key (UnknownContainerValue)."),
    out: Arg<Value>("value"),
    doc: "What the slot's item sets for the key, else the default.")
}

// MARK: Destinations and presenters

extension CoordinatorInterface {
  public static let registerPresenter = Method(
    name, "RegisterPresenter", in: Arg<String>("destination", doc: "A file name without “/” or a leading dot."),
    Arg<ObjectPath>("path", doc: "Where the caller implements org.navd.Presenter1."), Arg<Properties>("options"),
    doc: """
      Makes the caller the presenter of the destination, until it says otherwise or leaves the bus; then the \
      registration before is back. What is shown stays with the presenter that it began with.

      Options:
      \(Options.ofRegisterPresenter.doc)
      """)

  public static let unregisterPresenter = Method(
    name, "UnregisterPresenter", in: Arg<String>("destination"),
    doc: "Takes the caller's registration back.")

  public static let destinations = Method(
    name, "Destinations",
    out: Arg<[Structure<String, Properties>]>(
      "destinations", doc: "Name, and what is known about it: command (as), unit (s) or bus (s), group, style, file."),
    doc: "The destinations that items can name now.")

  public static let closed = Method(
    name, "Closed", in: Arg<ObjectPath>("presentation"), Arg<Properties>("result", doc: "For those who wait."),
    out: Arg<Bool>("changed", doc: "False where it came too late."), Arg<UInt64>("serial", doc: "After the report."),
    doc: """
      A presenter, or for what is shown by none anybody, says that the presentation is gone without having been asked. \
      The slot becomes nil only if the presentation is still its own. For a command or unit it begins the dismissal.
      """)

  public static let act = Method(
    name, "Act", in: Arg<ObjectPath>("presentation"),
    Arg<String>("action", doc: "What was done, in the presenter's words."),
    Arg<Properties>("parameters"), out: Arg<UInt64>("serial", doc: "After the report."),
    doc: "A presenter says that something was done in it, a button pressed for example; everybody who watches is told.")
}

// MARK: The daemon itself

extension CoordinatorInterface {
  public static let history = Method(
    name, "History", in: Arg<UInt32>("most", doc: "How many at most; 0: all that are remembered."),
    Arg<Properties>("filter"),
    out: Arg<[Properties]>(
      "endings",
      doc: """
        The latest first: binding (s), id (s), presentation (t), reason (s), serial (t), time (t, milliseconds since \
        1970); destination (s), group (s), stack (s), shown-for (t, milliseconds) and by (a{sv}) where there is one. \
        by is whose request ended it: client (s), pid (t), program (s), the latter two where they could be found out.
        """),
    doc: """
      The presentations that have ended, without their results.

      Filter:
      \(Options.ofHistory.doc)
      """)

  public static let reload = Method(
    name, "Reload",
    doc: """
      Reads the configuration files again. A file with a mistake keeps what was loaded from it before; the error \
      (InvalidConfiguration) says file, line and what is wrong.
      """)

  public static let quit = Method(
    name, "Quit",
    doc: "Ends every presentation (“shutdown”), then the daemon. Stopping the daemon by SIGTERM ends none.")
}

// MARK: Signals

extension CoordinatorInterface {
  public static let presented = Signal(
    name, "Presented", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("presentation"),
    Arg<UInt64>("serial"), Arg<Properties>("item", doc: "As GetState shows it."), doc: "The item is on screen.")

  public static let updated = Signal(
    name, "Updated", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("presentation"), Arg<UInt64>("serial"),
    Arg<Properties>("item", doc: "As GetState shows it."), doc: "The item was changed in place.")

  public static let phaseChanged = Signal(
    name, "PhaseChanged", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("presentation"),
    Arg<UInt64>("serial"), Arg<String>("phase", doc: "waiting, presenting or dismissing."),
    doc: "The presentation is on its way; only where something else than at once happened.")

  public static let dismissed = Signal(
    name, "Dismissed", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("presentation"),
    Arg<UInt64>("serial"),
    Arg<String>(
      "reason",
      doc: """
        dismissed, closed, replaced, deselected, popped, parent, expired, owner, failed, lost or shutdown.
        """),
    doc: "The presentation is gone. Every presentation ends exactly once, shown or not.")

  public static let action = Signal(
    name, "Action", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("presentation"), Arg<UInt64>("serial"),
    Arg<String>("action"), Arg<Properties>("parameters"), doc: "Something was done in the presentation.")

  public static let selectionChanged = Signal(
    name, "SelectionChanged", Arg<String>("group"), Arg<String>("tag", doc: "Empty where nothing is selected."),
    Arg<UInt64>("serial"), doc: "Another member of the group is selected, or none.")

  public static let pathChanged = Signal(
    name, "PathChanged", Arg<String>("stack"),
    Arg<[Structure<String, String>]>("path", doc: "Binding and id, from the bottom to the top."),
    Arg<UInt64>("serial"), doc: "The stack's path is another one.")

  public static let groupChanged = Signal(
    name, "GroupChanged", Arg<String>("group"), Arg<[String]>("tags"), Arg<[String]>("queue"), Arg<UInt64>("serial"),
    doc: "The group knows other tags, or another queue.")

  public static let destinationsChanged = Signal(
    name, "DestinationsChanged", doc: "Destinations answers something else.")
}

// MARK: Properties

extension CoordinatorInterface {
  /// What ``version`` is.
  public static let currentVersion: UInt32 = 1
  public static let version = Property<UInt32>(
    name, "Version", emitsChanged: .const, doc: "Of this interface; it grows when something is added.")
  public static let release = Property<String>(name, "Release", emitsChanged: .const, doc: "Of navd.")
  public static let serial = Property<UInt64>(
    name, "Serial", emitsChanged: .false, doc: "Of the last difference between two states.")
  public static let limits = Property<[String: UInt64]>(
    name, "Limits", emitsChanged: .const, doc: "By name, what LimitExceeded refuses to go past.")
}

// MARK: Answers

extension CoordinatorInterface {
  /// Answers of Present, Select and Push.
  @Sendable private static func presentation(_ reply: Reply, _ serial: UInt64) -> (ObjectPath, Bool, UInt64) {
    guard case .presentation(let handle, let changed) = reply else { mismatched(reply) }
    return (handle?.path ?? .root, changed, serial)
  }

  @Sendable private static func toggled(_ reply: Reply, _ serial: UInt64) -> (Bool, ObjectPath, UInt64) {
    guard case .toggled(let presented, let handle) = reply else { mismatched(reply) }
    return (presented, handle?.path ?? .root, serial)
  }

  @Sendable private static func selected(_ reply: Reply, _ serial: UInt64) -> (Bool, UInt64) {
    guard case .selected(let selected) = reply else { mismatched(reply) }
    return (selected, serial)
  }

  /// Answers of Update, Dismiss and Deselect.
  @Sendable private static func changed(_ reply: Reply, _ serial: UInt64) -> (Bool, UInt64) {
    guard case .changed(let changed) = reply else { mismatched(reply) }
    return (changed, serial)
  }

  /// Answers of DismissAll, Pop and PopTo.
  @Sendable private static func count(_ reply: Reply, _ serial: UInt64) -> (UInt32, UInt64) {
    guard case .count(let count) = reply else { mismatched(reply) }
    return (UInt32(clamping: count), serial)
  }

  @Sendable private static func path(_ reply: Reply, _ serial: UInt64) -> ([ObjectPath], UInt64) {
    guard case .path(let handles) = reply else { mismatched(reply) }
    return (handles.map { $0?.path ?? .root }, serial)
  }

  /// The rules answer each request with the reply of its own kind.
  private static func mismatched(_ reply: Reply) -> Never {
    preconditionFailure("\(reply) is the reply to another request")
  }
}

// MARK: Arguments

extension RequestedElement {
  /// Reads the elements of `SetPath`.
  /// - Throws: `Refusal`, naming the element.
  fileprivate static func path(
    _ elements: [Structure<String, String, Properties>]
  ) throws(Refusal) -> [RequestedElement] {
    var path: [RequestedElement] = []
    path.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      let (binding, id, options) = element.fields
      do throws(Refusal) {
        try Options.ofItem.check(options)
        path.append(
          RequestedElement(
            binding: try BindingID(optional: binding.isEmpty ? nil : binding), id: id,
            options: try ItemOptions(options)))
      } catch {
        throw Refusal(error.code, "element \(index): \(error.message)")
      }
    }
    return path
  }
}

extension Scope where Name == BindingID {
  /// Reads the scope of `DismissAll` from its options.
  /// - Throws: `Refusal` unless exactly one of `root`, `group`, `stack` and `all` is given.
  fileprivate init(_ options: Properties) throws(Refusal) {
    let names = [Options.root.name, Options.group.name, Options.stack.name, Options.all.name]
    let given = names.filter { options[$0] != nil }
    guard given.count == 1 else {
      throw Refusal(
        .invalidArgument,
        "options: expected exactly one of \(names.joined(separator: ", ")), found "
          + (given.isEmpty ? "none" : given.joined(separator: " and ")))
    }
    if let root = options[Options.root] {
      let binding = try BindingID(root)
      guard binding.deriving == nil else {
        throw Refusal(.invalidArgument, "root: expected a root such as “\(binding.root)”, found \(quoted(root))")
      }
      self = .root(root)
    } else if let group = options[Options.group] {
      self = .group(try BindingID(group))
    } else if let stack = options[Options.stack] {
      self = .stack(try BindingID(stack))
    } else {
      guard options[Options.all] == true else {
        throw Refusal(.invalidArgument, "all: expected true, found false; leave it out and give another option")
      }
      self = .everything
    }
  }
}
