import PresentationModel

/// The place at which a piece of optional state is presented: a slot, with its parent, its group and its stack.
@MainActor
struct ItemPlace {
  /// The way in which the state is presented.
  enum Kind: Hashable {
    case presented
    /// A member of a group, pushed on a stack if there is one.
    case member(group: String, tag: String, stack: String? = nil)
    case pushed(stack: String)
  }

  let kind: Kind
  let binding: String
  /// The enum of which the state is a case. At most one of its cases is shown.
  let enumGroup: (name: String, tag: String)?
  /// The binding of the parent; nil if there is none.
  let from: String?
  /// The parent, if this program shows it.
  private(set) weak var parent: Showing?
  /// The destination that this program registers; nil if another destination presents the state.
  let ownDestination: String?
  /// Whether the last request came while the parent was being dismissed, and the item cannot be presented without the parent.
  private(set) var isTooLate = false
  /// Whether the presentation has no parent, because the parent was being dismissed.
  var isWithoutParent = false

  init(
    _ kind: Kind, binding: String, enumGroup: (name: String, tag: String)? = nil, from: String? = nil,
    of parent: Showing? = nil, ownDestination: String?
  ) {
    self.kind = kind
    self.binding = binding
    self.enumGroup = enumGroup
    self.from = from
    self.parent = parent
    self.ownDestination = ownDestination
  }

  /// Creates the place of a program's state.
  init(
    _ kind: Kind, of content: DrivenContent, in navigator: Navigator, from: String?, parent: Showing? = nil,
    ownDestination: String?
  ) {
    self.init(
      kind, binding: navigator.coordinator.text(of: content.route),
      enumGroup: content.route.enumCase.map { (navigator.coordinator.text(of: $0.whole), $0.name) }, from: from,
      of: parent, ownDestination: ownDestination)
  }

  /// Returns the options for presenting an item here now.
  mutating func starting(_ options: PresentationOptions) -> PresentationOptions {
    var options = options
    options.destination = options.destination ?? ownDestination
    let isLate = parent?.isPreparing == true && options.from == nil
    (isTooLate, isWithoutParent) = (isLate && !isIndependent, isLate && isIndependent)
    if isWithoutParent {
      parent?.asks(options.title ?? "")
    } else {
      options.from = options.from ?? from
    }
    if let enumGroup, options.group.name == nil {
      options.group.name = enumGroup.name
      options.group.tag = options.group.tag ?? enumGroup.tag
    }
    switch kind {
    case .presented: break
    case .member(let group, let tag, let stack):
      (options.group.name, options.group.tag, options.stack) = (group, tag, stack)
    case .pushed(let stack): options.stack = stack
    }
    return options
  }

  /// The items that other clients may present, with the place of items here.
  func placing(_ accepts: ServedEntry) -> ServedEntry {
    var accepts = accepts
    accepts.from = from
    (accepts.group, accepts.tag) = (enumGroup?.name, enumGroup?.tag)
    switch kind {
    case .presented: break
    case .member(let group, let tag, let stack): (accepts.group, accepts.tag, accepts.stack) = (group, tag, stack)
    case .pushed(let stack): accepts.stack = stack
    }
    return accepts
  }

  /// Whether an item can be presented without its parent: it is neither pushed above the parent nor a part of the parent's item.
  private var isIndependent: Bool {
    switch kind {
    case .pushed, .member(_, _, .some): false
    case .presented, .member(_, _, nil):
      from.map { !binding.hasPrefix("\($0).") && !binding.hasPrefix("\($0)[") } ?? false
    }
  }

  /// Whether the state is kept when the parent ends: the selected tab of a sheet is selected when the sheet is shown again.
  var outlivesParent: Bool { if case .member = kind { from != nil } else { false } }

  /// The request that dismisses a presentation here.
  func dismissal(
    of presentation: PresentationHandle, _ transaction: Transaction = Transaction()
  ) -> Coordinator.Request {
    let (animated, force) = (transaction.animated, transaction.isForced)
    return switch kind {
    case .presented, .pushed:
      .dismiss(binding, animated: animated, force: force, expecting: Expectation(presentation: presentation))
    case .member(let group, let tag, _): .deselect(group, tag, animated: animated, force: force)
    }
  }
}
