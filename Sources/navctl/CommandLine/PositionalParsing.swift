import ArgumentParser

extension Verbs {
  /// Parses a verb that has only positional arguments, as key bindings do, without ArgumentParser, which takes longer than
  /// the request. Returns nil for every other command line, and for a wrong number of arguments.
  static func parsePositional(_ name: String, _ words: [String]) -> ParsableCommand? {
    guard !words.contains(where: { $0.hasPrefix("-") }) else { return nil }
    return switch name {
    case "present": Present(words: words)
    case "toggle": Toggle(words: words)
    case "dismiss": Dismiss(words: words)
    case "select": Select(words: words)
    case "deselect": Deselect(words: words)
    case "toggle-selection": ToggleSelection(words: words)
    case "push": Push(words: words)
    case "pop-to": PopTo(words: words)
    case "is-presented": IsPresented(words: words)
    default: nil
    }
  }
}

// MARK: Verbs

extension Present {
  fileprivate init?(words: [String]) {
    guard (1...2).contains(words.count) else { return nil }
    (binding, id) = (words[0], ItemID(word: words.count > 1 ? words[1] : nil))
    (global, options) = (.notGiven, .notGiven)
  }
}

extension Toggle {
  fileprivate init?(words: [String]) {
    guard (1...2).contains(words.count) else { return nil }
    (binding, id) = (words[0], ItemID(word: words.count > 1 ? words[1] : nil))
    (global, options) = (.notGiven, .notGiven)
  }
}

extension Dismiss {
  fileprivate init?(words: [String]) {
    guard !words.isEmpty else { return nil }
    bindings = words
    (group, stack, root, all) = (nil, nil, nil, false)
    (global, slot) = (.notGiven, .notGiven)
  }
}

extension Select {
  fileprivate init?(words: [String]) {
    guard words.count == 2 else { return nil }
    (group, tag) = (words[0], words[1])
    (global, member, change) = (.notGiven, .notGiven, .notGiven)
  }
}

extension Deselect {
  fileprivate init?(words: [String]) {
    guard (1...2).contains(words.count) else { return nil }
    (group, tag) = (words[0], words.count > 1 ? words[1] : "")
    (global, change) = (.notGiven, .notGiven)
  }
}

extension ToggleSelection {
  fileprivate init?(words: [String]) {
    guard words.count == 2 else { return nil }
    (group, tag) = (words[0], words[1])
    (global, member, change) = (.notGiven, .notGiven, .notGiven)
  }
}

extension Push {
  fileprivate init?(words: [String]) {
    guard (2...3).contains(words.count) else { return nil }
    (stack, binding, id) = (words[0], words[1], ItemID(word: words.count > 2 ? words[2] : nil))
    (global, item, slot) = (.notGiven, .notGiven, .notGiven)
  }
}

extension PopTo {
  fileprivate init?(words: [String]) {
    guard (1...2).contains(words.count) else { return nil }
    (stack, binding) = (words[0], words.count > 1 ? words[1] : "")
    (global, change) = (.notGiven, .notGiven)
  }
}

extension IsPresented {
  fileprivate init?(words: [String]) {
    guard (1...2).contains(words.count) else { return nil }
    (binding, id) = (words[0], ItemID(word: words.count > 1 ? words[1] : nil))
    global = .notGiven
  }
}

// MARK: Absent options

extension ItemID {
  fileprivate init(word: String?) {
    (argument, option) = (word, nil)
  }
}

extension GlobalOptions {
  static var notGiven: GlobalOptions {
    var options = GlobalOptions()
    (options.json, options.quiet, options.verbose, options.noLegend) = (false, false, false, false)
    (options.within, options.address, options.host) = (nil, nil, nil)
    return options
  }
}

extension ChangeOptions {
  fileprivate static var notGiven: ChangeOptions {
    var options = ChangeOptions()
    (options.noAnimation, options.expectedSerial) = (false, nil)
    return options
  }
}

extension SlotOptions {
  fileprivate static var notGiven: SlotOptions {
    var options = SlotOptions()
    (options.change, options.expectedID, options.expectedPresentation) = (.notGiven, nil, nil)
    return options
  }
}

extension ItemOptions {
  fileprivate static var notGiven: ItemOptions {
    var options = ItemOptions()
    (options.destination, options.values, options.containerValues) = (nil, [], [])
    (options.style, options.title, options.from, options.timeout, options.owned) = (nil, nil, nil, nil, false)
    (options.ifBusy, options.priority, options.output, options.command) = (nil, nil, nil, [])
    return options
  }
}

extension ContainerOptions {
  fileprivate static var notGiven: ContainerOptions {
    var options = ContainerOptions()
    (options.group, options.tag, options.stack) = (nil, nil, nil)
    return options
  }
}

extension WaitOptions {
  fileprivate static var notGiven: WaitOptions {
    var options = WaitOptions()
    (options.wait, options.propagate) = (false, false)
    return options
  }
}

extension PresentOptions {
  fileprivate static var notGiven: PresentOptions {
    var options = PresentOptions()
    (options.item, options.containers, options.slot, options.waiting) = (.notGiven, .notGiven, .notGiven, .notGiven)
    return options
  }
}

extension MemberOptions {
  fileprivate static var notGiven: MemberOptions {
    var options = MemberOptions()
    (options.binding, options.id, options.item) = (nil, nil, .notGiven)
    return options
  }
}
