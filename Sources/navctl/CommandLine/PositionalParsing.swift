import ArgumentParser

extension Verbs {
  /// Parses a verb that has only positional arguments, as key bindings do, without ArgumentParser, which takes longer than the
  /// request. Returns nil for any other command line, and for a wrong number of arguments.
  static func parsePositional(_ name: String, _ words: [String]) -> ParsableCommand? {
    guard let first = words.first, !words.contains(where: { $0.hasPrefix("-") }) else { return nil }
    let second = words.count > 1 ? words[1] : nil
    switch (name, words.count) {
    case ("present", 1...2), ("open", 1...2):
      return Present.filled {
        ($0.global, $0.binding, $0.id, $0.options) = (.notGiven, first, .word(second), .notGiven)
      }
    case ("toggle", 1...2):
      return Toggle.filled {
        ($0.global, $0.binding, $0.id, $0.options) = (.notGiven, first, .word(second), .notGiven)
      }
    case ("dismiss", _), ("close", _):
      return Dismiss.filled {
        ($0.global, $0.bindings, $0.slot) = (.notGiven, words, .notGiven)
        ($0.group, $0.stack, $0.root, $0.all, $0.parked) = (nil, nil, nil, false, false)
      }
    case ("select", 2):
      return Select.filled { ($0.global, $0.group, $0.tag, $0.member) = (.notGiven, first, words[1], .notGiven) }
    case ("toggle-selection", 2):
      return ToggleSelection.filled {
        ($0.global, $0.group, $0.tag, $0.member) = (.notGiven, first, words[1], .notGiven)
      }
    case ("deselect", 1...2):
      return Deselect.filled { ($0.global, $0.group, $0.tag, $0.change) = (.notGiven, first, second ?? "", .notGiven) }
    case ("push", 2...3):
      return Push.filled {
        ($0.global, $0.stack, $0.binding) = (.notGiven, first, words[1])
        ($0.id, $0.item) = (.word(words.count > 2 ? words[2] : nil), .notGiven)
        ($0.membership, $0.slot) = (.notGiven, .notGiven)
      }
    case ("pop-to", 1...2):
      return PopTo.filled { ($0.global, $0.stack, $0.binding, $0.change) = (.notGiven, first, second ?? "", .notGiven) }
    case ("is-presented", 1...2):
      return IsPresented.filled { ($0.global, $0.binding, $0.id) = (.notGiven, first, .word(second)) }
    default: return nil
    }
  }
}

extension ParsableArguments {
  /// - Parameter fill: sets every property, in place of ArgumentParser.
  static func filled(_ fill: (inout Self) -> Void) -> Self {
    var arguments = Self()
    fill(&arguments)
    return arguments
  }
}

// MARK: Options of a command line that has none

extension ItemID {
  fileprivate static func word(_ word: String?) -> Self { filled { ($0.argument, $0.option) = (word, nil) } }
}

extension GlobalOptions {
  static var notGiven: Self {
    filled {
      ($0.json, $0.quiet, $0.verbose, $0.noLegend) = (false, false, false, false)
      $0.notifies = false
      ($0.within, $0.address, $0.host) = (nil, nil, nil)
    }
  }
}

extension ChangeOptions {
  fileprivate static var notGiven: Self {
    filled { ($0.noAnimation, $0.force) = (false, false) }
  }
}

extension SlotOptions {
  fileprivate static var notGiven: Self {
    filled { ($0.change, $0.expectedID, $0.expectedPresentation) = (.notGiven, nil, nil) }
  }
}

extension MembershipOptions {
  fileprivate static var notGiven: Self { filled { ($0.group, $0.tag) = (nil, nil) } }
}

extension PresentOptions {
  fileprivate static var notGiven: Self {
    filled {
      ($0.item, $0.slot) = (.notGiven, .notGiven)
      $0.containers = .filled { ($0.membership, $0.stack) = (.notGiven, nil) }
      $0.waiting = .filled { ($0.wait, $0.propagate) = (false, false) }
    }
  }
}

extension MemberOptions {
  fileprivate static var notGiven: Self {
    filled { ($0.binding, $0.id, $0.item, $0.change) = (nil, nil, .notGiven, .notGiven) }
  }
}
