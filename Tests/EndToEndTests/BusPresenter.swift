// Why this file exists: a program on the bus that shows things, as slowly or badly as a test wants it to.
import CoordinatorAPI
import DBus
import DBusValues
import TestSupport

/// Implements `org.navd.Presenter1` on a connection of its own.
final class BusPresenter {
  static let path: ObjectPath = "/presenter"

  let connection: Connection
  /// What it was told, as in `present fact 1`, `dismiss replaced`.
  private(set) var log: [String] = []
  /// The items that it was given, the latest last.
  private(set) var items: [Properties] = []
  /// While false its answers are held back.
  var isAnswering = true {
    didSet {
      guard isAnswering else { return }
      let answers = held
      held = []
      for answer in answers { answer() }
    }
  }
  /// What it answers to Present instead of success.
  var refusal: DBusError?
  /// What it hands back in answer to Dismiss.
  var result: Properties = [:]
  private var held: [() -> Void] = []

  init(_ session: Session, destination: String, _ options: Properties = [:]) throws {
    connection = try session.connect()
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { [unowned self] input, call in
      log.append("present \(input.1) \(input.2)")
      items.append(input.3)
      answer { [unowned self] in
        if let refusal { call.fail(refusal) } else { call.reply() }
      }
    }
    object.implement(PresenterInterface.update) { [unowned self] input, call in
      log.append("update")
      items.append(input.1)
      answer { call.reply() }
    }
    object.implement(PresenterInterface.dismiss) { [unowned self] input, call in
      log.append("dismiss \(input.1)\(input.2 ? "" : " without animation")")
      answer { [unowned self] in call.reply(result) }
    }
    connection.export(Self.path, [object])
    try session.call(
      CoordinatorInterface.registerPresenter, (destination, Self.path, options), by: connection)
  }

  private func answer(_ work: @escaping () -> Void) {
    if isAnswering { work() } else { held.append(work) }
  }
}
