import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// The objects of all presentations. They are computed from their paths, so a presentation uses no memory beside the state.
final class PresentationObjects: ObjectProvider {
  private typealias Rows = PresentationInterface
  private unowned let service: CoordinatorService<CoordinatorRoot>
  /// The facts that the presenter of a presentation knows.
  private let platform: (Handle) -> StateEntry
  /// The interfaces are made for the first presentation, so that a start without presentations is faster.
  private(set) lazy var interfaces: [ImplementedInterface] = {
    let object = ImplementedInterface(Rows.interface)
    implementProperties(object)
    implementMethods(object)
    return [object]
  }()

  init(_ service: CoordinatorService<CoordinatorRoot>, platform: @escaping (Handle) -> StateEntry) {
    (self.service, self.platform) = (service, platform)
  }

  func contains(_ path: ObjectPath) -> Bool { presentation(path) != nil }

  var paths: [ObjectPath] { service.machine.handles.sorted().map(\.path) }

  private func presentation(_ path: ObjectPath) -> Presentation? {
    Handle(path: path).flatMap { service.machine.presentation($0) }
  }

  private func implementProperties(_ object: ImplementedInterface) {
    let properties: [PropertyOf<Presentation>] = [
      PropertyOf(Rows.number) { $0.handle.number },
      PropertyOf(Rows.binding) { $0.binding.text },
      PropertyOf(Rows.id) { $0.item.id },
      PropertyOf(Rows.destination) { $0.item.destinationName ?? "" },
      PropertyOf(Rows.group) { $0.item.membership?.group.text ?? "" },
      PropertyOf(Rows.tag) { $0.item.membership?.tag ?? "" },
      PropertyOf(Rows.stack) { $0.item.position?.stack.text ?? "" },
      PropertyOf(Rows.parent) { $0.parent?.path ?? .root },
      PropertyOf(Rows.phase) { $0.phase.name.rawValue },
      PropertyOf(Rows.value) { $0.item.value },
      PropertyOf(Rows.containerValues) { $0.item.containerValues },
      PropertyOf(Rows.style) { $0.item.style ?? "" },
      PropertyOf(Rows.title) { $0.item.title ?? "" },
      PropertyOf(Rows.owner) { $0.item.owner?.name ?? "" },
      PropertyOf(Rows.output) { $0.item.output ?? "" },
      PropertyOf(Rows.asking) { $0.question != nil },
      PropertyOf(Rows.message) { $0.question ?? "" },
      PropertyOf(Rows.since) { $0.since ?? 0 },
      // A state-only item has no presenter.
      PropertyOf(Rows.pid) { [unowned self] in $0.item.destination == nil ? 0 : platform($0.handle).pid ?? 0 },
      PropertyOf(Rows.unit) { [unowned self] in $0.item.destination == nil ? "" : platform($0.handle).unit ?? "" },
      PropertyOf(Rows.queued) { [unowned self] in service.machine.queuedPlace(of: $0) ?? 0 },
      PropertyOf(Rows.heldBy) { [unowned self] in service.machine.heldBy($0) },
      PropertyOf(Rows.restartAt) { [unowned self] in service.machine.restartAt($0) ?? 0 },
    ]
    object.implement(properties) { [unowned self] in presentation($0) }
  }

  private func implementMethods(_ object: ImplementedInterface) {
    // A request about a presentation changes its slot if the slot still holds it (P5, P10).
    object.implement(Rows.dismiss) { [unowned self] options, call in service.dismiss(call.path, options, call) }
    object.implement(Rows.update) { [unowned self] input, call in
      service.authorize(call) { [unowned self] trust throws(Refusal) in
        guard let presentation = presentation(call.path), isCurrent(presentation) else {
          throw Refusal(
            .notPresented,
            "\(call.path) is being dismissed and no longer in its slot; expected the slot's present presentation")
        }
        let request = try CoordinatorInterface.update.read((presentation.binding.text, input.0, input.1))
        return try service.perform(request, by: call.client, trust: trust) { ($0 == .changed(true), service.serial) }
      }
    }
    object.implement(Rows.wait) { [unowned self] phase, call in
      service.wait(call.path, until: phase, call)
    }
  }

  private func isCurrent(_ presentation: Presentation) -> Bool {
    service.machine.current(at: presentation.binding)?.handle == presentation.handle
  }
}
