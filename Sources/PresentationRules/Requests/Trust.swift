import DBusValues
import PresentationModel
import TextFormats

/// Whether a client may decide how programs are run (L3).
public enum Trust: Hashable, Sendable {
  /// The client is outside of any sandbox.
  case trusted
  /// The client has not been examined yet. A request for which this matters is refused with `Refusal.needsTrust`, and can be repeated.
  case unknown
  /// The client is in a sandbox, or cannot be examined.
  case confined
}

// A command, directory, environment or input belongs to the trusted client that gave it. It stays with the item, and with the tag that
// remembers it. The functions below keep other clients from passing it to a program together with data of their own.

extension Refusal {
  /// The refusal of a request that needs a trusted client, or that may turn out to need one.
  /// - Parameter subject: the subject that the request would change.
  public static func needsTrust(_ subject: String) -> Refusal {
    var refusal = Refusal(.accessDenied, subject)
    refusal.needsTrust = true
    return refusal
  }
}

extension Item {
  /// Whether the item runs a program with a command, directory, environment or input that a request gave.
  private var isRunAsGiven: Bool {
    guard let destination, destination.runsCommand else { return false }
    return destination.source == .request || directory != nil || !environment.isEmpty || input != nil
  }

  /// Whether the program of this item gets the same data from another item with the same binding and id.
  fileprivate func givesTheSame(as other: Item) -> Bool {
    value == other.value && containerValues == other.containerValues && style == other.style && title == other.title
      && output == other.output
  }

  /// The item without the directory and the environment of another client, if a confined client has changed it. An input stays, so that
  /// the change is refused: without the input, the program would read something else.
  func keepingHowToRun(ifAs before: Item, by author: Author) -> Item {
    guard author.trust == .confined, !givesTheSame(as: before) else { return self }
    var copy = self
    copy.leaveHowToRun(to: author)
    return copy
  }

  /// Removes the directory and the environment of another client, if a confined client changes the item.
  mutating func leaveHowToRun(to author: Author) {
    guard author.trust == .confined else { return }
    directory = nil
    environment = [:]
  }

  /// Whether the author must be trusted to change what the item's program gets.
  func needsTrustToChange(by author: Author) -> Bool { author.trust != .trusted && isRunAsGiven }
}

extension Planner {
  /// Refuses a toggle that would present an item and decides how its program is run. For other requests this is checked before they are
  /// carried out (`isToggle`).
  func requireTrust(of author: Author, toRunBy options: ItemOptions) throws(Refusal) {
    guard author.trust != .trusted, let option = options.optionAboutRunning else { return }
    throw Refusal.needsTrust("option “\(option)”").about(author)
  }

  /// Refuses to change the item of a program that is run in the way that a trusted client has given.
  func requireTrust(of author: Author, toReplace before: Item, by after: Item, at binding: BindingID) throws(Refusal) {
    guard after.needsTrustToChange(by: author), !after.givesTheSame(as: before) else { return }
    throw needsTrust(toReplaceItemAt: binding).about(author)
  }

  func needsTrust(toReplaceItemAt binding: BindingID) -> Refusal {
    Refusal.needsTrust("another item for the command at “\(binding)”, which another client has given")
  }

  /// Refuses such a change of the item of a presentation that stays, since its item came back (T1).
  func requireTrustForWhatCameBack() throws(Refusal) {
    for index in draft.slots.indices where draft.slots[index].resolution == .stays {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard slot.author.trust != .trusted, case .renewed = slot.change,
        let before = slot.before.flatMap({ state.presentations[$0]?.item })
      else { continue }
      try requireTrust(
        of: slot.author, toReplace: before.content, by: slot.updated(before).content, at: binding)
    }
  }

  /// The options of a request that selects a remembered tag, as far as the author may use them.
  /// - Parameters:
  ///   - options: the remembered options, overridden by those of the request.
  /// - Returns: the options to use.
  func permitted(
    _ options: ItemOptions, of memory: TagMemory, at target: BindingID, id: String, _ membership: GroupTag
  ) throws(Refusal) -> ItemOptions {
    guard author.trust != .trusted, memory.options.optionAboutRunning != nil else { return options }
    var before = memory.options
    before.group = membership.group
    before.tag = membership.tag
    if target == memory.binding, id == memory.id, options.repeatable == before.repeatable { return options }
    let runsCommand = try destination(for: target, options)?.runsCommand == true
    if author.trust == .unknown || runsCommand {
      throw Refusal.needsTrust(
        "another binding, id or item for the tag \(quoted(membership.tag)), whose command, directory or environment is another "
          + "client's")
    }
    var permitted = options
    permitted.directory = nil
    permitted.environment = nil
    return permitted
  }

  /// Whether the author may add to a remembered request. Options for running programs that a trusted client has given stay as they are.
  func mayAdd(to memory: TagMemory, _ merged: ItemOptions) throws(Refusal) -> Bool {
    guard author.trust != .trusted, memory.options.optionAboutRunning != nil, merged != memory.options else {
      return true
    }
    if author.trust == .unknown {
      throw Refusal.needsTrust(
        "another item for what the group “\(merged.group?.text ?? "")” remembers of another client")
    }
    return false
  }
}
