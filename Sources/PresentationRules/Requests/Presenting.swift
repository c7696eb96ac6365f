import PresentationModel
import TextFormats

extension Planner {
  /// Sets a slot to an item: the primitive of present, toggle, select, push and set path.
  /// - Parameters:
  ///   - isTrusted: whether the options that are not the author's are from clients outside of any sandbox.
  ///   - member: the tag that the request names instead of a binding.
  ///   - isChecked: whether all options have been checked, now or when a group remembered them.
  mutating func set(
    _ binding: BindingID, id: String, _ options: ItemOptions, isTrusted: Bool = true, of member: GroupTag? = nil,
    isChecked: Bool = false
  ) throws(Refusal) {
    if !isChecked { try machine.check(options) }
    guard let (id, options) = try accepted(requestedID(id, at: binding, options), options, at: binding) else { return }
    try machine.check(id: id)
    let current = item(at: binding)
    let isRefresh = current?.id == id && !isWithoutWindow(binding) && !isOfOtherOutput(binding, options)
    if let current, isRefresh {
      try refresh(binding, current, options)
    } else {
      try renew(binding, id: id, options, of: member)
    }
    if options.placement != nil, item(at: binding)?.destination?.window == nil {
      throw Refusal(
        .invalidArgument,
        "“\(binding)” follows no windows, so a place, a size and the like say nothing; write window = true into the file of its "
          + "destination, or leave them out")
    }
    if options.placement?.margin != nil, item(at: binding)?.content.following?.placement.place == nil {
      throw Refusal(.invalidArgument, WindowPlacement.marginNeedsPlace)
    }
    if let whyNoMoving, options.namedOutput != nil, item(at: binding)?.destination?.window != nil {
      throw Refusal(.notSupported, whyNoMoving)
    }
    if let whyNoHiding, item(at: binding)?.destination?.window?.hides == true {
      throw Refusal(.notSupported, whyNoHiding)
    }
    if let membership = item(at: binding)?.membership {
      let isTrusted = isTrusted && author.trust == .trusted
      try learn(membership, binding, id: id, options, isTrusted: isTrusted, addingToEarlier: isRefresh)
    }
  }

  /// Whether the windows of a slot's item are gone, so that its user sees nothing (N3). A request for the item shows it anew.
  func isWithoutWindow(_ binding: BindingID) -> Bool {
    standing(at: binding).map { $0.isWithoutWindow && $0.phase == .presented } ?? false
  }

  /// Whether a toggle leaves an item alone that follows windows and has none yet: its start timeout is over, or the toggle ends only
  /// what has the focus (N2, N7).
  func isOnItsWay(_ binding: BindingID) -> Bool {
    guard let presentation = standing(at: binding), presentation.phase == .presenting, !isForced,
      presentation.item.destination?.window != nil
    else { return false }
    return presentation.isLate || raises
  }

  /// The presentation of a slot, if it stays in this transaction; nil if the transaction shows another one, or none.
  func standing(at binding: BindingID) -> Presentation? {
    switch draft.slots[binding]?.change {
    case .edited, .refreshed, nil: state.slots[binding]?.current.flatMap { state.presentations[$0] }
    case .renewed, .continued, .recreated, .cleared, .givenBack: nil
    }
  }

  /// Updates the item with the same id: options that the request gives are replaced, the others stay (P2).
  private mutating func refresh(_ binding: BindingID, _ current: Shared<Item>, _ options: ItemOptions) throws(Refusal) {
    if let fault = difference(of: options, from: current, at: binding) { throw fault }
    try checkProtected(binding, current.destination, options)
    try machine.check(options.ifBusy, with: options.stack)
    var item = Shared(current.content.applying(options, by: author))
    try requireTrust(of: author, toReplace: current.content, by: item.content, at: binding)
    if let membership = current.membership {
      try take(
        membership, for: binding, item: &item, in: nil, policy: options.ifBusy ?? .replace,
        dependencies: [parent(of: binding)].compactMap(\.self))
    }
    let author = author
    let accepted = countAcceptance()
    withSlot(binding) { [item] slot in
      slot.item = item
      if case .renewed(let given) = slot.change {
        slot.change = .renewed(given: given.overridden(by: options))
      } else if slot.continuation != nil, item.isQueued {
        slot.change = .recreated
      } else {
        slot.change = .refreshed
        slot.continuation = nil
      }
      slot.accepted = accepted
      slot.within = options.within ?? slot.within
      if options.value != nil { (slot.sizes, slot.edits.value) = (nil, Edits()) }
      if options.containerValues != nil { (slot.sizes, slot.edits.containerValues) = (nil, Edits()) }
      if let from = options.from { slot.from = .named(from) }
      slot.restartsTimeout = slot.restartsTimeout || options.content.givesTimeout(with: current.destination)
      slot.author = author
    }
    reopen(binding)
    // A former fallback may have stayed selected though it is held (K7). A member that somebody asks for does not (H4).
    if current.isOwnFallback { try queueIfHeld(binding) }
  }

  /// The refusal of a request with the same id that asks for more than an update; nil if an update
  /// is enough (P2).
  func difference(of options: ItemOptions, from current: Shared<Item>, at binding: BindingID) -> Refusal? {
    func differs(_ what: String, _ asked: String, _ held: String?) -> Refusal {
      Refusal(
        .invalidArgument,
        "\(what) is \(quoted(asked)), but the item \(current.id.isEmpty ? "" : quoted(current.id) + " ")at “\(binding)” has "
          + (held.map(quoted) ?? "none") + "; dismiss it first, or leave \(what) out")
    }
    if let name = options.destination, name != current.destination?.givenName {
      return differs("destination", name, current.destination?.givenName)
    }
    if let command = options.command, .command(command.arguments) != current.destination?.inlinePresenter {
      return differs("command", command.shown, current.destination?.shownCommand)
    }
    if let from = options.from, from != parent(of: binding) {
      return differs("from", from.text, parent(of: binding)?.text)
    }
    if let group = options.group, group != current.membership?.group {
      return differs("group", group.text, current.membership?.group.text)
    }
    if let tag = options.tag, tag != current.membership?.tag {
      return differs("tag", tag, current.membership?.tag)
    }
    if let stack = options.stack, stack != current.position?.stack {
      return differs("stack", stack.text, current.position?.stack.text)
    }
    if let input = options.input, input != current.input {
      return Refusal(
        .invalidArgument,
        "input is not the same as that of the item \(current.id.isEmpty ? "" : quoted(current.id) + " ")at “\(binding)”, "
          + "whose program does not read another one; dismiss it first, or give another id")
    }
    return nil
  }

  /// Sets a slot to a new item, with another id or in an empty slot (P1, P3, S4).
  private mutating func renew(
    _ binding: BindingID, id: String, _ options: ItemOptions, of member: GroupTag?
  ) throws(Refusal) {
    let destination: Shared<Destination>?
    if let parked = destinationOfParked(binding, id, options) {
      destination = parked
    } else {
      destination = try self.destination(for: binding, options)
    }
    if destination == nil, needsKnownName {
      if let member { throw unknownTag(member) }
      throw unknownDestination(binding.text)
    }
    try checkProtected(binding, destination, options)
    try machine.check(options.input, for: destination?.content, at: binding)
    let membership = try membership(for: binding, options, destination)
    let current = item(at: binding)
    let stack = options.stack ?? current?.position?.stack
    if let position = current?.position, let stack, stack != position.stack {
      throw Refusal(
        .alreadyInStack, "“\(binding)” is already in the stack “\(position.stack)”; pop it there first")
    }
    try machine.check(options.ifBusy, with: stack)
    if let stack {
      let index = current?.position?.index ?? height(of: stack)
      try state.limits.check("stack", index + 1, state.limits.stack, of: "items on the stack “\(stack)”")
    }
    if options.from == binding {
      throw Refusal(.invalidArgument, "from is “\(binding)” itself; use another binding, or leave from out")
    }
    var item = Shared(
      Item(
        id: id, destination: destination, options: options, membership: membership,
        holds: machine.holds(for: destination), author: author))
    // The user has closed the windows of an item with the same id (N3).
    let isClosed = current?.id == id && isWithoutWindow(binding)
    if let position = current?.position { cut(position.stack, to: position.index + 1) }
    if let current { leave(current, at: binding) }
    if let membership {
      let below = stack.flatMap { height(of: $0) > 0 ? self.binding(on: $0, at: height(of: $0) - 1) : nil }
      try take(
        membership, for: binding, item: &item, in: stack, policy: options.ifBusy ?? .replace,
        dependencies: [options.from, below].compactMap(\.self))
    }
    if let stack {
      item.position = StackPosition(stack: stack, index: height(of: stack))
      withStack(stack) { $0.added.append(binding) }
    }
    let author = author
    let accepted = countAcceptance()
    draft.renewed.append(binding)
    withSlot(binding) { [item] slot in
      slot.item = item
      slot.change = .renewed(given: options)
      (slot.sizes, slot.edits) = (nil, ItemEdits())
      slot.continuation = nil
      slot.accepted = accepted
      slot.from = options.from.map(SlotDraft.From.named) ?? .implied(nil)
      slot.within = options.within
      slot.restartsTimeout = options.content.givesTimeout(with: destination)
      slot.ends(isClosed ? .closed : .replaced, by: author)
      slot.author = author
    }
    reopen(binding)
    try queueIfHeld(binding)
  }

  /// The destination of a request (D2).
  func destination(for binding: BindingID, _ options: ItemOptions) throws(Refusal) -> Shared<Destination>? {
    if let command = options.command {
      return Shared(
        Destination(
          name: "", presenter: .command(command.arguments), source: .request,
          window: options.placement.map { _ in WindowFollowing() }))
    }
    guard let name = options.destination else { return state.registry[binding.text] }
    guard let destination = state.registry[name] else { throw unknownDestination(name) }
    return destination
  }

  /// The destination of a parked program whose file is gone, so that its windows can still be shown (N8).
  private func destinationOfParked(_ binding: BindingID, _ id: String, _ options: ItemOptions) -> Shared<Destination>? {
    let name = options.destination ?? binding.text
    guard options.command == nil, state.registry[name] == nil else { return nil }
    return state.destinationOfParked(binding, id: id, name)
  }

  func unknownDestination(_ name: String) -> Refusal {
    // The name of the file is often given for that of the destination.
    let bare = name.hasSuffix(".toml") ? String(name.dropLast(5)) : name
    if let mistake = state.registry.mistake(in: bare) {
      return Refusal(
        .unknownDestination, "there is no destination \(quoted(name)), since its file has a mistake: \(mistake)")
    }
    if let group = try? BindingID(name), case let tags = machine.tags(of: group), !tags.isEmpty {
      return Refusal(
        .unknownDestination,
        "there is no destination \(quoted(name)), which is a group with \(tags.sorted().joined(separator: ", ")); open one of "
          + "these")
    }
    let hint = nearest(to: bare, among: state.registry.all.lazy.map(\.name)).map { "did you mean “\($0)”? Otherwise " }
    let advice =
      state.registry.hasFiles
      ? "write \(quoted("navd/destinations/\(bare).toml")) in ~/.config, or in $XDG_CONFIG_HOME if that is set"
      : "let the program serve it, since an embedded coordinator reads no files"
    return Refusal(.unknownDestination, "there is no destination \(quoted(name)); \(hint ?? "")\(advice)")
  }
}

extension Destination {
  /// The name by which a request could give the destination; nil for a command that a request has given.
  var givenName: String? { source == .request ? nil : name }
  fileprivate var inlinePresenter: Presenter? { source == .request ? presenter : nil }
  /// The command of a request, or the destination's name.
  fileprivate var shownCommand: String {
    if source == .request, case .command(let arguments, _) = presenter {
      InlineCommand(arguments: arguments).shown
    } else {
      "the destination \(name)"
    }
  }
}

extension ItemOptionFields {
  /// Whether a request starts the timeout again: if it gives one, or the destination has one (O2,
  /// D13).
  fileprivate func givesTimeout(with destination: Shared<Destination>?) -> Bool {
    timeout != nil || destination?.itemSettings?.options.timeout != nil
  }
}

extension InlineCommand {
  fileprivate var shown: String {
    arguments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }
}
