import DBusValues
import PresentationModel
import TextFormats

/// Whether a client may say how programs are run (L3).
public enum Trust: Hashable, Sendable {
  /// It is outside of any sandbox.
  case trusted
  /// Nobody has found out yet. A request for which it matters is refused with `Refusal.needsTrust`, and can be repeated.
  case unknown
  /// It is in a sandbox, or cannot be examined.
  case confined
}

// A command, directory, environment or input is the trusted client's that gave it. It stays with the item, and with the tag that
// remembers it; the functions below keep other clients from giving it to a program together with something of theirs.

extension Refusal {
  /// The refusal of a request that only a trusted client may make, or that may turn out to be such a request.
  /// - Parameter subject: what the request would change.
  public static func needsTrust(_ subject: String) -> Refusal {
    var refusal = Refusal(.accessDenied, subject)
    refusal.needsTrust = true
    return refusal
  }
}

extension Item {
  /// Whether it runs a program by a command, directory, environment or input that a request gave.
  private var isRunAsGiven: Bool {
    guard let destination, destination.runsCommand else { return false }
    return destination.source == .request || directory != nil || !environment.isEmpty || input != nil
  }

  /// Whether its program gets the same from it as from another item with its binding and id.
  private func givesTheSame(as other: Item) -> Bool {
    value == other.value && containerValues == other.containerValues && style == other.style && title == other.title
      && output == other.output
  }

  /// The item without the directory and the environment of another client, if a confined client has changed it. An input stays, so
  /// that the change is refused: without it, the program would read something else.
  func keepingHowToRun(ifAs before: Item, by author: Author) -> Item {
    guard author.trust == .confined, !givesTheSame(as: before) else { return self }
    var copy = self
    copy.directory = nil
    copy.environment = [:]
    return copy
  }

  /// Whether only a trusted client may change an item to this one.
  fileprivate func needsTrust(toReplace before: Item) -> Bool { isRunAsGiven && !givesTheSame(as: before) }
}

extension Transaction {
  /// Refuses a toggle that presents and says how the program is run. Whether another request may do so is known before it is carried
  /// out (`isToggle`).
  func requireTrust(of author: Author, toRunBy options: ItemOptions) throws(Refusal) {
    guard author.trust != .trusted, let option = options.optionAboutRunning else { return }
    throw Refusal.needsTrust("option “\(option)”").about(author)
  }

  /// Refuses another item for a program that runs as a trusted client has said.
  func requireTrust(of author: Author, toReplace before: Item, by after: Item, at binding: BindingID) throws(Refusal) {
    guard author.trust != .trusted, after.needsTrust(toReplace: before) else { return }
    throw Refusal.needsTrust("another item for the command at “\(binding)”, which another client has given").about(
      author)
  }

  /// The same for a presentation that stays because its item came back (T1).
  func requireTrustForWhatCameBack() throws(Refusal) {
    for index in draft.slots.indices where draft.slots[index].resolution == .kept {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard slot.author.trust != .trusted, case .renewed = slot.change,
        let before = slot.before.flatMap({ state.presentations[$0]?.item })
      else { continue }
      try requireTrust(
        of: slot.author, toReplace: before.content, by: slot.updated(before).content, at: binding)
    }
  }

  /// What selecting a tag repeats, as far as the author may use it.
  /// - Parameters:
  ///   - options: those of the memory, overridden by those of the request.
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

  /// Whether the author may add to what a group remembers. What a trusted client has said about running stays as it is.
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
