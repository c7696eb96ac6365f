import PresentationModel

// Items of a protected destination end only by themselves (D12). A key binding or a script that
// closes something else must not close a screen locker.

extension Planner {
  /// Refuses requests that would end a protected item on the screen.
  func checkProtected() throws(Refusal) {
    for index in draft.slots.indices where draft.slots[index].resolution == .replaced {
      guard let before = draft.slots[index].before, state.presentations[before]?.isProtected == true else { continue }
      throw Refusal.protected(draft.slots.binding(at: index), "no request can end it").about(draft.slots[index].author)
    }
  }

  /// Refuses options that would let a protected item end together with something else.
  func checkProtected(_ binding: BindingID, _ destination: Shared<Destination>?, _ options: ItemOptions) throws(Refusal)
  {
    guard destination?.isProtected == true else { return }
    let given: [(String, Bool)] = [
      (Options.timeout.name, options.timeout ?? 0 > 0), (Options.owned.name, options.owned == true),
      (Options.from.name, options.from != nil), (Options.stack.name, options.stack != nil),
    ]
    guard let name = given.first(where: \.1)?.0 else { return }
    throw Refusal.protected(binding, "leave \(name) out, which would end it")
  }
}

extension PresentationFields {
  /// Whether no request can end the presentation. A presentation that waits is not protected: nothing of it is on the screen.
  var isProtected: Bool { item.destination?.isProtected == true && phase != .waiting }
}

extension StateMachine {
  /// Refuses to end everything while a protected item is on screen.
  /// - Throws: `Refusal` with the code `accessDenied`.
  public func checkShutDown() throws(Refusal) {
    guard let shown = state.presentations.values.first(where: { $0.isProtected }) else { return }
    throw Refusal.protected(shown.binding, "navd quits only after it has ended; SIGTERM stops navd, and leaves it open")
  }
}

extension Refusal {
  static func protected(_ binding: BindingID, _ consequence: String) -> Refusal {
    Refusal(.accessDenied, "“\(binding)” is protected by its destination, and ends only by itself: \(consequence)")
  }
}
