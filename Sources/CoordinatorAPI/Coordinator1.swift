import DBus
import DBusValues
import PresentationModel
import TextFormats

/// `org.navd.Coordinator1`, on ``CoordinatorNames/object``. The daemon dispatches calls and clients make calls by these rows.
/// `Introspect` and dbus/org.navd.Coordinator1.xml are generated from them.
public enum CoordinatorInterface {
  public static let name: InterfaceName = "org.navd.Coordinator1"

  public static let interface = Interface(
    name,
    doc: """
      Presents, replaces and dismisses the items of a desktop session, from state that every client can watch and \
      change. The state is a dictionary of slots with a binding as the key (“counter.fact”, “notes[3].body”). A slot \
      holds an item or nil. Setting an item presents it. Setting one with another id dismisses the old item and \
      presents the new one when the old one is gone. Setting nil dismisses.

      The requests of a client are carried out in the order of their arrival. Every difference between two states is one \
      signal with a serial, one more than the last. The signals of a request precede its reply, and the reply carries the serial \
      after the request. A method refuses an unknown option and names it. An integer among options, or among \
      the arguments in Apply, may be of any integer type, or a double without a fraction, if it fits. Enumerations are \
      words, durations are milliseconds. A presentation has a handle, which is its object path, and a number, with which \
      the path ends; the object path “/” and the number 0 mean none. A later presentation has a greater number.

      Errors are org.navd.Error.*: InvalidBinding, InvalidArgument, UnknownDestination, UnknownTag, \
      UnknownPresentation, NotPresented, Stale, Busy, AlreadyInStack, UnknownContainerValue, ContainerValueType, \
      LimitExceeded, InvalidConfiguration, AccessDenied, ShuttingDown, NotRecorded, Declined, NotSupported, Held. The message \
      names the argument, the value found and the value expected. No method takes file descriptors: a call with some is refused \
      with org.freedesktop.DBus.Error.InvalidArgs. The answer of a presenter must not have any either.
      """,
    members: changingMethods + otherMembers)

  /// The methods that may be requests of `Apply`, in the order of the interface.
  package static var changingMethods: [any AnyChangingMethod] { CoordinatorMethod.allCases.compactMap(\.changing) }

  private static let otherMembers: [any InterfaceMember] = [
    apply, wait, get, getState, members, hold, releaseHold, holds,
    declareContainerValue, containerValue,
    registerPresenter, unregisterPresenter, serve, destinations,
    closed, asking, ready, act, history, diagnosis, mistakes, reload, importEnvironment, quit,
    presented, updated, phaseChanged, dismissed, declined, askingChanged, action,
    selectionChanged, pathChanged, groupChanged, holdChanged, parkedChanged, requested, destinationsChanged,
    version, release, serial, limits,
  ]
}

/// Arguments that several changing methods have.
private enum Arguments {
  static let binding = Arg<String>("binding", doc: "The slot.")
  static let group = Arg<String>("group", doc: "The group.")
  static let tag = Arg<String>("tag", doc: "The member's tag.")
  static let stack = Arg<String>("stack", doc: "The stack.")
  static let options = Arg<Properties>("options")
  static let handle = Arg<ObjectPath>("handle", doc: "The object path of the presentation; never used twice.")
  static let number = Arg<UInt64>("presentation", doc: "Its number, with which the path ends.")
  static let changed = Arg<Bool>("changed", doc: "Whether the request changed anything.")
  static let popped = Arg<UInt32>("popped", doc: "The number of items removed.")
  static let serial = Arg<UInt64>("serial", doc: "The serial after the request.")
}

// MARK: Presenting

extension CoordinatorInterface {
  public static let present = ChangingMethod(
    "Present", in: Arguments.binding, Arg<String>("id", doc: "The item's id; empty for an item without one."),
    Arguments.options,
    options: Options.ofPresent, out: Arguments.handle, Arguments.number, Arguments.changed, Arguments.serial,
    doc: """
      Sets the slot's item. With the id that the slot already holds, nothing is dismissed: each option that is given \
      replaces the former value as a whole, and the others stay. With another id, the current item is dismissed \
      (“replaced”), and the new one is presented when the old one is gone. The reply does not wait for the screen; use \
      Wait for that.
      """,
    read: { binding, id, options throws(Refusal) in
      try Request(options, Options.ofPresent, .present(BindingID(binding), id: id, ItemOptions(options)))
    },
    answer: presentation)

  public static let toggle = ChangingMethod(
    "Toggle", in: Arguments.binding, Arg<String>("id", doc: "The item's id."), Arguments.options,
    options: Options.ofToggle, describesOptions: false,
    out: Arg<Bool>("presented", doc: "Whether the slot holds the item after the request."),
    Arg<ObjectPath>("handle", doc: "The object path of the presentation, or “/”."),
    Arg<UInt64>("presentation", doc: "Its number, or 0."), Arguments.serial,
    doc: """
      Dismisses the slot's item if it has this id; else does the same as Present. An item that is being dismissed \
      counts as gone.

      Options: those of Present, and
      \(OptionTable([Options.anyID.row]).doc)
      """,
    read: { binding, id, options throws(Refusal) in
      try Request(
        options, Options.ofToggle,
        .toggle(BindingID(binding), id: id, ItemOptions(options), anyID: options[Options.anyID] ?? false))
    },
    answer: toggled)

  public static let update = ChangingMethod(
    "Update", in: Arg<String>("binding", doc: "The slot; it must hold an item (NotPresented)."),
    Arg<Properties>("value", doc: "The keys to set in the item's value; the others stay."), Arguments.options,
    options: Options.ofUpdate, out: Arguments.changed, Arguments.serial,
    doc: """
      Edits the item's value in place; its id stays. Watchers get Updated. The presenter is notified too, unless it \
      is the caller.
      """,
    read: { binding, value, options throws(Refusal) in
      try Request(
        options, Options.ofUpdate,
        .update(
          BindingID(binding), value: value, remove: options[Options.remove] ?? [],
          containerValues: options[Options.containerValues], timeout: options[Options.timeout]))
    },
    answer: changed)

  public static let dismiss = ChangingMethod(
    "Dismiss", in: Arguments.binding, Arguments.options,
    options: Options.ofDismiss, isRemoval: true, out: Arg<Bool>("changed", doc: "False if the slot held nothing."),
    Arguments.serial,
    doc: "Sets the slot to nil. Children of its item end first.",
    read: { binding, options throws(Refusal) in
      try Request(options, Options.ofDismiss, .dismiss(BindingID(binding)))
    },
    answer: changed)

  public static let dismissAll = ChangingMethod(
    "DismissAll", inOne: Arguments.options,
    options: Options.ofDismissAll, isRemoval: true,
    out: Arg<UInt32>("count", doc: "The number of slots that held an item; with parked, of programs."),
    Arguments.serial,
    doc: """
      Sets many slots to nil at once. Give exactly one of root, group, stack, all and parked; parked empties no slot.
      """,
    read: { options throws(Refusal) in
      try Request(options, Options.ofDismissAll, .dismissAll(Scope(options)))
    },
    answer: count)
}

// MARK: Groups

extension CoordinatorInterface {
  public static let select = ChangingMethod(
    "Select", in: Arguments.group, Arguments.tag, Arguments.options,
    options: Options.ofSelect, describesOptions: false,
    out: Arguments.handle, Arguments.number, Arguments.changed, Arguments.serial,
    doc: """
      Makes the tag the group's selection; the slots of the other members become nil (“deselected”). The group \
      remembers the last request for each tag, and selecting the tag repeats it; the options of this request take \
      precedence. A tag that was neither declared nor requested before is presented at the binding “group.tag”, if a \
      destination or a command shows it, or with the option state.

      Options: those of Present except expected-id and expected-presentation, and
      \(OptionTable([Options.binding.row, Options.id.row]).doc)
      """,
    read: { group, tag, options throws(Refusal) in
      try Request(
        options, Options.ofSelect,
        .select(
          BindingID(group, as: "group"), tag: tag, binding: BindingID(optional: options[Options.binding]),
          id: options[Options.id],
          ItemOptions(options)))
    },
    answer: presentation)

  public static let deselect = ChangingMethod(
    "Deselect", in: Arguments.group,
    Arg<String>("tag", doc: "Nothing happens unless this tag is selected; empty: any tag."), Arguments.options,
    options: Options.ofDeselect, isRemoval: true, out: Arguments.changed, Arguments.serial,
    doc: "Makes the group's selection nil.",
    read: { group, tag, options throws(Refusal) in
      try Request(options, Options.ofDeselect, .deselect(BindingID(group, as: "group"), tag: tag.isEmpty ? nil : tag))
    },
    answer: changed)

  public static let toggleSelection = ChangingMethod(
    "ToggleSelection", in: Arguments.group, Arguments.tag, Arguments.options,
    options: Options.ofSelect, describesOptions: false,
    out: Arg<Bool>("selected", doc: "Whether the tag is selected after the request."), Arguments.serial,
    doc: """
      Deselects the tag if it is selected; else does the same as Select, even if it is queued. One that waits in the queue for \
      the end of a hold leaves it, since nothing can select it before. Options: those of Select.
      """,
    read: { group, tag, options throws(Refusal) in
      try Request(
        options, Options.ofSelect,
        .toggleSelection(
          BindingID(group, as: "group"), tag: tag, binding: BindingID(optional: options[Options.binding]),
          id: options[Options.id],
          ItemOptions(options)))
    },
    answer: selected)

  public static let forget = ChangingMethod(
    "Forget", in: Arguments.group, Arg<String>("tag", doc: "The tag."), Arguments.options,
    options: Options.ofForget, isRemoval: true,
    out: Arg<Bool>("changed", doc: "Whether the group remembered a request for it."),
    Arguments.serial,
    doc: "Makes the group forget the last request for the tag. An item that has the tag stays.",
    read: { group, tag, options throws(Refusal) in
      try Request(options, Options.ofForget, .forget(BindingID(group, as: "group"), tag: tag))
    },
    answer: changed)
}

// MARK: Stacks

extension CoordinatorInterface {
  public static let push = ChangingMethod(
    "Push", in: Arguments.stack, Arguments.binding, Arg<String>("id", doc: "The item's id."), Arguments.options,
    options: Options.ofPush, describesOptions: false, out: Arguments.handle, Arguments.number, Arguments.changed,
    Arguments.serial,
    doc: """
      Puts the item on the top of the stack; it is shown when the element below it is shown. Pushing the current top \
      presents it again, as Present does. A binding that is elsewhere in a stack is refused (AlreadyInStack).

      Options: those of Present.
      """,
    read: { stack, binding, id, options throws(Refusal) in
      try Request(
        options, Options.ofPush, .push(BindingID(stack, as: "stack"), BindingID(binding), id: id, ItemOptions(options)))
    },
    answer: presentation)

  public static let pop = ChangingMethod(
    "Pop", in: Arguments.stack,
    Arg<UInt32>("count", doc: "The number of items; 0 pops nothing, a number above the height pops all."),
    Arguments.options,
    options: Options.ofPop, isRemoval: true, out: Arguments.popped, Arguments.serial,
    doc: "Removes items from the top. Each is gone before the next is dismissed.",
    read: { stack, count, options throws(Refusal) in
      try Request(options, Options.ofPop, .pop(BindingID(stack, as: "stack"), count: count))
    },
    answer: count)

  public static let popTo = ChangingMethod(
    "PopTo", in: Arguments.stack, Arg<String>("binding", doc: "The new top; empty: remove the whole stack."),
    Arguments.options,
    options: Options.ofPop, isRemoval: true, out: Arguments.popped, Arguments.serial,
    doc: """
      Removes items from the top until the binding is the top. For a binding outside the stack the error is NotPresented.
      """,
    read: { stack, binding, options throws(Refusal) in
      try Request(
        options, Options.ofPop,
        .popTo(BindingID(stack, as: "stack"), BindingID(optional: binding.isEmpty ? nil : binding)))
    },
    answer: count)

  public static let setPath = ChangingMethod(
    "SetPath", in: Arguments.stack,
    Arg<[Structure<String, String, Properties>]>(
      "elements", doc: "Binding (empty: “stack[i]”), id and options of each item, from the bottom to the top.",
      qtType: "QList<NavdRequestedElement>"), Arguments.options,
    options: Options.ofSetPath, out: Arg<[ObjectPath]>("handles", doc: "Object paths, in the order of the path."),
    Arg<[UInt64]>("presentations", doc: "Their numbers.", qtType: "QList<qulonglong>"), Arguments.serial,
    doc: """
      Replaces the stack's path. The longest common beginning stays on the screen, the rest is popped from the top, and \
      the new rest is pushed in order. If one element is refused, the request is refused, and nothing changes.

      An element's options:
      \(Options.ofItem.doc)
      """,
    read: { stack, elements, options throws(Refusal) in
      try Request(options, Options.ofSetPath, .setPath(BindingID(stack, as: "stack"), RequestedElement.path(elements)))
    },
    answer: path)
}

// MARK: Transactions

extension CoordinatorInterface {
  public static let apply = Method(
    name, "Apply",
    in: Arg<[TransactionRequest]>(
      "requests", doc: "The name of one of these methods and its arguments, including options.",
      qtType: "QList<NavdRequest>"),
    Arg<Properties>("options"),
    out: Arg<[[Value]]>("replies", doc: "The reply of each request's method."),
    Arg<UInt64>("serial", doc: "The serial after the last request."),
    doc: """
      Carries out all of the requests or, if one is refused, none; the error names that one. Only the state after the \
      last request takes effect: a slot that is set and set back has not changed. Methods: \
      \(namesOfChangingMethods).

      Options:
      \(Options.ofApply.doc)
      """)
}

// MARK: Reading

extension CoordinatorInterface {
  public static let wait = Method(
    name, "Wait", in: Arg<ObjectPath>("handle", doc: "The object path of the presentation, even if it has ended."),
    Arg<String>("phase", doc: "\(WaitPhase.words)."),
    out: Arg<String>("reason", doc: "Why it ended; empty if it has not."),
    Arg<Properties>("result", doc: "The data that the presenter returned at the end; empty if it has not ended."),
    doc: """
      Replies when the presentation has reached the phase, or has ended. With settled, when its dismissal is over: it is gone, or \
      its presenter keeps it; at once if it is not being dismissed. This may take any time: call it without a timeout. When navd \
      restarts or is killed, the call fails with org.navd.Error.ShuttingDown, or with NoReply, NameHasNoOwner or ServiceUnknown of \
      org.freedesktop.DBus.Error: repeat it when the name has an owner again.

      The result, beside the entries of a D-Bus presenter:
      \(PresentationResult.table.doc)
      """)

  public static let get = Method(
    name, "Get", in: Arg<String>("binding", doc: "The slot."),
    out: Arg<ObjectPath>("handle", doc: "The object path of the item's presentation; “/” if the slot is nil."),
    Arg<Properties>("item", doc: "Empty if the slot is nil."), Arg<UInt64>("serial", doc: "The serial of this state."),
    isReading: true,
    doc: """
      Returns the slot's item. An item that is being dismissed is no longer in its slot.

      The item: the entry of GetState, and
      \(OptionTable([StateEntry.keys.timeoutLeft.row]).doc)
      """)

  public static let getState = Method(
    name, "GetState",
    out: Arg<Properties>("state"), Arg<UInt64>("serial", doc: "The serial of the state; the next signal has one more."),
    isReading: true,
    doc: """
      Returns the whole state. A client misses no later change if it subscribes to the signals before this call, and keeps \
      those that come before the answer. Some of them may be newer than the answer.

      The state:
      \(StateSnapshot.table.doc)

      An entry of presentations; a key without a value is absent:
      \(StateEntry.ofState.doc)

      An entry of groups:
      \(GroupEntry.table.doc)

      An element of a path in stacks:
      \(PathElement.table.doc)
      """)

  public static let members = Method(
    name, "Members", in: Arg<String>("kind", doc: "group, stack, parent or all."),
    Arg<String>("name", doc: "The name of the group or stack, the parent's binding, or empty."),
    out: Arg<[Structure<String, String, ObjectPath, UInt64, Properties>]>(
      "members",
      doc: "Binding, id, handle, number, and every declared container value, either set or the default.",
      qtType: "QList<NavdMember>"),
    isReading: true,
    doc: "Lists the members of a container: a stack in the order of its path, others in the order of acceptance.")
}

// MARK: Container values

extension CoordinatorInterface {
  public static let declareContainerValue = Method(
    name, "DeclareContainerValue", in: Arg<String>("key", doc: "The key."),
    Arg<Value>("default_value", doc: "The value for items that set none; its type is the key's type."),
    doc: """
      Declares a key that items may set. A second declaration with another type or default is refused, even if the \
      file navd.toml made the first one.
      """)

  public static let containerValue = Method(
    name, "ContainerValue", in: Arg<String>("binding", doc: "The slot; empty: the default itself."),
    Arg<String>("key", doc: "A declared key (UnknownContainerValue)."),
    out: Arg<Value>("value"), isReading: true,
    doc: "Returns the value that the slot's item sets for the key, else the default.")
}

// MARK: Destinations and presenters

extension CoordinatorInterface {
  public static let registerPresenter = Method(
    name, "RegisterPresenter", in: Arg<String>("destination", doc: "A file name without “/” or a leading dot."),
    Arg<ObjectPath>("path", doc: "The object at which the caller implements org.navd.Presenter1."),
    Arg<Properties>("options"),
    doc: """
      Makes the caller the presenter of the destination until it unregisters or leaves the bus; then the previous \
      registration counts again. A live item stays with the presenter that it started with.

      Options:
      \(Options.ofRegisterPresenter.doc)
      """)

  public static let unregisterPresenter = Method(
    name, "UnregisterPresenter", in: Arg<String>("destination"),
    doc: "Removes the caller's registration.")

  public static let serve = Method(
    name, "Serve", in: Arg<String>("destination", doc: "A destination that the caller has registered."),
    Arg<[Structure<String, Properties>]>(
      "bindings", doc: "Bindings, and what each accepts; with an empty dictionary it is served no longer.",
      qtType: "QList<NavdDestination>"),
    out: Arg<[String]>("elsewhere", doc: "Those that another client serves, until it ends that, or leaves the bus."),
    doc: """
      Declares bindings whose items the caller shows by its destination, until it unregisters that or leaves the bus. A \
      request of another client for an item there needs to name nothing but the binding: it gets the destination, and the \
      place below. One that the caller could not show is refused (InvalidArgument, UnknownTag), with what was expected. \
      Requests of the caller itself are not checked, but refused (Busy) for a binding that another client serves.

      What a binding accepts:
      \(ServedEntry.table.doc)

      A type is Bool, Int, UInt8 or another integer of Swift, Double, String or Any. It may also be a list [Int], a \
      dictionary [String: Int], words ("small" | "large"), or a record {count: Int, note?: String}. A field of a record with \
      “?” may be absent.
      """)

  public static let destinations = Method(
    name, "Destinations",
    out: Arg<[Structure<String, Properties>]>(
      "destinations", doc: "The name and the properties of each.", qtType: "QList<NavdDestination>"),
    isReading: true,
    doc: """
      Lists the destinations that items can name now.

      Properties; one without a value is absent:
      \(DestinationEntry.table.doc)
      """)

  public static let closed = Method(
    name, "Closed", in: Arg<ObjectPath>("handle"),
    Arg<Properties>("outcome", doc: "The result, for clients that wait."),
    out: Arg<Bool>("changed", doc: "False if the report was too late."),
    Arg<UInt64>("serial", doc: "The serial after the report."),
    doc: """
      Reports that a presentation has ended by itself. The caller is its presenter, or any client if no presenter on the \
      bus shows it. The slot becomes nil only if it still holds that presentation. For a command or a unit the report \
      starts the dismissal.
      """)

  public static let asking = Method(
    name, "Asking", in: Arg<ObjectPath>("handle"),
    Arg<String>("message", doc: "The question, for people; may be empty."),
    out: Arg<UInt64>("serial", doc: "The serial after the report."),
    doc: """
      Reports that the caller, which is to dismiss the presentation and may decline that, asks its user first. Its grace \
      period ends: it may take any time to answer, unless the dismissal is forced. A report that arrives too late has no \
      effect.
      """)

  public static let ready = Method(
    name, "Ready", in: Arg<ObjectPath>("handle"),
    out: Arg<Bool>("changed", doc: "False if nobody waits for the report."),
    Arg<UInt64>("serial", doc: "The serial after the report."),
    doc: """
      Reports that the program of a presentation is on the screen. That is awaited for an item whose destination's file says \
      ready = "notify", which is presented only then. The program finds the number of its presentation in its environment \
      (\(CoordinatorNames.presentationVariable)). A presenter on the bus says it by its answer to Present instead. A report that nobody awaits has no \
      effect.
      """)

  public static let act = Method(
    name, "Act", in: Arg<ObjectPath>("handle"),
    Arg<String>("action", doc: "The action's name, which the presenter chooses."),
    Arg<Properties>("parameters"), out: Arg<UInt64>("serial", doc: "The serial after the report."),
    doc: "Reports an action in the presentation, for example a pressed button; watchers get Action.")
}

// MARK: The daemon itself

extension CoordinatorInterface {
  public static let history = Method(
    name, "History",
    in: Arg<UInt32>("most", doc: "The greatest number of endings to return; 0: all that are remembered."),
    Arg<Properties>("filter"),
    out: Arg<[Properties]>("endings", doc: "The latest first."),
    isReading: true,
    doc: """
      Lists presentations that have ended, without their results.

      Filter:
      \(Options.ofHistory.doc)

      An ending; a key without a value is absent:
      \(EndingEntry.table.doc)

      by:
      \(RequesterEntry.table.doc)
      """)

  public static let reload = Method(
    name, "Reload",
    doc: """
      Reads the configuration files again. For a file with a mistake, the version loaded before stays in effect; the \
      error (InvalidConfiguration) gives file, line and mistake.
      """)

  public static let importEnvironment = Method(
    name, "ImportEnvironment",
    in: Arg<[String: String]>(
      "variables", doc: "By their names. Each replaces an earlier one; one with an empty value is removed.",
      qtType: "NavdVariables"),
    out: Arg<Bool>("changed", doc: "Whether any is different now."),
    doc: """
      Gives navd variables for commands, since it may have started before the compositor: programs that nobody asked for \
      find the display by them. The variables of a destination's file, and those that come with a request, take precedence. \
      What waits to be presented again is tried at once. navd keeps them until the session ends. A client in a sandbox may \
      not (AccessDenied).
      """)

  public static let diagnosis = Method(
    name, "Diagnosis", out: Arg<Properties>("diagnosis"), isReading: true,
    doc: """
      Says what to look at when something does not work.

      The diagnosis; a key without a value is absent:
      \(Diagnosis.table.doc)
      """)

  public static let mistakes = Method(
    name, "Mistakes",
    out: Arg<[String: String]>(
      "mistakes", doc: "Each with its position, by the names of the destinations.", qtType: "NavdVariables"),
    isReading: true,
    doc: """
      Returns the mistakes in files of destinations. What such a file said before its mistake still counts, if navd has read \
      that.
      """)

  public static let quit = Method(
    name, "Quit",
    doc: "Ends every presentation (“shutdown”), then the daemon. SIGTERM stops the daemon and ends no presentation.")
}

// MARK: Signals

extension CoordinatorInterface {
  public static let presented = Signal(
    name, "Presented", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"),
    Arg<UInt64>("presentation"), Arg<UInt64>("serial"), Arg<Properties>("item"),
    doc: """
      The item is on screen.

      The item, without what GetState and Get know about its presentation; a key without a value is absent:
      \(StateEntry.ofSignal.doc)
      """)

  public static let updated = Signal(
    name, "Updated", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"), Arg<UInt64>("presentation"),
    Arg<UInt64>("serial"),
    Arg<Properties>("item", doc: "The whole item, as in Presented."), doc: "The item was changed in place.")

  public static let phaseChanged = Signal(
    name, "PhaseChanged", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"),
    Arg<UInt64>("presentation"), Arg<UInt64>("serial"), Arg<String>("phase", doc: "waiting, presenting or dismissing."),
    Arg<String>("title", doc: "The title of its item; empty if that has none."),
    doc: "The presentation has reached another phase. Not sent if it is presented or gone at once.")

  public static let dismissed = Signal(
    name, "Dismissed", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"),
    Arg<UInt64>("presentation"), Arg<UInt64>("serial"),
    Arg<String>(
      "reason",
      doc: """
        dismissed, closed, replaced, deselected, popped, parent, expired, owner, failed, lost, shutdown, declined, \
        unfocused, output-gone or held.
        """),
    doc: "The presentation has ended. Every presentation ends exactly once, shown or not.")

  public static let declined = Signal(
    name, "Declined", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"), Arg<UInt64>("presentation"),
    Arg<UInt64>("serial"),
    Arg<String>("message", doc: "Why its presenter keeps it; empty if another presentation keeps it."),
    doc: """
      The presenter declined to dismiss the presentation, or one that depends on it. It is presented again, and holds its \
      slot, its selection and its place in its stack.
      """)

  public static let askingChanged = Signal(
    name, "AskingChanged", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"),
    Arg<UInt64>("presentation"), Arg<UInt64>("serial"),
    Arg<Bool>("asking", doc: "Whether its presenter asks its user before it dismisses it."),
    Arg<String>("message", doc: "The question."),
    Arg<String>("title", doc: "The title of its item; empty if that has none."),
    doc: "A presenter asks its user about a dismissal, or asks no longer. Dismissed and Declined end the question, too."
  )

  public static let action = Signal(
    name, "Action", Arg<String>("binding"), Arg<String>("id"), Arg<ObjectPath>("handle"), Arg<UInt64>("presentation"),
    Arg<UInt64>("serial"),
    Arg<String>("action"), Arg<Properties>("parameters"),
    doc: "Something was done in the presentation, for example a button was pressed.")

  public static let selectionChanged = Signal(
    name, "SelectionChanged", Arg<String>("group"), Arg<String>("tag", doc: "Empty if nothing is selected."),
    Arg<UInt64>("serial"), doc: "The group selects another member, or none.")

  public static let pathChanged = Signal(
    name, "PathChanged", Arg<String>("stack"),
    Arg<[Structure<String, String>]>(
      "path", doc: "Binding and id, from the bottom to the top.", qtType: "QList<NavdPathElement>"),
    Arg<UInt64>("serial"), doc: "The stack's path has changed.")

  public static let groupChanged = Signal(
    name, "GroupChanged", Arg<String>("group"), Arg<[String]>("tags"), Arg<[String]>("queue"), Arg<UInt64>("serial"),
    doc: "The tags or the queue of the group have changed.")

  public static let parkedChanged = Signal(
    name, "ParkedChanged", Arg<[Properties]>("parked", doc: "As GetState has them."), Arg<UInt64>("serial"),
    doc: "Windows of other programs are hidden: a dismissal has hidden some, or some are shown again or have closed.")

  public static let requested = Signal(
    name, "Requested",
    Arg<[Properties]>("items", doc: "In the order of the requests. Each: binding s, id s, destination s, value a{sv}."),
    Arg<UInt64>("serial"),
    doc: """
      A transaction asks for items at bindings that a program serves with waits, while nothing is open under their from. navd \
      presents nothing, and the path of the reply is “/”; the program keeps them, and presents them with that.
      """)

  public static let destinationsChanged = Signal(
    name, "DestinationsChanged", doc: "The answer of Destinations has changed.")
}

// MARK: Properties

extension CoordinatorInterface {
  /// The value of ``version``.
  public static let currentVersion: UInt32 = 2
  public static let version = Property<UInt32>(
    name, "Version", emitsChanged: .const, doc: "The version of this interface; it grows with each addition.")
  public static let release = Property<String>(name, "Release", emitsChanged: .const, doc: "The version of navd.")
  public static let serial = Property<UInt64>(
    name, "Serial", emitsChanged: .false, doc: "The serial of the last difference between two states.")
  public static let limits = Property<[String: UInt64]>(
    name, "Limits", emitsChanged: .const, doc: "The limits that LimitExceeded names, by name.",
    annotations: [Annotation(QtAnnotation.type, "NavdLimits")])
}

// MARK: Replies

extension CoordinatorInterface {
  /// The reply of Present, Select and Push.
  @Sendable private static func presentation(
    _ reply: Reply, _ serial: UInt64
  ) -> (ObjectPath, UInt64, Bool, UInt64) {
    guard case .presentation(let handle, let changed) = reply else { mismatched(reply) }
    return (handle?.path ?? .root, handle?.number ?? 0, changed, serial)
  }

  @Sendable private static func toggled(_ reply: Reply, _ serial: UInt64) -> (Bool, ObjectPath, UInt64, UInt64) {
    guard case .toggled(let presented, let handle) = reply else { mismatched(reply) }
    return (presented, handle?.path ?? .root, handle?.number ?? 0, serial)
  }

  @Sendable private static func selected(_ reply: Reply, _ serial: UInt64) -> (Bool, UInt64) {
    guard case .selected(let selected) = reply else { mismatched(reply) }
    return (selected, serial)
  }

  /// The reply of Update, Dismiss and Deselect.
  @Sendable private static func changed(_ reply: Reply, _ serial: UInt64) -> (Bool, UInt64) {
    guard case .changed(let changed) = reply else { mismatched(reply) }
    return (changed, serial)
  }

  /// The reply of DismissAll, Pop and PopTo.
  @Sendable private static func count(_ reply: Reply, _ serial: UInt64) -> (UInt32, UInt64) {
    guard case .count(let count) = reply else { mismatched(reply) }
    return (UInt32(clamping: count), serial)
  }

  @Sendable private static func path(_ reply: Reply, _ serial: UInt64) -> ([ObjectPath], [UInt64], UInt64) {
    guard case .path(let handles) = reply else { mismatched(reply) }
    return (handles.map { $0?.path ?? .root }, handles.map { $0?.number ?? 0 }, serial)
  }

  /// Stops at a reply that does not belong to its request, which the state machine never returns.
  private static func mismatched(_ reply: Reply) -> Never {
    preconditionFailure("\(reply) is the reply to another request")
  }
}

// MARK: Arguments

extension RequestedElement {
  /// Reads the elements of `SetPath`.
  /// - Throws: `Refusal` that names the element.
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
  /// - Throws: `Refusal` unless exactly one of `root`, `group`, `stack`, `all` and `parked` is given.
  fileprivate init(_ options: Properties) throws(Refusal) {
    let names = [Options.root.name, Options.group.name, Options.stack.name, Options.all.name, Options.parked.name]
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
      self = .group(try BindingID(group, as: "group"))
    } else if let stack = options[Options.stack] {
      self = .stack(try BindingID(stack, as: "stack"))
    } else {
      guard options[given[0]] == true.value else {
        throw Refusal(
          .invalidArgument, "\(given[0]): expected true, found false; leave it out and give another option")
      }
      self = given[0] == Options.parked.name ? .parked : .everything
    }
  }
}
