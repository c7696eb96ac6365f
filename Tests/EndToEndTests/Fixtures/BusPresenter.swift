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
  /// Hears of every call, and of every answer when it is given, with what it is about: `present fact 1`, `shown fact 1`,
  /// `update fact 1`, `taken fact 1`, `dismiss fact 1 replaced`, `gone fact 1`.
  var hear: (String) -> Void = { _ in }
  /// While false its answers are held back.
  var isAnswering = true {
    didSet {
      guard isAnswering else { return }
      let answers = held
      held = []
      for (_, answer) in answers { answer() }
    }
  }
  /// What it answers to Present instead of success.
  var refusal: DBusError?
  /// What it answers to Update instead of success.
  var updateRefusal: DBusError?
  /// What it hands back in answer to Dismiss; nil: an error.
  var result: Properties? = [:]
  private var held: [(call: String, answer: () -> Void)] = []
  /// The slot and the id of what it was told to present.
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
      log.append("dismiss \(input.1)\(input.2 ? "" : " without animation")")
      answer("dismiss \(subject) \(input.1)", "gone \(subject)") { [unowned self] in
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
      // Before it goes out, so that what comes of it is heard later.
      hear(word)
      reply()
    }
    if isAnswering { answer() } else { held.append((call, answer)) }
  }

  /// Gives the answer to a call, in the words of `hear`, that is held back.
  /// - Returns: whether there is such a call.
  func answer(_ call: String) -> Bool {
    guard let index = held.firstIndex(where: { $0.call == call }) else { return false }
    held.remove(at: index).answer()
    return true
  }
}
