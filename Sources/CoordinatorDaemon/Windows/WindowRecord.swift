import DBusValues
import PresentationModel
import WindowRules

/// The windows of a program, as the record has them.
struct WindowMemory {
  private static let windowsKey = DictionaryKey<[String: Properties]>("windows", doc: "")
  private static let beforeKey = DictionaryKey<[String]>("before", doc: "")
  private static let guestKey = DictionaryKey<Bool>("guest", doc: "")
  private static let guessedKey = DictionaryKey<Bool>("guessed", doc: "")
  private static let hiddenKey = DictionaryKey<[String]>("hidden", doc: "")
  private static let hadKey = DictionaryKey<Bool>("had-window", doc: "")
  private static let ofUserKey = DictionaryKey<Bool>("showed-window-of-user", doc: "")
  private static let lostKey = DictionaryKey<Bool>("lost", doc: "")
  private static let displayKey = DictionaryKey<String>("display", doc: "")
  private static let beganKey = DictionaryKey<UInt64>("began", doc: "")
  /// The limit in bytes of the recorded ids of windows that existed before an item. Above the limit, they are unknown after a restart.
  private static let maxBefore = 1 << 16

  let windows: [Window]
  /// The ids of the windows that existed before the item; nil if unknown.
  let before: Set<String>?
  let began: BootTime?
  /// Whether the windows were there before the item, and stay after it (N12).
  let isGuest: Bool
  /// Whether the windows are their user's again if the command opens one (N1).
  let isGuessed: Bool
  /// The ids of windows that may be hidden, although the item is not.
  let hidden: Set<String>
  let hasHadWindow: Bool
  /// Whether the program showed a window of its user's, too.
  let showedWindowOfUser: Bool
  /// Whether the adapter has given windows other ids, so that some were lost.
  let hasLost: Bool
  /// The name on the bus of the adapter that sees the windows; nil for the first one (N14).
  let display: BusName?

  init(_ memory: Properties) {
    windows = (memory[Self.windowsKey] ?? [:]).map { Window(id: $0.key, WindowProperties(reading: $0.value)) }
      .sorted { $0.id < $1.id }
    before = memory[Self.beforeKey].map { Set($0) }
    began = memory[Self.beganKey].map { BootTime(milliseconds: $0) }
    isGuest = memory[Self.guestKey] == true
    isGuessed = memory[Self.guessedKey] == true
    hidden = Set(memory[Self.hiddenKey] ?? [])
    hasHadWindow = memory[Self.hadKey] == true
    showedWindowOfUser = memory[Self.ofUserKey] == true
    hasLost = memory[Self.lostKey] == true
    display = memory[Self.displayKey].flatMap { BusName($0) }
  }

  fileprivate init(of program: Handle, _ tracker: borrowing WindowTracker, on display: BusName?) {
    self.display = display
    windows = tracker.lastingWindows(of: program)
    hidden = tracker.hiddenWindows(of: program)
    before = tracker.windowsBefore(program)
    began = tracker.beginning(of: program)
    isGuest = tracker.isGuest(program)
    isGuessed = tracker.isGuessed(program)
    hasHadWindow = tracker.hasHadWindow(program)
    showedWindowOfUser = tracker.showedWindowOfUser(program)
    hasLost = tracker.hasLost(program)
  }

  /// Adds the windows to the data of the program's presenter.
  fileprivate func added(to memory: Properties) -> Properties {
    var memory = memory
    memory[Self.windowsKey] = Dictionary(
      windows.map { ($0.id, $0.properties.properties) }, uniquingKeysWith: { $1 })
    if let before, before.reduce(0, { $0 + $1.utf8.count }) <= Self.maxBefore {
      memory[Self.beforeKey] = before.sorted()
    }
    memory[Self.beganKey] = began?.milliseconds
    memory[Self.guestKey] = isGuest ? true : nil
    memory[Self.guessedKey] = isGuessed ? true : nil
    if !hidden.isEmpty { memory[Self.hiddenKey] = hidden.sorted() }
    if hasHadWindow { memory[Self.hadKey] = true }
    memory[Self.ofUserKey] = showedWindowOfUser ? true : nil
    if hasLost { memory[Self.lostKey] = true }
    memory[Self.displayKey] = display?.text
    return memory
  }
}

/// The data by which the next navd finds programs and their windows (R2).
struct WindowRecord {
  /// The data of the programs' presenters.
  private var memories: [Handle: Properties] = [:]
  /// The programs whose data differ from the record.
  private var changed: Set<Handle> = []

  mutating func note(_ memory: Properties, of program: Handle) {
    memories[program] = memory
    changed.insert(program)
  }

  mutating func restore(_ memory: Properties, of program: Handle) { memories[program] = memory }

  mutating func windowsChanged(of program: Handle) { changed.insert(program) }

  mutating func forget(_ program: Handle) {
    memories[program] = nil
    changed.remove(program)
  }

  /// Removes and returns the changed data of presentations.
  /// - Parameter display: the name on the bus of the adapter that sees their windows; nil for the
  ///   first one.
  mutating func takeChanges(
    _ tracker: borrowing WindowTracker, on display: BusName?
  ) -> [(Handle, Properties)] {
    defer { changed.removeAll(keepingCapacity: true) }
    var all: [(Handle, Properties)] = []
    for program in changed {
      let memory = WindowMemory(of: program, tracker, on: display).added(to: memories[program] ?? [:])
      all.append((tracker.presentation(of: program), memory))
    }
    return all
  }
}
