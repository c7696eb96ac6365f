import PresentationModel

/// A window of the window system.
struct TrackedWindow {
  enum Owner: Equatable {
    case none
    case presentation(Handle)
    /// The window belonged to a presentation that has ended, or may have belonged to one under another id. It belongs to no other one
    /// (N1).
    case former
  }

  var id: String
  var properties: WindowProperties
  /// The number of its opening, in the order of windows and presentations. Windows that opened while nobody watched have one number.
  let order: UInt64
  /// The number of its report, in the order of windows. An adapter reports windows in the order in which they opened.
  let rank: UInt64
  /// The known facts of the process; nil if there are none, or none yet.
  var process: WindowProcess?
  var owner = Owner.none
  /// Whether the next window system is to show it, since its item was given up while none could.
  var isToBeShown = false

  var isOfPresentation: Bool { if case .presentation = owner { true } else { false } }

  /// Whether the adapter has named a process. 0 is none, which may turn out to be one.
  var hasProcess: Bool { properties.pid ?? 0 != 0 }
}

/// The windows of the window system, by their ids, with indexes of what many windows are searched for.
struct TrackedWindows {
  private(set) var all: [String: TrackedWindow] = [:]
  /// The windows with a startup id, by that id.
  private(set) var byStartupID: [String: Set<String>] = [:]
  /// The ids of windows of which the adapter has told neither a process nor that there is none.
  private(set) var withoutProcess: Set<String> = []

  /// The ids of windows of a program's processes, and of processes that descend from its command.
  private(set) var byProgram: [Handle: Set<String>] = [:]
  /// The ids of windows that the next window system is to show.
  private(set) var toBeShown: Set<String> = []
  /// The programs whose windows are others than before, or have other owners.
  private var changedPrograms: Set<Handle> = []

  subscript(id: String) -> TrackedWindow? {
    get { all[id] }
    set {
      let former = all[id]
      all[id] = newValue
      if former?.properties.pid == nil, former != nil { withoutProcess.remove(id) }
      if let newValue, newValue.properties.pid == nil { withoutProcess.insert(id) }
      if former?.process != newValue?.process { noteProcess(of: id, former?.process, newValue?.process) }
      if former?.process != newValue?.process || former?.owner != newValue?.owner {
        for window in [former, newValue] { changedPrograms.formUnion(window?.process?.programs ?? []) }
      }
      if newValue?.isToBeShown == true {
        toBeShown.insert(id)
      } else if former?.isToBeShown == true {
        toBeShown.remove(id)
      }
      guard former?.properties.startupID != newValue?.properties.startupID else { return }
      if let startupID = former?.properties.startupID {
        byStartupID[startupID]?.remove(id)
        if byStartupID[startupID]?.isEmpty == true { byStartupID[startupID] = nil }
      }
      if let startupID = newValue?.properties.startupID { byStartupID[startupID, default: []].insert(id) }
    }
  }

  private mutating func noteProcess(of id: String, _ before: WindowProcess?, _ now: WindowProcess?) {
    for program in before?.programs ?? [] {
      byProgram[program]?.remove(id)
      if byProgram[program]?.isEmpty == true { byProgram[program] = nil }
    }
    for program in now?.programs ?? [] { byProgram[program, default: []].insert(id) }
  }

  mutating func takeChangedPrograms() -> Set<Handle> {
    defer { changedPrograms.removeAll(keepingCapacity: true) }
    return changedPrograms
  }

  mutating func removeValue(forKey id: String) -> TrackedWindow? {
    defer { self[id] = nil }
    return all[id]
  }

  /// The ids of the windows, in the order in which they opened.
  var ranked: [String] { all.values.sorted { $0.rank < $1.rank }.map(\.id) }

  var count: Int { all.count }
}
