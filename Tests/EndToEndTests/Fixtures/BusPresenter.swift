import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport

/// A presenter on the bus, with `org.navd.Presenter1` on a connection of its own. A test can delay its answers, and make it answer
/// with errors. For the order of calls and signals use ``Screen``.
final class BusPresenter {
  static let path: ObjectPath = "/presenter"

  let connection: Connection
  /// The calls received, for example `present fact 1`, `dismiss replaced`.
  private(set) var log: [String] = []
  /// The items received, the latest last.
  private(set) var items: [Properties] = []
  /// Receives a line for every call, and a line for every answer when it is sent: `present fact 1`, `shown fact 1`,
  /// `update fact 1`, `taken fact 1`, `dismiss fact 1 replaced`, `gone fact 1`.
  var hear: (String) -> Void = { _ in }
  /// Whether the presenter answers; if not, answers are held back.
  var isAnswering = true {
    didSet {
      guard isAnswering else { return }
      let answers = held
      held = []
      for (_, answer) in answers { answer() }
    }
  }
  /// The error that Present returns; nil for success.
  var refusal: DBusError?
  /// The error that Update returns; nil for success.
  var updateRefusal: DBusError?
  /// The error that Dismiss returns unless it is forced; nil to return ``result``.
  var refusedEnd: DBusError?
  /// The result that Dismiss returns; nil for an error.
  var result: Properties? = [:]
  private var held: [(call: String, answer: () -> Void)] = []
  /// The slot and id of each presentation that the presenter was asked to present.
  private var subjects: [ObjectPath: String] = [:]

  init(_ session: Session, destination: String, _ options: Properties = [:]) throws {
    connection = try session.connect()
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { [unowned self] input, call in
      let subject = input.2.isEmpty ? input.1 : "\(input.1) \(input.2)"
      subjects[input.0] = subject
      log.append("present \(input.1) \(input.2)")
      items.append(input.3)
      answer("present \(subject)", "shown \(subject)") { [unowned self] in
        if let refusal { call.fail(refusal) } else { call.reply() }
      }
    }
    object.implement(PresenterInterface.update) { [unowned self] input, call in
      let subject = subjects[input.0] ?? "?"
      log.append("update")
      items.append(input.1)
      answer("update \(subject)", "taken \(subject)") { [unowned self] in
        if let updateRefusal { call.fail(updateRefusal) } else { call.reply() }
      }
    }
    object.implement(PresenterInterface.dismiss) { [unowned self] input, call in
      let subject = subjects[input.0] ?? "?"
      let options = DismissalOptions(input.2)
      log.append(
        "dismiss \(input.1)\(options.animated == true ? "" : " without animation")"
          + (options.forced == true ? " forced" : ""))
      answer("dismiss \(subject) \(input.1)", "gone \(subject)") { [unowned self] in
        if let refusedEnd, options.forced != true { return call.fail(refusedEnd) }
        if let result { call.reply(result) } else { call.fail(DBusError(name: .failed, message: "it is stuck")) }
      }
    }
    connection.export(Self.path, [object])
    try session.call(
      CoordinatorInterface.registerPresenter, (destination, Self.path, options), by: connection)
  }

  private func answer(_ call: String, _ word: String, _ reply: @escaping () -> Void) {
    hear(call)
    let answer = { [unowned self] in
      // The answer is logged before it is sent, so that its consequences come later in the log.
      hear(word)
      reply()
    }
    if isAnswering { answer() } else { held.append((call, answer)) }
  }

  /// Sends an answer that was held back.
  /// - Parameter call: the call, as passed to `hear`.
  /// - Returns: whether such a call was held back.
  func answer(_ call: String) -> Bool {
    guard let index = held.firstIndex(where: { $0.call == call }) else { return false }
    held.remove(at: index).answer()
    return true
  }
}
