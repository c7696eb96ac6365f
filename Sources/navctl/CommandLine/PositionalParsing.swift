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

/// Options that can be set to their values for a command line without options.
protocol AbsentOptions: ParsableArguments {
  mutating func setAbsent()
}

extension AbsentOptions {
  static var notGiven: Self {
    var options = Self()
    options.setAbsent()
    return options
  }
}

extension ItemID {
  fileprivate init(word: String?) { (argument, option) = (word, nil) }
}

extension GlobalOptions: AbsentOptions {
  mutating func setAbsent() {
    (json, quiet, verbose, noLegend) = (false, false, false, false)
    (within, address, host) = (nil, nil, nil)
  }
}

extension ChangeOptions: AbsentOptions {
  mutating func setAbsent() { (noAnimation, expectedSerial) = (false, nil) }
}

extension SlotOptions: AbsentOptions {
  mutating func setAbsent() { (change, expectedID, expectedPresentation) = (.notGiven, nil, nil) }
}

extension ContainerOptions: AbsentOptions {
  mutating func setAbsent() { (group, tag, stack) = (nil, nil, nil) }
}

extension WaitOptions: AbsentOptions {
  mutating func setAbsent() { (wait, propagate) = (false, false) }
}

extension PresentOptions: AbsentOptions {
  mutating func setAbsent() { (item, containers, slot, waiting) = (.notGiven, .notGiven, .notGiven, .notGiven) }
}

extension MemberOptions: AbsentOptions {
  mutating func setAbsent() { (binding, id, item) = (nil, nil, .notGiven) }
}
