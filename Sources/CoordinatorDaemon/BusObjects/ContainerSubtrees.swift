import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// The objects of all groups, stacks and holds.
final class ContainerSubtrees {
  private unowned let coordinator: CoordinatorRoot
  private unowned let connection: Connection
  private let groups: NamedObjects
  private let stacks: NamedObjects
  private let holds: NamedObjects
  /// The groups of programs whose windows are hidden.
  private var groupsWithHidden: Set<String> = []
  /// The titles of the tags of each group, as last announced.
  private var titles: [String: [String: String]] = [:]

  init(_ coordinator: CoordinatorRoot) {
    self.coordinator = coordinator
    connection = coordinator.connection
    groups = NamedObjects(Self.groups(coordinator))
    stacks = NamedObjects(Self.stacks(coordinator))
    holds = NamedObjects(Self.holds(coordinator))
    groupsWithHidden = currentGroupsWithHidden
    for group in coordinator.service.machine.groupNames {
      let current = coordinator.service.machine.titles(of: group)
      if !current.isEmpty { titles[group.text] = current }
    }
  }

  func export() {
    for (path, objects) in [
      (ContainerObjects.groups, groups), (ContainerObjects.stacks, stacks), (ContainerObjects.holds, holds),
    ] {
      connection.exportSubtree(path, objects)
    }
  }

  func announce(_ event: StateEvent) {
    switch event.kind {
    case .selection(let group, _):
      noteTitles(of: group)
      groups.noteDifference(of: group, on: connection) { connection.propertyChanged($0, GroupInterface.selection) }
    case .group(let group, _, _):
      noteTitles(of: group)
      groups.noteDifference(of: group, on: connection) {
        connection.propertyChanged($0, GroupInterface.tags)
        connection.propertyChanged($0, GroupInterface.queue)
      }
    case .path(let stack, _):
      stacks.noteDifference(of: stack, on: connection) {
        connection.propertyChanged($0, StackInterface.path)
        connection.propertyChanged($0, StackInterface.ids)
      }
    case .hold(let name, _):
      holds.noteDifference(of: name, on: connection) {
        connection.propertyChanged($0, HoldInterface.since)
        connection.propertyChanged($0, HoldInterface.holders)
        connection.propertyChanged($0, HoldInterface.messages)
      }
    case .parked:
      let current = currentGroupsWithHidden
      for group in groupsWithHidden.union(current).sorted() {
        groups.noteDifference(of: group, on: connection) { connection.propertyChanged($0, GroupInterface.hidden) }
      }
      groupsWithHidden = current
    case .updated(let subject, _): noteTitle(of: subject.presentation)
    case .presented, .phase, .dismissed, .declined, .asking, .action, .requested: break
    }
  }

  /// Announces the titles of a group if that of a member is another one.
  func noteTitle(of handle: Handle) {
    guard let item = coordinator.service.machine.presentation(handle)?.item, let membership = item.membership else {
      return
    }
    if item.title != titles[membership.group.text]?[membership.tag] { noteTitles(of: membership.group.text) }
  }

  /// Announces the titles that files have for tags, after a change of the destinations.
  func noteTitles() {
    for group in coordinator.service.machine.groupNames { noteTitles(of: group.text) }
  }

  private func noteTitles(of group: String) {
    let current = coordinator.service.machine.titles(named: group)
    guard current != titles[group, default: [:]] else { return }
    titles[group] = current.isEmpty ? nil : current
    groups.noteDifference(of: group, on: connection) { connection.propertyChanged($0, GroupInterface.titles) }
  }

  private var currentGroupsWithHidden: Set<String> {
    Set(coordinator.service.machine.parked.compactMap { $0.item.membership?.group.text })
  }

  private static func groups(_ owner: CoordinatorRoot) -> NamedObjects.Kind {
    unowned let coordinator = owner
    typealias Rows = GroupInterface
    /// Reads a property of the group with a name.
    func read<T>(_ name: String, _ property: (borrowing StateMachine, BindingID) -> [T]) -> [T] {
      (try? BindingID(name)).map { property(coordinator.service.machine, $0) } ?? []
    }
    return NamedObjects.Kind(
      parent: ContainerObjects.groups, interface: Rows.interface,
      properties: [
        PropertyOf(Rows.groupName) { $0 },
        PropertyOf(Rows.selection) { read($0) { $0.selection(of: $1).map { [$0] } ?? [] }.first ?? "" },
        PropertyOf(Rows.tags) { read($0) { $0.tags(of: $1) } },
        PropertyOf(Rows.titles) { coordinator.service.machine.titles(named: $0) },
        PropertyOf(Rows.queue) { read($0) { $0.queuedTags(of: $1) } },
        PropertyOf(Rows.hidden) { name in
          coordinator.service.machine.parked.compactMap { $0.item.membership }.filter { $0.group.text == name }.map(
            \.tag)
        },
      ],
      names: { coordinator.service.machine.groupNames.map(\.text) },
      exists: { name in (try? BindingID(name)).map { coordinator.service.machine.hasTags($0) } ?? false })
  }

  private static func stacks(_ owner: CoordinatorRoot) -> NamedObjects.Kind {
    unowned let coordinator = owner
    typealias Rows = StackInterface
    func path(_ name: String) -> [PathElement] {
      (try? BindingID(name)).map { coordinator.service.machine.path(of: $0) } ?? []
    }
    return NamedObjects.Kind(
      parent: ContainerObjects.stacks, interface: Rows.interface,
      properties: [
        PropertyOf(Rows.stackName) { $0 }, PropertyOf(Rows.path) { path($0).map(\.binding) },
        PropertyOf(Rows.ids) { path($0).map(\.id) },
      ],
      names: { coordinator.service.machine.stackNames.map(\.text) }, exists: { !path($0).isEmpty })
  }

  private static func holds(_ owner: CoordinatorRoot) -> NamedObjects.Kind {
    unowned let coordinator = owner
    typealias Rows = HoldInterface
    /// The holders by the names of their holds, as of a serial: all objects of a turn read them, and each would go through all.
    var known: (serial: UInt64, byName: [String: [HoldEntry]])?
    func holders(_ name: String) -> [HoldEntry] {
      let serial = coordinator.service.serial
      if known?.serial != serial {
        let all = coordinator.service.machine.holdEntries(at: coordinator.now)
        known = (serial, Dictionary(grouping: all) { $0.name ?? "" })
      }
      return known?.byName[name] ?? []
    }
    return NamedObjects.Kind(
      parent: ContainerObjects.holds, interface: Rows.interface,
      properties: [
        PropertyOf(Rows.holdName) { $0 },
        PropertyOf(Rows.since) { holders($0).compactMap(\.since).min() ?? 0 },
        PropertyOf(Rows.holders) { UInt32(clamping: holders($0).count) },
        PropertyOf(Rows.messages) { holders($0).compactMap(\.message) },
      ],
      names: { coordinator.service.machine.holdsInForce },
      exists: { coordinator.service.machine.isInForce($0) })
  }
}

extension StateMachine {
  /// The titles of the tags of the group with a name; none if it is no name of a group.
  fileprivate func titles(named group: String) -> [String: String] {
    guard let group = try? BindingID(group) else { return [:] }
    return titles(of: group)
  }
}
