import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel

/// A stateless service that uses the same library and sends the same messages as navd for a Present with another id: two signals of
/// the coordinator, InterfacesAdded, InterfacesRemoved, the reply. A Toggle only starts or ends a program before the answer, and
/// a Get finds nothing. The difference between navd and this service is the cost of all other work.
final class BareEcho {
  static let name: BusName = "org.navd.Bench.BareEcho"

  private let connection: Connection
  private let objects: BareObjects
  /// The number of the next handle, as long as navd's handles, which begin with the time of day.
  private var number: UInt64 = 1_700_000_000_000_000
  /// The program that a Toggle has started.
  private var program: Program?

  /// Runs until the process is killed.
  /// - Parameter name: the bus name, for clients that know only navd's name.
  static func serve(as name: BusName = name) throws {
    let loop = try EventLoop()
    let echo = try BareEcho(Connection.session(loop: loop))
    echo.connection.requestName(name) { _ in }
    withExtendedLifetime(echo) { loop.run() }
  }

  private init(_ connection: Connection) {
    self.connection = connection
    objects = BareObjects()
    let object = ImplementedInterface(CoordinatorInterface.interface)
    object.implement(CoordinatorInterface.present) { [unowned self] input, call in
      try? answer(input.0, input.1)
      call.reply((CoordinatorNames.presentation(number), number, true, number))
    }
    object.implement(CoordinatorInterface.toggle) { [unowned self] _, call in
      try? toggleProgram()
      call.reply((program != nil, .root, 0, number))
    }
    object.implement(CoordinatorInterface.get) { [unowned self] _, call in call.reply((.root, [:], number)) }
    connection.export(CoordinatorNames.object, [object], isObjectManager: true)
    connection.exportSubtree(CoordinatorNames.presentations, objects)
  }

  private func answer(_ binding: String, _ id: String) throws {
    let before = CoordinatorNames.presentation(number)
    number += 1
    let new = CoordinatorNames.presentation(number)
    objects.shown = (binding, id)
    connection.objectAdded(new)
    try connection.emit(
      CoordinatorInterface.dismissed, from: CoordinatorNames.object,
      (binding, id, before, number - 1, number, "replaced"))
    try connection.emit(
      CoordinatorInterface.presented, from: CoordinatorNames.object, (binding, id, new, number, number, Self.item))
    connection.objectRemoved(before)
  }

  private func toggleProgram() throws {
    if let program {
      program.end()
      self.program = nil
    } else {
      // Longer than a key press, and over soon if the measurement fails.
      program = try Program(["sleep", "10"])
    }
  }

  private static let item: Properties = [
    StateEntry.keys.value.name: Properties().value, StateEntry.keys.containerValues.name: Properties().value,
  ]
}

/// The announced objects, which all have the same values.
private final class BareObjects: ObjectProvider {
  private typealias Rows = PresentationInterface
  var shown = (binding: "", id: "")
  private(set) var interfaces: [ImplementedInterface] = []

  init() {
    let object = ImplementedInterface(Rows.interface)
    let properties: [PropertyOf<(binding: String, id: String)>] = [
      PropertyOf(Rows.binding) { $0.binding }, PropertyOf(Rows.id) { $0.id }, PropertyOf(Rows.destination) { _ in "" },
      PropertyOf(Rows.group) { _ in "" }, PropertyOf(Rows.tag) { _ in "" }, PropertyOf(Rows.stack) { _ in "" },
      PropertyOf(Rows.parent) { _ in .root }, PropertyOf(Rows.phase) { _ in "presented" },
      PropertyOf(Rows.value) { _ in [:] }, PropertyOf(Rows.containerValues) { _ in [:] },
      PropertyOf(Rows.style) { _ in "" }, PropertyOf(Rows.title) { _ in "" }, PropertyOf(Rows.owner) { _ in "" },
    ]
    object.implement(properties) { [unowned self] _ in shown }
    interfaces = [object]
  }

  func contains(_ path: ObjectPath) -> Bool { true }
  let paths: [ObjectPath] = []
}
